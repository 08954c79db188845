//! Writes the sections on the largest kernels, operators and modules.

use super::grid::{CellKind, ReportGrid, col};
use super::rank_totals::RankTotals;
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, frame, top};
use crate::analyze::AnalysisResult;

const MAX_ROWS: usize = 50;

const KERNELS: ReportGrid = ReportGrid {
    analysis: "kernels",
    request: "{}",
    table: "kernels",
    title: "Kernels, copies and fills by name",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("name", "name", CellKind::Name),
        col("class", "for", CellKind::Word),
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
};

/// The same for a job: rows of one name on all ranks become one.
const KERNELS_OF_ALL: ReportGrid = ReportGrid {
    title: "Kernels, copies and fills by name, all ranks together",
    columns: &[
        col("name", "name", CellKind::Name),
        col("class", "for", CellKind::Word),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "count", CellKind::Count),
        col("mean_ns", "mean", CellKind::Time),
        col("least_ns", "least of a rank", CellKind::Time),
        col("most_ns", "most of a rank", CellKind::Time),
        col("max_ns", "longest", CellKind::Time),
        col("rank", "on rank", CellKind::Key),
        col("longest_id", "Longest run", CellKind::Event),
    ],
    ..KERNELS
};

const KERNELS_ACROSS: RankTotals =
    RankTotals { keys: ["name", "class"], sums: &["total_ns", "count"], longest: "max_ns" };

const BY_CLASS: ReportGrid = ReportGrid {
    analysis: "kernels",
    request: "{}",
    table: "kernels_by_class",
    title: "By what they are for",
    columns: &[
        col("rank", "rank", CellKind::Key),
        col("class", "for", CellKind::Word),
        col("tensor_cores", "tensor cores", CellKind::Flag),
        col("share", "share", CellKind::Share),
        col("total_ns", "total", CellKind::Time),
        col("count", "count", CellKind::Count),
    ],
};

const OPERATORS: ReportGrid = ReportGrid {
    analysis: "operators",
    request: "{}",
    table: "operators",
    title: "Operators by name",
    columns: &[
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
};

/// The same of a job.
const OPERATORS_OF_ALL: ReportGrid = ReportGrid {
    title: "Operators by name, all ranks together",
    columns: &[
        col("name", "name", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("self_ns", "self host", CellKind::Time),
        col("total_ns", "total host", CellKind::Time),
        col("mean_ns", "mean", CellKind::Time),
        col("least_ns", "least of a rank", CellKind::Time),
        col("most_ns", "most of a rank", CellKind::Time),
        col("device_self_ns", "self device", CellKind::Time),
        col("device_total_ns", "total device", CellKind::Time),
        col("longest_id", "Longest call", CellKind::Event),
    ],
    ..OPERATORS
};

const OPERATORS_ACROSS: RankTotals = RankTotals {
    keys: ["name", "stack"],
    sums: &["total_ns", "count", "self_ns", "device_self_ns", "device_total_ns"],
    // Of the rank with the most.
    longest: "total_ns",
};

const MODULES: ReportGrid = ReportGrid {
    analysis: "modules",
    request: "{}",
    table: "modules",
    title: "Modules by name",
    columns: &[
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
};

pub(super) fn kernels(source: &ReportSource<'_>) -> SectionOutcome {
    let Some(answer) = source.ask("kernels", "{}") else { return SectionOutcome::Nothing };
    let found = if source.is_job() {
        across(source, &answer, (&KERNELS_OF_ALL, &KERNELS_ACROSS), ("kernels", "Kernels"))
    } else {
        wide(source, &answer, &KERNELS, ("kernels", "Kernels"))
    };
    match found {
        SectionOutcome::Section(section) => {
            let classes = BY_CLASS.html(source, &frame(&answer, "kernels_by_class", MAX_ROWS));
            let classes = format!("<div class=\"ks-narrow\">{classes}</div>");
            SectionOutcome::Section(section.and(&classes))
        }
        other => other,
    }
}

pub(super) fn operators(source: &ReportSource<'_>) -> SectionOutcome {
    let Some(answer) = source.ask("operators", "{}") else { return SectionOutcome::Nothing };
    if source.is_job() {
        return across(source, &answer, (&OPERATORS_OF_ALL, &OPERATORS_ACROSS), ("operators", "Operators"));
    }
    wide(source, &answer, &OPERATORS, ("operators", "Operators"))
}

pub(super) fn modules(source: &ReportSource<'_>) -> SectionOutcome {
    source
        .ask("modules", "{}")
        .map_or(SectionOutcome::Nothing, |answer| wide(source, &answer, &MODULES, ("modules", "Modules")))
}

fn across(
    source: &ReportSource<'_>,
    answer: &AnalysisResult,
    (grid, across): (&ReportGrid, &RankTotals),
    (id, title): (&'static str, &'static str),
) -> SectionOutcome {
    let rows = across.top(&frame(answer, grid.table, usize::MAX), MAX_ROWS);
    if rows.num_rows == 0 {
        return SectionOutcome::Missing { title, why: answer.reason.unwrap_or("there are none") };
    }
    SectionOutcome::Section(ReportSection::wide(id, title, grid.html(source, &rows)))
}

fn wide(
    source: &ReportSource<'_>,
    answer: &AnalysisResult,
    grid: &ReportGrid,
    (id, title): (&'static str, &'static str),
) -> SectionOutcome {
    let rows = top(source, answer, grid.table, ("total_ns", MAX_ROWS));
    if rows.num_rows == 0 {
        return SectionOutcome::Missing { title, why: answer.reason.unwrap_or("there are none") };
    }
    SectionOutcome::Section(ReportSection::wide(id, title, grid.html(source, &rows)))
}
