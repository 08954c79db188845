//! Sums the allocator's memory by pool and stream.

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use super::allocator_state::{AllocatorState, PieceState, SegmentState};
use crate::memory::MemorySnapshot;
use crate::sorted_map::SortedMap;
use crate::table::{Table, float, int, put, text};
use crate::time::add_ns;

/// The pool of all memory that is not in a private one.
const DEFAULT_POOL: &str = "[0,0]";

/// The memory of a pool that serves one stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryPoolRow {
    pub(super) device: SnapshotDevice,
    pub(super) pool: String,
    pub(super) stream: Option<i64>,
    pub(super) reserved_bytes: i64,
    pub(super) allocated_bytes: i64,
    pub(super) requested_bytes: i64,
    pub(super) waiting_bytes: i64,
    /// In segments without anything in use.
    pub(super) cached_bytes: i64,
    /// Free, in segments with something in use.
    pub(super) split_bytes: i64,
    pub(super) largest_free_bytes: i64,
    pub(super) num_segments: i64,
    pub(super) num_blocks: i64,
}

impl MemoryPoolRow {
    pub(super) fn free_bytes(&self) -> i64 {
        self.cached_bytes.saturating_add(self.split_bytes)
    }

    pub(super) fn is_private(&self) -> bool {
        is_private(&self.pool)
    }
}

/// Whether only those that name the pool may use it.
pub(super) fn is_private(pool: &str) -> bool {
    !pool.is_empty() && pool != DEFAULT_POOL
}

pub(crate) static TABLE: Table<Vec<MemoryPoolRow>> = Table {
    name: "memory_pools",
    doc: "the memory of one pool for one stream of a device, at a moment",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        text("pool", |rows, at, out| put(out, &rows[at].pool)),
        int("stream", |rows, at| rows[at].stream),
        int("reserved_bytes", |rows, at| Some(rows[at].reserved_bytes)),
        int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
        int("requested_bytes", |rows, at| Some(rows[at].requested_bytes)),
        int("waiting_bytes", |rows, at| Some(rows[at].waiting_bytes)),
        int("cached_bytes", |rows, at| Some(rows[at].cached_bytes)),
        int("split_bytes", |rows, at| Some(rows[at].split_bytes)),
        float("split_share", |rows, at| split_share(rows[at].split_bytes, rows[at].reserved_bytes)),
        int("largest_free_bytes", |rows, at| Some(rows[at].largest_free_bytes)),
        int("num_segments", |rows, at| Some(rows[at].num_segments)),
        int("num_blocks", |rows, at| Some(rows[at].num_blocks)),
    ],
};

/// The share of reserved memory that is free and cannot be returned.
pub(super) fn split_share(split: i64, reserved: i64) -> Option<f64> {
    (reserved > 0).then(|| split as f64 / reserved as f64)
}

/// The pools of one device; the default pool comes first.
pub(super) fn pools(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    state: &AllocatorState,
) -> Vec<MemoryPoolRow> {
    let key = |segment: &SegmentState| {
        let pool = snapshot.strings.text(segment.pool);
        (is_private(pool), pool, segment.stream)
    };
    let mut rows: SortedMap<_, MemoryPoolRow> = SortedMap::of(state.segments.iter().map(key));
    for ((_, pool, stream), row) in rows.iter_mut() {
        (row.pool, row.stream) = ((*pool).to_owned(), *stream);
    }
    for segment in &state.segments {
        let Some(row) = rows.get_mut(&key(segment)) else { continue };
        row.device = segment.device;
        row.num_segments += 1;
        add_ns(&mut row.reserved_bytes, segment.bytes);
        let is_free = segment.is_free();
        for piece in &segment.pieces {
            match piece.state {
                PieceState::Used => {
                    row.num_blocks += 1;
                    add_ns(&mut row.allocated_bytes, piece.bytes);
                    let requested = piece.life.map_or(0, |life| lives[life].bytes);
                    add_ns(&mut row.requested_bytes, requested);
                }
                PieceState::Waiting => add_ns(&mut row.waiting_bytes, piece.bytes),
                PieceState::Free => {
                    add_ns(if is_free { &mut row.cached_bytes } else { &mut row.split_bytes }, piece.bytes);
                    row.largest_free_bytes = row.largest_free_bytes.max(piece.bytes);
                }
            }
        }
    }
    rows.into_values()
}

/// Sums of the rows' bytes.
pub(super) fn sum(rows: &[MemoryPoolRow], bytes: impl Fn(&MemoryPoolRow) -> i64) -> i64 {
    rows.iter().fold(0, |sum, row| sum.saturating_add(bytes(row)))
}
