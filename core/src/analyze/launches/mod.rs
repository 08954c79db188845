//! Launches and what they enqueued: how long the call took, how long the work waited.

mod by_call;
mod by_operator;

use std::sync::Arc;

use super::analysis::{Analysis, Answer, Plot, Run};
use super::options::{OptionDoc, OptionKind, Options};
use super::selection::Selection;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Column, Table, int, put_name, text, uint};
use crate::trace::track::Stream;

/// Launches and their device work.
pub(super) static LAUNCHES: Analysis = Analysis {
    name: "launches",
    doc: "each launch with its device work: duration of the call, of the work, and the delay between them",
    options: &[OptionDoc {
        name: "prefix",
        doc: "in launches_by_operator, only operators whose name begins with this",
        kind: OptionKind::Text,
    }],
    run: Run::Trace(|selection, options: &Options| {
        let rows = launches(selection);
        let reason = rows.is_empty().then_some("no kernel, copy or fill has its launch in the trace");
        let prefix = options.text("prefix").unwrap_or("").to_owned();
        let launches = Arc::new(Launches { linked: Arc::clone(selection.linked), rows });
        let (calls, operators) = (Arc::clone(&launches), Arc::clone(&launches));
        Answer::with(TABLE.of(&launches), reason)
            .and_later(&by_call::TABLE, move || by_call::by_call(&calls))
            .and_later(&by_operator::TABLE, move || by_operator::by_operator(&operators, &prefix))
            .drawn(Plot::points("device_dur_ns", "delay_ns", "device_name"))
    }),
};

/// One device event with its launch. A launch of several (a graph) has several rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchRow {
    /// Row of the launch.
    pub launch: u32,
    /// Row of the device event.
    pub device: u32,
}

impl LaunchRow {
    /// From the end of the launch to the start of the device event; 0 when that was earlier.
    pub fn delay_ns(self, linked: &LinkedTrace) -> i64 {
        let events = &linked.trace.events;
        events.start[self.device as usize].since(events.end(self.launch as usize)).0.max(0)
    }
}

/// Launches, and the trace that they are of: what is asked of them is looked up there.
struct Launches {
    linked: Arc<LinkedTrace>,
    rows: Vec<LaunchRow>,
}

impl Launches {
    fn id(&self, row: u32) -> i64 {
        self.linked.trace.events.position[row as usize].into()
    }

    fn name(&self, row: u32) -> &str {
        self.linked.trace.event_name(row as usize)
    }

    fn start_ns(&self, row: u32) -> i64 {
        self.linked.trace.events.start[row as usize].0
    }

    fn dur_ns(&self, row: u32) -> i64 {
        self.linked.trace.events.dur[row as usize].0
    }

    fn stream(&self, row: u32) -> Option<Stream> {
        self.linked.trace.track(self.linked.trace.events.track[row as usize]).stream
    }
}

static TABLE: Table<Launches> = Table {
    name: "launches",
    doc: "a device event with its launch",
    num_rows: |launches| launches.rows.len(),
    columns: COLUMNS,
};

const COLUMNS: &[Column<Launches>] = &[
    int("id", |all, at| Some(all.id(all.rows[at].launch))),
    int("device_id", |all, at| Some(all.id(all.rows[at].device))),
    text("name", |all, at, out| put_name(out, all.name(all.rows[at].launch))),
    text("device_name", |all, at, out| put_name(out, all.name(all.rows[at].device))),
    text("kind", |all, at, out| put_name(out, all.linked.trace.events.kind[all.rows[at].device as usize].name())),
    int("device", |all, at| all.stream(all.rows[at].device)?.device),
    int("stream", |all, at| all.stream(all.rows[at].device)?.stream),
    uint("correlation_id", |all, at| all.linked.trace.correlation_id(all.rows[at].device as usize)),
    int("start_ns", |all, at| Some(all.start_ns(all.rows[at].launch))),
    int("dur_ns", |all, at| Some(all.dur_ns(all.rows[at].launch))),
    int("device_dur_ns", |all, at| Some(all.dur_ns(all.rows[at].device))),
    int("delay_ns", |all, at| Some(all.rows[at].delay_ns(&all.linked))),
    int("operator_id", |all, at| Some(all.id(all.linked.links.operator.get(all.rows[at].device as usize)?))),
];

/// Device events with their launches, where both are known, by the start of the launch.
///
/// `delay_ns = max(0, device start − launch end)`. Those whose device event is looked at (see [`Selection`]).
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
/// assert_eq!(launch.delay_ns(&linked), 1_000);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn launches(selection: &Selection<'_>) -> Vec<LaunchRow> {
    let (events, launched) = (&selection.linked.trace.events, &selection.linked.links.launched);
    let is_looked_at =
        |row: &LaunchRow| events.kind[row.device as usize].is_device_work() && selection.contains(row.device as usize);
    let mut rows = Vec::with_capacity(launched.len());
    let pairs = (0..launched.len()).filter_map(|at| launched.pair(at));
    rows.extend(pairs.map(|(launch, device)| LaunchRow { launch, device }).filter(is_looked_at));
    let start = |row: &LaunchRow| events.start[row.launch as usize].0;
    if !rows.is_sorted_by_key(start) {
        // Those of one start are in the order of the file already.
        let starts: Vec<i64> = rows.iter().map(start).collect();
        rows = sort::places(&starts).iter().map(|place| rows[*place as usize]).collect();
    }
    rows
}
