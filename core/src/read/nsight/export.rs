//! Streams an export as the text of a Kineto trace.

use std::io::{self, Read};
use std::sync::Arc;

use super::column::SqlColumn;
use super::export_state::{ExportNames, ExportState};
use super::header::write_unread;
use super::name::NsightNames;
use super::object::object;
use super::row::{RowFaults, SqlLayout, SqlRow};
use super::row_kind::RowKind;
use super::row_kinds::SORTS;
use crate::error::{Error, ErrorKind, Position};
use crate::read::input::ReadProgress;
use crate::read::sqlite::{SqlDatabase, SqlFault, SqlTable};
use crate::warning::{WarningKind, Warnings};

/// Text made at a time, unless a row is longer.
const CHUNK_BYTES: usize = 1 << 18;
/// Rows read at a time, however little text they make.
const CHUNK_ROWS: usize = 1 << 12;

/// Tables by which an export is known; the first is in every one.
pub(super) const EXPORTS: [&str; 2] = ["StringIds", "META_DATA_EXPORT"];

/// An export that is being read.
pub(super) struct NsightExport<'a> {
    database: SqlDatabase<'a>,
    tables: Vec<Arc<SqlTable>>,
    plans: Vec<ExportPlan>,
    /// The plan that is followed, and the row that it goes on with.
    at: usize,
    next_row: Option<i64>,
    state: ExportState,
    /// How much of the text in the state was given.
    num_given: usize,
    stage: ExportStage,
    progress: ExportProgress,
    watch: Option<ReadProgress<'a>>,
    file: Option<Arc<str>>,
    pub(super) warnings: Warnings,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportStage {
    Start,
    Rows,
    End,
}

/// A sort of rows in the table at hand.
struct ExportPlan {
    sort: &'static RowKind,
    table: Arc<SqlTable>,
    layout: SqlLayout,
}

/// How many of the database's bytes the rows read so far stand for.
struct ExportProgress {
    file_bytes: u64,
    total_rows: u64,
    rows_read: u64,
    bytes_told: u64,
}

impl<'a> NsightExport<'a> {
    pub(super) fn new(
        database: SqlDatabase<'a>,
        name: Option<&str>,
        watch: Option<ReadProgress<'a>>,
        keeps_environment: bool,
    ) -> Result<Self, Error> {
        let tables = database.tables().map_err(|fault| malformed(&fault, name))?;
        let tables: Vec<Arc<SqlTable>> = tables.into_iter().map(Arc::new).collect();
        let is_known = |table: &Arc<SqlTable>| {
            EXPORTS.contains(&&*table.name) || SORTS.iter().any(|sort| sort.table == table.name)
        };
        if !tables.iter().any(is_known) {
            return Err(foreign(&tables, name));
        }
        let (mut plans, mut total_rows) = (Vec::new(), 0_u64);
        for sort in &SORTS {
            let Some(table) = tables.iter().find(|table| table.name == sort.table) else { continue };
            // A table that cannot be read counts as damaged when its turn comes.
            let last = database.last_row(table).ok().flatten().unwrap_or(0);
            total_rows = total_rows.saturating_add(u64::try_from(last).unwrap_or(0));
            plans.push(ExportPlan::new(table, sort));
        }
        let names = NsightNames::new(&database, &tables);
        let known = ExportNames { names, keeps_environment, ..ExportNames::default() };
        let progress = ExportProgress {
            file_bytes: database.num_bytes(),
            total_rows: total_rows.max(1),
            rows_read: 0,
            bytes_told: 0,
        };
        Ok(Self {
            database,
            tables,
            plans,
            at: 0,
            next_row: Some(i64::MIN),
            state: ExportState { known, ..ExportState::default() },
            num_given: 0,
            stage: ExportStage::Start,
            progress,
            watch,
            file: name.map(Arc::from),
            warnings: Warnings::default(),
        })
    }

    /// Makes more of the text; false at its end.
    fn advance(&mut self) -> io::Result<bool> {
        self.state.out.clear();
        self.num_given = 0;
        match self.stage {
            ExportStage::Start => {
                self.state.out.extend_from_slice(b"{\"schemaVersion\":1,\"traceEvents\":[\n");
                self.stage = ExportStage::Rows;
            }
            ExportStage::Rows if self.at < self.plans.len() => {
                if let Err(fault) = self.read_rows() {
                    self.warn_of_damage(&fault);
                    self.next_row = None;
                }
                if self.next_row.is_none() {
                    self.at += 1;
                    self.next_row = Some(i64::MIN);
                }
            }
            ExportStage::Rows => {
                self.write_end();
                self.progress.rows_read = self.progress.total_rows;
                self.stage = ExportStage::End;
            }
            ExportStage::End => return Ok(false),
        }
        let num_new = self.progress.advance();
        self.watch.as_mut().map_or(Ok(()), |watch| watch(num_new))?;
        Ok(true)
    }

    /// Reads some rows of the table at hand; afterwards `next_row` is where to go on, none at the
    /// table's end.
    fn read_rows(&mut self) -> Result<(), SqlFault> {
        let Some(from) = self.next_row else { return Ok(()) };
        let plan = &self.plans[self.at];
        let mut rows = self.database.rows(&plan.table, from);
        let faults = RowFaults::default();
        for _ in 0..CHUNK_ROWS {
            let Some(record) = rows.next()? else {
                self.next_row = None;
                return Ok(());
            };
            self.next_row = record.row.checked_add(1);
            self.progress.rows_read += 1;
            let row = SqlRow { database: &self.database, record, layout: &plan.layout, faults: &faults };
            (plan.sort.write)(&row, &mut self.state);
            if let Some((count, column)) = faults.take() {
                let column = &plan.layout.columns[column].column.name;
                let place = place(self.file.as_deref(), plan.sort, Some(column));
                let event = self.state.num_elements.checked_sub(1);
                let position = || Position { file: Some(place.into()), event, ..Position::default() };
                self.warnings.push_many(WarningKind::InvalidValue, count, position);
            }
            if self.state.out.len() > CHUNK_BYTES || self.next_row.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn warn_of_damage(&mut self, fault: &SqlFault) {
        let sort = self.plans[self.at].sort;
        let place = format!("{}: {fault}", place(self.file.as_deref(), sort, None));
        let event = Some(self.state.num_elements);
        self.warnings.push(WarningKind::DamagedTable, || Position {
            file: Some(place.into()),
            event,
            ..Position::default()
        });
    }

    fn write_end(&mut self) {
        let mut out = Vec::new();
        let Self { database, tables, plans, state, .. } = self;
        object(&mut out, |header| {
            let is_read =
                |table: &SqlTable| is_support(table) || plans.iter().any(|plan| plan.sort.table == table.name);
            let unread = state.known.write_header(header, database, tables, is_read);
            write_unread(header, database, &unread, state);
        });
        // The keys of the object that holds the events.
        self.state.out.extend_from_slice(b"\n],\n");
        self.state.out.extend_from_slice(&out[1..]);
    }
}

impl Read for NsightExport<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.num_given == self.state.out.len() {
            if !self.advance()? {
                return Ok(0);
            }
        }
        let count = (&self.state.out[self.num_given..]).read(buffer)?;
        self.num_given += count;
        Ok(count)
    }
}

impl ExportPlan {
    fn new(table: &Arc<SqlTable>, sort: &'static RowKind) -> Self {
        let is_used = |name: &str| sort.has_rest || sort.takes.contains(&name);
        let columns = table.columns.iter().filter(|column| is_used(&column.name)).map(SqlColumn::new).collect();
        Self { sort, table: Arc::clone(table), layout: SqlLayout::new(columns, sort.takes) }
    }
}

impl ExportProgress {
    /// Bytes that are not reported yet.
    fn advance(&mut self) -> u64 {
        let read = self.rows_read.min(self.total_rows);
        let told = (u128::from(self.file_bytes) * u128::from(read) / u128::from(self.total_rows)) as u64;
        told.saturating_sub(std::mem::replace(&mut self.bytes_told, told))
    }
}

/// Whether a table is only looked things up in.
fn is_support(table: &SqlTable) -> bool {
    table.name == "StringIds" || table.name.starts_with("ENUM_")
}

fn place(file: Option<&str>, sort: &RowKind, column: Option<&str>) -> String {
    [file, Some(sort.table), column].into_iter().flatten().collect::<Vec<_>>().join(": ")
}

/// The error that no trace can be given for a fault of a database: it is cut, damaged, or none.
pub(super) fn malformed(fault: &SqlFault, name: Option<&str>) -> Error {
    let position = Position { file: name.map(Into::into), ..Position::default() };
    ErrorKind::Malformed { expected: "a complete SQLite database", found: fault.to_string(), position }.into()
}

/// The error that a database is no export.
fn foreign(tables: &[Arc<SqlTable>], name: Option<&str>) -> Error {
    const SHOWN: usize = 5;
    let names: Vec<&str> = tables.iter().take(SHOWN).map(|table| table.name.as_str()).collect();
    let more = if tables.len() > SHOWN { ", …" } else { "" };
    let found = match names.as_slice() {
        [] => String::from("an SQLite database without tables"),
        names => format!("an SQLite database with the tables {}{more}", names.join(", ")),
    };
    let position = Position { file: name.map(Into::into), ..Position::default() };
    ErrorKind::Unsupported { expected: "an export of Nsight Systems", found: found.into(), position }.into()
}
