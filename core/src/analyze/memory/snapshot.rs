//! Analyzes a memory snapshot: devices, peaks, and the call stacks that hold memory.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::bands;
use crate::analyze::result::AnalysisResult;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::sort;
use crate::table::{Table, float, int, put, text};
use crate::time::add_ns;

/// A device; none is pinned memory of the host.
pub(super) type SnapshotDevice = Option<i64>;

/// The memory of one device.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeviceMemoryRow {
    device: SnapshotDevice,
    reserved_bytes: i64,
    allocated_bytes: i64,
    requested_bytes: i64,
    free_bytes: i64,
    largest_free_bytes: i64,
    num_segments: i64,
    num_blocks: i64,
    num_ooms: i64,
    peak_requested_bytes: i64,
    peak_reserved_bytes: i64,
    peak_ns: Option<i64>,
    /// The place of the action with which the peak was reached.
    peak: Option<usize>,
}

pub(crate) static TABLE: Table<Vec<DeviceMemoryRow>> = Table {
    name: "memory",
    doc: "the memory of one device, at the time of the snapshot and at its peak",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        int("peak_requested_bytes", |rows, at| Some(rows[at].peak_requested_bytes)),
        int("peak_ns", |rows, at| rows[at].peak_ns),
        int("peak_reserved_bytes", |rows, at| Some(rows[at].peak_reserved_bytes)),
        int("requested_bytes", |rows, at| Some(rows[at].requested_bytes)),
        int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
        int("reserved_bytes", |rows, at| Some(rows[at].reserved_bytes)),
        int("free_bytes", |rows, at| Some(rows[at].free_bytes)),
        int("largest_free_bytes", |rows, at| Some(rows[at].largest_free_bytes)),
        int("num_segments", |rows, at| Some(rows[at].num_segments)),
        int("num_blocks", |rows, at| Some(rows[at].num_blocks)),
        int("num_ooms", |rows, at| Some(rows[at].num_ooms)),
    ],
};

/// The memory of a device after an action.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryPoint {
    device: SnapshotDevice,
    time_ns: Option<i64>,
    requested_bytes: i64,
    reserved_bytes: i64,
}

pub(crate) static SERIES: Table<Vec<MemoryPoint>> = Table {
    name: "memory_series",
    doc: "the memory of a device after one action of the allocator",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        int("time_ns", |rows, at| rows[at].time_ns),
        int("requested_bytes", |rows, at| Some(rows[at].requested_bytes)),
        int("reserved_bytes", |rows, at| Some(rows[at].reserved_bytes)),
    ],
};

/// The memory that one call site holds at the peak of a device.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryHolderRow {
    device: SnapshotDevice,
    stack: Option<StackId>,
    site: String,
    held_bytes: i64,
    largest_bytes: i64,
    num_blocks: i64,
    share: f64,
}

pub(crate) static HOLDERS: Table<Vec<MemoryHolderRow>> = Table {
    name: "memory_holders",
    doc: "the memory that one call stack holds at the peak of a device",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        text("site", |rows, at, out| put(out, &rows[at].site)),
        int("held_bytes", |rows, at| Some(rows[at].held_bytes)),
        int("largest_bytes", |rows, at| Some(rows[at].largest_bytes)),
        int("num_blocks", |rows, at| Some(rows[at].num_blocks)),
        float("share", |rows, at| Some(rows[at].share)),
        int("stack_id", |rows, at| rows[at].stack.map(|stack| i64::from(stack.0))),
    ],
};

/// An allocation: when it was made and released, by place among the actions; `None` is before the
/// first, or never.
#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotAllocation {
    pub(super) device: SnapshotDevice,
    pub(super) bytes: i64,
    pub(super) stack: Option<StackId>,
    pub(super) first: Option<usize>,
    pub(super) last: Option<usize>,
}

impl SnapshotAllocation {
    /// Whether it is there at the place of the peak among the actions.
    fn is_at(&self, peak: Option<usize>) -> bool {
        match peak {
            Some(peak) => self.first.is_none_or(|first| first <= peak) && self.last.is_none_or(|last| peak < last),
            // Nothing was ever more than at the beginning, or there are no actions.
            None => self.first.is_none(),
        }
    }
}

/// A moment of a snapshot's recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnapshotMoment {
    /// When the snapshot was taken.
    End,
    /// When the device had the most in use.
    Peak,
}

/// The allocations that are in use at a moment.
pub(super) fn held(snapshot: &MemorySnapshot, moment: SnapshotMoment) -> Vec<SnapshotAllocation> {
    let mut lives = lives(snapshot);
    match moment {
        SnapshotMoment::End => lives.retain(|life| life.last.is_none()),
        SnapshotMoment::Peak => {
            let mut devices = devices(snapshot);
            points(snapshot, &lives, &mut devices);
            lives.retain(|life| devices.get(&life.device).is_some_and(|device| life.is_at(device.peak)));
        }
    }
    lives
}

/// Current and peak memory of each device, over time, and the largest holders at the peak.
///
/// Requested bytes count back from the end: `alloc` adds, `free_completed` subtracts. Reserved
/// bytes do so by `segment_alloc` and `segment_map`, `segment_free` and `segment_unmap`. Without
/// actions, the end is the peak.
pub fn memory_of_snapshot(snapshot: &MemorySnapshot) -> AnalysisResult {
    let lives = lives(snapshot);
    let mut devices = devices(snapshot);
    let points = points(snapshot, &lives, &mut devices);
    let holders = holders(snapshot, &lives, &devices);
    AnalysisResult::of(
        &TABLE,
        devices.into_values().collect(),
        "the snapshot contains no memory and no actions of the \
         allocator",
    )
    .and(&SERIES, points)
    .and(&HOLDERS, holders)
    .and(&bands::TABLE, bands::bands(snapshot, &lives))
    .drawn_from(bands::TABLE.name, bands::PLOT)
}

/// Memory at the end.
fn devices(snapshot: &MemorySnapshot) -> BTreeMap<SnapshotDevice, DeviceMemoryRow> {
    let mut devices: BTreeMap<SnapshotDevice, DeviceMemoryRow> = BTreeMap::new();
    for segment in &snapshot.segments {
        let row = devices.entry(segment.device).or_default();
        row.num_segments += 1;
        add_ns(&mut row.reserved_bytes, segment.size.unwrap_or(0));
        add_ns(&mut row.allocated_bytes, segment.allocated.unwrap_or(0));
    }
    for block in &snapshot.blocks {
        let Some(segment) = snapshot.segments.get(block.segment as usize) else { continue };
        let row = devices.entry(segment.device).or_default();
        let size = block.size.unwrap_or(0);
        if is_active(snapshot, block) {
            row.num_blocks += 1;
            add_ns(&mut row.requested_bytes, block.requested.unwrap_or(size));
        } else {
            add_ns(&mut row.free_bytes, size);
            row.largest_free_bytes = row.largest_free_bytes.max(size);
        }
    }
    for action in &snapshot.actions {
        let is_oom = snapshot.strings.text(action.action) == "oom";
        devices.entry(action.device).or_default().num_ooms += i64::from(is_oom);
    }
    for (device, row) in &mut devices {
        row.device = *device;
        (row.peak_requested_bytes, row.peak_reserved_bytes) = (row.requested_bytes, row.reserved_bytes);
    }
    devices
}

fn is_active(snapshot: &MemorySnapshot, block: &crate::memory::snapshot::Block) -> bool {
    snapshot.strings.text(block.state).starts_with("active")
}

pub(super) fn lives(snapshot: &MemorySnapshot) -> Vec<SnapshotAllocation> {
    let mut lives: Vec<SnapshotAllocation> = Vec::new();
    let mut open: FxHashMap<(SnapshotDevice, u64), usize> = FxHashMap::default();
    for (at, action) in snapshot.actions.iter().enumerate() {
        let (Some(address), Some(bytes)) = (action.address, action.size) else { continue };
        let key = (action.device, address);
        let life =
            SnapshotAllocation { device: action.device, bytes, stack: action.stack, first: Some(at), last: None };
        match snapshot.strings.text(action.action) {
            "alloc" => {
                if let Some(before) = open.insert(key, lives.len()).and_then(|before| lives.get_mut(before)) {
                    before.last = Some(at);
                }
                lives.push(life);
            }
            "free_completed" => match open.remove(&key).and_then(|life| lives.get_mut(life)) {
                Some(known) => known.last = Some(at),
                None => lives.push(SnapshotAllocation { stack: None, first: None, last: Some(at), ..life }),
            },
            _ => {}
        }
    }
    for block in snapshot.blocks.iter().filter(|block| is_active(snapshot, block)) {
        let Some(segment) = snapshot.segments.get(block.segment as usize) else { continue };
        let is_known = block.address.is_some_and(|address| open.contains_key(&(segment.device, address)));
        if !is_known {
            let bytes = block.requested.or(block.size).unwrap_or(0);
            lives.push(SnapshotAllocation {
                device: segment.device,
                bytes,
                stack: block.stack,
                first: None,
                last: None,
            });
        }
    }
    lives
}

/// Memory of the devices after each action, with the peaks.
fn points(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    devices: &mut BTreeMap<SnapshotDevice, DeviceMemoryRow>,
) -> Vec<MemoryPoint> {
    let mut changes: Vec<(i64, i64)> = snapshot.actions.iter().map(|action| (0, reserved(snapshot, action))).collect();
    let mut held: BTreeMap<SnapshotDevice, (i64, i64)> = BTreeMap::new();
    for life in lives {
        match life.first {
            Some(at) => add_ns(&mut changes[at].0, life.bytes),
            None => add_ns(&mut held.entry(life.device).or_default().0, life.bytes),
        }
        if let Some(at) = life.last {
            add_ns(&mut changes[at].0, life.bytes.saturating_neg());
        }
    }
    for (device, row) in devices.iter() {
        held.entry(*device).or_default().1 = row.reserved_bytes;
    }
    for (action, (_, reserved)) in snapshot.actions.iter().zip(&changes) {
        add_ns(&mut held.entry(action.device).or_default().1, reserved.saturating_neg());
    }
    for action in &snapshot.actions {
        // Memory before the first action.
        let (requested, reserved) = held.get(&action.device).copied().unwrap_or_default();
        let row = devices.entry(action.device).or_default();
        (row.peak_requested_bytes, row.peak_reserved_bytes) = (requested, reserved);
    }
    let mut points = Vec::new();
    for (at, (action, change)) in
        snapshot.actions.iter().zip(&changes).enumerate().filter(|(_, (_, by))| **by != (0, 0))
    {
        let held = held.entry(action.device).or_default();
        add_ns(&mut held.0, change.0);
        add_ns(&mut held.1, change.1);
        let time_ns = action.time.map(|time| time.0);
        let row = devices.entry(action.device).or_default();
        row.peak_reserved_bytes = row.peak_reserved_bytes.max(held.1);
        if held.0 > row.peak_requested_bytes {
            (row.peak_requested_bytes, row.peak_ns, row.peak) = (held.0, time_ns, Some(at));
        }
        points.push(MemoryPoint { device: action.device, time_ns, requested_bytes: held.0, reserved_bytes: held.1 });
    }
    points
}

/// The change of reserved bytes by an action.
fn reserved(snapshot: &MemorySnapshot, action: &crate::memory::snapshot::Action) -> i64 {
    let size = action.size.unwrap_or(0);
    match snapshot.strings.text(action.action) {
        "segment_alloc" | "segment_map" => size,
        "segment_free" | "segment_unmap" => size.saturating_neg(),
        _ => 0,
    }
}

fn holders(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    devices: &BTreeMap<SnapshotDevice, DeviceMemoryRow>,
) -> Vec<MemoryHolderRow> {
    let mut rows: BTreeMap<(SnapshotDevice, Option<u32>), MemoryHolderRow> = BTreeMap::new();
    for life in lives {
        let Some(device) = devices.get(&life.device) else { continue };
        if life.is_at(device.peak) {
            let row = rows.entry((life.device, life.stack.map(|stack| stack.0))).or_default();
            (row.device, row.stack) = (life.device, life.stack);
            add_ns(&mut row.held_bytes, life.bytes);
            row.largest_bytes = row.largest_bytes.max(life.bytes);
            row.num_blocks += 1;
            row.share = row.held_bytes as f64 / device.peak_requested_bytes.max(1) as f64;
        }
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    for row in &mut rows {
        row.site = row.stack.map(|stack| site(snapshot, stack)).unwrap_or_default();
    }
    sort::by(&mut rows, |a, b| a.device.cmp(&b.device).then(b.held_bytes.cmp(&a.held_bytes)));
    rows
}

/// The innermost frame of a program in Python that is no part of torch, or else the innermost of
/// all.
pub(super) fn site(snapshot: &MemorySnapshot, stack: StackId) -> String {
    let text = |id| snapshot.strings.text(id);
    let is_own = |frame: &crate::memory::stack::Frame| {
        let file = text(frame.file).replace('\\', "/");
        file.rsplit_once('.').is_some_and(|(_, ending)| ending == "py") && !file.contains("/torch/")
    };
    let frames = || snapshot.stacks.frames(stack);
    let Some(frame) = frames().find(is_own).or_else(|| frames().next()) else { return String::new() };
    let line = frame.line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{} ({}{line})", text(frame.function), text(frame.file))
}
