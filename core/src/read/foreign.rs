//! Names files of other tools that are no readable traces, and their readable alternatives.

use super::wire::varint;

/// Keys of JSON objects, with the format that they tell.
const OBJECTS: [(&[&str], &str); 6] = [
    (&["rocprofiler-sdk-tool"], "results of rocprofv3 in JSON (write them with `--output-format pftrace`)"),
    (&["$schema", "shared", "profiles"], "a profile for speedscope (write it in Chrome's trace format instead)"),
    (&["meta", "libs", "threads"], "a profile for the Firefox Profiler (write it in Chrome's trace format instead)"),
    (&["frame", "metrics", "children"], PROTON),
    (&["planes"], "an XSpace of XLA's profiler in JSON (read the `.trace.json.gz` beside it)"),
    (&["samples", "timeDeltas"], "a CPU profile of V8 (write it in Chrome's trace format instead)"),
];

pub(super) const PROTON: &str =
    "a profile of Triton's Proton as a tree, without times (`proton-viewer` shows it; record it with `data=\"trace\"`)";

/// The format of a JSON object with such keys, if it is known.
pub(super) fn of_object(keys: &[&str]) -> Option<&'static str> {
    OBJECTS.iter().find(|(known, _)| known.iter().all(|key| keys.contains(key))).map(|(_, words)| *words)
}

/// Whether an array is a tree of Proton by its first bytes: no event has such a first key.
pub(super) fn is_tree(head: &[u8]) -> bool {
    let has = |start: &[u8]| {
        let letters = head.iter().filter(|byte| !byte.is_ascii_whitespace());
        letters.take(start.len()).eq(start)
    };
    has(b"[{\"children\":[") || has(b"[{\"frame\":{")
}

/// Where [`xspace`](super::xspace) is not built in.
const XSPACE: &str = "an XSpace of XLA's profiler in protobuf (Python's `ks.read` reads it; \
                      else read the `.trace.json.gz` beside it)";

/// The format of binary data by its first bytes.
pub(super) fn of_binary(head: &[u8]) -> Option<&'static str> {
    let has = |text: &str| head.windows(text.len()).any(|window| window == text.as_bytes());
    match head {
        [b'm', b'e', b'm', b'r', b'a', b'y', 0, ..] => Some("a capture of memray (use `memray` to read it)"),
        [0x0a, ..] if is_xspace(head) => Some(XSPACE),
        _ if has("QuadDCommon") || has("NVIDIA Nsight Systems") => {
            Some("a report of Nsight Systems (export it with `nsys export --type sqlite`)")
        }
        _ => None,
    }
}

/// Names of planes begin so.
const PLANES: [&str; 6] = ["/host:", "/device:", "Task Environment", "#Chip", "Host CPUs", "Syscalls"];

/// An `XSpace` starts with an `XPlane` (field 1), which has an id (1) or a name (2) first.
pub(super) fn is_xspace(head: &[u8]) -> bool {
    let Some((_, mut plane)) = message(head) else { return false };
    if let [0x08, rest @ ..] = plane {
        let Some((_, rest)) = varint(rest) else { return false };
        plane = rest;
    }
    let [0x12, rest @ ..] = plane else { return false };
    let Some((_, name)) = varint(rest) else { return false };
    PLANES.iter().any(|start| name.starts_with(start.as_bytes()))
}

/// Length and rest of a message in field 1.
fn message(head: &[u8]) -> Option<(u64, &[u8])> {
    varint(head.strip_prefix(&[0x0a])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_formats_are_named() {
        let x_space = b"\x0a\x20\x08\x01\x12\x0d/device:GPU:0";
        let unnumbered = b"\x0a\x20\x12\x09/host:CPU";
        assert!(of_binary(x_space).is_some_and(|words| words.contains("XSpace") && words.contains("Python")));
        assert!(of_binary(unnumbered).is_some_and(|words| words.contains("XSpace")));
        for other in [
            &b"\x0a"[..],
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\x00\x01",
            b"\x0a\x02\x40\x01\x77",
            b"",
        ] {
            assert_eq!(of_binary(other), None, "{other:?}");
        }
    }

    #[test]
    fn objects_and_arrays_are_named() {
        assert!(of_object(&["meta", "libs", "pages", "threads"]).is_some_and(|words| words.contains("Firefox")));
        assert!(is_tree(b"[{\"frame\": {\"name\": \"ROOT\"}, \"metrics\": {}"));
        assert!(is_tree(b"\n[\n    {\n        \"children\": [\n"), "a file that was cut");
        assert_eq!((of_object(&["a"]), is_tree(b"[{\"ph\": \"X\"}")), (None, false));
    }
}
