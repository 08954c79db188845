//! Streams tables of a database as the text of a Kineto trace, each row on its own.

use std::io;
use std::sync::Arc;

use super::event_text::EventText;
use super::exported::{CHUNK_BYTES, ExportProgress, ExportSource, read_rows, write_counts};
use super::json_object::JsonObject;
use super::sqlite::{SqlDatabase, SqlTable};
use super::table_row::{TableColumns, TableRow};
use crate::error::Position;
use crate::warning::{WarningKind, Warnings};

/// A format of databases, with the facts that its rows refer to.
pub(super) trait TableFormat: Send {
    /// The key of the header with the number of rows in tables that are not read.
    const UNREAD: &'static str;

    /// Whether a table only adds to the rows of others.
    fn is_support(name: &str) -> bool;

    /// Adds events that stand before all others.
    fn write_start(&self, _: &mut EventText) {}

    /// Adds keys of the header.
    fn write_header(&mut self, header: &mut JsonObject<'_>);
}

/// Adds a row of a set, and notes what is wrong with it.
pub(super) type WriteRow<F> = fn(&TableRow<'_>, usize, &mut F, &mut EventText);

/// A table whose rows become events.
pub(super) struct TableStage<F> {
    pub(super) table: Arc<SqlTable>,
    columns: TableColumns,
    /// The set that the table belongs to.
    set: usize,
    write: WriteRow<F>,
}

impl<F> TableStage<F> {
    pub(super) fn new(table: &Arc<SqlTable>, names: &[&str], set: usize, write: WriteRow<F>) -> Self {
        Self { table: Arc::clone(table), columns: TableColumns::new(table, names), set, write }
    }
}

/// A database that is being read.
pub(super) struct TableExport<'a, F> {
    database: SqlDatabase<'a>,
    tables: Vec<Arc<SqlTable>>,
    stages: Vec<TableStage<F>>,
    /// The stage that is followed, and the row that it goes on with.
    at: usize,
    next_row: Option<i64>,
    events: EventText,
    known: F,
    progress: ExportProgress,
    file: Option<Arc<str>>,
    warnings: Warnings,
}

impl<'a, F: TableFormat> TableExport<'a, F> {
    pub(super) fn new(
        (database, tables): (SqlDatabase<'a>, Vec<Arc<SqlTable>>),
        stages: Vec<TableStage<F>>,
        known: F,
        name: Option<&str>,
    ) -> Self {
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
            file: name.map(Arc::from),
            warnings: Warnings::default(),
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
            let row = TableRow::new(database, record, &stage.columns);
            (stage.write)(&row, stage.set, known, events);
            for kind in row.into_defects() {
                let file = || Some(named(&format!("row {}", record.row)).into());
                warnings.push(kind, || Position { file: file(), ..Position::default() });
            }
            events.out.len() > CHUNK_BYTES
        });
        self.next_row = read.unwrap_or_else(|fault| {
            let position = || Position { file: Some(named(&fault.to_string()).into()), ..Position::default() };
            warnings.push(WarningKind::DamagedTable, position);
            None
        });
    }

    /// Counts rows of tables that hold events, but are not read.
    fn write_unread(&self, counts: &mut JsonObject<'_>) {
        let is_read = |table: &SqlTable| {
            F::is_support(&table.name) || self.stages.iter().any(|stage| stage.table.name == table.name)
        };
        let unread = self.tables.iter().filter(|table| !is_read(table)).map(|table| &**table);
        write_counts(counts, &self.database, unread);
    }
}

impl<F: TableFormat> ExportSource for TableExport<'_, F> {
    fn events(&self) -> &EventText {
        &self.events
    }

    fn events_mut(&mut self) -> &mut EventText {
        &mut self.events
    }

    fn write_start(&mut self) {
        self.known.write_start(&mut self.events);
    }

    fn write_piece(&mut self) -> io::Result<bool> {
        if self.at == self.stages.len() {
            return Ok(false);
        }
        self.read_stage();
        if self.next_row.is_none() {
            self.at += 1;
            self.next_row = Some(i64::MIN);
        }
        Ok(true)
    }

    fn write_header(&mut self, header: &mut JsonObject<'_>) {
        self.known.write_header(header);
        header.object(F::UNREAD, |counts| self.write_unread(counts));
        self.progress.finish();
    }

    fn num_new_bytes(&mut self) -> u64 {
        self.progress.advance()
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}
