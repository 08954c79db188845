//! Pairs launches with their device work.

use std::sync::Arc;

use crate::analyze::selection::Selection;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Column, Table, int, put_name, text, uint};
use crate::time::Dur;
use crate::trace::kind::EventKind;
use crate::trace::track::Stream;

/// One device event with its launch. A launch of several (a graph) has several rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchRow {
    /// Row of the launch.
    pub launch: u32,
    /// Row of the device event.
    pub device: u32,
}

impl LaunchRow {
    /// From the end of the launch to the start of the device event; 0 when that was during the
    /// launch. `None` when that was before it, as the clocks of host and device differ, and where
    /// only the operator around the launch is known. An offset of
    /// the device's clock is added to its times first.
    pub fn delay_ns(self, linked: &LinkedTrace, clock_offset_ns: i64) -> Option<i64> {
        let events = &linked.trace.events;
        let start = events.start.at(self.device as usize).after(Dur(clock_offset_ns));
        let is_early = linked.lead(self.launch, self.device).is_some_and(|lead| lead.0 > clock_offset_ns);
        // Of a launch that only its operator is known of, the end is unknown.
        let is_call = events.kind[self.launch as usize] == EventKind::Launch;
        (is_call && !is_early).then(|| start.since(events.end(self.launch as usize)).0.max(0))
    }
}

/// Launches with their trace, where their fields are looked up.
pub(super) struct LaunchRows {
    pub(super) linked: Arc<LinkedTrace>,
    pub(super) rows: Vec<LaunchRow>,
    pub(super) clock: DeviceClock,
}

/// How far the clocks of devices are behind the host's.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceClock {
    pub(super) offset_ns: i64,
    /// The only device that is behind; `None` for all.
    pub(super) device: Option<i64>,
}

impl LaunchRows {
    pub(super) fn id(&self, row: u32) -> i64 {
        self.linked.trace.events.position.at(row as usize).into()
    }

    pub(super) fn delay_ns(&self, row: LaunchRow) -> Option<i64> {
        let stream = self.linked.trace.track(self.linked.trace.events.track.at(row.device as usize)).stream;
        let device = stream.and_then(|stream| stream.device);
        let is_behind = self.clock.device.is_none_or(|behind| Some(behind) == device);
        row.delay_ns(&self.linked, if is_behind { self.clock.offset_ns } else { 0 })
    }

    pub(super) fn name(&self, row: u32) -> &str {
        self.linked.trace.event_name(row as usize)
    }

    pub(super) fn start_ns(&self, row: u32) -> i64 {
        self.linked.trace.events.start.at(row as usize).0
    }

    pub(super) fn dur_ns(&self, row: u32) -> i64 {
        self.linked.trace.events.dur.at(row as usize).0
    }

    pub(super) fn stream(&self, row: u32) -> Option<Stream> {
        self.linked.trace.track(self.linked.trace.events.track.at(row as usize)).stream
    }
}

pub(super) static TABLE: Table<LaunchRows> = Table {
    name: "launches",
    doc: "a device event with its launch",
    num_rows: |launches| launches.rows.len(),
    columns: COLUMNS,
};

pub(super) const COLUMNS: &[Column<LaunchRows>] = &[
    int("id", |all, at| Some(all.id(all.rows[at].launch))),
    int("device_event_id", |all, at| Some(all.id(all.rows[at].device))),
    text("name", |all, at, out| put_name(out, all.name(all.rows[at].launch))),
    text("device_event_name", |all, at, out| put_name(out, all.name(all.rows[at].device))),
    text("kind", |all, at, out| put_name(out, all.linked.trace.events.kind[all.rows[at].device as usize].name())),
    int("device", |all, at| all.stream(all.rows[at].device)?.device),
    int("stream", |all, at| all.stream(all.rows[at].device)?.stream),
    uint("correlation_id", |all, at| all.linked.trace.correlation_id(all.rows[at].device as usize)),
    int("start_ns", |all, at| Some(all.start_ns(all.rows[at].launch))),
    int("dur_ns", |all, at| Some(all.dur_ns(all.rows[at].launch))),
    int("device_dur_ns", |all, at| Some(all.dur_ns(all.rows[at].device))),
    int("delay_ns", |all, at| all.delay_ns(all.rows[at])),
    int("operator_id", |all, at| Some(all.id(all.linked.links.operator.get(all.rows[at].device as usize)?))),
];

/// Device events with their launches, where both are known, by the start of the launch.
///
/// `delay_ns = max(0, device start − launch end)`; null of device work that starts before its
/// launch, which no true clock gives. Those whose device event is looked at (see
/// [`Selection`]).
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{Selection, launches};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3, "args": {"correlation": 7}},
///     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6, "dur": 4, "args": {"correlation": 7}}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let launch = &launches(&Selection::all(&linked))[0];
/// assert_eq!(launch.delay_ns(&linked, 0), Some(1_000));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn launches(selection: &Selection<'_>) -> Vec<LaunchRow> {
    let (events, launched) = (&selection.linked.trace.events, &selection.linked.links.launched);
    let is_looked_at =
        |row: &LaunchRow| events.kind[row.device as usize].is_device_work() && selection.contains(row.device as usize);
    let mut rows = Vec::with_capacity(launched.len());
    let pairs = (0..launched.len()).filter_map(|at| launched.pair(at));
    rows.extend(pairs.map(|(launch, device)| LaunchRow { launch, device }).filter(is_looked_at));
    let start = |row: &LaunchRow| events.start.at(row.launch as usize).0;
    if !rows.is_sorted_by_key(start) {
        // Those of one start are in the order of the file already.
        let starts: Vec<i64> = rows.iter().map(start).collect();
        rows = sort::places(&starts).iter().map(|place| rows[*place as usize]).collect();
    }
    rows
}
