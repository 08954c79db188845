//! Explains why an allocation failed.

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use super::allocator_state::AllocatorState;
use super::holder::holders;
use super::origin::site;
use super::pool::{MemoryPoolRow, pools, sum};
use crate::memory::MemorySnapshot;
use crate::memory::snapshot::Action;
use crate::table::{Table, int, put, text};

/// The reason why memory was not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OomCause {
    /// The device had enough left: the process was not allowed to take it.
    Limit,
    /// Enough is free, in pieces.
    Pieces,
    /// Enough is free, for other streams.
    Streams,
    /// Enough is given back, but other streams may still use it.
    Waiting,
    /// Enough is free in private pools.
    PrivatePools,
    /// Too much is in use.
    InUse,
}

impl OomCause {
    fn name(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Pieces => "pieces",
            Self::Streams => "streams",
            Self::Waiting => "waiting",
            Self::PrivatePools => "private_pools",
            Self::InUse => "in_use",
        }
    }

    fn advice(self, is_expandable: bool) -> &'static str {
        match self {
            Self::Limit => {
                "The device has enough free memory, the process may not take it: raise the limit \
                 (torch.cuda.set_per_process_memory_fraction) or ask for less"
            }
            Self::Pieces if is_expandable => {
                "Enough is free, in pieces: allocate large tensors first, or tensors of equal sizes"
            }
            Self::Pieces => {
                "Enough is free, in pieces: set PYTORCH_ALLOC_CONF=expandable_segments:True \
                 (PYTORCH_CUDA_ALLOC_CONF before PyTorch 2.9)"
            }
            Self::Streams => {
                "Enough is free, for other streams: allocate on one stream, or call torch.cuda.empty_cache() before"
            }
            Self::Waiting => {
                "Enough is given back, but other streams may still use it: synchronise before the allocation, \
                 or call record_stream on fewer tensors"
            }
            Self::PrivatePools => {
                "Enough is free in private pools: let CUDA graphs share a pool (torch.cuda.graph(pool=…)), \
                 or capture fewer"
            }
            Self::InUse => {
                "Too much is in use: release what memory_holders lists, recompute activations \
                 (torch.utils.checkpoint), or make the batch smaller"
            }
        }
    }
}

/// An allocation that failed.
#[derive(Debug, Clone)]
pub(crate) struct OutOfMemoryRow {
    device: SnapshotDevice,
    action: usize,
    time_ns: Option<i64>,
    asked_bytes: Option<i64>,
    device_free_bytes: Option<i64>,
    usable: MemoryPoolRow,
    other_streams_bytes: i64,
    private_bytes: i64,
    all: MemoryPoolRow,
    site: String,
    holder: String,
    holder_bytes: i64,
    cause: Option<OomCause>,
    /// The memory that would have been enough without more of the device.
    other: Option<OomCause>,
    is_expandable: bool,
}

impl OutOfMemoryRow {
    fn advice(&self) -> String {
        let causes = [self.cause, self.other].into_iter().flatten();
        causes.map(|cause| cause.advice(self.is_expandable)).collect::<Vec<_>>().join(". ")
    }
}

pub(crate) static TABLE: Table<Vec<OutOfMemoryRow>> = Table {
    name: "out_of_memory",
    doc: "an allocation that failed, and why",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        int("time_ns", |rows, at| rows[at].time_ns),
        text("site", |rows, at, out| put(out, &rows[at].site)),
        text("cause", |rows, at, out| put(out, rows[at].cause.map_or("", |cause| cause.name()))),
        int("asked_bytes", |rows, at| rows[at].asked_bytes),
        int("device_free_bytes", |rows, at| rows[at].device_free_bytes),
        int("reserved_bytes", |rows, at| Some(rows[at].all.reserved_bytes)),
        int("allocated_bytes", |rows, at| Some(rows[at].all.allocated_bytes)),
        int("waiting_bytes", |rows, at| Some(rows[at].all.waiting_bytes)),
        int("usable_bytes", |rows, at| Some(rows[at].usable.free_bytes())),
        int("largest_free_bytes", |rows, at| Some(rows[at].usable.largest_free_bytes)),
        int("other_streams_bytes", |rows, at| Some(rows[at].other_streams_bytes)),
        int("private_bytes", |rows, at| Some(rows[at].private_bytes)),
        text("holder", |rows, at, out| put(out, &rows[at].holder)),
        int("holder_bytes", |rows, at| Some(rows[at].holder_bytes)),
        int("action_row", |rows, at| Some(rows[at].action as i64)),
        text("advice", |rows, at, out| put(out, &rows[at].advice())),
    ],
};

/// The allocations that failed, in the order of the file, with what was free and where.
///
/// The cause is the first of these that, with all before it, would have been enough: memory of the
/// device, free pieces of the pool and stream that asked, those of other streams, memory that
/// waits for other streams, free pieces of private pools. Else too much is in use.
pub(super) fn failures(snapshot: &MemorySnapshot, lives: &[SnapshotAllocation]) -> Vec<OutOfMemoryRow> {
    let is_failure = |action: &&Action| snapshot.strings.text(action.action) == "oom";
    let actions = snapshot.actions.iter().enumerate();
    actions.filter(|(_, action)| is_failure(action)).map(|(at, action)| failure(snapshot, lives, at, action)).collect()
}

fn failure(snapshot: &MemorySnapshot, lives: &[SnapshotAllocation], at: usize, action: &Action) -> OutOfMemoryRow {
    let state = AllocatorState::of(snapshot, lives, action.device, at);
    let pools = pools(snapshot, lives, &state);
    let pool = snapshot.strings.text(action.pool);
    let is_same_pool = |row: &MemoryPoolRow| {
        if pool.is_empty() { !row.is_private() } else { row.pool == pool }
    };
    let (same, other): (Vec<_>, Vec<_>) = pools.iter().cloned().partition(is_same_pool);
    let (usable, other_streams): (Vec<_>, Vec<_>) =
        same.into_iter().partition(|row| action.stream.is_none() || row.stream == action.stream);
    let held: Vec<_> = lives.iter().filter(|life| life.device == action.device && life.is_after(at)).collect();
    let holder = holders(snapshot, &held).into_iter().next().unwrap_or_default();
    let mut row = OutOfMemoryRow {
        device: action.device,
        action: at,
        time_ns: action.time.map(|time| time.0),
        asked_bytes: action.size,
        device_free_bytes: action.device_free,
        other_streams_bytes: sum(&other_streams, MemoryPoolRow::free_bytes),
        private_bytes: sum(&other, MemoryPoolRow::free_bytes),
        usable: total(&usable),
        all: total(&pools),
        site: action.stack.map(|stack| site(snapshot, Some(stack))).unwrap_or_default(),
        holder: holder.site,
        holder_bytes: holder.held_bytes,
        cause: None,
        other: None,
        is_expandable: snapshot.segments.iter().any(|segment| segment.is_expandable == Some(true)),
    };
    if let (Some(asked), Some(device_free)) = (row.asked_bytes, row.device_free_bytes) {
        let is_limit = device_free >= asked;
        let free = if is_limit { 0 } else { device_free };
        let found = cause(&row, asked, free);
        row.cause = Some(if is_limit { OomCause::Limit } else { found });
        row.other = (is_limit && found != OomCause::InUse).then_some(found);
    }
    row
}

fn total(rows: &[MemoryPoolRow]) -> MemoryPoolRow {
    MemoryPoolRow {
        reserved_bytes: sum(rows, |row| row.reserved_bytes),
        allocated_bytes: sum(rows, |row| row.allocated_bytes),
        waiting_bytes: sum(rows, |row| row.waiting_bytes),
        cached_bytes: sum(rows, |row| row.cached_bytes),
        split_bytes: sum(rows, |row| row.split_bytes),
        largest_free_bytes: rows.iter().map(|row| row.largest_free_bytes).max().unwrap_or(0),
        ..MemoryPoolRow::default()
    }
}

/// The memory that would have been enough, with so much free on the device.
fn cause(row: &OutOfMemoryRow, asked: i64, device_free: i64) -> OomCause {
    let mut there = device_free;
    let further = [
        (OomCause::Pieces, row.usable.free_bytes()),
        (OomCause::Streams, row.other_streams_bytes),
        (OomCause::Waiting, row.all.waiting_bytes),
        (OomCause::PrivatePools, row.private_bytes),
    ];
    for (cause, bytes) in further {
        there = there.saturating_add(bytes);
        if there >= asked {
            return cause;
        }
    }
    OomCause::InUse
}
