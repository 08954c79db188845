//! Reads JSON text, on a second thread if the limits allow one.

use std::sync::Arc;

use super::builder::TraceBuilder;
use super::input::Limits;
use super::text_window::TextWindow;
use super::{document, pipe};
use crate::error::{Error, unreadable};
use crate::threads;

/// Reads the text that a window stands before, while another thread brings it where there may be
/// one.
pub(super) fn read_text(
    window: TextWindow<'_>,
    name: Option<&str>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    let mut read = |window| document::read_document(window, name.map(Arc::from), limits, builder);
    if threads::ARE_THERE && limits.max_threads > 1 {
        pipe::read_beside(window, read).map_err(unreadable)?
    } else {
        read(window)
    }
}
