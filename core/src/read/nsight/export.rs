//! Streams an export as the text of a Kineto trace.

use std::io;
use std::sync::Arc;

use super::column::SqlColumn;
use super::export_state::{ExportNames, ExportState};
use super::header::write_unread;
use super::name::NsightNames;
use super::row::{RowFaults, SqlLayout, SqlRow};
use super::row_kind::RowKind;
use super::row_kinds::SORTS;
use crate::error::Position;
use crate::read::event_text::EventText;
use crate::read::exported::{CHUNK_BYTES, ExportProgress, ExportSource, read_rows};
use crate::read::json_object::JsonObject;
use crate::read::sqlite::{SqlDatabase, SqlFault, SqlTable};
use crate::warning::{WarningKind, Warnings};

/// An export that is being read.
pub(in crate::read) struct NsightExport<'a> {
    database: SqlDatabase<'a>,
    tables: Vec<Arc<SqlTable>>,
    plans: Vec<ExportPlan>,
    /// The plan that is followed, and the row that it goes on with.
    at: usize,
    next_row: Option<i64>,
    state: ExportState,
    progress: ExportProgress,
    file: Option<Arc<str>>,
    warnings: Warnings,
}

/// A sort of rows in the table at hand.
struct ExportPlan {
    sort: &'static RowKind,
    table: Arc<SqlTable>,
    layout: SqlLayout,
}

impl<'a> NsightExport<'a> {
    pub(in crate::read) fn new(
        (database, tables): (SqlDatabase<'a>, Vec<Arc<SqlTable>>),
        name: Option<&str>,
        keeps_environment: bool,
    ) -> Self {
        let plan = |sort: &'static RowKind| {
            let table = tables.iter().find(|table| table.name == sort.table)?;
            Some(ExportPlan::new(table, sort))
        };
        let plans: Vec<_> = SORTS.iter().filter_map(plan).collect();
        let progress = ExportProgress::new(&database, plans.iter().map(|plan| &*plan.table));
        let names = NsightNames::new(&database, &tables);
        let known = ExportNames { names, keeps_environment, ..ExportNames::default() };
        Self {
            database,
            tables,
            plans,
            at: 0,
            next_row: Some(i64::MIN),
            state: ExportState { known, ..ExportState::default() },
            progress,
            file: name.map(Arc::from),
            warnings: Warnings::default(),
        }
    }

    /// Reads some rows of the table at hand; afterwards `next_row` is where to go on, none at the
    /// table's end.
    fn read_rows(&mut self) -> Result<(), SqlFault> {
        let Some(from) = self.next_row else { return Ok(()) };
        let Self { database, plans, state, progress, warnings, .. } = self;
        let plan = &plans[self.at];
        let faults = RowFaults::default();
        self.next_row = read_rows((database, &plan.table), from, |record| {
            progress.rows_read += 1;
            let row = SqlRow { database, record, layout: &plan.layout, faults: &faults };
            (plan.sort.write)(&row, state);
            if let Some((count, column)) = faults.take() {
                let column = &plan.layout.columns[column].column.name;
                let place = place(self.file.as_deref(), plan.sort, Some(column));
                let event = state.events.num_elements.checked_sub(1);
                let position = || Position { file: Some(place.into()), event, ..Position::default() };
                warnings.push_many(WarningKind::InvalidValue, count, position);
            }
            state.events.out.len() > CHUNK_BYTES
        })?;
        Ok(())
    }

    fn warn_of_damage(&mut self, fault: &SqlFault) {
        let sort = self.plans[self.at].sort;
        let place = format!("{}: {fault}", place(self.file.as_deref(), sort, None));
        let event = Some(self.state.events.num_elements);
        self.warnings.push(WarningKind::DamagedTable, || Position {
            file: Some(place.into()),
            event,
            ..Position::default()
        });
    }
}

impl ExportSource for NsightExport<'_> {
    fn events(&self) -> &EventText {
        &self.state.events
    }

    fn events_mut(&mut self) -> &mut EventText {
        &mut self.state.events
    }

    fn write_piece(&mut self) -> io::Result<bool> {
        if self.at == self.plans.len() {
            return Ok(false);
        }
        if let Err(fault) = self.read_rows() {
            self.warn_of_damage(&fault);
            self.next_row = None;
        }
        if self.next_row.is_none() {
            self.at += 1;
            self.next_row = Some(i64::MIN);
        }
        Ok(true)
    }

    fn write_header(&mut self, header: &mut JsonObject<'_>) {
        let Self { database, tables, plans, state, .. } = self;
        let is_read = |table: &SqlTable| is_support(table) || plans.iter().any(|plan| plan.sort.table == table.name);
        let unread = state.known.write_header(header, database, tables, is_read);
        write_unread(header, database, &unread, state);
        self.progress.finish();
    }

    fn num_new_bytes(&mut self) -> u64 {
        self.progress.advance()
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

impl ExportPlan {
    fn new(table: &Arc<SqlTable>, sort: &'static RowKind) -> Self {
        let is_used = |name: &str| sort.has_rest || sort.takes.contains(&name);
        let columns = table.columns.iter().filter(|column| is_used(&column.name)).map(SqlColumn::new).collect();
        Self { sort, table: Arc::clone(table), layout: SqlLayout::new(columns, sort.takes) }
    }
}

/// Whether a table is only looked things up in.
fn is_support(table: &SqlTable) -> bool {
    table.name == "StringIds" || table.name.starts_with("ENUM_")
}

fn place(file: Option<&str>, sort: &RowKind, column: Option<&str>) -> String {
    [file, Some(sort.table), column].into_iter().flatten().collect::<Vec<_>>().join(": ")
}
