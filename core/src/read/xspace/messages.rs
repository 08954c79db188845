//! Splits a file into its messages.

use std::ops::Range;

use crate::error::Error;
use crate::read::text_window::TextWindow;
use crate::read::wire::{WireFields, varint};

/// The tag and the length of a message have at most so many bytes.
const MAX_HEAD_BYTES: usize = 20;

/// The messages of a file, one after the other.
pub(super) struct SpaceMessages<'a> {
    pub(super) window: TextWindow<'a>,
    /// The message at hand, in the window.
    message: Range<usize>,
    /// Whether the file ends inside a message, or goes on with something else.
    pub(super) is_cut: bool,
}

impl<'a> SpaceMessages<'a> {
    pub(super) fn new(window: TextWindow<'a>) -> Self {
        Self { window, message: 0..0, is_cut: false }
    }

    /// The message at hand.
    pub(super) fn message(&self) -> &[u8] {
        &self.window.text()[self.message.clone()]
    }

    /// Goes on to the next message, and gives its number; `None` at the end. The last one may be
    /// cut. Numbers have none.
    pub(super) fn advance(&mut self) -> Result<Option<u32>, Error> {
        self.window.consume(self.message.end);
        self.message = 0..0;
        while !self.is_cut {
            let text = self.window.text();
            let found = head_of(text);
            let num_bytes = text.len();
            match found {
                Some((field, range)) if range.end <= num_bytes => {
                    self.message = range;
                    return Ok(Some(field));
                }
                None if num_bytes >= MAX_HEAD_BYTES => self.is_cut = true,
                _ if self.window.fill()? => {}
                _ if num_bytes == 0 => break,
                _ => {
                    self.is_cut = true;
                    let Some((field, range)) = found else { break };
                    self.message = range.start..num_bytes;
                    return Ok(Some(field));
                }
            }
        }
        Ok(None)
    }
}

/// The number of the field at the start of these bytes, and where its bytes are.
fn head_of(bytes: &[u8]) -> Option<(u32, Range<usize>)> {
    let (tag, rest) = varint(bytes)?;
    let field = u32::try_from(tag >> 3).ok().filter(|field| *field > 0)?;
    if tag & 7 != 2 {
        let mut fields = WireFields::new(bytes);
        fields.next()?;
        let end = bytes.len() - fields.rest().len();
        return Some((field, end..end));
    }
    let (length, rest) = varint(rest)?;
    let start = bytes.len() - rest.len();
    // A length that no memory holds is never reached.
    Some((field, start..start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX / 2))))
}
