//! Exports of Nsight Systems: read as the Kineto traces that they would be.
//!
//! `nsys export --type sqlite` writes a database with a table for each sort of event. Its rows are turned into the text of
//! a Kineto trace as they are read, and the one reader of such texts makes the trace. So an event's place in that text
//! is its id, and everything that can be done with a Kineto trace can be done with an export.

mod call;
mod column;
mod copy;
mod database;
mod device;
mod export;
mod header;
mod kernel;
mod memory;
mod name;
mod nvtx;
mod object;
mod place;
mod row;
mod scene;
mod sort;
mod title;

use std::path::Path;

use super::builder::Builder;
use super::window::Window;
use super::{Limits, Watch, read_text};
use crate::error::Error;
use crate::trace::Trace;
pub(super) use database::Database;
use export::Export;

/// Reads the export of Nsight Systems in a file, which may be larger than the memory: pages of it are read as they are
/// needed. `name` is for messages, and `watch` is told how much of the file was read.
///
/// An export in memory is read by [`read_file`](super::read_file).
///
/// # Errors
/// When the database cannot be opened or is no export, when a limit is passed, and those of `watch`. A table that is
/// damaged further on is read up to there, and counted.
pub fn read_nsight(path: &Path, name: Option<&str>, limits: Limits, watch: Option<Watch<'_>>) -> Result<Trace, Error> {
    let mut builder = Builder::default();
    read_export(Database::at_path(path, name)?, watch, limits, &mut builder)?;
    builder.finish()
}

/// Whether a database whose first bytes these are is an export: it has a table of texts among the first.
pub(super) fn is_export(head: &[u8]) -> bool {
    memchr::memmem::find(head, export::EXPORTS[0].as_bytes()).is_some()
}

/// The same as [`read_nsight`], into a trace in the making.
pub(super) fn read_export(
    database: Database<'_>,
    watch: Option<Watch<'_>>,
    limits: Limits,
    builder: &mut Builder,
) -> Result<(), Error> {
    let name = database.name;
    let mut export = Export::new(database, watch)?;
    let window = Window::on(Box::new(&mut export), limits);
    let earlier = std::mem::take(&mut builder.trace.warnings);
    read_text(window, name, limits, builder)?;
    // Where something stands in the text says nothing of the file.
    let mut found = std::mem::replace(&mut builder.trace.warnings, earlier);
    found.forget_bytes();
    builder.trace.warnings.extend(&found);
    builder.trace.warnings.extend(&export.warnings);
    Ok(())
}
