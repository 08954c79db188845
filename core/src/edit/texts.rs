//! Replaces texts in a JSON value and leaves the rest untouched.

use crate::json::{Scanner, write_string};

/// A text in a JSON value.
pub(super) enum JsonString<'a> {
    /// A key.
    Key(&'a str),
    /// A text, behind the key that it is under, however deep.
    Text(&'a str, &'a str),
}

/// Replaces each text by the result of `change`, which also gets the enclosing key, at any depth.
/// Keys, numbers and texts without a replacement stay as written.
pub(super) fn with_texts(json: &str, mut change: impl FnMut(&str, &str) -> Option<String>) -> String {
    with_strings(json, &mut |part: JsonString<'_>| match part {
        JsonString::Key(_) => None,
        JsonString::Text(key, text) => change(key, text),
    })
}

/// As above, with keys. Bytes between texts may be anything: the marks of a node's layout.
pub(super) fn with_strings(json: &str, change: &mut dyn FnMut(JsonString<'_>) -> Option<String>) -> String {
    let mut scanner = Scanner::new(json.as_bytes());
    let mut out = String::with_capacity(json.len());
    let mut keys: Vec<String> = vec![String::new()];
    let (mut at, mut written) = (0, 0);
    while let Some(byte) = json.as_bytes().get(at) {
        match byte {
            b'{' => keys.push(String::new()),
            b'}' => drop(keys.pop()),
            _ => {}
        }
        scanner.seek(at);
        let Some(text) = (*byte == b'"').then(|| scanner.string().ok()).flatten() else {
            at += 1;
            continue;
        };
        let end = scanner.at();
        // A number in quotes has its mark in them.
        if text.raw.iter().any(|byte| *byte < b' ') {
            at = end;
            continue;
        }
        let text = text.decode_lossy();
        let is_key = json.get(end..).is_some_and(|rest| rest.trim_start_matches(' ').starts_with(':'));
        let part = if is_key {
            JsonString::Key(&text)
        } else {
            JsonString::Text(keys.last().map_or("", String::as_str), &text)
        };
        if let Some(other) = change(part) {
            out.push_str(json.get(written..at).unwrap_or_default());
            write_string(&mut out, &other);
            written = end;
        }
        if let Some(key) = keys.last_mut().filter(|_| is_key) {
            *key = text.into_owned();
        }
        at = end;
    }
    out.push_str(json.get(written..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_change_and_nothing_else() {
        let json = r#"{"b":[1.50,"x"],"a":{"k":"y","n":null},"c":"z\u00e9"}"#;
        let changed = with_texts(json, |key, text| (key != "k").then(|| format!("{key}-{text}")));
        assert_eq!(changed, r#"{"b":[1.50,"b-x"],"a":{"k":"y","n":null},"c":"c-zé"}"#.replace("\\u00e9", "\u{e9}"));
    }
}
