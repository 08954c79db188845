//! Stacks the allocations of a snapshot over time, each as a band.

use rustc_hash::FxHashMap;

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use super::origin::site;
use crate::analyze::plot::Plot;
use crate::analyze::result::AnalysisResult;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::memory::snapshot::Action;
use crate::sort;
use crate::sorted_map::SortedMap;
use crate::table::{Column, Table, int, put, put_name, text};

/// The most allocations of a device with a band of their own; the rest is one band.
const MAX_BANDS: usize = 400;
/// The most pieces of the band of the rest.
const MAX_PIECES: usize = 1_000;

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
    device: SnapshotDevice,
    /// The place of the action that made it; `None` for memory from before the first action, and
    /// for the rest.
    allocation: Option<usize>,
    start: i64,
    end: i64,
    bottom_bytes: i64,
    bytes: i64,
    site: String,
    category: &'static str,
    stack: Option<StackId>,
}

pub(crate) static TABLE: Table<Vec<MemoryBandRow>> = Table {
    name: "memory_bands",
    doc: "a time of an allocation in which no allocation below it changes; small ones are one band",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<MemoryBandRow>>] = &[
    int("device", |rows, at| rows[at].device),
    int("action_row", |rows, at| rows[at].allocation.map(|at| at as i64)),
    int("start_ns", |rows, at| Some(rows[at].start)),
    int("end_ns", |rows, at| Some(rows[at].end)),
    int("bottom_bytes", |rows, at| Some(rows[at].bottom_bytes)),
    int("bytes", |rows, at| Some(rows[at].bytes)),
    text("site", |rows, at, out| put_name(out, &rows[at].site)),
    text("category", |rows, at, out| put(out, rows[at].category)),
    int("stack_id", |rows, at| rows[at].stack.map(|stack| i64::from(stack.0))),
];

/// Bands over time.
pub(crate) const PLOT: Plot = BandAxis::Time.plot();

/// The same rows as the page draws them, by action.
static ACTION_TABLE: Table<Vec<MemoryBandRow>> = Table {
    name: TABLE.name,
    doc: TABLE.doc,
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        int("start_action", |rows, at| Some(rows[at].start)),
        int("end_action", |rows, at| Some(rows[at].end)),
        int("bottom_bytes", |rows, at| Some(rows[at].bottom_bytes)),
        int("bytes", |rows, at| Some(rows[at].bytes)),
        text("site", |rows, at, out| put_name(out, &rows[at].site)),
        text("category", |rows, at, out| put(out, rows[at].category)),
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

/// The allocations of one device that have a band, in the order of their making, then the rest.
struct DeviceBands<'a> {
    device: SnapshotDevice,
    shown: Vec<&'a SnapshotAllocation>,
    /// The origin of each.
    sites: Vec<String>,
    rest: Vec<&'a SnapshotAllocation>,
}

/// Pieces of bands by device, from the earliest allocation upwards; small allocations lie on top.
///
/// At each time, `Σ bytes` of a device is the memory in use. The allocations of most bytes have
/// bands of their own. With a window, only what lies in it.
pub(super) fn bands(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    axis: BandAxis,
    window: Option<(i64, i64)>,
) -> Vec<MemoryBandRow> {
    let times = ActionTimes::of(snapshot, axis, window);
    let is_seen = |life: &&SnapshotAllocation| window.is_none() || times.is_seen(life);
    let mut devices: SortedMap<SnapshotDevice, Vec<&SnapshotAllocation>> =
        SortedMap::of(lives.iter().map(|life| life.device));
    for life in lives.iter().filter(is_seen) {
        if let Some(all) = devices.get_mut(&life.device) {
            all.push(life);
        }
    }
    let of_device = |(device, mut all): (SnapshotDevice, Vec<&'_ SnapshotAllocation>)| {
        sort::by_key(&mut all, |life| std::cmp::Reverse(life.bytes));
        let rest = all.split_off(all.len().min(MAX_BANDS));
        sort::by_key(&mut all, |life| life.first.map_or(0, |first| first + 1));
        let sites = all.iter().map(|life| site(snapshot, life.stack)).collect();
        DeviceBands { device, shown: all, sites, rest }.pieces(&times)
    };
    devices.into_vec().into_iter().flat_map(of_device).collect()
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

    /// Whether an allocation is in use for some time.
    fn is_seen(&self, life: &SnapshotAllocation) -> bool {
        let (first, last) = self.of_device(life.device);
        life.first.map_or(first, |at| self.times[at]) < life.last.map_or(last, |at| self.times[at])
    }

    fn of_device(&self, device: SnapshotDevice) -> (i64, i64) {
        if let Some(window) = self.window {
            return window;
        }
        // Without actions, memory lasts for as long as nothing is known.
        self.ends.get(&device).copied().filter(|(first, last)| first < last).unwrap_or((0, 1))
    }
}

/// An allocation that comes or goes.
#[derive(Clone, Copy)]
struct BandEvent {
    time: i64,
    /// The place of the action; the memory from before comes first.
    order: usize,
    is_end: bool,
    /// The place of the allocation among those with a band; `None` for one of the rest.
    shown: Option<usize>,
    bytes: i64,
}

impl DeviceBands<'_> {
    fn events(&self, times: &ActionTimes) -> Vec<BandEvent> {
        let (first, _) = times.of_device(self.device);
        let shown = self.shown.iter().enumerate().map(|(at, life)| (Some(at), *life));
        let rest = self.rest.iter().map(|life| (None, *life));
        let mut events = Vec::new();
        for (shown, life) in shown.chain(rest) {
            let bytes = life.bytes;
            let time = life.first.map_or(first, |at| times.times[at]);
            let order = life.first.map_or(0, |at| at + 1);
            events.push(BandEvent { time, order, is_end: false, shown, bytes });
            if let Some(last) = life.last {
                events.push(BandEvent { time: times.times[last], order: last + 1, is_end: true, shown, bytes });
            }
        }
        sort::by_key(&mut events, |event| (event.order, event.is_end, event.shown));
        events
    }

    fn pieces(&self, times: &ActionTimes) -> Vec<MemoryBandRow> {
        let (_, end) = times.of_device(self.device);
        let mut rows = Vec::new();
        // Allocations in use from the bottom up, each with where and since when it lies there.
        let mut stack: Vec<(usize, i64, i64)> = Vec::new();
        let mut rest = (!self.rest.is_empty()).then(|| RestBand::new(times.of_device(self.device)));
        for event in self.events(times) {
            match (event.shown, event.is_end) {
                (Some(shown), false) => {
                    stack.push((shown, self.top(&stack), event.time));
                }
                (Some(shown), true) => {
                    let Some(place) = stack.iter().position(|(at, ..)| *at == shown) else { continue };
                    for (at, bottom, since) in stack.drain(place..).collect::<Vec<_>>() {
                        rows.extend(self.piece(at, bottom, (since, event.time)));
                        if at != shown {
                            stack.push((at, bottom.saturating_sub(event.bytes), event.time));
                        }
                    }
                }
                (None, _) => {}
            }
            if let Some(rest) = &mut rest {
                let by = if event.is_end { event.bytes.saturating_neg() } else { event.bytes };
                rest.change(event.time, if event.shown.is_none() { by } else { 0 }, self.top(&stack));
            }
        }
        for (at, bottom, since) in stack {
            rows.extend(self.piece(at, bottom, (since, end)));
        }
        rows.extend(rest.into_iter().flat_map(|rest| rest.pieces(self.device, self.rest.len())));
        rows
    }

    /// The upper edge of the allocations in use.
    fn top(&self, stack: &[(usize, i64, i64)]) -> i64 {
        stack.last().map_or(0, |(top, bottom, _)| bottom.saturating_add(self.shown[*top].bytes))
    }

    fn piece(&self, at: usize, bottom_bytes: i64, (start, end): (i64, i64)) -> Option<MemoryBandRow> {
        let life = self.shown[at];
        (start < end).then(|| MemoryBandRow {
            device: self.device,
            allocation: life.first,
            start,
            end,
            bottom_bytes,
            bytes: life.bytes,
            site: self.sites[at].clone(),
            category: life.category.name(),
            stack: life.stack,
        })
    }
}

/// The sum of small allocations over time, on top of the others.
struct RestBand {
    /// Of each slice of time, the most bytes in it, and where they lie.
    slices: Vec<(i64, i64)>,
    range: (i64, i64),
    bytes: i64,
    bottom: i64,
    slice: usize,
}

impl RestBand {
    fn new(range: (i64, i64)) -> Self {
        Self { slices: vec![(0, 0); MAX_PIECES], range, bytes: 0, bottom: 0, slice: 0 }
    }

    /// Notes a change of its bytes, and where it lies then.
    fn change(&mut self, time: i64, by: i64, bottom: i64) {
        self.go_to(time);
        (self.bytes, self.bottom) = (self.bytes.saturating_add(by), bottom);
        let slice = &mut self.slices[self.slice];
        *slice = (self.bytes, self.bottom).max(*slice);
    }

    /// Fills the slices up to a time with what lies there now.
    fn go_to(&mut self, time: i64) {
        let (first, last) = self.range;
        let length = i128::from(last) - i128::from(first);
        let passed = (i128::from(time) - i128::from(first)).clamp(0, length);
        let to = (passed * (MAX_PIECES as i128 - 1) / length.max(1)) as usize;
        while self.slice < to {
            self.slice += 1;
            self.slices[self.slice] = (self.bytes, self.bottom);
        }
    }

    fn pieces(mut self, device: SnapshotDevice, num_allocations: usize) -> Vec<MemoryBandRow> {
        self.go_to(self.range.1);
        let (first, last) = self.range;
        let length = i128::from(last) - i128::from(first);
        let place = |slice: usize| (i128::from(first) + length * slice as i128 / MAX_PIECES as i128) as i64;
        let mut rows: Vec<MemoryBandRow> = Vec::new();
        for (slice, (bytes, bottom_bytes)) in self.slices.into_iter().enumerate() {
            let (start, end) = (place(slice), place(slice + 1));
            if let Some(before) = rows
                .last_mut()
                .filter(|before| (before.bytes, before.bottom_bytes, before.end) == (bytes, bottom_bytes, start))
            {
                before.end = end;
            } else if bytes > 0 && start < end {
                let site = format!("{num_allocations} small allocations");
                rows.push(MemoryBandRow {
                    device,
                    allocation: None,
                    start,
                    end,
                    bottom_bytes,
                    bytes,
                    site,
                    category: "",
                    stack: None,
                });
            }
        }
        rows
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
    let (start, end) = window;
    let window = (window != extent(snapshot, axis)).then_some(window);
    let rows = if start < end { bands(snapshot, lives, axis, window) } else { Vec::new() };
    AnalysisResult::of(axis.table(), rows, "nothing is in use at this time").drawn(axis.plot())
}
