//! Tells how much memory was in use, and whose it was.

use super::digest_block::DigestBlock;
use super::digest_contents::{DigestContents, DigestTable};
use super::digest_item::ItemWeights;
use crate::analyze::tables;
use crate::view::report::grid::{CellKind, ReportGrid, col};
use crate::view::report::requests::OPTIONS;
use crate::view::report::source::ReportResult;

const DEVICES: ReportGrid = ReportGrid::of(
    "memory",
    &tables::MEMORY,
    "Memory by device",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Name),
        col("peak_allocated_bytes", "peak allocated", CellKind::Bytes),
        col("peak_ns", "peak at", CellKind::Range("peak_ns")),
        col("peak_reserved_bytes", "peak reserved", CellKind::Bytes),
        col("first_bytes", "at start", CellKind::Bytes),
        col("last_bytes", "at end", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
    ],
);

const CATEGORIES: ReportGrid = ReportGrid::of(
    "memory",
    &tables::MEMORY_CATEGORIES,
    "Memory by category",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("category", "category", CellKind::Word),
        col("peak_bytes", "at peak", CellKind::Bytes),
        col("kept_bytes", "never released", CellKind::Bytes),
        col("num_allocations", "allocations", CellKind::Count),
    ],
);

const OWNERS: ReportGrid = ReportGrid::of(
    "memory",
    &tables::MEMORY_OWNERS,
    "Memory by owner",
    &[
        col("rank", "rank", CellKind::Key),
        col("device", "device", CellKind::Key),
        col("operator", "operator", CellKind::Name),
        col("module", "module", CellKind::Name),
        col("line", "line", CellKind::Name),
        col("peak_bytes", "at peak", CellKind::Bytes),
        col("kept_bytes", "never released", CellKind::Bytes),
        col("allocated_bytes", "allocated", CellKind::Bytes),
    ],
);

const TABLES: [DigestTable; 3] = [
    DigestTable {
        grid: &DEVICES,
        options: [OPTIONS, ""],
        by: Some(tables::MEMORY.column("peak_allocated_bytes")),
        limit: 8,
        weights: ItemWeights { first: 8, step: 8 },
    },
    DigestTable {
        grid: &CATEGORIES,
        options: [OPTIONS, ""],
        by: Some(tables::MEMORY_CATEGORIES.column("peak_bytes")),
        limit: 8,
        weights: ItemWeights { first: 23, step: 7 },
    },
    DigestTable {
        grid: &OWNERS,
        options: [OPTIONS, ""],
        by: Some(tables::MEMORY_OWNERS.column("peak_bytes")),
        limit: 8,
        weights: ItemWeights { first: 25, step: 8 },
    },
];

pub(super) fn blocks(contents: &mut DigestContents<'_>) -> ReportResult<Vec<DigestBlock>> {
    let mut blocks = Vec::new();
    for (at, table) in TABLES.iter().enumerate() {
        let (block, reason) = contents.rows(table)?;
        if at == 0 {
            contents.note_missing("Memory", reason);
        }
        blocks.push(block);
    }
    Ok(blocks)
}
