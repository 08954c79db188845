//! Writes the sections on the largest kernels, operators and modules.

use maud::{Markup, html};

use super::grid::{CellKind, OPTIONS, ReportGrid, col};
use super::rank_totals::RankTotals;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame, top};
use crate::analyze::{AnalysisResult, tables};
use crate::table::TableColumn;

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
);

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
);

const KERNELS_ACROSS: RankTotals = RankTotals {
    keys: [tables::KERNELS.column("name"), tables::KERNELS.column("class")],
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
);

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
);

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
);

const OPERATORS_ACROSS: RankTotals = RankTotals {
    keys: [tables::OPERATORS.column("name"), tables::OPERATORS.column("stack")],
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
);

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
);

/// Rows of modules by class.
const MAX_CLASSES: usize = 12;

pub(super) fn kernels(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(KERNELS.analysis, OPTIONS)?;
    let classes = frame(&answer, BY_CLASS.table, MAX_ROWS)?;
    let rows = if source.is_job() { Some((&KERNELS_OF_ALL, &KERNELS_ACROSS)) } else { None };
    let largest = largest(source, &answer, rows, (&KERNELS, tables::KERNELS.column("total_ns")))?;
    Ok(section(largest, |rows| html! { (rows) div class="ks-narrow" { (BY_CLASS.html(source, &classes)) } }))
}

pub(super) fn operators(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(OPERATORS.analysis, OPTIONS)?;
    let rows = if source.is_job() { Some((&OPERATORS_OF_ALL, &OPERATORS_ACROSS)) } else { None };
    let largest = largest(source, &answer, rows, (&OPERATORS, tables::OPERATORS.column("total_ns")))?;
    Ok(section(largest, |rows| rows))
}

pub(super) fn modules(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(MODULES.analysis, OPTIONS)?;
    let classes = top(source, &answer, tables::MODULES_BY_CLASS.column("total_ns"), MAX_CLASSES)?;
    let is_grouped = classes.num_in_all < frame(&answer, MODULES.table, 0)?.num_in_all;
    let largest = largest(source, &answer, None, (&MODULES, tables::MODULES.column("total_ns")))?;
    Ok(section(largest, |rows| html! { @if is_grouped { (CLASSES.html(source, &classes)) } (rows) }))
}

/// A section with a table, or the reason for its being missing.
fn section(table: Result<Markup, SectionOutcome>, with: impl FnOnce(Markup) -> Markup) -> SectionOutcome {
    table.map_or_else(|missing| missing, |rows| SectionOutcome::wide(with(rows)))
}

/// A table of the largest rows: sums over ranks, or rows of the traces by a column.
fn largest(
    source: &ReportSource<'_>,
    answer: &AnalysisResult,
    totals: Option<(&ReportGrid, &RankTotals)>,
    (grid, by): (&ReportGrid, TableColumn),
) -> ReportResult<Result<Markup, SectionOutcome>> {
    let (grid, rows) = match totals {
        Some((grid, totals)) => (grid, totals.top(&frame(answer, grid.table, usize::MAX)?, MAX_ROWS)),
        None => (grid, top(source, answer, by, MAX_ROWS)?),
    };
    let is_there = rows.num_rows > 0;
    Ok(is_there
        .then(|| grid.html(source, &rows))
        .ok_or_else(|| SectionOutcome::missing(answer.reason, "nothing was recorded")))
}
