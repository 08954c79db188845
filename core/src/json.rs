//! A pull scanner over JSON bytes: no allocation, tolerant of the faults of real trace files.
//!
//! It gives slices of the input and leaves their meaning to the caller. Tolerated: raw control
//! characters and invalid UTF-8 in strings, bare words such as `NaN` and `inf`, commas before a
//! closing bracket. Two kinds of errors remain: the end of the input, and an unexpected byte.
//!
//! ```
//! use kinetoscope::json::Scanner;
//! let mut scanner = Scanner::new(br#"{"ph": "X", "args": {"a": [1, 2]}, "dur": 1.5}"#);
//! scanner.enter_object()?;
//! while let Some(key) = scanner.next_key()? {
//!     match key.raw {
//!         b"dur" => assert_eq!(scanner.skip_value()?, b"1.5"),
//!         _ => drop(scanner.skip_value()?),
//!     }
//! }
//! # Ok::<(), kinetoscope::json::ScanFault>(())
//! ```

use std::borrow::Cow;

use memchr::memchr2;

/// Why the scanner cannot go on. The scanner stays where the fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScanFault {
    /// The input ends inside a value.
    #[error("the input ends inside a value")]
    End,
    /// An unexpected byte, or nesting deeper than [`MAX_DEPTH`].
    #[error("an unexpected byte")]
    Unexpected,
}

/// Values nested deeper than this are malformed.
pub const MAX_DEPTH: u32 = 512;

/// The text between two quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonText<'a> {
    /// The bytes as they stand in the file.
    pub raw: &'a [u8],
    /// Whether there is a backslash among them.
    pub escaped: bool,
}

impl<'a> JsonText<'a> {
    /// The text with escapes resolved; `None` when it is not valid UTF-8 or holds a bad escape.
    pub fn decode(self) -> Option<Cow<'a, str>> {
        if self.escaped {
            return unescape(self.raw).map(Cow::Owned);
        }
        std::str::from_utf8(self.raw).ok().map(Cow::Borrowed)
    }

    /// The text with escapes resolved and bad bytes replaced.
    pub fn decode_lossy(self) -> Cow<'a, str> {
        self.decode().unwrap_or_else(|| {
            let text = String::from_utf8_lossy(self.raw);
            unescape(text.as_bytes()).map_or(text, Cow::Owned)
        })
    }
}

/// A cursor over the bytes of one document.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    num_irregular: u32,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, num_irregular: 0 }
    }

    /// Offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Continues at `at`.
    pub fn seek(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    /// The bytes from `start` up to the cursor.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// The bytes from `start` to the end.
    pub fn rest(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..).unwrap_or_default()
    }

    /// The next byte that is no white space, which stays next; `None` at the end.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if byte > b' ' {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Takes `byte` when it is next.
    #[inline]
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), ScanFault> {
        if self.take(byte) { Ok(()) } else { Err(self.fault()) }
    }

    fn fault(&mut self) -> ScanFault {
        if self.peek().is_some() { ScanFault::Unexpected } else { ScanFault::End }
    }

    /// Steps into an object; its keys come from [`next_key`](Self::next_key).
    pub fn enter_object(&mut self) -> Result<(), ScanFault> {
        self.expect(b'{')
    }

    /// Steps into an array; its elements come after [`next_element`](Self::next_element).
    pub fn enter_array(&mut self) -> Result<(), ScanFault> {
        self.expect(b'[')
    }

    /// The next key of the object, with the cursor before its value; `None` after the closing
    /// bracket.
    #[inline]
    pub fn next_key(&mut self) -> Result<Option<JsonText<'a>>, ScanFault> {
        let num_commas = self.take_commas();
        if self.take(b'}') {
            self.num_irregular += num_commas;
            return Ok(None);
        }
        self.num_irregular += num_commas.saturating_sub(1);
        let key = self.string()?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Whether another element follows, with the cursor before it; false after the closing bracket.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, ScanFault> {
        let num_commas = self.take_commas();
        match self.peek() {
            None => Err(ScanFault::End),
            Some(b']') => {
                self.num_irregular += num_commas;
                self.at += 1;
                Ok(false)
            }
            Some(_) => {
                self.num_irregular += num_commas.saturating_sub(1);
                Ok(true)
            }
        }
    }

    #[inline]
    fn take_commas(&mut self) -> u32 {
        let mut num_commas = 0;
        while self.take(b',') {
            num_commas += 1;
        }
        num_commas
    }

    /// Whether there was a comma too many since [`take_irregular`](Self::take_irregular).
    pub fn is_irregular(&self) -> bool {
        self.num_irregular > 0
    }

    /// Number of extra commas since the last call.
    pub fn take_irregular(&mut self) -> u32 {
        std::mem::take(&mut self.num_irregular)
    }

    /// A string.
    #[inline]
    pub fn string(&mut self) -> Result<JsonText<'a>, ScanFault> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(offset) = memchr2(b'"', b'\\', rest) else {
                self.at = self.bytes.len();
                return Err(ScanFault::End);
            };
            self.at += offset;
            if self.bytes[self.at] == b'"' {
                let raw = &self.bytes[start..self.at];
                self.at += 1;
                return Ok(JsonText { raw, escaped });
            }
            escaped = true;
            self.at = (self.at + 2).min(self.bytes.len());
        }
    }

    /// The value's bytes, from its first to its last; strings with their quotes.
    pub fn skip_value(&mut self) -> Result<&'a [u8], ScanFault> {
        let first = self.peek().ok_or(ScanFault::End)?;
        let start = self.at;
        match first {
            b'"' => drop(self.string()?),
            b'{' | b'[' => self.skip_nested()?,
            b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => drop(self.word()),
            _ => return Err(ScanFault::Unexpected),
        }
        Ok(&self.bytes[start..self.at])
    }

    /// A run of bytes that numbers and bare words are made of.
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let word = &rest[..word_len(rest)];
        self.at += word.len();
        word
    }

    /// Passes over an object or array, keeping count of brackets of both kinds together.
    fn skip_nested(&mut self) -> Result<(), ScanFault> {
        let mut depth = 0_u32;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Err(ScanFault::Unexpected);
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(ScanFault::End)
    }
}

/// Whether the object or array at the start of `text` nests deeper than [`MAX_DEPTH`].
pub fn nests_too_deep(text: &[u8]) -> bool {
    let mut scanner = Scanner::new(text);
    let opens = matches!(scanner.peek(), Some(b'{' | b'['));
    // The scanner stands at the bracket that is one too many.
    opens && scanner.skip_nested() == Err(ScanFault::Unexpected)
}

/// How many bytes at the start of `text` are such as numbers and bare words are made of.
#[inline]
pub fn word_len(text: &[u8]) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'a'..=b'z' | b'A'..=b'Z');
    text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len())
}

/// Resolves escapes; `None` for a bad escape or bytes that are not UTF-8.
fn unescape(raw: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        let escape = *raw.get(at + 1)?;
        at += 2;
        let plain = match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, length) = unicode_escape(raw.get(at..)?)?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
                continue;
            }
            _ => return None,
        };
        out.push(plain);
    }
    String::from_utf8(out).ok()
}

/// The character of the hexadecimal digits after `\u`, and how many bytes it takes; a lone
/// surrogate is replaced.
fn unicode_escape(digits: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let text = std::str::from_utf8(digits.get(at..at + 4)?).ok()?;
        u32::from_str_radix(text, 16).ok()
    };
    let high = unit(0)?;
    if let Some(character) = char::from_u32(high) {
        return Some((character, 4));
    }
    if high < 0xDC00
        && digits.get(4..6) == Some(b"\\u")
        && let Some(low @ 0xDC00..=0xDFFF) = unit(6)
    {
        return Some((char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))?, 10));
    }
    Some((char::REPLACEMENT_CHARACTER, 4))
}

/// Writes `text` as a JSON string.
///
/// ```
/// let mut out = String::new();
/// kinetoscope::json::write_string(&mut out, "a \"b\"\n");
/// assert_eq!(out, r#""a \"b\"\n""#);
/// ```
pub fn write_string(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
        return;
    }
    // Writing into a `String` cannot fail; an empty text would be the harmless answer if it could.
    out.push_str(&serde_json::to_string(text).unwrap_or_else(|_| String::from("\"\"")));
}

/// A value as strict JSON without white space between tokens; invalid values become strings.
///
/// ```
/// use kinetoscope::json::canonical;
/// assert_eq!(canonical(b"[1, [2,\n 3], NaN]").text, r#"[1,[2,3],"NaN"]"#);
/// ```
pub fn canonical(raw: &[u8]) -> CanonicalJson {
    let mut out = String::with_capacity(raw.len());
    let mut is_strict = true;
    let mut scanner = Scanner::new(raw);
    while let Some(byte) = scanner.peek() {
        match byte {
            b'"' => match scanner.string() {
                Ok(text) => {
                    let plain = text.decode();
                    is_strict &= plain.is_some() || std::str::from_utf8(text.raw).is_err();
                    write_string(&mut out, &plain.unwrap_or_else(|| text.decode_lossy()));
                }
                Err(_) => out.push('"'),
            },
            b'{' | b'}' | b'[' | b']' | b',' | b':' => {
                scanner.take(byte);
                out.push(char::from(byte));
            }
            _ => is_strict &= canonical_word(&mut out, &mut scanner),
        }
    }
    if serde_json::from_str::<serde::de::IgnoredAny>(&out).is_err() {
        is_strict = false;
        out.clear();
        write_string(&mut out, &String::from_utf8_lossy(raw));
    }
    CanonicalJson { text: out, is_strict }
}

/// The result of [`canonical`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalJson {
    /// Strict JSON.
    pub text: String,
    /// Whether the value was strict JSON already, bytes that are not UTF-8 aside.
    pub is_strict: bool,
}

/// Whether the word is one that JSON has.
fn canonical_word(out: &mut String, scanner: &mut Scanner<'_>) -> bool {
    let mut word = scanner.word();
    if word.is_empty() {
        let start = scanner.at();
        scanner.seek(start + 1);
        word = scanner.since(start);
    }
    let text = String::from_utf8_lossy(word);
    // Without the white space between them two words would be one.
    if out.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '.') {
        out.push(' ');
    }
    let is_strict = serde_json::from_slice::<serde::de::IgnoredAny>(word).is_ok();
    if is_strict {
        out.push_str(&text);
    } else {
        write_string(out, &text);
    }
    is_strict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_raw_bytes_and_resolve_escapes() {
        let mut scanner = Scanner::new(br#" "a\"b\u00e9\ud83d\ude00\n" "#);
        let text = scanner.string().unwrap();
        assert!(text.escaped);
        assert_eq!(text.decode().unwrap(), "a\"b\u{e9}\u{1f600}\n");
    }

    #[test]
    fn bad_text_is_told_and_can_be_replaced() {
        let invalid = JsonText { raw: b"a\xffb", escaped: false };
        assert_eq!(invalid.decode(), None);
        assert_eq!(invalid.decode_lossy(), "a\u{fffd}b");
        let bad_escape = JsonText { raw: br"C:\path", escaped: true };
        assert_eq!(bad_escape.decode(), None);
        assert_eq!(bad_escape.decode_lossy(), r"C:\path");
    }

    #[test]
    fn ends_are_told_from_faults() {
        assert_eq!(Scanner::new(b"[1, {\"a\": ").skip_value(), Err(ScanFault::End));
        assert_eq!(Scanner::new(b"\"abc\\").string(), Err(ScanFault::End));
        assert_eq!(Scanner::new(b"?").skip_value(), Err(ScanFault::Unexpected));
        let deep = [b'['; 600];
        assert_eq!(Scanner::new(&deep).skip_value(), Err(ScanFault::Unexpected));
    }

    #[test]
    fn trailing_commas_and_empty_containers_pass() {
        let mut scanner = Scanner::new(b"{\"a\": 1,}");
        scanner.enter_object().unwrap();
        assert_eq!(scanner.next_key().unwrap().unwrap().raw, b"a");
        assert_eq!(scanner.skip_value().unwrap(), b"1");
        assert_eq!(scanner.next_key().unwrap(), None);
        let mut array = Scanner::new(b"[]");
        array.enter_array().unwrap();
        assert!(!array.next_element().unwrap());
    }

    #[test]
    fn canonical_text_is_strict_json() {
        assert_eq!(canonical(b" { \"a b\" : [ 1.50 , -Infinity,true ] } ").text, r#"{"a b":[1.50,"-Infinity",true]}"#);
        assert_eq!(canonical(b"\"\xff\"").text, "\"\u{fffd}\"");
        assert_eq!(canonical(b"[1 2]").text, r#""[1 2]""#);
        assert_eq!(canonical(b"[1, 2.\n5]").text, r#""[1, 2.\n5]""#);
        let strict = |text: &[u8]| canonical(text).is_strict;
        assert!(!strict(b"[1 2]") && !strict(b"[true false]") && !strict(b"1 2"));
        assert!(strict(b"[1, {\"a\": null}]"));
        assert!(!strict(b"NaN") && !strict(b"[1,,2]") && !strict(br#""C:\dir""#));
    }
}
