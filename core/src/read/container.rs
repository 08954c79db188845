//! What the bytes are, whatever the file's name says, and the text inside.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;

use super::{Input, Limits};
use crate::error::{Error, ErrorKind, Position};

/// What a file's first bytes say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// A JSON object or array, perhaps after a byte order mark.
    Json,
    /// A gzip stream.
    Gzip,
    /// One of our own snapshots.
    Snapshot,
    /// Nothing at all.
    Empty,
    /// Something else, in words.
    Other(&'static str),
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Signatures of what people hand to a trace reader by mistake, or that is not read yet.
const SIGNATURES: [(&[u8], &str); 9] = [
    (b"version https://git-lfs", "a Git LFS pointer (the file itself was not fetched)"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x28\xb5\x2f\xfd", "a zstd stream"),
    (b"\xfd7zXZ\0", "an xz stream"),
    (b"PK\x03\x04", "a zip archive"),
    (b"BZh", "a bzip2 stream"),
    (b"\x80", "a Python pickle"),
    (b"<", "an HTML or XML page"),
    (b"\x7fELF", "a program"),
];

/// Recognises a file by its first bytes (a kilobyte is plenty).
pub fn sniff(head: &[u8]) -> Container {
    if head.is_empty() {
        return Container::Empty;
    }
    if head.starts_with(b"\x1f\x8b") {
        return Container::Gzip;
    }
    if head.starts_with(super::snapshot::MAGIC) {
        return Container::Snapshot;
    }
    let text = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    if text.starts_with(b"{") || text.starts_with(b"[") {
        return Container::Json;
    }
    if text.is_empty() {
        return Container::Empty;
    }
    let found = SIGNATURES.iter().find(|(signature, _)| text.starts_with(signature)).map(|(_, words)| *words);
    let is_tar = head.get(257..262) == Some(b"ustar");
    let is_binary = head.iter().any(|byte| *byte < b'\t');
    Container::Other(match found {
        Some(words) => words,
        None if is_tar => "a tar archive",
        None if is_binary => "binary data",
        None => "text that is no JSON object or array",
    })
}

/// The decompressed text of a file.
pub(super) struct Inflated<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// Whether the stream ended early or failed its check.
    pub(super) is_damaged: bool,
}

/// The JSON text of a file, plain or gzip (of any number of members).
pub(super) fn inflate<'a>(input: &'a Input<'_>, limits: Limits) -> Result<Inflated<'a>, Error> {
    let inflated = match sniff(&input.bytes) {
        Container::Gzip => {
            let inflated = gunzip(&input.bytes, limits)?;
            reject(sniff(&inflated.text), input)?;
            inflated
        }
        container => {
            reject(container, input)?;
            check_limit(input.bytes.len() as u64, limits)?;
            Inflated { text: Cow::Borrowed(&input.bytes), is_damaged: false }
        }
    };
    Ok(match inflated.text {
        Cow::Borrowed(text) => Inflated { text: Cow::Borrowed(text.strip_prefix(BOM).unwrap_or(text)), ..inflated },
        Cow::Owned(mut text) => {
            if text.starts_with(BOM) {
                text.drain(..BOM.len());
            }
            Inflated { text: Cow::Owned(text), ..inflated }
        }
    })
}

fn reject(container: Container, input: &Input<'_>) -> Result<(), Error> {
    let position = Position { file: input.name.map(Into::into), byte: Some(0), event: None };
    let expected = "a JSON trace, plain or gzip";
    match container {
        Container::Json => Ok(()),
        Container::Empty => {
            Err(ErrorKind::Malformed { expected, found: String::from("an empty file"), position }.into())
        }
        Container::Gzip => Err(ErrorKind::Unsupported { expected, found: "gzip inside gzip", position }.into()),
        Container::Snapshot => {
            Err(ErrorKind::Unsupported { expected, found: "a kinetoscope snapshot", position }.into())
        }
        Container::Other(found) => Err(ErrorKind::Unsupported { expected, found, position }.into()),
    }
}

fn check_limit(num_bytes: u64, limits: Limits) -> Result<(), Error> {
    if num_bytes > limits.max_bytes {
        return Err(ErrorKind::Limit { unit: "bytes of decompressed text (max_bytes)", limit: limits.max_bytes }.into());
    }
    Ok(())
}

fn gunzip(bytes: &[u8], limits: Limits) -> Result<Inflated<'static>, Error> {
    let mut text = Vec::with_capacity(expected_size(bytes, limits));
    // One byte more than allowed, so that passing the limit can be told from reaching it.
    let mut decoder = MultiGzDecoder::new(bytes).take(limits.max_bytes.saturating_add(1));
    let is_damaged = decoder.read_to_end(&mut text).is_err();
    check_limit(text.len() as u64, limits)?;
    Ok(Inflated { text: Cow::Owned(text), is_damaged })
}

/// The size that a gzip file claims in its last four bytes, believed only as far as deflate can compress.
fn expected_size(bytes: &[u8], limits: Limits) -> usize {
    let claimed = bytes.last_chunk::<4>().map_or(0, |tail| u64::from(u32::from_le_bytes(*tail)));
    let believable = (bytes.len() as u64).saturating_mul(64);
    claimed.min(believable).min(limits.max_bytes) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_not_the_name() {
        assert_eq!(sniff(b"\xef\xbb\xbf \r\n{"), Container::Json);
        assert_eq!(sniff(b"\x1f\x8b\x08"), Container::Gzip);
        assert_eq!(sniff(b"  \n"), Container::Empty);
        assert_eq!(sniff(b"<!doctype html>"), Container::Other("an HTML or XML page"));
        assert_eq!(sniff(b"hello"), Container::Other("text that is no JSON object or array"));
    }
}
