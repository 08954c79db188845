//! What the bytes are, whatever the file's name says, and the text inside.

use std::io::{BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use super::window::Window;
use super::{Input, Limits, Source};
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

/// A window on the JSON text of a file, plain or gzip (of any number of members).
pub(super) fn open(input: Input<'_>, limits: Limits) -> Result<Window<'_>, Error> {
    let name = input.name;
    let mut window = match input.source {
        Source::Bytes(bytes) if sniff(&bytes) == Container::Gzip => {
            Window::on(Box::new(MultiGzDecoder::new(Cursor::new(bytes))), limits)
        }
        Source::Bytes(bytes) => Window::over(bytes, limits)?,
        Source::Stream(mut stream) => {
            let mut head = Vec::new();
            stream.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
            let is_gzip = sniff(&head) == Container::Gzip;
            let whole = Cursor::new(head).chain(stream);
            let text: Box<dyn Read + Send> =
                if is_gzip { Box::new(MultiGzDecoder::new(BufReader::new(whole))) } else { Box::new(whole) };
            Window::on(text, limits)
        }
    };
    while (window.text().len() as u64) < HEAD_BYTES && window.fill()? {}
    reject(sniff(window.text()), name)?;
    let bom = if window.text().starts_with(BOM) { BOM.len() } else { 0 };
    window.consume(bom);
    Ok(window)
}

/// As many bytes as are needed to recognise a file.
const HEAD_BYTES: u64 = 1024;

fn unreadable(source: std::io::Error) -> Error {
    ErrorKind::Unreadable { source }.into()
}

fn reject(container: Container, name: Option<&str>) -> Result<(), Error> {
    let position = Position { file: name.map(Into::into), byte: Some(0), event: None };
    let expected = "a JSON trace, plain or gzip";
    let found = match container {
        Container::Json => return Ok(()),
        Container::Empty => {
            let found = String::from("an empty file");
            return Err(ErrorKind::Malformed { expected, found, position }.into());
        }
        Container::Gzip => "gzip inside gzip",
        Container::Snapshot => "a kinetoscope snapshot",
        Container::Other(found) => found,
    };
    Err(ErrorKind::Unsupported { expected, found, position }.into())
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
