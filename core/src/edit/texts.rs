//! The texts in a JSON value, changed without touching anything else in it.

use crate::json::{Scanner, write_string};

/// The value with what `change` makes of each text in it, given the key that the text is under, however deep; keys,
/// numbers and what `change` makes nothing of stay as they are written.
pub(super) fn with_texts(json: &str, mut change: impl FnMut(&str, &str) -> Option<String>) -> String {
    let mut scanner = Scanner::new(json.as_bytes());
    let mut out = String::with_capacity(json.len());
    let mut keys: Vec<String> = vec![String::new()];
    while let Some(byte) = scanner.peek() {
        let start = scanner.at();
        if byte != b'"' {
            match byte {
                b'{' => keys.push(String::new()),
                b'}' => drop(keys.pop()),
                _ => {}
            }
            scanner.seek(start + 1);
        } else if let Ok(text) = scanner.string() {
            let text = text.decode_lossy();
            if scanner.peek() == Some(b':') {
                if let Some(key) = keys.last_mut() {
                    *key = text.into_owned();
                }
            } else if let Some(other) = change(keys.last().map_or("", String::as_str), &text) {
                write_string(&mut out, &other);
                continue;
            }
        }
        out.push_str(json.get(start..scanner.at()).unwrap_or_default());
    }
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
