//! Writes JSON objects. Texts are bytes: invalid UTF-8 is counted when they are read.

use std::io::Write as _;

use crate::time::Ts;

/// A JSON object under construction, appended to a text.
pub(super) struct JsonObject<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

/// Appends an object with the fields that `fill` gives it.
pub(super) fn object(out: &mut Vec<u8>, fill: impl FnOnce(&mut JsonObject<'_>)) {
    out.push(b'{');
    fill(&mut JsonObject { out, is_empty: true });
    out.push(b'}');
}

impl JsonObject<'_> {
    /// Starts a field; the caller appends its value to the returned text.
    pub(super) fn field(&mut self, key: &str) -> &mut Vec<u8> {
        self.field_of(key.as_bytes())
    }

    /// The same for a key that may be no UTF-8.
    pub(super) fn field_of(&mut self, key: &[u8]) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        push_text(self.out, key);
        self.out.push(b':');
        self.out
    }

    /// Takes the fields of an object that was written before.
    pub(super) fn keys_of(&mut self, object: &[u8]) {
        if object.len() > 2 {
            if !std::mem::take(&mut self.is_empty) {
                self.out.push(b',');
            }
            self.out.extend_from_slice(&object[1..object.len() - 1]);
        }
    }

    pub(super) fn object(&mut self, key: &str, fill: impl FnOnce(&mut JsonObject<'_>)) {
        object(self.field(key), fill);
    }

    pub(super) fn text(&mut self, key: &str, text: &[u8]) {
        push_text(self.field(key), text);
    }

    pub(super) fn integer(&mut self, key: &str, number: i64) {
        push_integer(self.field(key), number);
    }

    /// A time or a length of time in microseconds, as Kineto writes them.
    pub(super) fn micros(&mut self, key: &str, Ts(ns): Ts) {
        self.micros_with(key, ns, true);
    }

    /// The same; whole microseconds have no digits behind the point, as in a file of coarse times.
    pub(super) fn plain_micros(&mut self, key: &str, Ts(ns): Ts) {
        self.micros_with(key, ns, ns % 1000 != 0);
    }

    fn micros_with(&mut self, key: &str, ns: i64, has_fraction: bool) {
        let out = self.field(key);
        if ns < 0 {
            out.push(b'-');
        }
        push_digits(out, ns.unsigned_abs() / 1000, 1);
        if has_fraction {
            out.push(b'.');
            push_digits(out, ns.unsigned_abs() % 1000, 3);
        }
    }
}

/// Appends a string.
pub(super) fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    // Not byte by byte: nearly all texts are plain.
    if !text.iter().fold(false, |found, byte| found | matches!(byte, b'"' | b'\\' | 0..b' ')) {
        out.extend_from_slice(text);
        return out.push(b'"');
    }
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' ')) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            // Writing into a `Vec` cannot fail.
            byte => drop(write!(out, "\\u{byte:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends a number.
pub(super) fn push_integer(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    push_digits(out, number.unsigned_abs(), 1);
}

/// Appends a number without a sign.
pub(super) fn push_unsigned(out: &mut Vec<u8>, number: u64) {
    match i64::try_from(number) {
        Ok(number) => push_integer(out, number),
        Err(_) => drop(write!(out, "{number}")),
    }
}

/// Appends a number with a point. JSON has none that is not finite: that is a text.
pub(super) fn push_double(out: &mut Vec<u8>, number: f64) {
    if !number.is_finite() {
        return push_text(out, number.to_string().as_bytes());
    }
    // Writing into a `Vec` cannot fail. Exponents keep extreme numbers short.
    let is_plain = number == 0.0 || (1e-7..1e17).contains(&number.abs());
    drop(if is_plain { write!(out, "{number:?}") } else { write!(out, "{number:e}") });
}

/// Appends a number of at least so many digits. Made here, for formatting takes longer than all
/// else in a row.
fn push_digits(out: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    while number > 0 || digits.len() - start < width {
        start -= 1;
        digits[start] += (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_json() {
        let mut out = Vec::new();
        object(&mut out, |event| {
            event.text("na\"me", b"a\\b\n\x01");
            event.integer("pid", 7);
            event.micros("ts", Ts(-1_005));
            event.object("args", |_| {});
        });
        assert_eq!(out, br#"{"na\"me":"a\\b\u000a\u0001","pid":7,"ts":-1.005,"args":{}}"#);
    }
}
