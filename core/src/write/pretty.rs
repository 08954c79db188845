//! Writes JSON as Python's `json.dump(…, indent=4)` does.

use std::fmt::Write as _;

use crate::json::word_len;

/// Writes compact JSON over several lines, at a depth, with floats and characters as Python spells
/// them.
pub(super) fn write_indented(out: &mut String, json: &str, mut depth: usize) {
    let mut rest = json;
    while let Some(first) = rest.bytes().next() {
        let length = match first {
            b'"' => string_len(rest),
            b'{' | b'[' if rest[1..].starts_with(['}', ']']) => 2,
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => word_len(rest.as_bytes()).max(1),
        };
        let (token, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        match token {
            "{" | "[" => {
                depth += 1;
                out.push_str(token);
                new_line(out, depth);
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                new_line(out, depth);
                out.push_str(token);
            }
            "," => {
                out.push(',');
                new_line(out, depth);
            }
            ":" => out.push_str(": "),
            _ if first == b'"' => write_ascii(out, token),
            _ => write_number(out, token),
        }
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("    ", depth));
}

/// The length of the string that the text starts with.
fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn write_ascii(out: &mut String, string: &str) {
    for character in string.chars() {
        if matches!(character, ' '..='~') {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing into a `String` cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
}

/// Writes a number that has a point or an exponent as the shortest text of its float.
fn write_number(out: &mut String, number: &str) {
    let is_float = number.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    match number.parse::<f64>() {
        Ok(float) if is_float && number.contains(['.', 'e', 'E']) && float.is_finite() => write_float(out, float),
        _ => out.push_str(number),
    }
}

/// Writes a float as Python does: with an exponent of two digits where it is very large or very
/// small.
fn write_float(out: &mut String, float: f64) {
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    let _ = if float == 0.0 || (-4..16).contains(&exponent) {
        let fraction = if float.fract() == 0.0 { ".0" } else { "" };
        write!(out, "{float}{fraction}")
    } else {
        write!(out, "{mantissa}e{exponent:+03}")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_spelled_as_python_spells_them() {
        for (number, text) in [
            ("0.000000", "0.0"),
            ("-0.0", "-0.0"),
            ("1.50", "1.5"),
            ("1e3", "1000.0"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1712195495519689.047", "1712195495519689.0"),
            ("1e16", "1e+16"),
            ("2.2737367544323206e-13", "2.2737367544323206e-13"),
            ("12345678901234567890", "12345678901234567890"),
        ] {
            let mut out = String::new();
            write_number(&mut out, number);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn it_is_what_python_writes() {
        let mut out = String::new();
        write_indented(&mut out, r#"{"a":[1,2.50,{}],"é\"":[],"c":{"d":null,"e":"\n😀"}}"#, 0);
        assert_eq!(
            out,
            "{\n    \"a\": [\n        1,\n        2.5,\n        {}\n    ],\n    \"\\u00e9\\\"\": [],\n    \
             \"c\": {\n        \"d\": null,\n        \"e\": \"\\n\\ud83d\\ude00\"\n    }\n}"
        );
    }
}
