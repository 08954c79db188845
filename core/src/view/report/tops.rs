//! Writes the sections on the largest kernels, operators and modules.

use maud::{Markup, html};

use super::grid::{CellKind, GridColumn, ReportGrid, col};
use super::rank_totals::RankTotals;
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame, top};
use crate::analyze::{AnalysisResult, tables};
use crate::table::{Table, TableColumn};

const MAX_ROWS: usize = 50;

const KERNELS: ReportGrid = ReportGrid::of(
    "kernels",
    &tables::KERNELS,
    "Kernels, copies and fills by name",
    &[
        col("rank", "rank", CellKind::Key),
        col("name", "name", CellKind::Name),
        col("class", "class", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "count", CellKind::Count),
        col("mean_ns", "mean", CellKind::Time),
        col("min_ns", "shortest", CellKind::Time),
        col("max_ns", "longest", CellKind::Time),
        col("occupancy", "occupancy", CellKind::Number),
        col("tensor_cores", "tensor cores", CellKind::Flag),
        col("longest_id", "Longest run", CellKind::Event),
    ],
)
.by("total_ns");

/// Kernels of a job: one row per name over all ranks.
const KERNELS_OF_ALL: ReportGrid = ReportGrid::of_totals(
    "kernels",
    &KERNELS_ACROSS,
    "Kernels, copies and fills by name, all ranks",
    &[
        col("name", "name", CellKind::Name),
        col("class", "class", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "count", CellKind::Count),
        col("mean_ns", "mean", CellKind::Time),
        col("least_ns", "min per rank", CellKind::Time),
        col("most_ns", "max per rank", CellKind::Time),
        col("max_ns", "longest", CellKind::Time),
        col("rank", "longest on rank", CellKind::Key),
        col("longest_id", "Longest run", CellKind::Event),
    ],
)
.by("total_ns");

pub(super) const KERNELS_ACROSS: RankTotals = RankTotals {
    keys: &[tables::KERNELS.column("name"), tables::KERNELS.column("class")],
    sums: &[tables::KERNELS.column("total_ns"), tables::KERNELS.column("count")],
    count: tables::KERNELS.column("count"),
    longest: tables::KERNELS.column("max_ns"),
    longest_id: tables::KERNELS.column("longest_id"),
};

const BY_CLASS: ReportGrid = ReportGrid::of(
    "kernels",
    &tables::KERNELS_BY_CLASS,
    "Device time by class",
    &[
        col("rank", "rank", CellKind::Key),
        col("class", "class", CellKind::Word),
        col("tensor_cores", "tensor cores", CellKind::Flag),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "count", CellKind::Count),
    ],
)
.by("total_ns");

const OPERATORS: ReportGrid = ReportGrid::of(
    "operators",
    &tables::OPERATORS,
    "Operators by name",
    &[
        col("rank", "rank", CellKind::Key),
        col("name", "name", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("self_ns", "self host", CellKind::Time),
        col("total_ns", "total host", CellKind::Time),
        col("mean_ns", "mean", CellKind::Time),
        col("device_self_ns", "self device", CellKind::Time),
        col("device_total_ns", "total device", CellKind::Time),
        col("longest_id", "Longest call", CellKind::Event),
    ],
)
.by("total_ns");

/// Operators of a job: one row per name over all ranks.
const OPERATORS_OF_ALL: ReportGrid = ReportGrid::of_totals(
    "operators",
    &OPERATORS_ACROSS,
    "Operators by name, all ranks",
    &[
        col("name", "name", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("self_ns", "self host", CellKind::Time),
        col("total_ns", "total host", CellKind::Time),
        col("mean_ns", "mean", CellKind::Time),
        col("least_ns", "min per rank", CellKind::Time),
        col("most_ns", "max per rank", CellKind::Time),
        col("device_self_ns", "self device", CellKind::Time),
        col("device_total_ns", "total device", CellKind::Time),
        col("longest_id", "Longest call", CellKind::Event),
    ],
)
.by("total_ns");

pub(super) const OPERATORS_ACROSS: RankTotals = RankTotals {
    keys: &[tables::OPERATORS.column("name"), tables::OPERATORS.column("stack")],
    sums: &[
        tables::OPERATORS.column("total_ns"),
        tables::OPERATORS.column("count"),
        tables::OPERATORS.column("self_ns"),
        tables::OPERATORS.column("device_self_ns"),
        tables::OPERATORS.column("device_total_ns"),
    ],
    count: tables::OPERATORS.column("count"),
    // Of the rank with the most.
    longest: tables::OPERATORS.column("total_ns"),
    longest_id: tables::OPERATORS.column("longest_id"),
};

const MODULES: ReportGrid = ReportGrid::of(
    "modules",
    &tables::MODULES,
    "Modules by name",
    &[
        col("rank", "rank", CellKind::Key),
        col("module", "module", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("self_ns", "self host", CellKind::Time),
        col("total_ns", "total host", CellKind::Time),
        col("device_self_ns", "self device", CellKind::Time),
        col("device_total_ns", "total device", CellKind::Time),
        col("forward_ns", "forward", CellKind::Time),
        col("backward_ns", "backward", CellKind::Time),
        col("num_device_events", "device events", CellKind::Count),
        col("longest_id", "Longest call", CellKind::Event),
    ],
)
.by("device_self_ns");

const CLASSES: ReportGrid = ReportGrid::of(
    "modules",
    &tables::MODULES_BY_CLASS,
    "Modules by class",
    &[
        col("rank", "rank", CellKind::Key),
        col("class", "class", CellKind::Name),
        col("num_modules", "modules", CellKind::Count),
        col("count", "calls", CellKind::Count),
        col("self_ns", "self host", CellKind::Time),
        col("total_ns", "total host", CellKind::Time),
        col("device_self_ns", "self device", CellKind::Time),
        col("device_total_ns", "total device", CellKind::Time),
        col("forward_ns", "forward", CellKind::Time),
        col("backward_ns", "backward", CellKind::Time),
        col("num_device_events", "device events", CellKind::Count),
        col("longest_id", "Longest call", CellKind::Event),
    ],
)
.by("device_self_ns");

/// Modules of a job: one row per module over all ranks.
const MODULES_OF_ALL: ReportGrid =
    ReportGrid::of_totals("modules", &MODULES_ACROSS, "Modules by name, all ranks", &MODULE_COLUMNS).by("total_ns");

const MODULE_COLUMNS: [GridColumn; 10] = columns_of_all(col("module", "module", CellKind::Name));

pub(super) const MODULES_ACROSS: RankTotals = RankTotals {
    keys: &[tables::MODULES.column("module")],
    sums: &MODULE_SUMS,
    count: tables::MODULES.column("count"),
    longest: tables::MODULES.column("max_ns"),
    longest_id: tables::MODULES.column("longest_id"),
};

const MODULE_SUMS: [TableColumn; 6] = sums(&tables::MODULES);

/// Classes of a job: one row per class over all ranks.
const CLASSES_OF_ALL: ReportGrid =
    ReportGrid::of_totals("modules", &CLASSES_ACROSS, "Modules by class, all ranks", &CLASS_COLUMNS).by("total_ns");

const CLASS_COLUMNS: [GridColumn; 10] = columns_of_all(col("class", "class", CellKind::Name));

const CLASSES_ACROSS: RankTotals = RankTotals {
    keys: &[tables::MODULES_BY_CLASS.column("class")],
    sums: &CLASS_SUMS,
    count: tables::MODULES_BY_CLASS.column("count"),
    longest: tables::MODULES_BY_CLASS.column("max_ns"),
    longest_id: tables::MODULES_BY_CLASS.column("longest_id"),
};

const CLASS_SUMS: [TableColumn; 6] = sums(&tables::MODULES_BY_CLASS);

/// The columns of modules or classes of a job, after the one that tells them apart.
const fn columns_of_all(key: GridColumn) -> [GridColumn; 10] {
    [
        key,
        col("count", "calls", CellKind::Count),
        col("self_ns", "self host", CellKind::Time),
        col("total_ns", "total host", CellKind::Time),
        col("least_ns", "min per rank", CellKind::Time),
        col("most_ns", "max per rank", CellKind::Time),
        col("device_self_ns", "self device", CellKind::Time),
        col("device_total_ns", "total device", CellKind::Time),
        col("num_device_events", "device events", CellKind::Count),
        col("longest_id", "Longest call", CellKind::Event),
    ]
}

/// The columns of modules or classes that add up over ranks.
const fn sums<S>(table: &Table<S>) -> [TableColumn; 6] {
    [
        table.column("total_ns"),
        table.column("count"),
        table.column("self_ns"),
        table.column("device_self_ns"),
        table.column("device_total_ns"),
        table.column("num_device_events"),
    ]
}

/// Rows of modules by class.
const MAX_CLASSES: usize = 12;

/// A table of a job, one of each trace, and the column that tells its largest rows.
struct TopTables {
    of_all: (&'static ReportGrid, &'static RankTotals),
    of_each: &'static ReportGrid,
    by: TableColumn,
}

const TOP_KERNELS: TopTables =
    TopTables { of_all: (&KERNELS_OF_ALL, &KERNELS_ACROSS), of_each: &KERNELS, by: tables::KERNELS.column("total_ns") };

const TOP_OPERATORS: TopTables = TopTables {
    of_all: (&OPERATORS_OF_ALL, &OPERATORS_ACROSS),
    of_each: &OPERATORS,
    by: tables::OPERATORS.column("total_ns"),
};

const TOP_MODULES: TopTables =
    TopTables { of_all: (&MODULES_OF_ALL, &MODULES_ACROSS), of_each: &MODULES, by: tables::MODULES.column("total_ns") };

const TOP_CLASSES: TopTables = TopTables {
    of_all: (&CLASSES_OF_ALL, &CLASSES_ACROSS),
    of_each: &CLASSES,
    by: tables::MODULES_BY_CLASS.column("total_ns"),
};

pub(super) fn kernels(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(KERNELS.analysis, OPTIONS)?;
    let classes = frame(&answer, BY_CLASS.table, MAX_ROWS)?;
    let Some(rows) = TOP_KERNELS.html(source, &answer, MAX_ROWS)? else { return Ok(missing(&answer)) };
    Ok(SectionOutcome::wide(html! { (rows) div class="ks-narrow" { (BY_CLASS.html(source, &classes)) } }))
}

pub(super) fn operators(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(OPERATORS.analysis, OPTIONS)?;
    let rows = TOP_OPERATORS.html(source, &answer, MAX_ROWS)?;
    Ok(rows.map_or_else(|| missing(&answer), SectionOutcome::wide))
}

pub(super) fn modules(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(MODULES.analysis, OPTIONS)?;
    let is_grouped = frame(&answer, CLASSES.table, 0)?.num_in_all < frame(&answer, MODULES.table, 0)?.num_in_all;
    let classes = if is_grouped { TOP_CLASSES.html(source, &answer, MAX_CLASSES)? } else { None };
    let Some(rows) = TOP_MODULES.html(source, &answer, MAX_ROWS)? else { return Ok(missing(&answer)) };
    Ok(SectionOutcome::wide(html! {
        @if let Some(classes) = classes {
            (classes)
            details { summary { "Each module" } (rows) }
        } @else {
            (rows)
        }
    }))
}

fn missing(answer: &AnalysisResult) -> SectionOutcome {
    SectionOutcome::missing(answer.reason.as_ref(), "nothing was recorded")
}

impl TopTables {
    /// The largest rows of a trace. Of a job, sums over its ranks, and the largest of each rank to
    /// be opened. `None` without rows.
    fn html(&self, source: &ReportSource<'_>, answer: &AnalysisResult, limit: usize) -> ReportResult<Option<Markup>> {
        let rows = top(source, answer, self.by, limit)?;
        if rows.num_rows == 0 {
            return Ok(None);
        }
        let each = self.of_each.html(source, &rows);
        if !source.is_job() {
            return Ok(Some(each));
        }
        let (grid, totals) = self.of_all;
        let all = totals.top(&frame(answer, grid.table, usize::MAX)?, limit);
        Ok(Some(html! {
            (grid.html(source, &all))
            details { summary { "Each rank" } (each) }
        }))
    }
}
