//! Analyzes a memory snapshot: devices, peaks, and the call stacks that hold memory.

use super::allocation_life::{SnapshotAllocation, SnapshotDevice, is_active, lives};
use super::allocator_state::AllocatorState;
use super::holder::{self, holders};
use super::pool::{MemoryPoolRow, pools, split_share, sum};
use super::{bands, out_of_memory};
use super::{snapshot_category, snapshot_leak, training_run::TrainingRuns};
use crate::analyze::result::AnalysisResult;
use crate::memory::MemorySnapshot;
use crate::memory::snapshot::Action;
use crate::sorted_map::SortedMap;
use crate::table::{Table, float, int};
use crate::time::add_ns;

/// The memory of one device.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeviceMemoryRow {
    device: SnapshotDevice,
    reserved_bytes: i64,
    allocated_bytes: i64,
    requested_bytes: i64,
    free_bytes: i64,
    largest_free_bytes: i64,
    cached_bytes: i64,
    split_bytes: i64,
    num_segments: i64,
    num_blocks: i64,
    num_ooms: i64,
    num_backward_passes: i64,
    peak: MemoryAmount,
    peak_ns: Option<i64>,
    /// The number of actions with which the requested bytes are at their peak.
    pub(super) num_actions_at_peak: usize,
}

/// Bytes by what they mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MemoryAmount {
    requested: i64,
    pub(super) allocated: i64,
    pub(super) reserved: i64,
}

impl MemoryAmount {
    fn add(&mut self, by: Self) {
        add_ns(&mut self.requested, by.requested);
        add_ns(&mut self.allocated, by.allocated);
        add_ns(&mut self.reserved, by.reserved);
    }
}

pub(crate) static TABLE: Table<Vec<DeviceMemoryRow>> = Table {
    name: "memory",
    doc: "the memory of one device, at the time of the snapshot and at its peak",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        int("peak_requested_bytes", |rows, at| Some(rows[at].peak.requested)),
        int("peak_ns", |rows, at| rows[at].peak_ns),
        int("peak_allocated_bytes", |rows, at| Some(rows[at].peak.allocated)),
        int("peak_reserved_bytes", |rows, at| Some(rows[at].peak.reserved)),
        int("requested_bytes", |rows, at| Some(rows[at].requested_bytes)),
        int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
        int("reserved_bytes", |rows, at| Some(rows[at].reserved_bytes)),
        int("free_bytes", |rows, at| Some(rows[at].free_bytes)),
        int("cached_bytes", |rows, at| Some(rows[at].cached_bytes)),
        int("split_bytes", |rows, at| Some(rows[at].split_bytes)),
        float("split_share", |rows, at| split_share(rows[at].split_bytes, rows[at].reserved_bytes)),
        int("largest_free_bytes", |rows, at| Some(rows[at].largest_free_bytes)),
        int("num_segments", |rows, at| Some(rows[at].num_segments)),
        int("num_blocks", |rows, at| Some(rows[at].num_blocks)),
        int("num_ooms", |rows, at| Some(rows[at].num_ooms)),
        int("num_backward_passes", |rows, at| Some(rows[at].num_backward_passes)),
    ],
};

/// The memory of a device after an action.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryPoint {
    /// The place of the action.
    pub(super) action: usize,
    device: SnapshotDevice,
    time_ns: Option<i64>,
    pub(super) amount: MemoryAmount,
}

pub(crate) static SERIES: Table<Vec<MemoryPoint>> = Table {
    name: "memory_series",
    doc: "the memory of a device after one action of the allocator",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        int("time_ns", |rows, at| rows[at].time_ns),
        int("requested_bytes", |rows, at| Some(rows[at].amount.requested)),
        int("allocated_bytes", |rows, at| Some(rows[at].amount.allocated)),
        int("reserved_bytes", |rows, at| Some(rows[at].amount.reserved)),
    ],
};

/// Devices by number.
pub(super) type SnapshotDevices = SortedMap<SnapshotDevice, DeviceMemoryRow>;

/// The devices of a snapshot with their peaks, and their memory after each action.
pub(super) fn measured(snapshot: &MemorySnapshot, lives: &[SnapshotAllocation]) -> (SnapshotDevices, Vec<MemoryPoint>) {
    let mut devices = devices(snapshot);
    let points = points(snapshot, lives, &mut devices);
    (devices, points)
}

/// The allocations in use when their device has most in use.
pub(super) fn held_at_peak<'a>(
    lives: &'a [SnapshotAllocation],
    devices: &SnapshotDevices,
) -> Vec<&'a SnapshotAllocation> {
    let is_held = |life: &&SnapshotAllocation| {
        devices.get(&life.device).is_some_and(|device| life.is_after(device.num_actions_at_peak))
    };
    lives.iter().filter(is_held).collect()
}

/// Current and peak memory of each device, over time, the largest holders at the peak, and why
/// allocations failed.
///
/// Requested bytes count back from the end: `alloc` adds, `free_completed` subtracts. Allocated
/// bytes are those of the blocks; `free_requested` subtracts. Reserved bytes change with
/// `segment_alloc` and `segment_map`, `segment_free` and `segment_unmap`. Without actions, the end
/// is the peak.
pub fn memory_of_snapshot(snapshot: &MemorySnapshot) -> AnalysisResult {
    let lives = lives(snapshot);
    memory_by_device(snapshot, &lives)
        .and(&bands::TABLE, bands::bands(snapshot, &lives, bands::BandAxis::Time, None))
        .and(&out_of_memory::TABLE, out_of_memory::failures(snapshot, &lives))
        .drawn_from(bands::TABLE.name, bands::PLOT)
}

/// The same without bands, which a page draws by action.
pub(crate) fn memory_without_bands(snapshot: &MemorySnapshot, lives: &[SnapshotAllocation]) -> AnalysisResult {
    memory_by_device(snapshot, lives).and(&out_of_memory::TABLE, out_of_memory::failures(snapshot, lives))
}

fn memory_by_device(snapshot: &MemorySnapshot, lives: &[SnapshotAllocation]) -> AnalysisResult {
    let (mut devices, points) = measured(snapshot, lives);
    let runs = TrainingRuns::of(snapshot, lives);
    for (device, row) in devices.iter_mut() {
        let state = AllocatorState::of(snapshot, lives, *device, snapshot.actions.len());
        let pools = pools(snapshot, lives, &state);
        row.cached_bytes = sum(&pools, |pool: &MemoryPoolRow| pool.cached_bytes);
        row.split_bytes = sum(&pools, |pool: &MemoryPoolRow| pool.split_bytes);
        row.num_backward_passes = runs.backward_starts(*device).len() as i64;
    }
    let categories = snapshot_category::categories(lives, &devices);
    let holders = holders(snapshot, &held_at_peak(lives, &devices));
    let none = "the snapshot contains no memory and no actions of the allocator";
    AnalysisResult::of(&TABLE, devices.into_values(), none)
        .and(&SERIES, points)
        .and(&holder::TABLE, holders)
        .and(&snapshot_category::TABLE, categories)
        .and(&snapshot_leak::TABLE, snapshot_leak::leaks(snapshot, lives, &runs))
}

/// Memory at the end.
fn devices(snapshot: &MemorySnapshot) -> SnapshotDevices {
    let of_actions = snapshot.actions.iter().map(|action| action.device);
    let mut devices = SnapshotDevices::of(snapshot.segments.iter().map(|segment| segment.device).chain(of_actions));
    for segment in &snapshot.segments {
        let Some(row) = devices.get_mut(&segment.device) else { continue };
        row.num_segments += 1;
        add_ns(&mut row.reserved_bytes, segment.size.unwrap_or(0));
        add_ns(&mut row.allocated_bytes, segment.allocated.unwrap_or(0));
    }
    for block in &snapshot.blocks {
        let Some(segment) = snapshot.segments.get(block.segment as usize) else { continue };
        let Some(row) = devices.get_mut(&segment.device) else { continue };
        let size = block.size.unwrap_or(0);
        if is_active(snapshot, block) {
            row.num_blocks += 1;
            add_ns(&mut row.requested_bytes, block.requested.unwrap_or(size));
        } else {
            add_ns(&mut row.free_bytes, size);
            row.largest_free_bytes = row.largest_free_bytes.max(size);
        }
    }
    let is_oom = |action: &&Action| snapshot.strings.text(action.action) == "oom";
    for action in snapshot.actions.iter().filter(is_oom) {
        devices.get_mut(&action.device).into_iter().for_each(|row| row.num_ooms += 1);
    }
    for (device, row) in devices.iter_mut() {
        row.device = *device;
        row.peak = MemoryAmount {
            requested: row.requested_bytes,
            allocated: row.allocated_bytes,
            reserved: row.reserved_bytes,
        };
    }
    devices
}

/// Memory of the devices after each action, with the peaks.
fn points(snapshot: &MemorySnapshot, lives: &[SnapshotAllocation], devices: &mut SnapshotDevices) -> Vec<MemoryPoint> {
    let changes = changes(snapshot, lives);
    let mut held = beginning(snapshot, lives, devices);
    let has_actions = SortedMap::<_, ()>::of(snapshot.actions.iter().map(|action| action.device));
    for (device, row) in devices.iter_mut().filter(|(device, _)| has_actions.get(device).is_some()) {
        row.peak = held.get(device).copied().unwrap_or_default();
    }
    let mut points = Vec::new();
    for (at, (action, change)) in snapshot.actions.iter().zip(&changes).enumerate() {
        if *change == MemoryAmount::default() {
            continue;
        }
        let of_device = held.get_mut(&action.device).zip(devices.get_mut(&action.device));
        let Some((held, row)) = of_device else { continue };
        held.add(*change);
        let time_ns = action.time.map(|time| time.0);
        row.peak.allocated = row.peak.allocated.max(held.allocated);
        row.peak.reserved = row.peak.reserved.max(held.reserved);
        if held.requested > row.peak.requested {
            (row.peak.requested, row.peak_ns, row.num_actions_at_peak) = (held.requested, time_ns, at + 1);
        }
        points.push(MemoryPoint { action: at, device: action.device, time_ns, amount: *held });
    }
    points
}

/// The change by each action.
fn changes(snapshot: &MemorySnapshot, lives: &[SnapshotAllocation]) -> Vec<MemoryAmount> {
    let reserved = |action| MemoryAmount { reserved: reserved(snapshot, action), ..MemoryAmount::default() };
    let mut changes: Vec<MemoryAmount> = snapshot.actions.iter().map(reserved).collect();
    for life in lives {
        let allocated = if life.is_released_before { 0 } else { life.block_bytes };
        if let Some(at) = life.first {
            add_ns(&mut changes[at].requested, life.bytes);
            add_ns(&mut changes[at].allocated, allocated);
        }
        if let Some(at) = life.last {
            add_ns(&mut changes[at].requested, life.bytes.saturating_neg());
        }
        if let Some(at) = life.given_back() {
            add_ns(&mut changes[at].allocated, life.block_bytes.saturating_neg());
        }
    }
    changes
}

/// Memory of the devices before the first action.
fn beginning(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    devices: &SnapshotDevices,
) -> SortedMap<SnapshotDevice, MemoryAmount> {
    let mut held: SortedMap<SnapshotDevice, MemoryAmount> = SortedMap::of(devices.iter().map(|(device, _)| *device));
    for life in lives.iter().filter(|life| life.first.is_none()) {
        let Some(held) = held.get_mut(&life.device) else { continue };
        add_ns(&mut held.requested, life.bytes);
        if !life.is_released_before {
            add_ns(&mut held.allocated, life.block_bytes);
        }
    }
    for ((_, held), (_, row)) in held.iter_mut().zip(devices.iter()) {
        held.reserved = row.reserved_bytes;
    }
    for action in &snapshot.actions {
        let change = reserved(snapshot, action).saturating_neg();
        held.get_mut(&action.device).into_iter().for_each(|held| add_ns(&mut held.reserved, change));
    }
    held
}

/// The change of reserved bytes by an action.
fn reserved(snapshot: &MemorySnapshot, action: &Action) -> i64 {
    let size = action.size.unwrap_or(0);
    match snapshot.strings.text(action.action) {
        "segment_alloc" | "segment_map" => size,
        "segment_free" | "segment_unmap" => size.saturating_neg(),
        _ => 0,
    }
}
