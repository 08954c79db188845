//! Tells what changed between two sides.

use std::cmp::Reverse;
use std::sync::Arc;

use super::digest_block::DigestBlock;
use super::digest_contents::{DigestContents, DigestTable};
use super::digest_item::{DigestItem, ItemWeights};
use super::digest_section::DigestSection;
use super::digest_value::DigestValue;
use super::next_steps;
use crate::analyze::tables::diff;
use crate::analyze::{AnalysisResult, VerdictState};
use crate::sort;
use crate::table::{TableRows, ordered_by_size};
use crate::view::comparison::sides;
use crate::view::report::grid::{CellKind, ComparisonSide, GridColumn, ReportGrid, col};
use crate::view::report::report_frame::ReportFrame;
use crate::view::report::requests::OPTIONS;
use crate::view::report::source::{ReportResult, frame, table as named};
use crate::view::report::step_change::headline;

const PARTS: ReportGrid = ReportGrid::of_comparison(
    &diff::PARTS,
    "The step and its parts, per iteration",
    &[
        col("rank", "rank", CellKind::Key),
        col("part", "part", CellKind::Name),
        col("before_ns", "before", CellKind::Time),
        col("after_ns", "after", CellKind::Time),
        col("change_ns", "change", CellKind::Change),
        col("share", "share of change", CellKind::Percent),
        col("p_value", "p", CellKind::Number),
        col("is_significant", "significant", CellKind::Flag),
        col("note", "note", CellKind::Name),
    ],
);

const NAMED: &[GridColumn] = &[
    col("rank", "rank", CellKind::Key),
    col("name", "name", CellKind::Name),
    col("status", "status", CellKind::Word),
    col("change_ns", "change", CellKind::Change),
    col("before_ns", "before", CellKind::Time),
    col("after_ns", "after", CellKind::Time),
    col("before_count", "count before", CellKind::Number),
    col("after_count", "count after", CellKind::Number),
    col("is_significant", "significant", CellKind::Flag),
    col("before_id", "event before", CellKind::EventOf(ComparisonSide::Before)),
    col("after_id", "event after", CellKind::EventOf(ComparisonSide::After)),
];

const KERNELS: ReportGrid =
    ReportGrid::of_comparison(&diff::KERNELS, "Kernels, copies and fills, per iteration", NAMED);
const OPERATORS: ReportGrid = ReportGrid::of_comparison(
    &diff::OPERATORS,
    "Operators, per iteration: device time, or host time where it is not compared",
    NAMED,
);
const MODULES: ReportGrid = ReportGrid::of_comparison(
    &diff::MODULES,
    "Modules, per iteration: device time, or host time where it is not compared",
    NAMED,
);

const CLASSES: ReportGrid = ReportGrid::of_comparison(
    &diff::DEVICE_WORK,
    "Device work by class, per iteration",
    &[
        col("rank", "rank", CellKind::Key),
        col("class", "class", CellKind::Word),
        col("change_ns", "change", CellKind::Change),
        col("before_ns", "before", CellKind::Time),
        col("after_ns", "after", CellKind::Time),
        col("before_exposed_ns", "exposed before", CellKind::Time),
        col("after_exposed_ns", "exposed after", CellKind::Time),
    ],
);

const CALLS: ReportGrid = ReportGrid::of_comparison(
    &diff::STRUCTURE,
    "Calls added, removed or replaced",
    &[
        col("rank", "rank", CellKind::Key),
        col("status", "status", CellKind::Word),
        col("path", "below", CellKind::Name),
        col("before", "before", CellKind::Name),
        col("after", "after", CellKind::Name),
        col("count", "places", CellKind::Count),
        col("change_ns", "change", CellKind::Change),
    ],
);

const RECORDED: ReportGrid = ReportGrid::of_comparison(
    &diff::RECORDED,
    "Records of each side",
    &[
        col("rank", "rank", CellKind::Key),
        col("kind", "kind", CellKind::Words),
        col("before_count", "before", CellKind::Count),
        col("after_count", "after", CellKind::Count),
        col("is_compared", "compared", CellKind::Flag),
        col("reason", "reason", CellKind::Name),
    ],
);

const fn table(grid: &'static ReportGrid, limit: usize, [first, step]: [u32; 2]) -> DigestTable {
    DigestTable { grid, options: [OPTIONS, ""], by: None, limit, weights: ItemWeights { first, step } }
}

const SECTIONS: [(&str, &str, DigestTable); 7] = [
    ("changes", "Changes", table(&PARTS, 24, [2, 2])),
    (
        "device_work",
        "Device work",
        DigestTable { by: Some(diff::DEVICE_WORK.column("change_ns")), ..table(&CLASSES, 8, [9, 5]) },
    ),
    ("kernels", "Kernels", table(&KERNELS, 16, [4, 5])),
    ("operators", "Operators", table(&OPERATORS, 16, [6, 5])),
    ("modules", "Modules", table(&MODULES, 12, [8, 6])),
    ("calls", "Call trees", table(&CALLS, 12, [10, 6])),
    ("recorded", "Recorded data", table(&RECORDED, 10, [40, 4])),
];

/// The sections on two sides.
pub(super) fn sections(mut contents: DigestContents<'_>, answer: &AnalysisResult) -> Vec<DigestSection> {
    let blocks = completeness(&contents, answer);
    contents.add("completeness", "Completeness", blocks);
    for (id, title, table) in &SECTIONS {
        let found = named(answer, table.grid.table).map(|found| match table.by {
            Some(by) => ReportFrame::of(&*ordered_by_size(found, by.name), table.limit),
            None if found.name() == diff::PARTS.name => largest_ranks(found, table.limit),
            None => ReportFrame::of(&**found, table.limit),
        });
        let rows = found.map(|rows| vec![contents.block(answer, table, &rows)]);
        contents.add(id, title, rows);
    }
    let commands = &contents.commands;
    let steps = vec![
        ("iterations in pairs", commands.analysis("", "--table diff_iterations")),
        ("operators by shape", commands.analysis("", "--table diff_shapes")),
    ];
    contents.add("next", "Look next", Ok(next_steps::block(steps)));
    contents.finish()
}

/// The step and its parts, of the ranks whose step changed most.
fn largest_ranks(parts: &Arc<dyn TableRows>, limit: usize) -> ReportFrame {
    let all = ReportFrame::of(&**parts, usize::MAX);
    let (part, change) = (diff::PARTS.column("part"), diff::PARTS.column("change_ns"));
    let is_step = |row: usize| all.text(part, row) == all.text(part, 0);
    let rows: Vec<usize> = (0..all.num_rows).collect();
    let mut ranks: Vec<&[usize]> = rows.chunk_by(|_, next| !is_step(*next)).collect();
    sort::by_key(&mut ranks, |rows| Reverse(all.int(change, rows[0]).map(i64::unsigned_abs)));
    let rows = ranks.concat().into_iter().take(limit).map(|row| row as u32).collect();
    ReportFrame::picked(parts, rows, all.num_rows)
}

/// The change of the step in a sentence, and the state of each side.
fn completeness(contents: &DigestContents<'_>, answer: &AnalysisResult) -> ReportResult<Vec<DigestBlock>> {
    let mut items = Vec::new();
    if let Some(headline) = headline(&frame(answer, diff::PARTS.name, usize::MAX)?) {
        items.push(DigestItem::new(0).with("change", "", DigestValue::Quoted(headline)));
    }
    let num_before = sides(contents.source.screen())[0].len();
    for (at, (rank, facts)) in contents.source.facts().enumerate() {
        let side = if at < num_before { "before" } else { "after" };
        let weight = if facts.state == VerdictState::Complete { 3 } else { 1 };
        let problem = facts.problems.iter().find(|problem| problem.state == facts.state);
        let message = problem.filter(|_| facts.state != VerdictState::Complete).map(|problem| problem.message.clone());
        items.push(
            DigestItem::new(weight)
                .with("side", "", DigestValue::Words(side.to_owned()))
                .maybe("rank", "rank", rank.map(DigestValue::Id))
                .with("state", "recording is", DigestValue::Words(facts.state.name().to_owned()))
                .maybe("caveat", "numbers are", facts.state.caveat().map(|words| DigestValue::Words(words.to_owned())))
                .line("message", "", message.map(DigestValue::Quoted)),
        );
    }
    Ok(vec![DigestBlock::list("Verdict", contents.commands.analysis("", ""), items)])
}
