//! Rebuilds the allocator's memory at a moment: its segments, and what lies in them.

use std::collections::BTreeMap;

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use crate::id::StrId;
use crate::memory::MemorySnapshot;
use crate::memory::snapshot::Action;
use crate::sort;
use crate::sorted_map::SortedMap;

/// The allocator cuts off no rest of at most this size, except from small blocks, which are not
/// larger, and in segments that can grow.
const SMALLEST_REST: u64 = 1 << 20;

/// The use of a piece of a segment at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PieceState {
    Used,
    /// Given back by the program, but other streams may still use it.
    Waiting,
    Free,
}

/// A piece of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentPiece {
    pub(super) address: u64,
    pub(super) bytes: i64,
    pub(super) state: PieceState,
    /// The place of its allocation.
    pub(super) life: Option<usize>,
}

/// A contiguous piece of memory that the allocator has taken, at a moment.
#[derive(Debug, Clone)]
pub(super) struct SegmentState {
    pub(super) device: SnapshotDevice,
    pub(super) address: u64,
    pub(super) bytes: i64,
    pub(super) stream: Option<i64>,
    /// The pool as a JSON array.
    pub(super) pool: StrId,
    /// Its pieces by address; they fill it.
    pub(super) pieces: Vec<SegmentPiece>,
}

impl SegmentState {
    /// Whether nothing in it is in use.
    pub(super) fn is_free(&self) -> bool {
        self.pieces.iter().all(|piece| piece.state == PieceState::Free)
    }
}

/// The memory of one device after a number of actions.
#[derive(Debug, Clone, Default)]
pub(super) struct AllocatorState {
    /// The segments by address.
    pub(super) segments: Vec<SegmentState>,
    /// The bytes of allocations that lie in no known segment.
    pub(super) unplaced_bytes: i64,
}

impl AllocatorState {
    /// The state after the first `num_actions` actions. It counts back from the segments of the
    /// file, because early actions may be lost.
    pub(super) fn of(
        snapshot: &MemorySnapshot,
        lives: &[SnapshotAllocation],
        device: SnapshotDevice,
        num_actions: usize,
    ) -> Self {
        let mut state = Self { segments: segments(snapshot, device, num_actions), unplaced_bytes: 0 };
        let mut placed: Vec<Vec<(usize, u64)>> = vec![Vec::new(); state.segments.len()];
        for (at, life) in lives.iter().enumerate().filter(|(_, life)| life.device == device) {
            if !life.is_after(num_actions) {
                continue;
            }
            match life.address.and_then(|address| Some((state.segment_at(address)?, address))) {
                Some((segment, address)) => placed[segment].push((at, address)),
                None => state.unplaced_bytes = state.unplaced_bytes.saturating_add(life.block_bytes),
            }
        }
        for (segment, mut inside) in state.segments.iter_mut().zip(placed) {
            sort::by_key(&mut inside, |(_, address)| *address);
            segment.pieces = pieces(segment, &inside, lives, num_actions);
        }
        state
    }

    fn segment_at(&self, address: u64) -> Option<usize> {
        let at = self.segments.partition_point(|segment| segment.address <= address).checked_sub(1)?;
        let segment = &self.segments[at];
        (address - segment.address < segment.bytes as u64).then_some(at)
    }
}

/// The allocations of a segment, and the free memory between them.
fn pieces(
    segment: &SegmentState,
    inside: &[(usize, u64)],
    lives: &[SnapshotAllocation],
    num_actions: usize,
) -> Vec<SegmentPiece> {
    let end = segment.address.saturating_add(segment.bytes as u64);
    let mut pieces = Vec::with_capacity(inside.len() + 1);
    let mut next = segment.address;
    let fill = |pieces: &mut Vec<SegmentPiece>, from: u64, to: u64, state, life| {
        if from < to {
            pieces.push(SegmentPiece { address: from, bytes: (to - from) as i64, state, life });
        }
    };
    for (at, (life, address)) in inside.iter().enumerate() {
        let known = &lives[*life];
        let limit = inside.get(at + 1).map_or(end, |(_, after)| *after).max(*address);
        let until = address.saturating_add(u64::try_from(known.block_bytes).unwrap_or(0)).min(limit);
        let state = if known.is_waiting_after(num_actions) { PieceState::Waiting } else { PieceState::Used };
        fill(&mut pieces, next, *address, PieceState::Free, None);
        fill(&mut pieces, *address, until, state, Some(*life));
        next = until;
    }
    fill(&mut pieces, next, end, PieceState::Free, None);
    pieces
}

/// Memory that is taken, by address.
#[derive(Default)]
struct TakenMemory(BTreeMap<u64, TakenRange>);

#[derive(Clone, Copy)]
struct TakenRange {
    end: u64,
    stream: Option<i64>,
    pool: StrId,
    /// Whether it can grow, page by page.
    is_expandable: bool,
}

fn segments(snapshot: &MemorySnapshot, device: SnapshotDevice, num_actions: usize) -> Vec<SegmentState> {
    let mut taken = TakenMemory::at_end(snapshot, device);
    for action in snapshot.actions.iter().skip(num_actions).rev().filter(|action| action.device == device) {
        taken.undo(snapshot.strings.text(action.action), action);
    }
    let segment = |(address, range): (u64, TakenRange)| SegmentState {
        device,
        address,
        bytes: i64::try_from(range.end - address).unwrap_or(i64::MAX),
        stream: range.stream,
        pool: range.pool,
        pieces: Vec::new(),
    };
    taken.0.into_iter().map(segment).collect()
}

/// Sets the sizes of blocks that the file lacks.
///
/// A block takes the free memory up to the next block or the end of the segment, if the allocator
/// would not cut it off, and gives nothing of it to others later. That is decided as it is made, or
/// as the recording begins.
pub(super) fn size_blocks(snapshot: &MemorySnapshot, lives: &mut [SnapshotAllocation]) {
    let mut devices: SortedMap<SnapshotDevice, [TakenMemory; 2]> = SortedMap::of(lives.iter().map(|life| life.device));
    for (device, [segments, _]) in devices.iter_mut() {
        *segments = TakenMemory::at_end(snapshot, *device);
    }
    let mut by_action = vec![[None; 2]; snapshot.actions.len()];
    for (at, life) in lives.iter().enumerate() {
        life.first.into_iter().for_each(|first| by_action[first][0] = Some(at));
        match life.last {
            Some(last) => by_action[last][1] = Some(at),
            None => devices.get_mut(&life.device).into_iter().for_each(|[_, blocks]| blocks.hold(life.address)),
        }
    }
    for (action, [made, freed]) in snapshot.actions.iter().zip(by_action).rev() {
        let Some([segments, blocks]) = devices.get_mut(&action.device) else { continue };
        if let Some(life) = made.and_then(|made| lives.get_mut(made)) {
            life.block_bytes = segments.block_bytes(blocks, life);
            if let Some(address) = life.address {
                blocks.0.remove(&address);
                let before = blocks.0.range_mut(..address).next_back();
                before.into_iter().for_each(|(_, before)| before.end = before.end.min(address));
            }
        }
        freed.into_iter().for_each(|freed| blocks.hold(lives[freed].address));
        segments.undo(snapshot.strings.text(action.action), action);
    }
    for life in lives.iter_mut().filter(|life| life.first.is_none()) {
        if let Some([segments, blocks]) = devices.get(&life.device) {
            life.block_bytes = segments.block_bytes(blocks, life);
        }
    }
}

impl TakenMemory {
    fn at_end(snapshot: &MemorySnapshot, device: SnapshotDevice) -> Self {
        let mut taken = Self::default();
        for segment in snapshot.segments.iter().filter(|segment| segment.device == device) {
            let (Some(address), Some(size)) = (segment.address, segment.size) else { continue };
            let is_expandable = segment.is_expandable.unwrap_or(false);
            taken.add(address, size, (segment.stream, segment.pool, is_expandable));
        }
        taken
    }

    /// Notes the address of a block; its end is where another is made while it is in use. A map of
    /// another type would add kilobytes to every page.
    fn hold(&mut self, address: Option<u64>) {
        let range = TakenRange { end: u64::MAX, stream: None, pool: StrId::default(), is_expandable: false };
        address.map(|address| self.0.insert(address, range));
    }

    /// The size of the block of an allocation in these segments, beside other blocks.
    fn block_bytes(&self, blocks: &Self, life: &SnapshotAllocation) -> i64 {
        let found = life.address.filter(|_| !life.has_block).and_then(|address| {
            let (_, segment) = self.0.range(..=address).next_back().filter(|(_, range)| range.end > address)?;
            let next = blocks.0.range(address + 1..segment.end).next();
            let limit = next.map_or(segment.end, |(next, _)| *next);
            let bytes = u64::try_from(life.block_bytes).ok()?;
            let rest = if segment.is_expandable || bytes <= SMALLEST_REST { 0 } else { SMALLEST_REST };
            let is_whole = blocks.0.get(&address).is_none_or(|block| limit <= block.end);
            let cut_off = (limit - address).checked_sub(bytes)?;
            i64::try_from(limit - address).ok().filter(|_| is_whole && cut_off <= rest)
        });
        found.unwrap_or(life.block_bytes)
    }

    fn undo(&mut self, kind: &str, action: &Action) {
        let (Some(address), Some(size)) = (action.address, action.size) else { return };
        match kind {
            "segment_alloc" | "segment_map" => self.remove(address, size),
            "segment_free" => self.add(address, size, (action.stream, action.pool, false)),
            "segment_unmap" => self.add(address, size, (action.stream, action.pool, true)),
            _ => {}
        }
    }

    fn add(&mut self, address: u64, size: i64, (stream, pool, is_expandable): (Option<i64>, StrId, bool)) {
        let Some(end) = u64::try_from(size).ok().and_then(|size| address.checked_add(size)) else { return };
        self.remove(address, size);
        if address < end {
            self.0.insert(address, TakenRange { end, stream, pool, is_expandable });
            self.join(address);
        }
    }

    /// Joins an expandable range with those beside it.
    fn join(&mut self, address: u64) {
        let Some(range) = self.0.get(&address).copied().filter(|range| range.is_expandable) else { return };
        let after = self.0.get(&range.end).copied().filter(|after| after.is_expandable && after.pool == range.pool);
        if let Some(after) = after {
            self.0.remove(&range.end);
            self.0.insert(address, TakenRange { end: after.end, ..range });
        }
        let end = self.0.get(&address).map_or(range.end, |range| range.end);
        let before = self.0.range_mut(..address).next_back().map(|(_, before)| before);
        if let Some(before) =
            before.filter(|before| before.is_expandable && before.end == address && before.pool == range.pool)
        {
            before.end = end;
            self.0.remove(&address);
        }
    }

    fn remove(&mut self, address: u64, size: i64) {
        let Some(end) = u64::try_from(size).ok().and_then(|size| address.checked_add(size)) else { return };
        let first = self.0.range(..=address).next_back().filter(|(_, range)| range.end > address);
        let first = first.map_or(address, |(start, _)| *start);
        let cut: Vec<(u64, TakenRange)> = self.0.range(first..end).map(|(start, range)| (*start, *range)).collect();
        for (start, range) in cut {
            self.0.remove(&start);
            if start < address {
                self.0.insert(start, TakenRange { end: address, ..range });
            }
            if range.end > end {
                self.0.insert(end, range);
            }
        }
    }
}
