//! Streams a database of `ROCm` as the text of a Kineto trace.

use std::io;
use std::sync::Arc;

use super::rocpd;
use super::rocpd_set::write_devices;
use super::row::RocmRow;
use super::rpd;
use super::stage::{RocmKnown, RocmStage};
use crate::error::Position;
use crate::read::event_text::EventText;
use crate::read::exported::{ExportProgress, ExportedText, read_rows, write_counts};
use crate::read::input::ReadProgress;
use crate::read::json_object::{JsonObject, object};
use crate::read::sqlite::{SqlDatabase, SqlTable};
use crate::warning::{WarningKind, Warnings};

/// Text made at a time, unless a row is longer.
const CHUNK_BYTES: usize = 1 << 18;

/// A database of `ROCm` that is being read.
pub(in crate::read) struct RocmExport<'a> {
    database: SqlDatabase<'a>,
    tables: Vec<Arc<SqlTable>>,
    stages: Vec<RocmStage>,
    /// The stage that is followed, and the row that it goes on with.
    at: usize,
    next_row: Option<i64>,
    events: EventText,
    known: RocmKnown,
    progress: ExportProgress,
    watch: Option<ReadProgress<'a>>,
    file: Option<Arc<str>>,
    warnings: Warnings,
    place: ExportPlace,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportPlace {
    Start,
    Rows,
    End,
}

impl<'a> RocmExport<'a> {
    pub(in crate::read) fn new(
        (database, tables): (SqlDatabase<'a>, Vec<Arc<SqlTable>>),
        name: Option<&str>,
        watch: Option<ReadProgress<'a>>,
    ) -> Self {
        let mut known = RocmKnown::default();
        let mut stages = rpd::stages(&database, &tables, &mut known.rpd);
        stages.extend(rocpd::stages(&database, &tables, &mut known.sets));
        let progress = ExportProgress::new(&database, stages.iter().map(|stage| &*stage.table));
        Self {
            database,
            tables,
            stages,
            at: 0,
            next_row: Some(i64::MIN),
            events: EventText::default(),
            known,
            progress,
            watch,
            file: name.map(Arc::from),
            warnings: Warnings::default(),
            place: ExportPlace::Start,
        }
    }

    /// Reads some rows of the table at hand.
    fn read_stage(&mut self) {
        let Self { database, stages, known, events, progress, warnings, .. } = self;
        let (stage, from) = (&stages[self.at], self.next_row.unwrap_or(i64::MAX));
        let named = |what: &str| {
            let words = [self.file.as_deref(), Some(&*stage.table.name), Some(what)];
            words.into_iter().flatten().collect::<Vec<_>>().join(": ")
        };
        let read = read_rows((database, &stage.table), from, |record| {
            progress.rows_read += 1;
            let row = RocmRow { database, record, columns: &stage.columns };
            if !(stage.write)(&row, stage.set, known, events) {
                let file = Some(named(&format!("row {}", record.row)).into());
                warnings.push(WarningKind::InvalidValue, || Position { file, ..Position::default() });
            }
            events.out.len() > CHUNK_BYTES
        });
        self.next_row = read.unwrap_or_else(|fault| {
            let position = || Position { file: Some(named(&fault.to_string()).into()), ..Position::default() };
            warnings.push(WarningKind::DamagedTable, position);
            None
        });
        if self.next_row.is_none() {
            self.at += 1;
            self.next_row = Some(i64::MIN);
        }
    }

    fn write_end(&mut self) {
        let mut out = Vec::new();
        object(&mut out, |header| {
            write_devices(&self.known.sets, header);
            header.object("rocm_unread", |counts| self.write_unread(counts));
        });
        // The keys of the object that holds the events.
        self.events.out.extend_from_slice(b"\n],\n");
        self.events.out.extend_from_slice(&out[1..]);
    }

    /// Counts rows of tables that hold events, but are not read.
    fn write_unread(&self, counts: &mut JsonObject<'_>) {
        const READ: [&str; 3] = ["rocpd_string", "rocpd_metadata", "rocpd_info_"];
        let is_support = |name: &str| READ.iter().any(|start| name.starts_with(start)) || rpd::is_support(name);
        let is_read = |table: &SqlTable| {
            is_support(&table.name)
                || rocpd::is_support(&table.name)
                || self.stages.iter().any(|stage| stage.table.name == table.name)
        };
        let unread = self.tables.iter().filter(|table| !is_read(table)).map(|table| &**table);
        write_counts(counts, &self.database, unread);
    }
}

impl ExportedText for RocmExport<'_> {
    fn advance(&mut self) -> io::Result<bool> {
        self.events.out.clear();
        match self.place {
            ExportPlace::Start => {
                self.events.out.extend_from_slice(b"{\"schemaVersion\":1,\"traceEvents\":[\n");
                self.known.sets.iter().for_each(|set| set.write_names(&mut self.events));
                self.place = ExportPlace::Rows;
            }
            ExportPlace::Rows if self.at < self.stages.len() => self.read_stage(),
            ExportPlace::Rows => {
                self.write_end();
                self.progress.finish();
                self.place = ExportPlace::End;
            }
            ExportPlace::End => return Ok(false),
        }
        let num_new = self.progress.advance();
        self.watch.as_mut().map_or(Ok(()), |watch| watch(num_new))?;
        Ok(true)
    }

    fn text(&self) -> &[u8] {
        &self.events.out
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}
