//! What took the most time: kernels, operators, modules.

use super::across::Across;
use super::grid::{Grid, Kind, col};
use super::section::{Found, Section};
use super::source::{Source, frame, top};
use crate::analyze::Answer;

const MAX_ROWS: usize = 50;

const KERNELS: Grid = Grid {
    analysis: "kernels",
    request: "{}",
    table: "kernels",
    title: "Kernels, copies and fills by name",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("name", "name", Kind::Name),
        col("class", "for", Kind::Word),
        col("share", "share", Kind::Share),
        col("total_ns", "total", Kind::Time),
        col("count", "count", Kind::Count),
        col("mean_ns", "mean", Kind::Time),
        col("min_ns", "shortest", Kind::Time),
        col("max_ns", "longest", Kind::Time),
        col("occupancy", "occupancy", Kind::Number),
        col("tensor_cores", "tensor cores", Kind::Flag),
        col("longest_id", "Longest run", Kind::Event),
    ],
};

/// The same of a job: what is of one name on all ranks is one row.
const KERNELS_OF_ALL: Grid = Grid {
    title: "Kernels, copies and fills by name, all ranks together",
    columns: &[
        col("name", "name", Kind::Name),
        col("class", "for", Kind::Word),
        col("share", "share", Kind::Share),
        col("total_ns", "total", Kind::Time),
        col("count", "count", Kind::Count),
        col("mean_ns", "mean", Kind::Time),
        col("least_ns", "least of a rank", Kind::Time),
        col("most_ns", "most of a rank", Kind::Time),
        col("max_ns", "longest", Kind::Time),
        col("rank", "on rank", Kind::Key),
        col("longest_id", "Longest run", Kind::Event),
    ],
    ..KERNELS
};

const KERNELS_ACROSS: Across = Across { keys: ["name", "class"], sums: &["total_ns", "count"], longest: "max_ns" };

const BY_CLASS: Grid = Grid {
    analysis: "kernels",
    request: "{}",
    table: "kernels_by_class",
    title: "By what they are for",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("class", "for", Kind::Word),
        col("tensor_cores", "tensor cores", Kind::Flag),
        col("share", "share", Kind::Share),
        col("total_ns", "total", Kind::Time),
        col("count", "count", Kind::Count),
    ],
};

const OPERATORS: Grid = Grid {
    analysis: "operators",
    request: "{}",
    table: "operators",
    title: "Operators by name",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("name", "name", Kind::Name),
        col("count", "calls", Kind::Count),
        col("self_ns", "self host", Kind::Time),
        col("total_ns", "total host", Kind::Time),
        col("mean_ns", "mean", Kind::Time),
        col("device_self_ns", "self device", Kind::Time),
        col("device_total_ns", "total device", Kind::Time),
        col("longest_id", "Longest call", Kind::Event),
    ],
};

/// The same of a job.
const OPERATORS_OF_ALL: Grid = Grid {
    title: "Operators by name, all ranks together",
    columns: &[
        col("name", "name", Kind::Name),
        col("count", "calls", Kind::Count),
        col("self_ns", "self host", Kind::Time),
        col("total_ns", "total host", Kind::Time),
        col("mean_ns", "mean", Kind::Time),
        col("least_ns", "least of a rank", Kind::Time),
        col("most_ns", "most of a rank", Kind::Time),
        col("device_self_ns", "self device", Kind::Time),
        col("device_total_ns", "total device", Kind::Time),
        col("longest_id", "Longest call", Kind::Event),
    ],
    ..OPERATORS
};

const OPERATORS_ACROSS: Across = Across {
    keys: ["name", "stack"],
    sums: &["total_ns", "count", "self_ns", "device_self_ns", "device_total_ns"],
    // Of the rank with the most.
    longest: "total_ns",
};

const MODULES: Grid = Grid {
    analysis: "modules",
    request: "{}",
    table: "modules",
    title: "Modules by name",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("module", "module", Kind::Name),
        col("count", "calls", Kind::Count),
        col("self_ns", "self host", Kind::Time),
        col("total_ns", "total host", Kind::Time),
        col("device_self_ns", "self device", Kind::Time),
        col("device_total_ns", "total device", Kind::Time),
        col("forward_ns", "forward", Kind::Time),
        col("backward_ns", "backward", Kind::Time),
        col("num_device_events", "device events", Kind::Count),
        col("longest_id", "Longest call", Kind::Event),
    ],
};

pub(super) fn kernels(source: &Source<'_>) -> Found {
    let Some(answer) = source.ask("kernels", "{}") else { return Found::Nothing };
    let found = if source.is_job() {
        across(source, &answer, (&KERNELS_OF_ALL, &KERNELS_ACROSS), ("kernels", "Kernels"))
    } else {
        wide(source, &answer, &KERNELS, ("kernels", "Kernels"))
    };
    match found {
        Found::Section(section) => {
            let classes = BY_CLASS.html(source, &frame(&answer, "kernels_by_class", MAX_ROWS));
            let classes = format!("<div class=\"ks-narrow\">{classes}</div>");
            Found::Section(section.and(&classes))
        }
        other => other,
    }
}

pub(super) fn operators(source: &Source<'_>) -> Found {
    let Some(answer) = source.ask("operators", "{}") else { return Found::Nothing };
    if source.is_job() {
        return across(source, &answer, (&OPERATORS_OF_ALL, &OPERATORS_ACROSS), ("operators", "Operators"));
    }
    wide(source, &answer, &OPERATORS, ("operators", "Operators"))
}

pub(super) fn modules(source: &Source<'_>) -> Found {
    source.ask("modules", "{}").map_or(Found::Nothing, |answer| wide(source, &answer, &MODULES, ("modules", "Modules")))
}

fn across(
    source: &Source<'_>,
    answer: &Answer,
    (grid, across): (&Grid, &Across),
    (id, title): (&'static str, &'static str),
) -> Found {
    let rows = across.top(&frame(answer, grid.table, usize::MAX), MAX_ROWS);
    if rows.num_rows == 0 {
        return Found::Missing { title, why: answer.reason.unwrap_or("there are none") };
    }
    Found::Section(Section::wide(id, title, grid.html(source, &rows)))
}

fn wide(source: &Source<'_>, answer: &Answer, grid: &Grid, (id, title): (&'static str, &'static str)) -> Found {
    let rows = top(source, answer, grid.table, ("total_ns", MAX_ROWS));
    if rows.num_rows == 0 {
        return Found::Missing { title, why: answer.reason.unwrap_or("there are none") };
    }
    Found::Section(Section::wide(id, title, grid.html(source, &rows)))
}
