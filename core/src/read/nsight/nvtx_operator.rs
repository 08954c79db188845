//! Recognises operators in texts of ranges: `torch.autograd.profiler.emit_nvtx` writes
//! `aten::mm, seq = 3, op_id = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [(5,0), (6,0)]`.

use crate::read::json_object::JsonObject;

/// A range that `PyTorch` emitted, by the fields after its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct EmittedRange<'a> {
    /// The name of the operator or annotation.
    pub(super) name: &'a str,
    seq: Option<i64>,
    op_id: Option<i64>,
    sizes: Option<&'a str>,
    inputs: Option<&'a str>,
}

/// Starts of fields, which no name contains.
const FIELDS: [&str; 4] = [", seq =", ", op_id =", ", sizes =", ", input_op_ids ="];

/// How many commas are tried as the end of the name.
const MAX_TRIES: usize = 32;

/// How autograd's engine names the operator around a backward operator.
const ENGINE_PREFIX: &str = "autograd::engine::evaluate_function: ";

/// Namespaces of operators: a range without fields is one if it has such a name.
const NAMESPACES: [&str; 9] =
    ["_c10d_functional", "aten", "c10d", "prim", "prims", "profiler", "quantized", "torch", "torchvision"];

impl<'a> EmittedRange<'a> {
    /// The name and the fields of a text; none if it is another text.
    pub(super) fn of(text: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let commas = text.match_indices(", ").take(MAX_TRIES);
        commas
            .filter(|(at, _)| *at > 0 && !FIELDS.iter().any(|field| text[..*at].contains(field)))
            .find_map(|(at, _)| Self { name: &text[..at], ..Self::default() }.with(&text[at..]))
    }

    /// The same with fields up to the end of the text; none if anything else is in it.
    fn with(mut self, mut rest: &'a str) -> Option<Self> {
        while let Some(field) = rest.strip_prefix(", ") {
            let (key, value) = field.split_once('=')?;
            let value = value.trim_start();
            let end = value_end(value)?;
            let (text, is_new) = (
                &value[..end],
                match key.trim_end() {
                    "seq" => self.seq.replace(value[..end].parse().ok()?).is_none(),
                    "op_id" => self.op_id.replace(value[..end].parse().ok()?).is_none(),
                    "sizes" => self.sizes.replace(&value[..end]).is_none(),
                    "input_op_ids" => self.inputs.replace(&value[..end]).is_none(),
                    _ => false,
                },
            );
            let is_list = text.starts_with('[');
            if !is_new || is_list != matches!(key.trim_end(), "sizes" | "input_op_ids") {
                return None;
            }
            rest = &value[end..];
        }
        rest.is_empty().then_some(self)
    }

    /// Whether it is an operator: ranges of `record_function` have an id alone, as annotations do.
    pub(super) fn is_operator(&self) -> bool {
        let is_word = !self.name.contains(char::is_whitespace) && !self.name.contains('#');
        let has_numbers = self.seq.is_some() || self.sizes.is_some();
        let is_known =
            self.name.contains("::") || self.name.starts_with("triton_") || self.name == "record_param_comms";
        self.name.starts_with(ENGINE_PREFIX) || is_word && (has_numbers || is_known)
    }

    /// Writes the fields under Kineto's keys. The id is the record id of an Execution Trace.
    pub(super) fn write(&self, args: &mut JsonObject<'_>) {
        if let Some(id) = self.op_id {
            args.integer("Record function id", id);
        }
        if let Some(number) = self.seq {
            args.integer("Sequence number", number);
        }
        if let Some(sizes) = self.sizes {
            args.field("Input Dims").extend_from_slice(sizes.as_bytes());
        }
        if let Some(inputs) = self.inputs {
            let json: String = inputs
                .chars()
                .map(|letter| match letter {
                    '(' => '[',
                    ')' => ']',
                    letter => letter,
                })
                .collect();
            args.field("input_op_ids").extend_from_slice(json.as_bytes());
        }
    }
}

/// Whether a range without fields has the name of an operator.
pub(super) fn is_operator_name(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':');
    let is_known = |(namespace, rest): (&str, &str)| {
        NAMESPACES.contains(&namespace) && !rest.is_empty() && rest.chars().all(is_plain)
    };
    text.starts_with(ENGINE_PREFIX) || text.split_once("::").is_some_and(is_known)
}

/// The end of an integer or of a list of integers at the start of a text, as JSON has them but for
/// round brackets.
fn value_end(text: &str) -> Option<usize> {
    if !text.starts_with('[') {
        return Some(text.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(text.len()));
    }
    let mut open: Vec<u8> = Vec::new();
    // The kind of the last token decides on the next: a value follows a bracket or a comma.
    let mut last = b'[';
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b' ' => continue,
            b'[' | b'(' if at == 0 || matches!(last, b'[' | b'(' | b',') => open.push(byte),
            b']' | b')' if last != b',' && last != b'-' => {
                let opened = open.pop()?;
                if (opened == b'[') != (byte == b']') {
                    return None;
                }
                if open.is_empty() {
                    return Some(at + 1);
                }
            }
            b'-' if matches!(last, b'[' | b'(' | b',') => {}
            b',' if matches!(last, b'0'..=b'9' | b']' | b')') => {}
            b'0'..=b'9' if last != b']' && last != b')' => {
                let is_split = at > 0 && text.as_bytes()[at - 1] == b' ' && matches!(last, b'0'..=b'9' | b'-');
                if is_split || open.len() > MAX_DEPTH {
                    return None;
                }
            }
            _ => return None,
        }
        last = byte;
    }
    None
}

/// Lists of tensors nest twice.
const MAX_DEPTH: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<(String, bool, String)> {
        let range = EmittedRange::of(text.as_bytes())?;
        let mut out = Vec::new();
        crate::read::json_object::object(&mut out, |args| range.write(args));
        Some((range.name.to_owned(), range.is_operator(), String::from_utf8_lossy(&out).into_owned()))
    }

    #[test]
    fn fields_come_in_any_order_and_number() {
        let cases = [
            (
                "aten::mm, seq = 3, op_id = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [(5,0), (-1,-1)]",
                "aten::mm",
                true,
                r#"{"Record function id":7,"Sequence number":3,"Input Dims":[[2, 3], [3, 4]],"input_op_ids":[[5,0], [-1,-1]]}"#,
            ),
            ("aten::mm, op_id = 7, seq = 3", "aten::mm", true, r#"{"Record function id":7,"Sequence number":3}"#),
            ("aten::mm, sizes = [[], [2]]", "aten::mm", true, r#"{"Input Dims":[[], [2]]}"#),
            ("aten::mm, op_id = 7", "aten::mm", true, r#"{"Record function id":7}"#),
            ("MyFunction, seq = 3", "MyFunction", true, r#"{"Sequence number":3}"#),
            (
                "autograd::engine::evaluate_function: MmBackward0, seq = 3, op_id = 9",
                "autograd::engine::evaluate_function: MmBackward0",
                true,
                r#"{"Record function id":9,"Sequence number":3}"#,
            ),
            (
                "## Call CompiledFxGraph fab ##, op_id = 4",
                "## Call CompiledFxGraph fab ##",
                false,
                r#"{"Record function id":4}"#,
            ),
            ("ProfilerStep#3, op_id = 4", "ProfilerStep#3", false, r#"{"Record function id":4}"#),
            ("forward, op_id = 4", "forward", false, r#"{"Record function id":4}"#),
            ("loss, epoch 3, op_id = 4", "loss, epoch 3", false, r#"{"Record function id":4}"#),
        ];
        for (text, name, is_operator, args) in cases {
            assert_eq!(written(text), Some((name.to_owned(), is_operator, args.to_owned())), "{text}");
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "forward, backward",
            "loss, lr = 3",
            "a, seq = x",
            "a, seq = 3, b",
            "a, seq = 3, seq = 4",
            ", seq = 3",
            "a, sizes = [[2, 3",
            "a, sizes = 3",
            "a, sizes = [(2])",
            "a, sizes = [2 3]",
            "a, sizes = [,]",
            "a, seq = [3]",
            "a, seq = 99999999999999999999",
            "a, sizes = [\"x\"]",
            "a,seq = 3",
        ] {
            assert_eq!(written(text), None, "{text}");
        }
        assert!(is_operator_name(b"aten::empty") && is_operator_name(b"torch::autograd::AccumulateGrad"));
        assert!(!is_operator_name(b"my::range") && !is_operator_name(b"aten::a b") && !is_operator_name(b"aten::"));
    }
}
