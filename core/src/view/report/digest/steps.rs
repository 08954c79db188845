//! Tells how long iterations took, which were slow, and the phases of a serving engine.

use super::digest_block::DigestBlock;
use super::digest_contents::{DigestContents, DigestTable};
use super::digest_item::{DigestItem, ItemWeights};
use super::digest_value::DigestValue;
use crate::analyze::{IterationRow, TimeOutline, known_analysis, tables};
use crate::view::report::grid::{CellKind, ReportGrid, col};
use crate::view::report::requests::OPTIONS;
use crate::view::report::source::ReportResult;
use crate::view::report::trace_facts::TraceTime;

const SLOWEST: ItemWeights = ItemWeights { first: 6, step: 10 };
const MAX_SLOWEST: usize = 6;
const MAX_RANKS: usize = 8;
const RANKS: ItemWeights = ItemWeights { first: 5, step: 6 };

const PHASES: ReportGrid = ReportGrid::of(
    "breakdown",
    &tables::PHASES,
    "Phases of the serving engine",
    &[
        col("phase", "phase", CellKind::Word),
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("num_iterations", "iterations", CellKind::Count),
        col("num_requests", "requests", CellKind::Count),
        col("num_generated_tokens", "generated tokens", CellKind::Count),
        col("tokens_per_s", "tokens/s", CellKind::Number),
        col("span_ns", "span", CellKind::Time),
        col("compute_ns", "compute", CellKind::Time),
        col("idle_ns", "idle", CellKind::Time),
        col("unknown_ns", "unknown", CellKind::Time),
    ],
);

const OF_PHASES: DigestTable = DigestTable {
    grid: &PHASES,
    options: [OPTIONS, ""],
    by: None,
    limit: 10,
    weights: ItemWeights { first: 4, step: 3 },
};

pub(super) fn blocks(contents: &DigestContents<'_>) -> ReportResult<Vec<DigestBlock>> {
    let mut blocks = match contents.source.outline() {
        Some(outline) => of_trace(contents, outline),
        None => vec![of_ranks(contents)],
    };
    blocks.push(contents.rows(&OF_PHASES)?.0);
    Ok(blocks)
}

fn of_trace(contents: &DigestContents<'_>, outline: &TimeOutline) -> Vec<DigestBlock> {
    let command = || contents.commands.other("summary", "");
    let span = DigestItem::new(1).with("span_ns", "span", DigestValue::Time(outline.duration_ns)).with(
        "num_events",
        "events",
        DigestValue::Count(outline.num_events as i64),
    );
    let item = match &outline.iteration_time {
        Some(time) => {
            let fastest = outline.iterations.iter().map(|iteration| iteration.dur_ns).min();
            span.with("num_iterations", "iterations", DigestValue::Count(time.count as i64))
                .with("iteration_mean_ns", "mean", DigestValue::Time(time.mean_ns))
                .maybe("iteration_std_ns", "standard deviation", time.std_ns.map(|ns| DigestValue::Time(ns as i64)))
                .maybe("iteration_min_ns", "fastest", fastest.map(DigestValue::Time))
                .with("slowest_ns", "slowest", DigestValue::Time(time.slowest_ns))
                .with("slowest_iteration", "which is iteration", DigestValue::Id(time.slowest))
        }
        None => span.with("num_iterations", "iterations", DigestValue::Count(0)),
    };
    let overview = DigestBlock::list("Host time", command(), vec![item]);
    let is_many = outline.iterations.len() > 1;
    let mut slowest: Vec<&IterationRow> = outline.iterations.iter().filter(|_| is_many).collect();
    crate::sort::by_key(&mut slowest, |row| (std::cmp::Reverse(row.dur_ns), row.iteration));
    let items = slowest.iter().take(MAX_SLOWEST).enumerate().map(|(at, row)| slow(row, SLOWEST.at(at))).collect();
    let block = DigestBlock::table("Slowest iterations", command(), items);
    vec![overview, DigestBlock { num_all: outline.iterations.len(), ..block }]
}

fn slow(row: &IterationRow, weight: u32) -> DigestItem {
    DigestItem::new(weight)
        .with("iteration", "iteration", DigestValue::Id(row.iteration))
        .with("dur_ns", "duration", DigestValue::Time(row.dur_ns))
        .with("start_ns", "start", DigestValue::Moment(row.start_ns))
        .with("device_busy_ns", "device busy", row.device_busy_ns.map_or(DigestValue::Unknown, DigestValue::Time))
        .with("device_unknown_ns", "device unknown", DigestValue::Time(row.device_unknown_ns))
}

/// The ranks of the longest iterations, or of the longest recording without iterations.
fn of_ranks(contents: &DigestContents<'_>) -> DigestBlock {
    let mut ranks: Vec<_> = contents.source.facts().map(|(rank, facts)| (rank, &facts.time)).collect();
    let time = |time: &TraceTime| time.mean_iteration_ns.unwrap_or(time.duration_ns);
    crate::sort::by_key(&mut ranks, |(rank, of)| (std::cmp::Reverse(time(of)), *rank));
    let num_all = ranks.len();
    let item = |(at, (rank, of)): (usize, &(Option<i64>, &TraceTime))| {
        let busy = of.busy_shares.iter().sum::<f64>() / of.busy_shares.len() as f64;
        let busy = (!of.busy_shares.is_empty()).then_some(busy);
        DigestItem::new(RANKS.at(at))
            .with("rank", "rank", rank.map_or(DigestValue::Unknown, DigestValue::Id))
            .with(
                "iteration_mean_ns",
                "mean iteration",
                of.mean_iteration_ns.map_or(DigestValue::Unknown, DigestValue::Time),
            )
            .with("span_ns", "span", DigestValue::Time(of.duration_ns))
            .with("busy_share", "devices busy", busy.map_or(DigestValue::Unknown, DigestValue::Share))
            .with("num_events", "events", DigestValue::Count(of.num_events as i64))
    };
    let items = ranks.iter().take(MAX_RANKS).enumerate().map(item).collect();
    let command = contents.commands.analysis(known_analysis("summary").name, "");
    DigestBlock { num_all, ..DigestBlock::table("Ranks, the slowest first", command, items) }
}
