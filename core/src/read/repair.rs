//! Repairs JSON with unescaped strings, as some versions of `PyTorch` write it.

use crate::json::Scanner;

/// Text longer than this is not repaired: looking ahead for each quote takes time.
const MAX_BYTES: usize = 1 << 24;

/// Keys that no string contains: a string with one has swallowed the text after it.
const KEYS: [&[u8]; 7] =
    [b"\"ph\":", b"\"ts\":", b"\"dur\":", b"\"args\":", b"\"ctrl_deps\":", b"\"rf_id\"", b"\"inputs\":"];

/// The object or list at the start of `text` with its strings escaped, and how many bytes of `text`
/// it took; `None` when that does not make it JSON.
///
/// A string with a doubtful end ends at the first quote with a valid continuation. A key is
/// followed by a colon; a value in an object by a bracket, or by a comma and a key; a value in an
/// array by a bracket, or by a comma and a value.
pub(super) fn repair(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut repair =
        JsonRepair { text: text.get(..MAX_BYTES).unwrap_or(text), at: 0, out: Vec::new(), open: Vec::new() };
    repair.run()?;
    Some((repair.out, repair.at))
}

struct JsonRepair<'a> {
    text: &'a [u8],
    at: usize,
    out: Vec<u8>,
    /// Brackets that are open, as they are written.
    open: Vec<u8>,
}

/// The role of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringRole {
    Key,
    Value,
    Element,
}

impl JsonRepair<'_> {
    fn run(&mut self) -> Option<()> {
        let mut is_key = false;
        loop {
            let byte = *self.text.get(self.at)?;
            match byte {
                b'"' => {
                    let role = match (self.open.last()?, is_key) {
                        (b'[', _) => StringRole::Element,
                        (_, true) => StringRole::Key,
                        (_, false) => StringRole::Value,
                    };
                    self.string(role)?;
                    continue;
                }
                b'{' | b'[' => self.open.push(byte),
                b'}' | b']' => {
                    let opened = self.open.pop()?;
                    if (opened == b'{') != (byte == b'}') {
                        return None;
                    }
                }
                _ => {}
            }
            is_key = match byte {
                b'{' => true,
                b',' => self.open.last() == Some(&b'{'),
                b':' => false,
                _ => is_key,
            };
            self.out.push(byte);
            self.at += 1;
            if self.open.is_empty() {
                return Some(());
            }
        }
    }

    fn string(&mut self, role: StringRole) -> Option<()> {
        let start = self.at + 1;
        let mut scanner = Scanner::new(self.text);
        scanner.seek(self.at);
        if scanner.string().is_ok() && self.can_end(scanner.at() - 1, role) {
            self.out.extend_from_slice(&self.text[self.at..scanner.at()]);
            self.at = scanner.at();
            return Some(());
        }
        let quotes = memchr::memchr_iter(b'"', &self.text[start..]).map(|offset| start + offset);
        let end = quotes.into_iter().find(|at| self.can_end(*at, role))?;
        if KEYS.iter().any(|key| memchr::memmem::find(&self.text[start..end], key).is_some()) {
            return None;
        }
        // Nothing in such a string was escaped, so nothing in it is an escape.
        self.out.push(b'"');
        for byte in &self.text[start..end] {
            if matches!(byte, b'"' | b'\\') {
                self.out.push(b'\\');
            }
            self.out.push(*byte);
        }
        self.out.push(b'"');
        self.at = end + 1;
        Some(())
    }

    /// Whether a string may end with the quote at `at`.
    fn can_end(&self, at: usize, role: StringRole) -> bool {
        let mut ahead = Scanner::new(self.text);
        ahead.seek(at + 1);
        match (ahead.peek(), role) {
            (Some(b':'), StringRole::Key) => true,
            (Some(closing @ (b'}' | b']')), StringRole::Value | StringRole::Element) => {
                ahead.take(closing);
                (closing == b'}') == (role == StringRole::Value)
                    && matches!(ahead.peek(), None | Some(b',' | b'}' | b']'))
            }
            (Some(b','), StringRole::Value) => {
                ahead.take(b',');
                ahead.string().is_ok() && ahead.peek() == Some(b':')
            }
            (Some(b','), StringRole::Element) => {
                ahead.take(b',');
                match ahead.peek() {
                    Some(b'"' | b'0'..=b'9' | b'-' | b'[' | b'{') => true,
                    _ => matches!(ahead.skip_value(), Ok(b"true" | b"false" | b"null")),
                }
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> Option<serde_json::Value> {
        let (json, _) = repair(text.as_bytes())?;
        serde_json::from_slice(&json).ok()
    }

    #[test]
    fn strings_end_where_they_must() {
        let name = |text: &str| repaired(text).unwrap()["name"].as_str().unwrap().to_owned();
        assert_eq!(name(r#"{"name": "say "hi", now", "pid": 1}"#), r#"say "hi", now"#);
        assert_eq!(name(r#"{"name": "embed["table"]", "id": 1}"#), r#"embed["table"]"#);
        assert_eq!(name(r#"{"name": "x{"k"}", "id": 1}"#), r#"x{"k"}"#);
        assert_eq!(name(r#"{"name": "C:\temp\", "pid": 1}"#), r"C:\temp\");
        assert_eq!(name(r#"{"name": "f("a", "b")", "args": {"l": ["a", "b"]}}"#), r#"f("a", "b")"#);
        assert_eq!(name(r#"{"name": "well \"escaped\" \n", "bad": "a "b" c"}"#), "well \"escaped\" \n");
    }

    #[test]
    fn the_end_of_the_object_is_told() {
        let text = br#"{"a": "x "y" z"}, {"b": 1}"#;
        assert_eq!(repair(text).unwrap().1, 16);
        assert_eq!(repaired(r#"{"a": ["a, "b"]}"#).unwrap()["a"][0], r#"a, "b"#);
        assert_eq!(repaired(r#"{"a": "never"#), None);
        assert_eq!(repaired(r#"{"a": [1}"#), None);
    }
}
