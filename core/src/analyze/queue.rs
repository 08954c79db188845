//! Measures the queue length of each stream: work enqueued and not started.

use super::analysis::{Analysis, Run};
use super::idle::streams;
use super::interval::{total_ns, within};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::analyze::idle::work;
use crate::sort;
use crate::table::{Column, Table, float, int};
use crate::time::{TimeRange, Ts};
use crate::trace::track::Stream;

/// Work that waits.
pub(super) static QUEUE_LENGTH: Analysis = Analysis {
    name: "queue_length",
    doc: "queue length per stream over time: device work that is launched but not started",
    options: &[OptionDoc {
        name: "full",
        doc: "capacity of a queue: at this length, further launches wait",
        kind: OptionKind::Count(FULL),
    }],
    run: Run::Trace(|selection, options: &Options| {
        let points = points(selection);
        let windows = |device: Option<i64>| selection.windows(device);
        let rows = queue_length_within(&points, &windows, options.count("full"));
        AnalysisResult::of(&TABLE, rows, "no kernel, copy or fill has its launch in the trace")
            .and(&POINTS, points)
            .drawn_from(POINTS.name, Plot::Steps { time: "time_ns", value: "length", series: Some("stream") })
    }),
};

/// Default capacity: the length at which launches wait on NVIDIA devices.
pub const FULL: i64 = 1024;

/// When the length of a stream's queue changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuePoint {
    /// The stream.
    pub stream: Stream,
    /// When.
    pub time: Ts,
    /// The length from then on.
    pub length: i64,
    /// Id of the event that changed it: the launch, or the start of device work.
    pub event_id: u32,
}

static POINTS: Table<Vec<QueuePoint>> = Table {
    name: "queue_length_series",
    doc: "a change of the length of a stream's queue",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].stream.device),
        int("stream", |rows, at| rows[at].stream.stream),
        int("time_ns", |rows, at| Some(rows[at].time.0)),
        int("length", |rows, at| Some(rows[at].length)),
        int("event_id", |rows, at| Some(i64::from(rows[at].event_id))),
    ],
};

/// The queue of a stream over the whole span.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueRow {
    /// The stream.
    pub stream: Stream,
    /// The work enqueued on it.
    pub count: u64,
    /// The mean length over time: `Σ length · time / span`.
    pub mean: f64,
    /// The longest.
    pub max: i64,
    /// Time with nothing in it.
    pub empty_ns: i64,
    /// Time at or above the given length.
    pub full_ns: i64,
    /// `full_ns` over the span.
    pub full_share: f64,
}

static TABLE: Table<Vec<QueueRow>> =
    Table { name: "queue_length", doc: "the queue of a stream", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<QueueRow>>] = &[
    int("device", |rows, at| rows[at].stream.device),
    int("stream", |rows, at| rows[at].stream.stream),
    int("count", |rows, at| Some(rows[at].count as i64)),
    float("mean", |rows, at| Some(rows[at].mean)),
    int("max", |rows, at| Some(rows[at].max)),
    int("empty_ns", |rows, at| Some(rows[at].empty_ns)),
    int("full_ns", |rows, at| Some(rows[at].full_ns)),
    float("full_share", |rows, at| Some(rows[at].full_share)),
];

/// When the queue of each stream changed: one longer at the start of a launch, one shorter when its
/// device work begins.
///
/// Work that begins before its launch, as clocks disagree, leaves the queue at once. At equal
/// times, arrivals precede departures.
pub fn points(selection: &Selection<'_>) -> Vec<QueuePoint> {
    let (events, links) = (&selection.linked.trace.events, &selection.linked.links);
    let mut points = Vec::new();
    for (track, stream) in streams(selection) {
        let mut changes: Vec<(Ts, i64, u32)> = Vec::new();
        for row in work(selection, track) {
            let Some(launch) = links.launch.get(row) else { continue };
            let (enqueued, begun) = (events.start.at(launch as usize), events.start.at(row));
            let ids = (events.position.at(launch as usize), events.position.at(row));
            changes.extend([(enqueued.min(begun), 1, ids.0), (begun, -1, ids.1)]);
        }
        sort::by_key(&mut changes, |(time, change, id)| (*time, -change, *id));
        let mut length = 0;
        for (time, change, event_id) in changes {
            length += change;
            points.push(QueuePoint { stream, time, length, event_id });
        }
    }
    points
}

/// The queue of each stream over a span; lengths that last no time count in none of it.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{FULL, Selection, queue_length, queue_points};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 0, "dur": 3, "args": {"correlation": 7}},
///     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6, "dur": 6, "args": {"correlation": 7}}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let all = Selection::all(&linked);
/// let queue = &queue_length(&queue_points(&all), all.span(), FULL)[0];
/// assert_eq!((queue.max, queue.mean), (1, 0.5)); // for 6 of 12 µs
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn queue_length(points: &[QueuePoint], span: TimeRange, full: i64) -> Vec<QueueRow> {
    queue_length_within(points, &|_| vec![span], full)
}

/// The same over the windows of each device, which are disjoint and ascending.
fn queue_length_within(
    points: &[QueuePoint],
    windows: &dyn Fn(Option<i64>) -> Vec<TimeRange>,
    full: i64,
) -> Vec<QueueRow> {
    let rows = points.chunk_by(|a, b| a.stream == b.stream).map(|points| {
        let (mut weighted, mut busy_ns, mut full_ns, mut max) = (0.0, 0, 0, 0);
        let windows = windows(points[0].stream.device);
        let (all_ns, last) = (total_ns(&windows), windows.last().map_or(points[0].time, |last| last.end));
        let span_ns = all_ns.max(1) as f64;
        for (at, point) in points.iter().enumerate() {
            let until = points.get(at + 1).map_or(last, |next| next.time);
            let ns = total_ns(&within(&windows, TimeRange { start: point.time, end: until.max(point.time) }));
            weighted += point.length as f64 * ns as f64;
            busy_ns += if point.length > 0 { ns } else { 0 };
            full_ns += if point.length >= full { ns } else { 0 };
            max = max.max(if ns > 0 { point.length } else { 0 });
        }
        QueueRow {
            stream: points[0].stream,
            count: points.len() as u64 / 2,
            mean: weighted / span_ns,
            max,
            empty_ns: all_ns - busy_ns,
            full_ns,
            full_share: full_ns as f64 / span_ns,
        }
    });
    rows.collect()
}
