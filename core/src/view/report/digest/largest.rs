//! Tells the kernels, operators and modules that took most time, and their distance from the peak.

use super::digest_block::DigestBlock;
use super::digest_contents::{DigestContents, DigestTable};
use super::digest_item::ItemWeights;
use crate::analyze::tables;
use crate::table::TableColumn;
use crate::view::report::grid::{CellKind, ReportGrid, col};
use crate::view::report::rank_totals::RankTotals;
use crate::view::report::requests::OPTIONS;
use crate::view::report::source::{ReportResult, frame};
use crate::view::report::tops::{KERNELS_ACROSS, MODULES_ACROSS, OPERATORS_ACROSS};

const LIMIT: usize = 20;

const KERNELS: ReportGrid = ReportGrid::of(
    "kernels",
    &tables::KERNELS,
    "Kernels, copies and fills by time",
    &[
        col("name", "name", CellKind::Name),
        col("class", "class", CellKind::Word),
        col("total_ns", "total", CellKind::Time),
        col("share", "share", CellKind::Share),
        col("count", "count", CellKind::Count),
        col("mean_ns", "mean", CellKind::Time),
        col("max_ns", "longest", CellKind::Time),
        col("longest_id", "longest event", CellKind::Event),
        col("operator", "operator", CellKind::Name),
    ],
);

const KERNELS_OF_ALL: ReportGrid = ReportGrid::of_totals(
    "kernels",
    &KERNELS_ACROSS,
    "Kernels, copies and fills by time, sums over ranks",
    &[
        col("name", "name", CellKind::Name),
        col("class", "class", CellKind::Word),
        col("total_ns", "total", CellKind::Time),
        col("share", "share", CellKind::Share),
        col("count", "count", CellKind::Count),
        col("least_ns", "least of a rank", CellKind::Time),
        col("most_ns", "most of a rank", CellKind::Time),
        col("rank", "longest on rank", CellKind::Key),
        col("longest_id", "longest event", CellKind::Event),
    ],
);

const OPERATORS: ReportGrid = ReportGrid::of(
    "operators",
    &tables::OPERATORS,
    "Operators by device time, then by host time",
    &[
        col("name", "name", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("device_self_ns", "device, self", CellKind::Time),
        col("device_total_ns", "device", CellKind::Time),
        col("self_ns", "host, self", CellKind::Time),
        col("total_ns", "host", CellKind::Time),
        col("longest_id", "longest event", CellKind::Event),
    ],
);

const OPERATORS_OF_ALL: ReportGrid = ReportGrid::of_totals(
    "operators",
    &OPERATORS_ACROSS,
    "Operators by device time, then by host time, sums over ranks",
    &[
        col("name", "name", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("device_self_ns", "device, self", CellKind::Time),
        col("self_ns", "host, self", CellKind::Time),
        col("total_ns", "host", CellKind::Time),
        col("least_ns", "host, least of a rank", CellKind::Time),
        col("most_ns", "host, most of a rank", CellKind::Time),
    ],
);

const MODULES: ReportGrid = ReportGrid::of(
    "modules",
    &tables::MODULES,
    "Modules by device time",
    &[
        col("module", "module", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("device_self_ns", "device, self", CellKind::Time),
        col("device_total_ns", "device", CellKind::Time),
        col("backward_ns", "backward", CellKind::Time),
        col("self_ns", "host, self", CellKind::Time),
        col("total_ns", "host", CellKind::Time),
        col("longest_id", "longest event", CellKind::Event),
    ],
);

const MODULES_OF_ALL: ReportGrid = ReportGrid::of_totals(
    "modules",
    &MODULES_ACROSS,
    "Modules by device time, sums over ranks",
    &[
        col("module", "module", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("device_self_ns", "device, self", CellKind::Time),
        col("device_total_ns", "device", CellKind::Time),
        col("total_ns", "host", CellKind::Time),
        col("least_ns", "host, least of a rank", CellKind::Time),
        col("most_ns", "host, most of a rank", CellKind::Time),
    ],
);

const ROOFLINE: ReportGrid = ReportGrid::of(
    "roofline",
    &tables::ROOFLINE,
    "Operators by shape, against the device's peaks",
    &[
        col("rank", "rank", CellKind::Key),
        col("name", "name", CellKind::Name),
        col("input_shapes", "shapes", CellKind::Name),
        col("dtype", "type", CellKind::Name),
        col("count", "calls", CellKind::Count),
        col("total_ns", "total", CellKind::Time),
        col("tflops", "TFLOP/s", CellKind::Number),
        col("gbps", "GB/s", CellKind::Number),
        col("bound", "bound by", CellKind::Word),
        col("share_of_peak", "share of roofline", CellKind::Share),
        col("longest_id", "longest event", CellKind::Event),
    ],
);

const UTILISATION: ReportGrid = ReportGrid::of(
    "roofline",
    &tables::ROOFLINE_ITERATIONS,
    "Model FLOP utilisation by iteration, at least",
    &[
        col("rank", "rank", CellKind::Key),
        col("iteration", "iteration", CellKind::Count),
        col("dur_ns", "duration", CellKind::Time),
        col("tflops", "TFLOP/s", CellKind::Number),
        col("share_of_peak", "share of peak", CellKind::Share),
        col("covered_share", "computation counted", CellKind::Share),
    ],
);

const PEAKS: ReportGrid = ReportGrid::of(
    "roofline",
    &tables::ROOFLINE_DEVICE,
    "Devices and their peaks",
    &[
        col("rank", "rank", CellKind::Key),
        col("device_name", "device", CellKind::Name),
        col("peaks_of", "peaks of", CellKind::Name),
        col("bandwidth_gbps", "GB/s", CellKind::Number),
        col("reason", "reason", CellKind::Name),
    ],
);

const OF_DEVICES: DigestTable = DigestTable {
    grid: &PEAKS,
    options: [OPTIONS, ""],
    by: None,
    limit: 2,
    weights: ItemWeights { first: 19, step: 20 },
};

const BY_SHAPE: DigestTable = DigestTable {
    grid: &ROOFLINE,
    options: [OPTIONS, ""],
    by: Some(tables::ROOFLINE.column("total_ns")),
    limit: 12,
    weights: ItemWeights { first: 19, step: 6 },
};

const BY_ITERATION: DigestTable = DigestTable {
    grid: &UTILISATION,
    options: [OPTIONS, ""],
    by: Some(tables::ROOFLINE_ITERATIONS.column("dur_ns")),
    limit: 3,
    weights: ItemWeights { first: 24, step: 12 },
};

/// The rows of a trace, and their sums over the ranks of a job.
struct LargestRows {
    title: &'static str,
    grids: [&'static ReportGrid; 2],
    totals: &'static RankTotals,
    /// The columns that sort the sums, as those of a trace are sorted.
    by: &'static [TableColumn],
    weights: ItemWeights,
}

const OF_KERNELS: LargestRows = LargestRows {
    title: "Kernels",
    grids: [&KERNELS, &KERNELS_OF_ALL],
    totals: &KERNELS_ACROSS,
    by: &[tables::KERNELS.column("total_ns")],
    weights: ItemWeights { first: 5, step: 5 },
};

const OF_OPERATORS: LargestRows = LargestRows {
    title: "Operators",
    grids: [&OPERATORS, &OPERATORS_OF_ALL],
    totals: &OPERATORS_ACROSS,
    by: &[tables::OPERATORS.column("device_self_ns"), tables::OPERATORS.column("self_ns")],
    weights: ItemWeights { first: 9, step: 6 },
};

const OF_MODULES: LargestRows = LargestRows {
    title: "Modules",
    grids: [&MODULES, &MODULES_OF_ALL],
    totals: &MODULES_ACROSS,
    by: &[tables::MODULES.column("device_self_ns"), tables::MODULES.column("total_ns")],
    weights: ItemWeights { first: 13, step: 6 },
};

/// Adds the sections on kernels, operators, modules and the roofline.
pub(super) fn add(contents: &mut DigestContents<'_>) {
    for (id, rows) in [("kernels", OF_KERNELS), ("operators", OF_OPERATORS), ("modules", OF_MODULES)] {
        let blocks = rows.blocks(contents);
        contents.add(id, rows.title, blocks);
    }
    let found = contents.rows(&BY_SHAPE).and_then(|(shapes, reason)| {
        // Without shapes, no iteration has a count of operations.
        if shapes.items.is_empty() {
            return Ok((Vec::new(), reason));
        }
        Ok((vec![shapes, contents.rows(&BY_ITERATION)?.0, contents.rows(&OF_DEVICES)?.0.unmeasured()], reason))
    });
    let found: ReportResult<Vec<DigestBlock>> = found.map(|(blocks, reason)| {
        contents.note_missing("Roofline", reason);
        blocks
    });
    contents.add("roofline", "Roofline", found);
}

impl LargestRows {
    fn blocks(&self, contents: &mut DigestContents<'_>) -> ReportResult<Vec<DigestBlock>> {
        let is_job = contents.source.is_job();
        let grid = self.grids[usize::from(is_job)];
        let table = DigestTable { grid, options: [OPTIONS, ""], by: None, limit: LIMIT, weights: self.weights };
        let answer = contents.source.ask(grid.analysis, OPTIONS)?;
        let rows = if is_job {
            self.totals.top_by(&frame(&answer, grid.table, usize::MAX)?, self.by, LIMIT)
        } else {
            frame(&answer, grid.table, LIMIT)?
        };
        if rows.num_rows == 0 {
            contents.note_missing(self.title, answer.reason.clone());
        }
        Ok(vec![contents.block(&answer, &table, &rows)])
    }
}
