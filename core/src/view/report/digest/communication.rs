//! Tells who waits for whom, and how far communication is hidden behind computation.

use super::digest_block::DigestBlock;
use super::digest_contents::{DigestContents, DigestTable};
use super::digest_item::ItemWeights;
use crate::analyze::tables;
use crate::view::report::grid::{CellKind, ReportGrid, col};
use crate::view::report::requests::OPTIONS;
use crate::view::report::source::ReportResult;

const STRAGGLERS: ReportGrid = ReportGrid::of(
    "stragglers",
    &tables::STRAGGLERS,
    "Ranks that others wait for",
    &[
        col("rank", "rank", CellKind::Key),
        col("caused_wait_ns", "wait that it caused", CellKind::Time),
        col("cause", "main cause", CellKind::Word),
        col("cause_wait_ns", "of that cause", CellKind::Time),
        col("wait_ns", "own wait", CellKind::Time),
        col("num_last", "times last", CellKind::Count),
        col("num_collectives", "of collectives", CellKind::Count),
        col("bubble_share", "pipeline bubble", CellKind::Share),
    ],
);

const LATE: ReportGrid = ReportGrid::of(
    "stragglers",
    &tables::LATE_ARRIVALS,
    "Costliest late arrivals",
    &[
        col("rank", "rank", CellKind::Key),
        col("collective", "collective", CellKind::Name),
        col("iteration", "iteration", CellKind::Count),
        col("lateness_ns", "late by", CellKind::Time),
        col("caused_wait_ns", "wait that it caused", CellKind::Time),
        col("cause", "cause", CellKind::Word),
        col("name", "main activity", CellKind::Name),
        col("excess_ns", "longer by", CellKind::Time),
        col("start_ns", "start", CellKind::Range("lateness_ns")),
    ],
);

const OVERLAP: ReportGrid = ReportGrid::of(
    "overlap",
    &tables::OVERLAP,
    "Overlap of communication with computation",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("collective", "collective", CellKind::Name),
        col("count", "count", CellKind::Count),
        col("total_ns", "total", CellKind::Time),
        col("exposed_ns", "exposed", CellKind::Time),
        col("hidden_share", "hidden", CellKind::Share),
    ],
);

const COLLECTIVES: ReportGrid = ReportGrid::of(
    "collectives",
    &tables::COLLECTIVE_SUMMARY,
    "Collectives by kind and size",
    &[
        col("collective", "collective", CellKind::Name),
        col("group_desc", "group", CellKind::Name),
        col("group_size", "ranks", CellKind::Count),
        col("dtype", "type", CellKind::Name),
        col("bytes", "size", CellKind::Bytes),
        col("count", "count", CellKind::Count),
        col("total_ns", "total", CellKind::Time),
        col("wait_ns", "wait", CellKind::Time),
        col("transfer_ns", "transfer", CellKind::Time),
        col("median_bus_gbps", "bus GB/s", CellKind::Number),
    ],
);

const LACKING: ReportGrid = ReportGrid::of(
    "topology",
    &tables::LACKING_COLLECTIVES,
    "Collectives that a rank lacks, though others of the group have them",
    &[
        col("rank", "rank", CellKind::Key),
        col("collective", "collective", CellKind::Name),
        col("group_desc", "group", CellKind::Name),
        col("count", "count", CellKind::Count),
        col("seq", "first number", CellKind::Count),
        col("ranks", "ranks that have it", CellKind::Name),
    ],
);

const PIPELINE: ReportGrid = ReportGrid::of(
    "pipeline",
    &tables::PIPELINE,
    "Stages of the pipeline",
    &[
        col("stage", "stage", CellKind::Count),
        col("rank", "rank", CellKind::Count),
        col("schedule", "schedule", CellKind::Word),
        col("num_micro_batches", "micro-batches", CellKind::Count),
        col("mean_forward_ns", "forward", CellKind::Time),
        col("mean_backward_ns", "backward", CellKind::Time),
        col("bubble_ns", "bubble", CellKind::Time),
        col("bubble_share", "share", CellKind::Share),
        col("ideal_bubble_share", "ideal share", CellKind::Share),
    ],
);

const fn by(grid: &'static ReportGrid, limit: usize, [first, step]: [u32; 2]) -> DigestTable {
    DigestTable { grid, options: [OPTIONS, ""], by: None, limit, weights: ItemWeights { first, step } }
}

const OF_RANKS: [DigestTable; 4] = [
    by(&LACKING, 12, [1, 3]),
    DigestTable { by: Some(tables::STRAGGLERS.column("caused_wait_ns")), ..by(&STRAGGLERS, 8, [2, 6]) },
    DigestTable { by: Some(tables::LATE_ARRIVALS.column("caused_wait_ns")), ..by(&LATE, 10, [7, 7]) },
    by(&PIPELINE, 16, [11, 5]),
];

const OF_EACH: [DigestTable; 2] = [
    DigestTable { by: Some(tables::OVERLAP.column("exposed_ns")), ..by(&OVERLAP, 12, [8, 6]) },
    DigestTable { by: Some(tables::COLLECTIVE_SUMMARY.column("total_ns")), ..by(&COLLECTIVES, 12, [14, 6]) },
];

pub(super) fn blocks(contents: &DigestContents<'_>) -> ReportResult<Vec<DigestBlock>> {
    let of_ranks = OF_RANKS.iter().filter(|_| contents.source.is_job());
    of_ranks.chain(&OF_EACH).map(|table| Ok(contents.rows(table)?.0)).collect()
}
