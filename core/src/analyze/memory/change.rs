//! Lists allocations and releases in order of time.

use rustc_hash::FxHashMap;

use super::allocator_record::{AllocatorRecord, allocator_records, operator};
use super::device::{MemoryDevice, put_device};
use super::memory_total::MemoryTotals;
use crate::analyze::selection::Selection;
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::memory::timeline::MemoryCategory;
use crate::sort;
use crate::table::{Table, int, text};
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::args::plain_text;

/// An allocation, or with negative `bytes` a release (`[memory]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryChange {
    /// The device.
    pub device: MemoryDevice,
    /// When.
    pub time: Ts,
    /// Its size, as it is written.
    pub bytes: i64,
    /// Where.
    pub address: i64,
    /// Allocated bytes after the change: `Total Allocated` plus memory that no total counts (shared
    /// between processes), or the sum of `bytes` where no total is recorded.
    pub allocated_bytes: i64,
    /// Reserved bytes after the change: `Total Reserved`.
    pub reserved_bytes: Option<i64>,
    /// Row of the innermost event around it, on its thread.
    pub around: Option<u32>,
    /// Row of the innermost operator around it.
    pub operator: Option<u32>,
    /// Row of the innermost module's call around it.
    pub module: Option<u32>,
    /// The line of Python.
    pub line: Option<MemoryLine>,
    /// The purpose of the memory; `None` without a snapshot of the allocator.
    pub purpose: Option<MemoryCategory>,
}

/// A line of Python that allocated or released memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryLine {
    /// A text of the record as JSON (`line`).
    Stated(StrId),
    /// The name of an event.
    Event(StrId),
}

impl MemoryLine {
    /// The line as Kineto writes it: `path(line): function`.
    pub(in crate::analyze) fn text(self, trace: &Trace) -> String {
        match self {
            Self::Stated(json) => plain_text(trace.strings.text(json)),
            Self::Event(name) => trace.strings.text(name).to_owned(),
        }
    }
}

pub(super) static SERIES: Table<Vec<MemoryChange>> = Table {
    name: "memory_series",
    doc: "an allocation or a release",
    num_rows: Vec::len,
    columns: &[
        text("device", |rows, at, out| put_device(out, rows[at].device)),
        int("time_ns", |rows, at| Some(rows[at].time.0)),
        int("bytes", |rows, at| Some(rows[at].bytes)),
        int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
        int("reserved_bytes", |rows, at| rows[at].reserved_bytes),
    ],
};

/// All allocations and releases of the selection, by time; those of one time in the order of the
/// file.
pub fn changes(selection: &Selection<'_>) -> Vec<MemoryChange> {
    let mut totals = MemoryTotals::default();
    let mut unaddressed = AddressGuesser::default();
    let change = |told: AllocatorRecord<'_>| {
        let (bytes, device) = (told.number("Bytes")?, told.device());
        let address = told.number("Addr").unwrap_or_else(|| unaddressed.address(device, bytes));
        let allocated_bytes = totals.after(device, (bytes, address), told.number("Total Allocated"));
        Some(MemoryChange { bytes, address, allocated_bytes, ..unmeasured(selection.linked, &told) })
    };
    allocator_records(selection, "[memory]").filter_map(change).collect()
}

/// Memory in use before the first of some changes of the selection, in the order of its making, if
/// a snapshot of the allocator told what was in use as the trace begins. Without one, a part of a
/// trace has the figures that it has when it is trimmed.
pub(in crate::analyze) fn held(selection: &Selection<'_>, changes: &[MemoryChange]) -> Vec<HeldMemory> {
    let told_in_use = |told: AllocatorRecord<'_>| {
        let (bytes, address) = (told.number("Bytes")?, told.number("Addr")?);
        Some(MemoryChange { bytes, address, ..unmeasured(selection.linked, &told) })
    };
    let Some(first) = changes.first() else { return Vec::new() };
    let all = Selection::all(selection.linked);
    let mut held: FxHashMap<(MemoryDevice, i64), (usize, HeldMemory)> = FxHashMap::default();
    for (order, made) in allocator_records(&all, "[memory in use]").filter_map(told_in_use).enumerate() {
        held.insert((made.device, made.address), (order, HeldMemory { made, since: None }));
    }
    let changes = self::changes(&all);
    if held.is_empty() && changes.iter().all(|change| change.purpose.is_none()) {
        return Vec::new();
    }
    let order = held.len();
    let earlier = changes.into_iter().take_while(|change| change.time < first.time);
    for (at, made) in earlier.enumerate() {
        held.remove(&(made.device, made.address));
        if made.bytes >= 0 {
            held.insert((made.device, made.address), (order + at, HeldMemory { made, since: Some(made.time) }));
        }
    }
    let mut held: Vec<_> = held.into_values().collect();
    sort::by_key(&mut held, |(order, _)| *order);
    held.into_iter().map(|(_, held)| held).collect()
}

/// Memory that was allocated before.
#[derive(Debug, Clone, Copy)]
pub(in crate::analyze) struct HeldMemory {
    /// Its record.
    pub(in crate::analyze) made: MemoryChange,
    /// When it was allocated, if the trace has that.
    pub(in crate::analyze) since: Option<Ts>,
}

/// A record without its size and place in memory.
fn unmeasured(linked: &LinkedTrace, told: &AllocatorRecord<'_>) -> MemoryChange {
    let (frames, trace) = (linked.frames(), &linked.trace);
    let around = told.around(linked);
    let line_around = || Some(trace.events.name.at(frames.line.get(around? as usize)? as usize));
    let purpose = told.json("category").map(|json| plain_text(trace.strings.text(json)));
    let named = |name: String| MemoryCategory::ALL.into_iter().find(|category| category.name() == name);
    MemoryChange {
        device: told.device(),
        time: told.instant.time,
        bytes: 0,
        address: 0,
        allocated_bytes: 0,
        reserved_bytes: told.number("Total Reserved"),
        around,
        operator: around.and_then(|row| operator(linked, row)),
        module: around.and_then(|row| frames.module.get(row as usize)),
        line: told.json("line").map(MemoryLine::Stated).or_else(|| line_around().map(MemoryLine::Event)),
        purpose: purpose.map(|name| named(name).unwrap_or(MemoryCategory::Unknown)),
    }
}

/// Allocations of files that name no addresses (`Addr`): a release is taken for one of the latest
/// allocation of its size.
#[derive(Default)]
pub(super) struct AddressGuesser {
    held: FxHashMap<(MemoryDevice, i64), Vec<i64>>,
    /// Addresses that no memory has.
    next: i64,
}

impl AddressGuesser {
    fn address(&mut self, device: MemoryDevice, bytes: i64) -> i64 {
        let of_size = self.held.entry((device, bytes.saturating_abs())).or_default();
        if bytes < 0 {
            return of_size.pop().unwrap_or(0);
        }
        self.next -= 1;
        of_size.push(self.next);
        self.next
    }
}
