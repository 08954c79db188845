//! Converts values of an Execution Trace to Python literals, as Chakra's tools write them.

use std::fmt::Write as _;

/// The JSON text in Python's notation; an empty list for an empty text.
///
/// Numbers keep their digits. Invalid JSON is copied.
pub(super) fn python_literal(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 2);
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(token_len(rest, first));
        match token {
            "," => out.push_str(", "),
            ":" => out.push_str(": "),
            "true" => out.push_str("True"),
            "false" => out.push_str("False"),
            "null" => out.push_str("None"),
            _ if first == '"' => match serde_json::from_str::<String>(token) {
                Ok(text) => push_text(&mut out, &text),
                Err(_) => out.push_str(token),
            },
            _ if first.is_ascii_whitespace() => {}
            other => out.push_str(other),
        }
        rest = after;
    }
    if out.is_empty() { String::from("[]") } else { out }
}

/// The length in bytes of a string, a word, or a single sign.
fn token_len(text: &str, first: char) -> usize {
    if first == '"' {
        let mut is_escaped = false;
        let end = text.bytes().skip(1).position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        return end.map_or(text.len(), |end| end + 2);
    }
    let word = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    if word == 0 { first.len_utf8() } else { word }
}

/// A text in single quotes, or in double ones where it has single quotes and none of those.
fn push_text(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if letter == quote => out.extend(['\\', letter]),
            _ if letter.is_control() => {
                // Writing into a `String` cannot fail.
                let _ = write!(out, "\\x{:02x}", letter as u32);
            }
            _ => out.push(letter),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_what_python_prints() {
        let cases = [
            ("", "[]"),
            (r#"[[1,2,0,1e-05,4,"cuda:0"],true,null,false]"#, "[[1, 2, 0, 1e-05, 4, 'cuda:0'], True, None, False]"),
            (r#"["[{\"pg_name\": \"0\"}]"]"#, r#"['[{"pg_name": "0"}]']"#),
            (r#"["it's","a \"b\" 'c'","\\\n\u0001"]"#, r#"["it's", 'a "b" \'c\'', '\\\n\x01']"#),
            (r#"[1, "open"#, r#"[1, "open"#),
            (r#"{"a":-1.5}"#, "{'a': -1.5}"),
        ];
        for (json, python) in cases {
            assert_eq!(python_literal(json), python, "{json}");
        }
    }
}
