//! Shows the allocator's memory at a moment: by address and by pool.

use maud::{Markup, html};

use super::grid::{CellKind, ReportGrid, col};
use super::source::{ReportResult, ReportSource, frame, table};
use crate::analyze::{AnalysisResult, tables};
use crate::view::chart::figure;

const MAX_POOLS: usize = 100;

const POOLS: ReportGrid = ReportGrid::unsaved(
    &tables::MEMORY_POOLS,
    "Pools",
    &[
        col("device", "device", CellKind::Key),
        col("pool", "pool", CellKind::Word),
        col("stream", "stream", CellKind::Key),
        col("reserved_bytes", "reserved", CellKind::Bytes),
        col("allocated_bytes", "in use", CellKind::Bytes),
        col("waiting_bytes", "waiting", CellKind::Bytes),
        col("cached_bytes", "in free segments", CellKind::Bytes),
        col("split_bytes", "free beside memory in use", CellKind::Bytes),
        col("split_share", "share of reserved", CellKind::Share),
        col("largest_free_bytes", "largest free piece", CellKind::Bytes),
        col("num_segments", "segments", CellKind::Count),
        col("num_blocks", "blocks in use", CellKind::Count),
    ],
);

/// The picture and the pools of a state.
pub(in crate::view) fn memory_at(source: &ReportSource<'_>, state: &AnalysisResult) -> ReportResult<Markup> {
    let layout = table(state, tables::MEMORY_LAYOUT.name)?;
    let pools = frame(state, POOLS.table, MAX_POOLS)?;
    Ok(html! {
        figure class="ks-picture" { (figure(&**layout, Some(tables::LAYOUT_PLOT), state.reason.as_deref())) }
        (POOLS.html(source, &pools))
    })
}
