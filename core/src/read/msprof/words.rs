//! Words of `trace_view.json` and of Kineto for the codes and texts in the tables.

/// The table of texts.
pub(in crate::read) const TEXTS: &str = "STRING_IDS";

/// Labels of types of calls, where a database lacks their table.
pub(super) const API_LABELS: [(i64, &str); 9] = [
    (20_000, "acl"),
    (15_000, "model"),
    (10_000, "node"),
    (5500, "communication"),
    (5000, "runtime"),
    (50_001, "op"),
    (50_002, "queue"),
    (50_003, "trace"),
    (50_004, "mstx"),
];

/// The layer of a call by the label of its type, as its name begins in `trace_view.json`.
pub(super) fn layer_of(label: &str) -> Option<&'static str> {
    Some(match label {
        "acl" => "AscendCL",
        "model" => "Model",
        "node" => "Node",
        "communication" | "hccl" => "HCCL",
        "runtime" => "Runtime",
        _ => return None,
    })
}

/// Kineto's name of a collective by the type of its operation: `allreduce` of `hcom_allReduce_`.
pub(super) fn collective_of(kind: &[u8]) -> Option<String> {
    let kind = std::str::from_utf8(kind).ok()?.to_ascii_lowercase();
    let words = kind.strip_prefix("hcom_")?.trim_end_matches('_');
    (!words.is_empty()).then(|| words.replace('_', ""))
}

/// `PyTorch`'s name of a type of elements.
pub(super) fn dtype_of(label: &str) -> &str {
    const KNOWN: [(&str, &str); 9] = [
        ("INT8", "Char"),
        ("INT16", "Short"),
        ("INT32", "Int"),
        ("INT64", "Long"),
        ("UINT8", "Byte"),
        ("FP16", "Half"),
        ("FP32", "Float"),
        ("FP64", "Double"),
        ("BFP16", "BFloat16"),
    ];
    KNOWN.iter().find(|(own, _)| *own == label).map_or(label, |(_, name)| name)
}

/// The sides of tensors as a list of lists: `[[2,3],[4]]` of `2,3;4`. None for another text.
pub(super) fn shapes_of(text: &[u8]) -> Option<Vec<u8>> {
    let is_plain = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b',' | b';');
    if text.is_empty() || !text.iter().all(is_plain) {
        return None;
    }
    let mut out = vec![b'['];
    for (at, tensor) in text.split(|byte| *byte == b';').enumerate() {
        out.extend_from_slice(if at > 0 { b",[" } else { b"[" });
        for (at, side) in tensor.split(|byte| *byte == b',').filter(|side| !side.is_empty()).enumerate() {
            // JSON knows no number with zeros before it.
            let side: u64 = std::str::from_utf8(side).ok()?.parse().ok()?;
            out.extend_from_slice(if at > 0 { format!(",{side}") } else { side.to_string() }.as_bytes());
        }
        out.push(b']');
    }
    out.push(b']');
    Some(out)
}

/// Whether the name of a group has no address of a machine in it.
pub(super) fn is_public_group(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Whether a table only adds to the rows of others, or is in the header. Names of hosts are
/// private.
pub(super) fn is_support(name: &str) -> bool {
    const SUPPORT: [&str; 12] = [
        "STRING_IDS",
        "CONNECTION_IDS",
        "COMPUTE_TASK_INFO",
        "COMMUNICATION_TASK_INFO",
        "COMMUNICATION_SCHEDULE_TASK_INFO",
        "MEMCPY_INFO",
        "META_DATA",
        "NPU_INFO",
        "HOST_INFO",
        "SESSION_TIME_INFO",
        "RANK_DEVICE_MAP",
        "STEP_TIME",
    ];
    SUPPORT.contains(&name) || name.starts_with("ENUM_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_those_of_kineto() {
        assert_eq!(collective_of(b"hcom_allReduce_").as_deref(), Some("allreduce"));
        assert_eq!(collective_of(b"hcom_reduceScatter_").as_deref(), Some("reducescatter"));
        assert_eq!((collective_of(b"hcom_"), collective_of(b"MatMul")), (None, None));
        assert_eq!((dtype_of("BFP16"), dtype_of("INT128")), ("BFloat16", "INT128"));
        let shapes = |text: &str| shapes_of(text.as_bytes()).map(|out| String::from_utf8(out).unwrap());
        assert_eq!(shapes("2,03;;4").as_deref(), Some("[[2,3],[],[4]]"));
        assert_eq!((shapes("[2,3]"), shapes("")), (None, None));
        assert!(is_public_group(b"3915571125887837303"));
        assert!(!is_public_group(b"9.9.9.9%enp67s0f5_60000_0_1"));
    }
}
