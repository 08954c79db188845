//! Reads files of other profilers through the text of a Kineto trace that their rows or messages
//! become.

use std::io::{self, Read};

use super::builder::TraceBuilder;
use super::event_text::EventText;
use super::input::{Limits, ReadProgress};
use super::json_object::{JsonObject, object};
use super::json_text::read_text;
use super::sqlite::{SqlDatabase, SqlFault, SqlRecord, SqlTable};
use super::text_window::TextWindow;
use crate::error::Error;
use crate::warning::Warnings;

/// A trace whose text is made while it is read.
pub(super) trait ExportedText: Send {
    /// Replaces the text by the next piece; false at the end.
    fn advance(&mut self) -> io::Result<bool>;

    /// The piece at hand.
    fn text(&self) -> &[u8];

    /// Faults of the rows.
    fn warnings(&self) -> &Warnings;
}

/// A file that gives events first, then the keys of a header.
pub(super) trait ExportSource: Send {
    /// The object that holds the events, up to the first.
    const START: &'static [u8] = b"{\"schemaVersion\":1,\"traceEvents\":[\n";

    /// Events whose text was not given away.
    fn events(&self) -> &EventText;

    fn events_mut(&mut self) -> &mut EventText;

    /// Adds events that stand before all others.
    fn write_start(&mut self) {}

    /// Adds some more events; false when there are none.
    fn write_piece(&mut self) -> io::Result<bool>;

    /// Adds the keys of the header, after all events.
    fn write_header(&mut self, header: &mut JsonObject<'_>);

    /// Bytes of the file that were read since the last call.
    fn num_new_bytes(&mut self) -> u64 {
        0
    }

    /// Faults of the file.
    fn warnings(&self) -> &Warnings;
}

/// Text made at a time, unless a row or a message is longer.
pub(super) const CHUNK_BYTES: usize = 1 << 18;

/// The way through a file.
pub(super) struct ExportWalk<'a, S> {
    source: S,
    watch: Option<ReadProgress<'a>>,
    place: ExportPlace,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportPlace {
    Start,
    Pieces,
    End,
}

impl<'a, S> ExportWalk<'a, S> {
    pub(super) fn new(source: S, watch: Option<ReadProgress<'a>>) -> Self {
        Self { source, watch, place: ExportPlace::Start }
    }
}

impl<S: ExportSource> ExportedText for ExportWalk<'_, S> {
    fn advance(&mut self) -> io::Result<bool> {
        let source = &mut self.source;
        source.events_mut().out.clear();
        match self.place {
            ExportPlace::Start => {
                source.events_mut().out.extend_from_slice(S::START);
                source.write_start();
                self.place = ExportPlace::Pieces;
            }
            ExportPlace::Pieces => {
                if !source.write_piece()? {
                    let mut out = Vec::new();
                    object(&mut out, |header| source.write_header(header));
                    // The keys of the object that holds the events.
                    let end: &[u8] = if out.len() > 2 { b"\n],\n" } else { b"\n]" };
                    source.events_mut().out.extend_from_slice(end);
                    source.events_mut().out.extend_from_slice(&out[1..]);
                    self.place = ExportPlace::End;
                }
            }
            ExportPlace::End => return Ok(false),
        }
        let num_new = source.num_new_bytes();
        self.watch.as_mut().map_or(Ok(()), |watch| watch(num_new))?;
        Ok(true)
    }

    fn text(&self) -> &[u8] {
        &self.source.events().out
    }

    fn warnings(&self) -> &Warnings {
        self.source.warnings()
    }
}

/// Gives the text of a trace, piece by piece.
struct ExportedReader<T> {
    exported: T,
    /// How much of the piece at hand was given.
    num_given: usize,
}

impl<T: ExportedText> Read for ExportedReader<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.num_given == self.exported.text().len() {
            self.num_given = 0;
            if !self.exported.advance()? {
                return Ok(0);
            }
        }
        let count = (&self.exported.text()[self.num_given..]).read(buffer)?;
        self.num_given += count;
        Ok(count)
    }
}

/// Reads a trace from the text that its rows become.
pub(super) fn read_exported(
    exported: impl ExportedText,
    name: Option<&str>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    let mut reader = ExportedReader { exported, num_given: 0 };
    let window = TextWindow::on(Box::new(&mut reader), limits);
    // The export has left out the environment itself, and counts tables by name.
    let limits = Limits { include_environment: true, ..limits };
    let earlier = std::mem::take(&mut builder.trace.warnings);
    read_text(window, name, limits, builder)?;
    // Where something stands in the text says nothing of the file.
    let mut found = std::mem::replace(&mut builder.trace.warnings, earlier);
    found.forget_bytes();
    builder.trace.warnings.extend(&found);
    builder.trace.warnings.extend(reader.exported.warnings());
    Ok(())
}

/// Rows read at a time, however little text they make.
const CHUNK_ROWS: usize = 1 << 12;

/// Reads some rows of a table, from one on, until `take` has enough. Gives where to go on; `None`
/// at the table's end.
pub(super) fn read_rows(
    (database, table): (&SqlDatabase<'_>, &SqlTable),
    from: i64,
    mut take: impl FnMut(&SqlRecord) -> bool,
) -> Result<Option<i64>, SqlFault> {
    let (mut rows, mut next) = (database.rows(table, from), Some(from));
    for _ in 0..CHUNK_ROWS {
        let Some(record) = rows.next()? else { return Ok(None) };
        next = record.row.checked_add(1);
        if take(record) || next.is_none() {
            break;
        }
    }
    Ok(next)
}

/// How many of a database's bytes the rows read so far stand for.
#[derive(Debug)]
pub(super) struct ExportProgress {
    file_bytes: u64,
    total_rows: u64,
    pub(super) rows_read: u64,
    bytes_told: u64,
}

impl ExportProgress {
    /// Progress through these tables. A table that cannot be read counts as damaged when its turn
    /// comes.
    pub(super) fn new<'t>(database: &SqlDatabase<'_>, tables: impl Iterator<Item = &'t SqlTable>) -> Self {
        let last = |table| u64::try_from(database.last_row(table).ok().flatten().unwrap_or(0)).unwrap_or(0);
        let total_rows = tables.map(last).fold(0, u64::saturating_add).max(1);
        Self { file_bytes: database.num_bytes(), total_rows, rows_read: 0, bytes_told: 0 }
    }

    pub(super) fn finish(&mut self) {
        self.rows_read = self.total_rows;
    }

    /// Bytes that are not reported yet.
    pub(super) fn advance(&mut self) -> u64 {
        let read = self.rows_read.min(self.total_rows);
        let told = (u128::from(self.file_bytes) * u128::from(read) / u128::from(self.total_rows)) as u64;
        told.saturating_sub(std::mem::replace(&mut self.bytes_told, told))
    }
}

/// Rows are counted up to so many, in one table and in all: to count them is to read them.
const MAX_COUNT: u64 = 1_000_000;
const MAX_COUNTED: u64 = 10_000_000;

/// Writes the number of rows of each of these tables that has some.
pub(super) fn write_counts<'t>(
    counts: &mut JsonObject<'_>,
    database: &SqlDatabase<'_>,
    tables: impl Iterator<Item = &'t SqlTable>,
) {
    let mut left = MAX_COUNTED;
    for table in tables {
        let limit = left.min(MAX_COUNT);
        match database.rows(table, i64::MIN).count(limit + 1) {
            Ok(0) => {}
            Ok(count) => {
                left -= count.min(limit);
                if count > limit {
                    counts.text(&table.name, format!("more than {limit}").as_bytes());
                } else {
                    counts.integer(&table.name, count as i64);
                }
            }
            Err(fault) => counts.text(&table.name, fault.to_string().as_bytes()),
        }
    }
}
