//! Stacks the allocations of a snapshot over time, each as a band.

use rustc_hash::FxHashMap;

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use super::band_stack::{BandSource, BandSpan, BandStack};
use super::device::put_device;
use super::origin::site;
use crate::analyze::plot::Plot;
use crate::analyze::result::AnalysisResult;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::memory::snapshot::Action;
use crate::sorted_map::SortedMap;
use crate::table::{Column, Table, int, put, put_name, text};

/// The type and the number of a device.
pub(super) type BandDevice = (i64, Option<i64>);
/// The type of the devices of a snapshot, whose number alone is shown.
const CUDA: i64 = 1;

/// The axis of bands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BandAxis {
    /// Nanoseconds.
    Time,
    /// The actions of each device, from 0: a pause takes no room.
    Actions,
}

/// A piece of a band: a part of the axis in which nothing below it changes.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBandRow {
    device: BandDevice,
    start: i64,
    end: i64,
    bottom_bytes: i64,
    bytes: i64,
    /// The place of its allocation among all; `None` for the others.
    place: Option<usize>,
    name: BandName,
}

/// The origin of an allocation.
#[derive(Debug, Clone, Default)]
pub(super) struct BandName {
    /// The place of the action that made it; `None` for memory from before the first action, and
    /// for the others.
    pub(super) change: Option<usize>,
    pub(super) site: String,
    pub(super) category: &'static str,
    /// The stack of a snapshot, or the operator of a trace.
    pub(super) origin: Option<i64>,
}

pub(crate) static TABLE: Table<Vec<MemoryBandRow>> = Table {
    name: "memory_bands",
    doc: "a time of an allocation in which nothing below it changes; those without a band are one, on top",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<MemoryBandRow>>] = &[
    int("device", |rows, at| rows[at].device.1),
    int("action_row", |rows, at| rows[at].name.change.map(|at| at as i64)),
    int("start_ns", |rows, at| Some(rows[at].start)),
    int("end_ns", |rows, at| Some(rows[at].end)),
    int("bottom_bytes", |rows, at| Some(rows[at].bottom_bytes)),
    int("bytes", |rows, at| Some(rows[at].bytes)),
    text("site", |rows, at, out| put_name(out, &rows[at].name.site)),
    text("category", |rows, at, out| put(out, rows[at].name.category)),
    int("stack_id", |rows, at| rows[at].name.origin),
];

/// The same of a trace.
pub(crate) static TRACE_TABLE: Table<Vec<MemoryBandRow>> = Table {
    name: TABLE.name,
    doc: TABLE.doc,
    num_rows: Vec::len,
    columns: &[
        text("device", |rows, at, out| put_device(out, (rows[at].device.0, rows[at].device.1.unwrap_or(-1)))),
        int("start_ns", |rows, at| Some(rows[at].start)),
        int("end_ns", |rows, at| Some(rows[at].end)),
        int("bottom_bytes", |rows, at| Some(rows[at].bottom_bytes)),
        int("bytes", |rows, at| Some(rows[at].bytes)),
        text("site", |rows, at, out| put_name(out, &rows[at].name.site)),
        text("category", |rows, at, out| put(out, rows[at].name.category)),
        int("operator_id", |rows, at| rows[at].name.origin),
    ],
};

/// Bands over time.
pub(crate) const PLOT: Plot = BandAxis::Time.plot();

/// The same rows as the page draws them, by action.
static ACTION_TABLE: Table<Vec<MemoryBandRow>> = Table {
    name: TABLE.name,
    doc: TABLE.doc,
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device.1),
        int("start_action", |rows, at| Some(rows[at].start)),
        int("end_action", |rows, at| Some(rows[at].end)),
        int("bottom_bytes", |rows, at| Some(rows[at].bottom_bytes)),
        int("bytes", |rows, at| Some(rows[at].bytes)),
        text("site", |rows, at, out| put_name(out, &rows[at].name.site)),
        text("category", |rows, at, out| put(out, rows[at].name.category)),
    ],
};

impl BandAxis {
    /// The axis by its name in a request.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "time" => Some(Self::Time),
            "actions" => Some(Self::Actions),
            _ => None,
        }
    }

    fn table(self) -> &'static Table<Vec<MemoryBandRow>> {
        match self {
            Self::Time => &TABLE,
            Self::Actions => &ACTION_TABLE,
        }
    }

    /// The bands over this axis.
    pub(crate) const fn plot(self) -> Plot {
        let time = match self {
            Self::Time => ["start_ns", "end_ns"],
            Self::Actions => ["start_action", "end_action"],
        };
        Plot::Bands {
            time,
            bottom: "bottom_bytes",
            height: "bytes",
            label: "site",
            colour: "category",
            panel: "device",
        }
    }
}

/// Pieces of bands by device, from the earliest allocation upwards; those without a band lie on
/// top.
///
/// With a window, only what lies in it.
pub(super) fn bands(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    axis: BandAxis,
    window: Option<(i64, i64)>,
) -> Vec<MemoryBandRow> {
    let times = ActionTimes::of(snapshot, axis, window);
    let mut devices: SortedMap<SnapshotDevice, Vec<BandSource>> = SortedMap::of(lives.iter().map(|life| life.device));
    for (place, life) in lives.iter().enumerate() {
        let (first, last) = times.of_device(life.device);
        let at = |action: Option<usize>, end: i64| action.map_or(end, |action| times.times[action]);
        let time = [at(life.first, first), at(life.last, last)];
        let source = BandSource { place, bytes: life.bytes, changes: [life.first, life.last], time };
        // An allocation that is made and released outside of a window has no time in it.
        let is_seen = window.is_none() || time[0] < time[1];
        devices.get_mut(&life.device).filter(|_| is_seen).into_iter().for_each(|all| all.push(source));
    }
    let name = |place: usize| {
        let life = &lives[place];
        let origin = life.stack.map(|stack| i64::from(stack.0));
        BandName { change: life.first, site: site(snapshot, life.stack), category: life.category.name(), origin }
    };
    let of_device = |(device, sources): (SnapshotDevice, Vec<BandSource>)| {
        rows((CUDA, device), &sources, times.of_device(device), &name)
    };
    devices.into_vec().into_iter().flat_map(of_device).collect()
}

/// The rows of one device.
pub(super) fn rows(
    device: BandDevice,
    sources: &[BandSource],
    ends: (i64, i64),
    name: &dyn Fn(usize) -> BandName,
) -> Vec<MemoryBandRow> {
    let stack = BandStack::of(sources, ends);
    let mut names: Vec<BandName> = stack.shown.iter().map(|source| name(sources[*source].place)).collect();
    names.push(BandName { site: format!("{} other allocations", stack.num_others), ..BandName::default() });
    let row = |span: BandSpan| {
        let place = span.shown.map(|at| sources[stack.shown[at]].place);
        let name = names[span.shown.unwrap_or(stack.shown.len())].clone();
        let BandSpan { start, end, bottom: bottom_bytes, bytes, .. } = span;
        MemoryBandRow { device, start, end, bottom_bytes, bytes, place, name }
    };
    stack.spans.into_iter().map(row).collect()
}

/// The place of each action on the axis, and the first and last of each device.
struct ActionTimes {
    times: Vec<i64>,
    ends: FxHashMap<SnapshotDevice, (i64, i64)>,
    window: Option<(i64, i64)>,
}

impl ActionTimes {
    /// A time that is missing, or before that of an earlier action, is that of the earlier one.
    /// Without any time, actions are a nanosecond apart. What is not in the window is at its edge.
    fn of(snapshot: &MemorySnapshot, axis: BandAxis, window: Option<(i64, i64)>) -> Self {
        if axis == BandAxis::Actions {
            return Self::counted(snapshot, window);
        }
        let has_times = snapshot.actions.iter().any(|action| action.time.is_some());
        let mut ends: FxHashMap<SnapshotDevice, (i64, i64)> = FxHashMap::default();
        let mut times = Vec::with_capacity(snapshot.actions.len());
        for (at, action) in snapshot.actions.iter().enumerate() {
            let known = if has_times { action.time.map(|time| time.0) } else { Some(at as i64) };
            let (_, last) = ends.entry(action.device).or_insert_with(|| (known.unwrap_or(0), known.unwrap_or(0)));
            *last = known.unwrap_or(*last).max(*last);
            times.push(window.map_or(*last, |(start, end)| (*last).clamp(start, end)));
        }
        Self { times, ends, window }
    }

    /// The number of each action among those of its device.
    fn counted(snapshot: &MemorySnapshot, window: Option<(i64, i64)>) -> Self {
        let mut ends: FxHashMap<SnapshotDevice, (i64, i64)> = FxHashMap::default();
        let count = |action: &Action| {
            let (_, next) = ends.entry(action.device).or_insert((0, 0));
            *next += 1;
            let place = *next - 1;
            window.map_or(place, |(start, end)| place.clamp(start, end))
        };
        let times = snapshot.actions.iter().map(count).collect();
        Self { times, ends, window }
    }

    fn of_device(&self, device: SnapshotDevice) -> (i64, i64) {
        if let Some(window) = self.window {
            return window;
        }
        // Without actions, memory lasts for as long as nothing is known.
        self.ends.get(&device).map_or((0, 1), |(first, last)| (*first, (*last).max(first.saturating_add(1))))
    }
}

/// The first and the last place of all actions, as the bands have them.
pub(crate) fn extent(snapshot: &MemorySnapshot, axis: BandAxis) -> (i64, i64) {
    let times = ActionTimes::of(snapshot, axis, None);
    let first = times.ends.values().map(|(first, _)| *first).min();
    let last = times.ends.values().map(|(_, last)| *last).max();
    first.zip(last).filter(|(first, last)| first < last).unwrap_or((0, 1))
}

/// The bands in a window of an axis.
pub(crate) fn memory_bands(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    axis: BandAxis,
    window: (i64, i64),
) -> AnalysisResult {
    let rows = bands_in(snapshot, lives, axis, window);
    AnalysisResult::of(axis.table(), rows, "nothing is in use at this time").drawn(axis.plot())
}

fn bands_in(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    axis: BandAxis,
    window: (i64, i64),
) -> Vec<MemoryBandRow> {
    let (start, end) = window;
    let window = (window != extent(snapshot, axis)).then_some(window);
    if start < end { bands(snapshot, lives, axis, window) } else { Vec::new() }
}

/// The allocation of a band, in full.
#[derive(Debug)]
pub(crate) struct BandAllocation {
    pub(crate) site: String,
    pub(crate) bytes: i64,
    pub(crate) category: &'static str,
    pub(crate) stack: Option<StackId>,
    /// The places on the axis where it comes and goes; `None` is before the first action, or never.
    pub(crate) times: [Option<i64>; 2],
}

/// The allocation of a row of [`memory_bands`]; `None` for the others.
pub(crate) fn band_allocation(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    axis: BandAxis,
    (window, row): ((i64, i64), usize),
) -> Option<BandAllocation> {
    let place = bands_in(snapshot, lives, axis, window).get(row)?.place?;
    let SnapshotAllocation { bytes, category, stack, first, last, .. } = *lives.get(place)?;
    let times = ActionTimes::of(snapshot, axis, None).times;
    let times = [first, last].map(|at| at.map(|at| times[at]));
    Some(BandAllocation { site: site(snapshot, stack), bytes, category: category.name(), stack, times })
}
