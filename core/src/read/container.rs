//! What the bytes are, whatever the file's name says, and the text inside.

use std::io::{BufReader, Cursor, Read};

use super::decompress::decompress;
use super::memory::is_memory_snapshot;
use super::pickle::NEWEST_PROTOCOL;
use super::timeline::is_memory_timeline;
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
    /// An xz stream.
    Xz,
    /// A zstd stream.
    Zstd,
    /// A tar archive.
    Tar,
    /// A zip archive.
    Zip,
    /// One of our own snapshots.
    Snapshot,
    /// A Chakra trace in protobuf.
    Chakra,
    /// A Chakra trace in JSON.
    ChakraJson,
    /// A pickle of a protocol that is read: perhaps a memory snapshot.
    Pickle,
    /// A memory snapshot in JSON.
    MemorySnapshot,
    /// A memory timeline in JSON.
    MemoryTimeline,
    /// An `SQLite` database, perhaps an export of Nsight Systems.
    Sqlite,
    /// Metrics sampled beside a trace, as JSON lines.
    Metrics,
    /// Nothing at all.
    Empty,
    /// Something else, in words.
    Other(&'static str),
}

impl Container {
    /// What it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Gzip => "a gzip stream",
            Self::Xz => "an xz stream",
            Self::Zstd => "a zstd stream",
            Self::Tar => "a tar archive",
            Self::Zip => "a zip archive",
            Self::Snapshot => "a kinetoscope snapshot",
            Self::Chakra => "a Chakra trace",
            Self::ChakraJson => "a Chakra trace in JSON",
            Self::Pickle => "a Python pickle",
            Self::MemorySnapshot => "a memory snapshot",
            Self::MemoryTimeline => "a memory timeline",
            Self::Sqlite => "an SQLite database",
            Self::Metrics => "metrics without the trace that they were sampled beside",
            Self::Empty => "an empty file",
            Self::Other(words) => words,
        }
    }

    fn is_stream(self) -> bool {
        matches!(self, Self::Gzip | Self::Xz | Self::Zstd)
    }
}

const BOM: &[u8] = b"\xef\xbb\xbf";

const PAGE: &str = "an HTML or XML page";

/// Pages that `PyTorch` makes of what is read in another form, each with words that stand in its head.
const PAGES: [(&str, &str); 2] = [
    (
        "GPU Memory Timeline HTML",
        "the HTML form of a memory timeline, which is a picture alone (export it as .json or .raw.json.gz)",
    ),
    ("MemoryViz.js", "the HTML form of a memory snapshot (dump it as a pickle)"),
];

/// First bytes of what is read, and of what people hand to a trace reader by mistake.
const SIGNATURES: [(&[u8], Container); 11] = [
    (b"\x1f\x8b", Container::Gzip),
    (b"\xfd7zXZ\0", Container::Xz),
    (b"\x28\xb5\x2f\xfd", Container::Zstd),
    (b"PK\x03\x04", Container::Zip),
    (super::snapshot::MAGIC, Container::Snapshot),
    (b"version https://git-lfs", Container::Other("a Git LFS pointer (the file itself was not fetched)")),
    (b"SQLite format 3\0", Container::Sqlite),
    (super::metrics::MARK, Container::Metrics),
    (b"BZh", Container::Other("a bzip2 stream")),
    (b"<", Container::Other(PAGE)),
    (b"\x7fELF", Container::Other("a program")),
];

const BINARY: &str = "binary data";

/// Recognises a file by its first bytes (a kilobyte is plenty).
pub fn sniff(head: &[u8]) -> Container {
    if head.get(257..262) == Some(b"ustar") {
        return Container::Tar;
    }
    let text = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    let found = SIGNATURES.iter().find(|(signature, _)| head.starts_with(signature) || text.starts_with(signature));
    #[cfg(feature = "chakra")]
    if !head.starts_with(BOM) && super::chakra::is_chakra(head) {
        return Container::Chakra;
    }
    match (found, text.first()) {
        // A frame of zstd that holds no text, before one that does.
        _ if matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]) => Container::Zstd,
        _ if matches!(head, [0x80, 2..=NEWEST_PROTOCOL, ..]) => Container::Pickle,
        (Some(_), Some(b'<')) => Container::Other(page(head)),
        (Some((_, container)), _) => *container,
        (None, None) => Container::Empty,
        #[cfg(feature = "chakra")]
        (None, Some(b'{')) if super::graph::is_graph(text) => Container::ChakraJson,
        (None, Some(b'{')) if is_memory_snapshot(text) => Container::MemorySnapshot,
        (None, Some(b'[')) if is_memory_timeline(text) => Container::MemoryTimeline,
        (None, Some(b'{' | b'[')) => Container::Json,
        (None, _) if head.iter().any(|byte| *byte < b'\t') => Container::Other(BINARY),
        (None, _) => Container::Other("text that is no JSON object or array"),
    }
}

/// What a page is.
fn page(head: &[u8]) -> &'static str {
    let head = &head[..head.len().min(HEAD_BYTES as usize)];
    let found = PAGES.iter().find(|(words, _)| head.windows(words.len()).any(|window| window == words.as_bytes()));
    found.map_or(PAGE, |(_, page)| *page)
}

/// A window on what a file holds, plain or in a compressed stream, with as much of it as [`sniff`] looks at.
pub(super) fn open(input: Input<'_>, limits: Limits) -> Result<Window<'_>, Error> {
    let mut window = match input.source {
        Source::Bytes(bytes) if !sniff(&bytes).is_stream() => Window::over(bytes, limits)?,
        source => Window::on(decompressed(source)?, limits),
    };
    while (window.text().len() as u64) < HEAD_BYTES && window.fill()? {}
    Ok(window)
}

/// Lets the window stand behind a byte order mark.
pub(super) fn skip_mark(window: &mut Window<'_>) {
    let bom = if window.text().starts_with(BOM) { BOM.len() } else { 0 };
    window.consume(bom);
}

/// Lets the window stand before JSON text. An error when it holds something else.
pub(super) fn expect_json(window: &mut Window<'_>, name: Option<&str>) -> Result<(), Error> {
    let container = sniff(window.text());
    let position = Position { file: name.map(Into::into), byte: Some(0), ..Position::default() };
    let found = container.words();
    let expected = match container {
        // It may be anything, a damaged Chakra trace or snapshot as well.
        Container::Other(BINARY) => "a trace, plain or in a compressed stream",
        _ if cfg!(feature = "archives") => "a JSON trace, plain or in a compressed stream",
        _ => "a JSON trace, plain or gzip",
    };
    match container {
        Container::Json => {
            skip_mark(window);
            Ok(())
        }
        Container::Empty => Err(ErrorKind::Malformed { expected, found: found.to_owned(), position }.into()),
        _ => Err(ErrorKind::Unsupported { expected, found: found.into(), position }.into()),
    }
}

/// What is inside a compressed stream; the stream itself where it is not compressed.
pub(super) fn decompressed(source: Source<'_>) -> Result<Box<dyn Read + Send + '_>, Error> {
    match source {
        Source::Bytes(bytes) => Ok(decompress(sniff(&bytes), Cursor::new(bytes))),
        Source::Stream(stream) => {
            let (container, whole) = sniff_stream(stream)?;
            Ok(decompress(container, BufReader::new(whole)))
        }
    }
}

/// Recognises a stream by its first bytes, and gives it back with them.
pub(super) fn sniff_stream<'a>(mut stream: impl Read + Send + 'a) -> Result<(Container, impl Read + Send + 'a), Error> {
    let mut head = Vec::new();
    stream.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    Ok((sniff(&head), Cursor::new(head).chain(stream)))
}

pub(super) fn unreadable(source: std::io::Error) -> Error {
    ErrorKind::Unreadable { source }.into()
}

/// As many bytes as are needed to recognise a file.
const HEAD_BYTES: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_not_the_name() {
        assert_eq!(sniff(b"\xef\xbb\xbf \r\n{"), Container::Json);
        assert_eq!(sniff(b"\xef\xbb\xbf{\n\"traceEvents\": ["), Container::Json);
        assert_eq!(sniff(b"\x1f\x8b\x08"), Container::Gzip);
        assert_eq!(sniff(b"  \n"), Container::Empty);
        assert_eq!(sniff(b"<!doctype html>"), Container::Other("an HTML or XML page"));
        assert_eq!(sniff(b"\x80\x04\x95"), Container::Pickle);
        assert_eq!(sniff(b"\x80\x01"), Container::Other(BINARY));
        assert_eq!(sniff(b" [[-1, 1,"), Container::MemoryTimeline);
        assert_eq!(sniff(b"{ \"device_traces\": ["), Container::MemorySnapshot);
        assert_eq!(sniff(b"hello"), Container::Other("text that is no JSON object or array"));
    }
}
