//! A file in an archive.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, CrcReader};

use super::is_archive;
use super::shared_bytes::{SharedBytes, Span};
use super::text_budget::{CountedText, TextBudget};
use crate::error::{Error, ErrorKind, Position, unreadable};
use crate::read::InputSource;
use crate::read::container::{Container, HEAD_BYTES, sniff};
use crate::read::open::decompressed;

/// A file in an archive. Its bytes stay where they are until it is read.
#[derive(Debug, Clone)]
pub struct ArchiveMember {
    /// Its path in the archive.
    pub name: String,
    /// Its content by its first bytes.
    pub container: Container,
    /// Whether it is an archive itself, perhaps in a compressed stream.
    pub is_archive: bool,
    /// Its size in bytes, as the archive states it.
    pub size: u64,
    /// Archive and path, for messages.
    pub label: String,
    stored: StoredMember,
    budget: Arc<TextBudget>,
    counted: Arc<AtomicU64>,
}

/// Where a member's bytes are.
#[derive(Debug, Clone)]
pub(super) enum StoredMember {
    /// As they are.
    Plain(Span),
    /// Compressed by the archive; with their checksum, if it has one.
    Deflated(Span, Option<u32>),
    /// Not kept.
    Nowhere(&'static str),
}

impl ArchiveMember {
    /// A member with these first bytes.
    pub(super) fn new(name: String, size: u64, stored: StoredMember, head: &[u8], archive: &ArchiveFacts) -> Self {
        let label = format!("{}/{name}", archive.label);
        let (budget, counted) = (Arc::clone(&archive.budget), Arc::default());
        Self { name, container: sniff(head), is_archive: is_archive(head), size, stored, label, budget, counted }
    }

    /// A member that lies in an archive.
    pub(super) fn in_place(name: String, size: u64, stored: StoredMember, archive: &ArchiveFacts) -> Self {
        let words = match stored.bytes().map(|bytes| first_bytes(bytes, HEAD_BYTES)) {
            Ok(Ok(head)) => return Self::new(name, size, stored, &head, archive),
            Ok(Err(_)) => "a damaged member",
            Err(found) => found,
        };
        Self { container: Container::Other(words), ..Self::new(name, size, stored, &[], archive) }
    }

    /// Number of bytes that the archive, or the memory, has of it.
    pub fn num_kept_bytes(&self) -> u64 {
        match &self.stored {
            StoredMember::Plain(span) | StoredMember::Deflated(span, _) => span.len(),
            StoredMember::Nowhere(_) => 0,
        }
    }

    /// Its bytes, as they are: perhaps compressed once more.
    ///
    /// # Errors
    /// When the archive compresses or encrypts it in a way that is not read here.
    pub fn bytes(&self) -> Result<Box<dyn Read + Send>, Error> {
        self.stored.bytes().map_err(|found| {
            let position = Position { file: Some(self.label.as_str().into()), ..Position::default() };
            let expected = "a member that is stored or deflated";
            ErrorKind::Unsupported { expected, found: found.into(), position }.into()
        })
    }

    /// Its first bytes, as they are; fewer where the archive is damaged.
    ///
    /// # Errors
    /// As in [`bytes`](Self::bytes), and when none can be read.
    pub fn head(&self, len: u64) -> Result<Vec<u8>, Error> {
        first_bytes(self.bytes()?, len).map_err(unreadable)
    }

    /// The text in its bytes, decompressed: a stream that fails when the members of the archive
    /// have more text together than its limit.
    ///
    /// # Errors
    /// When the first bytes cannot be read.
    pub fn text<'a>(&self, bytes: impl Read + Send + 'a) -> Result<Box<dyn Read + Send + 'a>, Error> {
        let text = decompressed(InputSource::Stream(Box::new(bytes)))?;
        Ok(Box::new(CountedText::new(text, &self.counted, &self.budget, &self.label)))
    }
}

impl StoredMember {
    /// The bytes; in words if they are not kept.
    fn bytes(&self) -> Result<Box<dyn Read + Send>, &'static str> {
        match self {
            Self::Plain(span) => Ok(Box::new(span.clone())),
            Self::Deflated(span, checksum) => Ok(inflated(span.clone(), *checksum)),
            Self::Nowhere(found) => Err(found),
        }
    }
}

/// As many bytes as a stream gives, up to `len`; an error if it gives none.
fn first_bytes(stream: impl Read, len: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    match stream.take(len).read_to_end(&mut head) {
        Err(error) if head.is_empty() => Err(error),
        _ => Ok(head),
    }
}

/// The facts that all members of an archive share.
pub(super) struct ArchiveFacts {
    /// The archive, for messages.
    pub(super) label: String,
    pub(super) budget: Arc<TextBudget>,
}

fn inflated(span: Span, checksum: Option<u32>) -> Box<dyn Read + Send> {
    let text = DeflateDecoder::new(span);
    match checksum {
        Some(expected) => Box::new(CheckedText { text: CrcReader::new(text), expected }),
        None => Box::new(text),
    }
}

/// A text that fails at its end if it has another checksum than the archive states.
struct CheckedText {
    text: CrcReader<DeflateDecoder<Span>>,
    expected: u32,
}

impl Read for CheckedText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let num_read = self.text.read(buffer)?;
        if num_read == 0 && !buffer.is_empty() && self.text.crc().sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum differs"));
        }
        Ok(num_read)
    }
}

/// Keeps the bytes of a member that can be read only once.
pub(super) fn kept(mut stream: impl Read) -> io::Result<StoredMember> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let len = bytes.len() as u64;
    Ok(StoredMember::Plain(SharedBytes::of_vec(bytes).span(0, len)))
}

/// Keeps a text that can be read only once: compressed if it is long, or if `rest` bytes of other
/// texts are kept as they are.
pub(super) fn kept_text(mut stream: impl Read, rest: &mut u64) -> io::Result<StoredMember> {
    let mut bytes = Vec::new();
    let max_plain = MAX_PLAIN.min(*rest);
    stream.by_ref().take(max_plain).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < max_plain {
        *rest -= bytes.len() as u64;
        return kept(bytes.as_slice());
    }
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
    io::copy(&mut bytes.as_slice().chain(stream), &mut packed)?;
    let packed = packed.finish()?;
    let len = packed.len() as u64;
    Ok(StoredMember::Deflated(SharedBytes::of_vec(packed).span(0, len), None))
}

/// A longer text is kept compressed.
const MAX_PLAIN: u64 = 16 << 20;
/// Bytes of texts of one archive that are kept as they are.
pub(super) const MAX_ALL_PLAIN: u64 = 256 << 20;
