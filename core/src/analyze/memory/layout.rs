//! Lists the pieces of the allocator's segments by address.

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use super::allocator_state::{AllocatorState, PieceState};
use super::origin::site;
use super::pool::is_private;
use crate::analyze::plot::Plot;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::sort;
use crate::table::{Table, int, put, text, uint};

/// A piece of a segment at a moment.
#[derive(Debug, Clone)]
pub(crate) struct MemoryLayoutRow {
    device: SnapshotDevice,
    segment: u64,
    address: u64,
    bytes: i64,
    state: &'static str,
    requested_bytes: Option<i64>,
    pool: String,
    stream: Option<i64>,
    site: String,
    action: Option<usize>,
    stack: Option<StackId>,
}

pub(crate) static TABLE: Table<Vec<MemoryLayoutRow>> = Table {
    name: "memory_layout",
    doc: "a piece of a segment of the allocator at a moment, by address",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        uint("segment_address", |rows, at| Some(rows[at].segment)),
        uint("address", |rows, at| Some(rows[at].address)),
        int("bytes", |rows, at| Some(rows[at].bytes)),
        text("state", |rows, at, out| put(out, rows[at].state)),
        int("requested_bytes", |rows, at| rows[at].requested_bytes),
        text("pool", |rows, at, out| put(out, &rows[at].pool)),
        int("stream", |rows, at| rows[at].stream),
        text("site", |rows, at, out| put(out, &rows[at].site)),
        int("action_row", |rows, at| rows[at].action.map(|at| at as i64)),
        int("stack_id", |rows, at| rows[at].stack.map(|stack| i64::from(stack.0))),
    ],
};

/// Segments as tapes.
pub(crate) const PLOT: Plot = Plot::Layout {
    segment: "segment_address",
    bytes: "bytes",
    state: "state",
    label: "site",
    pool: "pool",
    panel: "device",
};

/// The pieces of one device; the default pool comes first.
pub(super) fn layout(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    state: &AllocatorState,
) -> Vec<MemoryLayoutRow> {
    let mut segments: Vec<_> =
        state.segments.iter().map(|segment| (snapshot.strings.text(segment.pool), segment)).collect();
    sort::by_key(&mut segments, |(pool, segment)| (is_private(pool), *pool, segment.address));
    let mut rows = Vec::new();
    for (pool, segment) in segments {
        let is_free = segment.is_free();
        for piece in &segment.pieces {
            let life = piece.life.map(|life| &lives[life]);
            rows.push(MemoryLayoutRow {
                device: segment.device,
                segment: segment.address,
                address: piece.address,
                bytes: piece.bytes,
                state: match piece.state {
                    PieceState::Used => "used",
                    PieceState::Waiting => "waiting",
                    PieceState::Free if is_free => "cached",
                    PieceState::Free => "split",
                },
                requested_bytes: life.map(|life| life.bytes),
                pool: pool.to_owned(),
                stream: segment.stream,
                site: life.map(|life| site(snapshot, life.stack)).unwrap_or_default(),
                action: life.and_then(|life| life.first),
                stack: life.and_then(|life| life.stack),
            });
        }
    }
    rows
}
