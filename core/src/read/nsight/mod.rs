//! Reads exports of Nsight Systems as Kineto traces.
//!
//! `nsys export --type sqlite` writes a database with one table per kind of event. The reader
//! streams the rows as the text of a Kineto trace into the reader of Kineto traces. The position of
//! an event in that text is its id. Therefore exports support everything that Kineto traces
//! support.

mod call;
mod column;
mod copy;
mod device;
mod device_streams;
mod export;
mod export_state;
mod header;
mod kernel;
mod memory;
mod name;
mod nvtx;
mod nvtx_names;
mod nvtx_operator;
mod object;
mod row;
mod row_kind;
mod row_kinds;
mod title;

use std::io::{Read, Seek};

use super::builder::TraceBuilder;
use super::input::{Limits, ReadProgress};
use super::json_text::read_text;
use super::sqlite::SqlDatabase;
use super::text_window::TextWindow;
use crate::error::Error;
use crate::trace::Trace;
use export::{NsightExport, malformed};

/// Reads an export of Nsight Systems, which may be larger than the memory: pages of it are read as
/// they are needed. `name` is for messages, and `watch` is told how much of the file was read.
///
/// An export in memory is read by [`read_file`](super::read_file).
///
/// # Errors
/// When the source is no database or no export, when a limit is passed, and those of `watch`. A
/// table that is damaged further on is read up to there, and counted.
pub fn read_nsight(
    source: impl Read + Seek + Send,
    name: Option<&str>,
    limits: Limits,
    watch: Option<ReadProgress<'_>>,
) -> Result<Trace, Error> {
    let mut builder = TraceBuilder::default();
    read_export(source, name, watch, limits, &mut builder)?;
    builder.finish()
}

/// Whether a database whose first bytes these are is an export: it has a table of texts among the
/// first.
pub(super) fn is_export(head: &[u8]) -> bool {
    memchr::memmem::find(head, export::EXPORTS[0].as_bytes()).is_some()
}

/// The same as [`read_nsight`], into a trace in the making.
pub(super) fn read_export(
    source: impl Read + Seek + Send,
    name: Option<&str>,
    watch: Option<ReadProgress<'_>>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    let database = SqlDatabase::open(source).map_err(|fault| malformed(&fault, name))?;
    let mut export = NsightExport::new(database, name, watch, limits.include_environment)?;
    let window = TextWindow::on(Box::new(&mut export), limits);
    // The export has left out the environment itself, and counts tables by name.
    let limits = Limits { include_environment: true, ..limits };
    let earlier = std::mem::take(&mut builder.trace.warnings);
    read_text(window, name, limits, builder)?;
    // Where something stands in the text says nothing of the file.
    let mut found = std::mem::replace(&mut builder.trace.warnings, earlier);
    found.forget_bytes();
    builder.trace.warnings.extend(&found);
    builder.trace.warnings.extend(&export.warnings);
    Ok(())
}
