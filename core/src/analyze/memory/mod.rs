//! Memory that the allocators gave and took back: over time, its peak, and who asked for it.

mod category;
mod life;
mod owner;
mod snapshot;
mod timeline;
mod told;
mod total;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::analyze::analysis::{Analysis, Answer, Plot, Run};
use crate::analyze::options::Options;
use crate::analyze::selection::Selection;
use crate::table::{Column, Table, int, put_name, text};
use crate::time::{Ts, add_ns};

pub use snapshot::memory_of_snapshot;
pub use timeline::memory_of_timeline;
pub(super) use told::{Told, operator, told};
use total::Totals;

/// Memory over time.
pub(super) static MEMORY: Analysis = Analysis {
    name: "memory",
    doc: "memory of each device over time, its peak, and the operators and modules that hold it then",
    options: &[],
    run: Run::Trace(|selection, _: &Options| {
        let changes = changes(selection);
        let devices = memory(&changes);
        let lives = life::lives(&changes);
        let owners = owner::owners(selection, &changes, &lives);
        let categories = category::categories(selection, &lives, &devices);
        Answer::of(&TABLE, devices, "no allocation was recorded (profile_memory=True records them)")
            .and(&SERIES, changes)
            .and(&owner::TABLE, owners)
            .and(&category::TABLE, categories)
            .drawn_from(SERIES.name, Plot::Steps { time: "time_ns", value: "allocated_bytes", series: Some("device") })
    }),
};

/// A device as `PyTorch` numbers it: its type (0 is the host, 1 CUDA and `ROCm`), and its number there (-1 of the host).
pub type MemoryDevice = (i64, i64);

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
    /// What is allocated from then on: `Total Allocated` and what no total counts (memory that processes share), or the sum of
    /// `bytes` so far where no total is written.
    pub allocated_bytes: i64,
    /// What the allocator holds from then on: `Total Reserved`.
    pub reserved_bytes: Option<i64>,
    /// Row of the innermost event around it, on its thread.
    pub around: Option<u32>,
    /// Row of the innermost operator around it.
    pub operator: Option<u32>,
    /// Row of the innermost module's call around it.
    pub module: Option<u32>,
}

static SERIES: Table<Vec<MemoryChange>> = Table {
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

/// The memory of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// The device.
    pub device: MemoryDevice,
    /// Allocations.
    pub num_allocations: u64,
    /// Their sizes together.
    pub allocated_bytes: i64,
    /// Releases.
    pub num_releases: u64,
    /// Their sizes together.
    pub released_bytes: i64,
    /// Allocated before the first change.
    pub first_bytes: i64,
    /// The most that was allocated at a time.
    pub peak_allocated_bytes: i64,
    /// When that was first so.
    pub peak: Ts,
    /// The most that the allocator held, where it is written.
    pub peak_reserved_bytes: Option<i64>,
    /// Allocated after the last change.
    pub last_bytes: i64,
}

static TABLE: Table<Vec<MemoryRow>> =
    Table { name: "memory", doc: "the memory of one device", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<MemoryRow>>] = &[
    text("device", |rows, at, out| put_device(out, rows[at].device)),
    int("peak_allocated_bytes", |rows, at| Some(rows[at].peak_allocated_bytes)),
    int("peak_ns", |rows, at| Some(rows[at].peak.0)),
    int("peak_reserved_bytes", |rows, at| rows[at].peak_reserved_bytes),
    int("first_bytes", |rows, at| Some(rows[at].first_bytes)),
    int("last_bytes", |rows, at| Some(rows[at].last_bytes)),
    int("num_allocations", |rows, at| Some(rows[at].num_allocations as i64)),
    int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
    int("num_releases", |rows, at| Some(rows[at].num_releases as i64)),
    int("released_bytes", |rows, at| Some(rows[at].released_bytes)),
];

/// Types of devices by their numbers, as `PyTorch` has both (`c10/core/DeviceType.h`).
const DEVICE_TYPES: [&str; 21] = [
    "cpu",
    "cuda",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "fpga",
    "maia",
    "xla",
    "vulkan",
    "metal",
    "xpu",
    "mps",
    "meta",
    "hpu",
    "ve",
    "lazy",
    "ipu",
    "mtia",
    "privateuseone",
];

fn put_device(out: &mut String, device: MemoryDevice) -> bool {
    put_name(out, &device_name(device))
}

/// As `PyTorch` writes it: `cpu`, `cuda:0`.
pub(super) fn device_name((kind, number): MemoryDevice) -> String {
    match usize::try_from(kind).ok().and_then(|kind| DEVICE_TYPES.get(kind)) {
        Some(&"cpu") => String::from("cpu"),
        Some(name) => format!("{name}:{number}"),
        None => format!("{kind}:{number}"),
    }
}

/// All allocations and releases of the selection, by time; those of one time in the order of the file.
pub fn changes(selection: &Selection<'_>) -> Vec<MemoryChange> {
    let linked = selection.linked;
    let frames = linked.frames();
    let mut totals = Totals::default();
    let mut unaddressed = Unaddressed::default();
    let change = |told: Told<'_>| {
        let (bytes, device) = (told.number("Bytes")?, told.device());
        let address = told.number("Addr").unwrap_or_else(|| unaddressed.address(device, bytes));
        let around = told.around(linked);
        Some(MemoryChange {
            device,
            time: told.instant.time,
            bytes,
            address,
            allocated_bytes: totals.after(device, (bytes, address), told.number("Total Allocated")),
            reserved_bytes: told.number("Total Reserved"),
            around,
            operator: around.and_then(|row| operator(linked, row)),
            module: around.and_then(|row| frames.module.get(row as usize)),
        })
    };
    told(selection, "[memory]").filter_map(change).collect()
}

/// Allocations of files that name no addresses (`Addr`): a release is taken for one of the latest allocation of its size.
#[derive(Default)]
struct Unaddressed {
    held: FxHashMap<(MemoryDevice, i64), Vec<i64>>,
    /// Addresses that no memory has.
    next: i64,
}

impl Unaddressed {
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

/// The memory of each device.
///
/// `peak_allocated_bytes = max allocated_bytes`; `first_bytes = allocated_bytes − bytes` of the first change.
pub fn memory(changes: &[MemoryChange]) -> Vec<MemoryRow> {
    let mut devices: BTreeMap<MemoryDevice, MemoryRow> = BTreeMap::new();
    for change in changes {
        let first_bytes = change.allocated_bytes.saturating_sub(change.bytes);
        let row = devices.entry(change.device).or_insert_with(|| MemoryRow {
            device: change.device,
            num_allocations: 0,
            allocated_bytes: 0,
            num_releases: 0,
            released_bytes: 0,
            first_bytes,
            peak_allocated_bytes: first_bytes,
            peak: change.time,
            peak_reserved_bytes: None,
            last_bytes: 0,
        });
        let is_release = change.bytes < 0;
        *(if is_release { &mut row.num_releases } else { &mut row.num_allocations }) += 1;
        let sum = if is_release { &mut row.released_bytes } else { &mut row.allocated_bytes };
        add_ns(sum, change.bytes.saturating_abs());
        if change.allocated_bytes > row.peak_allocated_bytes {
            (row.peak_allocated_bytes, row.peak) = (change.allocated_bytes, change.time);
        }
        row.peak_reserved_bytes = row.peak_reserved_bytes.max(change.reserved_bytes);
        row.last_bytes = change.allocated_bytes;
    }
    devices.into_values().collect()
}
