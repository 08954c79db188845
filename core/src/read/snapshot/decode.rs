//! Decodes parts of a snapshot, and reports their faults.

use serde::Deserialize;

use crate::error::{Error, ErrorKind, Position};
use crate::write::packed::{PackedNumbers, signed};
use crate::write::snapshot::VERSION;

/// Decodes the text of a section.
pub(super) fn encoded<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, Error> {
    let (content, rest) =
        postcard::take_from_bytes(text).map_err(|error| fault(&format!("invalid columns ({error})")))?;
    if rest.is_empty() { Ok(content) } else { Err(fault("extra bytes after the columns")) }
}

// Cold, so that there is one of it, and not one wherever it is called: every page carries them.
#[cold]
pub(super) fn fault(found: &str) -> Error {
    let (expected, found) = (u32::from(VERSION), found.to_owned());
    ErrorKind::Snapshot { expected, found, position: Position::default() }.into()
}

/// A column of handles.
pub(super) fn column<T>(packed: &PackedNumbers<'_>, handle: impl Fn(u32) -> T) -> Result<Vec<T>, Error> {
    let handle = |number| u32::try_from(number).ok().map(&handle);
    packed.unpacked(handle).ok_or_else(|| fault("a truncated or too large number"))
}

pub(super) fn cut() -> Error {
    fault("a truncated number")
}

pub(super) fn handles(packed: &PackedNumbers<'_>) -> Result<Vec<u32>, Error> {
    column(packed, |handle| handle)
}

pub(super) fn signed_numbers(packed: &PackedNumbers<'_>) -> Result<Vec<i64>, Error> {
    packed.unpacked(|number| Some(signed(number))).ok_or_else(cut)
}
