//! Reads tar and zip archives.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use super::container::Container;
use super::input::{Input, Limits};
use super::open::{decompressed, sniff_stream, unreadable};
use crate::error::{Error, ErrorKind};

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveMember {
    /// Its path in the archive.
    pub name: String,
    /// Its bytes, as they are: perhaps compressed once more.
    pub bytes: Vec<u8>,
}

/// Gives `each` the files in a tar archive (perhaps in a compressed stream) or in a zip archive, in
/// the order of the archive; false when the file is no archive. Folders are left out, and so are
/// the shadows that macOS puts beside each file.
///
/// # Errors
/// When the archive cannot be read, when the files in it are larger together than
/// `limits.max_bytes`, and those of `each`.
pub fn for_each_member(
    input: Input<'_>,
    limits: Limits,
    mut each: impl FnMut(ArchiveMember) -> Result<(), Error>,
) -> Result<bool, Error> {
    let (container, whole) = sniff_stream(decompressed(input.source)?)?;
    let mut rest = limits.max_bytes;
    match container {
        Container::Tar => tar_members(whole, &mut rest, &mut each)?,
        Container::Zip => zip_members(whole, &mut rest, &mut each)?,
        _ => return Ok(false),
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

fn tar_members(stream: impl Read, rest: &mut u64, each: MemberAction<'_>) -> Result<(), Error> {
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type().is_file() && is_wanted(&name) {
            let bytes = read_all(&mut entry, rest)?;
            each(ArchiveMember { name, bytes })?;
        }
    }
    Ok(())
}

fn zip_members(stream: impl Read, rest: &mut u64, each: MemberAction<'_>) -> Result<(), Error> {
    let bytes = read_all(stream, &mut rest.clone())?;
    let broken = |error: zip::result::ZipError| unreadable(std::io::Error::other(error));
    let mut archive = zip::ZipArchive::new(Cursor::new(Cow::<[u8]>::Owned(bytes))).map_err(broken)?;
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(broken)?;
        let name = file.name().map_err(broken)?.into_owned();
        if file.is_file() && is_wanted(&name) {
            let bytes = read_all(file, rest)?;
            each(ArchiveMember { name, bytes })?;
        }
    }
    Ok(())
}

/// Whether a name is not that of a shadow that macOS made (`._trace.json`, `__MACOSX/…`).
fn is_wanted(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    !file.starts_with("._") && !name.starts_with("__MACOSX/")
}

fn read_all(stream: impl Read, rest: &mut u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    stream.take(rest.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    let left = rest.checked_sub(bytes.len() as u64);
    *rest =
        left.ok_or(ErrorKind::Limit { unit: "bytes in an archive (raise max_bytes to allow more)", limit: *rest })?;
    Ok(bytes)
}
