//! Launches and what they enqueued: how long the call took, how long the work waited.

use super::analysis::{Analysis, Answer, Plot, Run};
use super::options::Options;
use super::selection::Selection;
use crate::sort;
use crate::table::{Column, Table, int, put_name, text, uint};
use crate::time::sum_ns;
use crate::trace::track::Stream;

/// Launches and their device work.
pub(super) static LAUNCHES: Analysis = Analysis {
    name: "launches",
    doc: "each launch with its device work: duration of the call, of the work, and the delay between them",
    options: &[],
    run: Run::Trace(|selection, _: &Options| {
        let rows = launches(selection);
        let summary = by_call(&rows);
        Answer::of(&TABLE, rows, "no kernel, copy or fill has its launch in the trace")
            .and(&BY_CALL, summary)
            .drawn(Plot::Points { x: "device_dur_ns", y: "delay_ns", label: "device_name" })
    }),
};

/// One device event with its launch. A launch of several (a graph) has several rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchRow {
    /// Id of the launch.
    pub id: u32,
    /// Id of the device event.
    pub device_id: u32,
    /// Name of the call.
    pub name: String,
    /// Name of the device event.
    pub device_name: String,
    /// `kernel`, `copy` or `fill`.
    pub kind: &'static str,
    /// The stream.
    pub stream: Stream,
    /// `correlation` of the launch.
    pub correlation_id: Option<u64>,
    /// Start of the launch.
    pub start_ns: i64,
    /// Duration of the launch.
    pub dur_ns: i64,
    /// Duration of the device event.
    pub device_dur_ns: i64,
    /// From the end of the launch to the start of the device event; 0 when that was earlier.
    pub delay_ns: i64,
    /// Id of the operator that launched it.
    pub operator_id: Option<u32>,
}

static TABLE: Table<Vec<LaunchRow>> =
    Table { name: "launches", doc: "a device event with its launch", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<LaunchRow>>] = &[
    int("id", |rows, at| Some(i64::from(rows[at].id))),
    int("device_id", |rows, at| Some(i64::from(rows[at].device_id))),
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    text("device_name", |rows, at, out| put_name(out, &rows[at].device_name)),
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    int("device", |rows, at| rows[at].stream.device),
    int("stream", |rows, at| rows[at].stream.stream),
    uint("correlation_id", |rows, at| rows[at].correlation_id),
    int("start_ns", |rows, at| Some(rows[at].start_ns)),
    int("dur_ns", |rows, at| Some(rows[at].dur_ns)),
    int("device_dur_ns", |rows, at| Some(rows[at].device_dur_ns)),
    int("delay_ns", |rows, at| Some(rows[at].delay_ns)),
    int("operator_id", |rows, at| rows[at].operator_id.map(i64::from)),
];

/// Device events with their launches, where both are known, by the start of the launch.
///
/// `delay_ns = max(0, device start − launch end)`. Those whose device event is looked at (see [`Selection`]).
///
/// ```
/// use kinetoscope::analyze::{Selection, launches};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3, "args": {"correlation": 7}},
///     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6, "dur": 4, "args": {"correlation": 7}}]"#;
/// let linked = LinkedTrace::new(read([Input::new(json)], Limits::default())?);
/// let launch = &launches(&Selection::all(&linked))[0];
/// assert_eq!((launch.dur_ns, launch.delay_ns, launch.device_dur_ns), (3_000, 1_000, 4_000));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn launches(selection: &Selection<'_>) -> Vec<LaunchRow> {
    let (trace, links) = (&selection.linked.trace, &selection.linked.links);
    let events = &trace.events;
    let row = |device: usize| {
        let launch = links.launch.get(device)? as usize;
        Some(LaunchRow {
            id: events.position[launch],
            device_id: events.position[device],
            name: trace.event_name(launch).to_owned(),
            device_name: trace.event_name(device).to_owned(),
            kind: events.kind[device].name(),
            stream: trace.track(events.track[device]).stream.unwrap_or(Stream { device: None, stream: None }),
            correlation_id: trace.correlation_id(device),
            start_ns: events.start[launch].0,
            dur_ns: events.dur[launch].0,
            device_dur_ns: events.dur[device].0,
            delay_ns: events.start[device].since(events.end(launch)).0.max(0),
            operator_id: links.operator.get(device).map(|operator| events.position[operator as usize]),
        })
    };
    let mut rows: Vec<_> = selection.device_work().filter_map(row).collect();
    sort::by_key(&mut rows, |row| (row.start_ns, row.id, row.device_id));
    rows
}

/// All launches by one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallRow {
    name: String,
    count: i64,
    num_device_events: i64,
    total_ns: i64,
    device_total_ns: i64,
    mean_delay_ns: i64,
    max_delay_ns: i64,
    num_longer_than_work: i64,
}

static BY_CALL: Table<Vec<CallRow>> = Table {
    name: "launches_by_call",
    doc: "all launches by one call of the runtime or driver",
    num_rows: Vec::len,
    columns: &[
        text("name", |rows, at, out| put_name(out, &rows[at].name)),
        int("count", |rows, at| Some(rows[at].count)),
        int("num_device_events", |rows, at| Some(rows[at].num_device_events)),
        int("total_ns", |rows, at| Some(rows[at].total_ns)),
        int("device_total_ns", |rows, at| Some(rows[at].device_total_ns)),
        int("mean_delay_ns", |rows, at| Some(rows[at].mean_delay_ns)),
        int("max_delay_ns", |rows, at| Some(rows[at].max_delay_ns)),
        int("num_longer_than_work", |rows, at| Some(rows[at].num_longer_than_work)),
    ],
};

/// Launches by the name of their call, that of the most host time first. `num_longer_than_work` counts the device events
/// that took less time than their launch.
fn by_call(rows: &[LaunchRow]) -> Vec<CallRow> {
    let mut groups: std::collections::BTreeMap<&str, Vec<&LaunchRow>> = std::collections::BTreeMap::new();
    rows.iter().for_each(|row| groups.entry(&row.name).or_default().push(row));
    let call = |(name, rows): (&str, Vec<&LaunchRow>)| {
        // A launch of several stands in neighbouring rows.
        let is_first = |at: &usize| at.checked_sub(1).is_none_or(|before| rows[before].id != rows[*at].id);
        let firsts: Vec<_> = (0..rows.len()).filter(is_first).collect();
        CallRow {
            name: name.to_owned(),
            count: firsts.len() as i64,
            num_device_events: rows.len() as i64,
            total_ns: sum_ns(firsts.iter().map(|at| rows[*at].dur_ns)),
            device_total_ns: sum_ns(rows.iter().map(|row| row.device_dur_ns)),
            mean_delay_ns: sum_ns(rows.iter().map(|row| row.delay_ns)) / (rows.len() as i64).max(1),
            max_delay_ns: rows.iter().map(|row| row.delay_ns).max().unwrap_or(0),
            num_longer_than_work: rows.iter().filter(|row| row.dur_ns > row.device_dur_ns).count() as i64,
        }
    };
    let mut calls: Vec<_> = groups.into_iter().map(call).collect();
    sort::by_key(&mut calls, |call| std::cmp::Reverse(call.total_ns));
    calls
}
