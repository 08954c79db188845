//! Reads tar and zip archives. Members are read where they are, or kept compressed, so that an
//! archive takes no more memory than its traces do.

mod member;
mod shared_bytes;
mod text_budget;

use std::io::{self, Cursor, Read};
use std::sync::Arc;

pub use member::ArchiveMember;
use member::{ArchiveFacts, MAX_ALL_PLAIN, StoredMember, kept, kept_text};
pub use shared_bytes::ReadAt;
use shared_bytes::{SharedBytes, Span};
use text_budget::{CountedText, TextBudget};
use zip::CompressionMethod;

use super::container::{Container, HEAD_BYTES, sniff};
use super::input::{Input, InputSource, Limits};
use super::open::{decompressed, sniff_stream};
use crate::error::{Error, unreadable};

/// Where the bytes of an archive are.
pub enum ArchiveSource<'a> {
    /// On disk or in memory.
    InPlace(Arc<dyn ReadAt>),
    /// Still to be read, once.
    Stream(Box<dyn Read + Send + 'a>),
}

/// Gives `each` the files in a tar archive (perhaps in a compressed stream) or in a zip archive, in
/// the order of the archive; false when the file is no archive. Folders are left out, and so are
/// the shadows that macOS puts beside each file. `label` names the archive in messages.
///
/// The text of all members together may have `limits.max_bytes`: reading more of it fails.
///
/// # Errors
/// When the archive cannot be read, when a stream has more bytes than the limit, and those of
/// `each`.
pub fn for_each_member(
    source: ArchiveSource<'_>,
    label: &str,
    limits: Limits,
    mut each: impl FnMut(ArchiveMember) -> Result<(), Error>,
) -> Result<bool, Error> {
    let facts = ArchiveFacts { label: label.to_owned(), budget: Arc::new(TextBudget::new(limits.max_bytes)) };
    let bytes = match source {
        ArchiveSource::InPlace(bytes) => SharedBytes(bytes),
        ArchiveSource::Stream(stream) => return of_stream(stream, &facts, limits, &mut each),
    };
    let mut head = Vec::new();
    whole(&bytes)?.take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    match sniff(&head) {
        Container::Tar => tar_in_place(&bytes, &facts, &mut each)?,
        Container::Zip => zip_members(&bytes, &facts, &mut each)?,
        _ => return of_stream(Box::new(whole(&bytes)?), &facts, limits, &mut each),
    }
    Ok(true)
}

/// Whether a file that starts with these bytes is an archive, perhaps in a compressed stream.
pub fn is_archive(head: &[u8]) -> bool {
    let inside = decompressed(Input::new(head).source).and_then(sniff_stream);
    inside.is_ok_and(|(container, _)| matches!(container, Container::Tar | Container::Zip))
}

/// The action for each file.
type MemberAction<'a> = &'a mut dyn FnMut(ArchiveMember) -> Result<(), Error>;

fn whole(bytes: &SharedBytes) -> Result<Span, Error> {
    Ok(bytes.span(0, bytes.len().map_err(unreadable)?))
}

fn of_stream(
    stream: Box<dyn Read + Send + '_>,
    facts: &ArchiveFacts,
    limits: Limits,
    each: MemberAction<'_>,
) -> Result<bool, Error> {
    let (container, text) = sniff_stream(decompressed(InputSource::Stream(stream))?)?;
    // The stream has a limit of its own: what is left out counts, too.
    let budget = Arc::new(TextBudget::new(limits.max_bytes));
    let mut text = CountedText::new(text, &Arc::default(), &budget, &facts.label);
    match container {
        Container::Tar => tar_in_stream(text, facts, each)?,
        Container::Zip => {
            let mut bytes = Vec::new();
            text.read_to_end(&mut bytes).map_err(unreadable)?;
            zip_members(&SharedBytes::of_vec(bytes), facts, each)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn tar_in_place(bytes: &SharedBytes, facts: &ArchiveFacts, each: MemberAction<'_>) -> Result<(), Error> {
    let len = bytes.len().map_err(unreadable)?;
    let mut end = 0;
    let mut archive = tar::Archive::new(bytes.span(0, len));
    for entry in archive.entries_with_seek().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (start, size) = (entry.raw_file_position(), entry.size());
        end = start.saturating_add(size);
        if end > len {
            break;
        }
        if let Some(name) = tar_name(&entry) {
            let stored = StoredMember::Plain(bytes.span(start, size));
            each(ArchiveMember::in_place(name, size, stored, facts))?;
        }
    }
    // A reader that seeks takes a missing end for the end of the archive.
    if end.next_multiple_of(TAR_BLOCK) > len { Err(unreadable(io::ErrorKind::UnexpectedEof.into())) } else { Ok(()) }
}

/// Files in a tar archive are padded to multiples of these bytes.
const TAR_BLOCK: u64 = 512;

fn tar_in_stream(stream: impl Read, facts: &ArchiveFacts, each: MemberAction<'_>) -> Result<(), Error> {
    let mut rest = MAX_ALL_PLAIN;
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let Some(name) = tar_name(&entry) else { continue };
        let size = entry.size();
        let mut head = Vec::new();
        entry.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
        let container = sniff(&head);
        let content = Cursor::new(&head).chain(entry);
        let stored = match container {
            _ if container.is_stream() => kept(content).map_err(unreadable)?,
            _ if container.may_be_recording() => kept_text(content, &mut rest).map_err(unreadable)?,
            _ => StoredMember::Nowhere(container.words()),
        };
        each(ArchiveMember::new(name, size, stored, &head, facts))?;
    }
    Ok(())
}

/// The path of a file that is wanted.
fn tar_name(entry: &tar::Entry<'_, impl Read>) -> Option<String> {
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    (entry.header().entry_type().is_file() && is_wanted(&name)).then_some(name)
}

fn zip_members(bytes: &SharedBytes, facts: &ArchiveFacts, each: MemberAction<'_>) -> Result<(), Error> {
    let broken = |error: zip::result::ZipError| unreadable(io::Error::other(error));
    let mut archive = zip::ZipArchive::new(whole(bytes)?).map_err(broken)?;
    for at in 0..archive.len() {
        let file = archive.by_index_raw(at).map_err(broken)?;
        let name = file.name().map_err(broken)?.into_owned();
        if file.is_file() && is_wanted(&name) {
            let span = bytes.span(file.data_start().unwrap_or(u64::MAX), file.compressed_size());
            let stored = match file.compression() {
                _ if file.encrypted() => StoredMember::Nowhere("an encrypted member"),
                CompressionMethod::Stored => StoredMember::Plain(span),
                CompressionMethod::Deflated => StoredMember::Deflated(span, Some(file.crc32())),
                _ => StoredMember::Nowhere("a member with another compression"),
            };
            let size = file.size();
            drop(file);
            each(ArchiveMember::in_place(name, size, stored, facts))?;
        }
    }
    Ok(())
}

/// Whether a name is not that of a shadow that macOS made (`._trace.json`, `__MACOSX/…`).
fn is_wanted(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    !file.starts_with("._") && !name.starts_with("__MACOSX/")
}
