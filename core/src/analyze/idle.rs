//! When a stream had nothing to do, and why.

use std::collections::BTreeMap;

use super::analysis::{Analysis, Answer, Plot, Run};
use super::interval::clip;
use super::options::{OptionDoc, OptionKind, Options};
use super::selection::Selection;
use super::statistics::Durations;
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::{TimeRange, Ts, sum_ns};
use crate::trace::track::Stream;

/// When streams had nothing to do.
pub(super) static IDLE: Analysis = Analysis {
    name: "idle",
    doc: "idle time of each stream: waiting for the host, between kernels, other; and the longest gaps",
    options: &[
        OptionDoc {
            name: "kernel_wait_ns",
            doc: "gaps of less than this are those between kernels that were waiting (kernel_wait)",
            kind: OptionKind::Count(KERNEL_WAIT_NS),
        },
        OptionDoc {
            name: "micro_ns",
            doc: "gaps of less than this count as micro_ns",
            kind: OptionKind::Count(super::breakdown::MICRO_NS),
        },
        OptionDoc { name: "longest", doc: "how many of the longest gaps are listed", kind: OptionKind::Count(100) },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let mut gaps = gaps(selection, options.count("kernel_wait_ns"));
        let rows = idle(&gaps, options.count("micro_ns"));
        sort::by_key(&mut gaps, |gap| (std::cmp::Reverse(gap.time.dur()), gap.time.start, gap.after_id));
        gaps.truncate(options.count("longest") as usize);
        gaps.iter_mut().for_each(|gap| gap.host = host_during(selection, gap));
        Answer::of(&TABLE, rows, "no stream has two kernels, copies or fills")
            .and(&GAPS, gaps)
            .drawn(Plot::Bars { label: "category", parts: &["total_ns"] })
    }),
};

/// Gaps of less than this are between kernels that were waiting for their turn, when nobody says.
pub const KERNEL_WAIT_NS: i64 = 30;

/// Why a stream had nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// The next work was launched only after the work before had ended.
    Host,
    /// The next work had been launched, and began almost at once.
    Kernel,
    /// The next work had been launched, and waited for something else; or its launch is not known.
    Other,
}

impl Wait {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host_wait",
            Self::Kernel => "kernel_wait",
            Self::Other => "other",
        }
    }
}

/// A time in which a stream had nothing to do, between two device events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The stream.
    pub stream: Stream,
    /// From the end of all work before it to the start of the next.
    pub time: TimeRange,
    /// Why.
    pub wait: Wait,
    /// Id of the event that ended last before it.
    pub before_id: u32,
    /// Id of the event after it.
    pub after_id: u32,
    /// Row of the launch of the event after it.
    pub launch: Option<u32>,
    /// Row of what the launching thread did for most of the gap, where that is looked up.
    pub host: Option<Host>,
}

/// What a host thread did during a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Id of the event.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// How long of the gap it was what the thread did, less what was inside of it.
    pub self_ns: i64,
}

/// All idle time of one stream for one reason.
#[derive(Debug, Clone, PartialEq)]
pub struct IdleRow {
    /// The stream.
    pub stream: Stream,
    /// Why.
    pub wait: Wait,
    /// Gaps.
    pub count: u64,
    /// Their time together.
    pub total_ns: i64,
    /// `total_ns` over all idle time of the stream.
    pub share: f64,
    /// The part of `total_ns` in gaps shorter than asked for.
    pub micro_ns: i64,
    /// `total_ns / count`, rounded down.
    pub mean_ns: i64,
    /// Sample standard deviation of the gaps; `None` of a single one.
    pub std_ns: Option<f64>,
    /// The longest.
    pub max_ns: i64,
}

static TABLE: Table<Vec<IdleRow>> =
    Table { name: "idle", doc: "all idle time of a stream for one reason", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<IdleRow>>] = &[
    int("device", |rows, at| rows[at].stream.device),
    int("stream", |rows, at| rows[at].stream.stream),
    text("category", |rows, at, out| put_name(out, rows[at].wait.name())),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    float("share", |rows, at| Some(rows[at].share)),
    int("micro_ns", |rows, at| Some(rows[at].micro_ns)),
    int("mean_ns", |rows, at| Some(rows[at].mean_ns)),
    float("std_ns", |rows, at| rows[at].std_ns),
    int("max_ns", |rows, at| Some(rows[at].max_ns)),
];

static GAPS: Table<Vec<Gap>> = Table {
    name: "gaps",
    doc: "one of the longest times in which a stream had nothing to do",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].stream.device),
        int("stream", |rows, at| rows[at].stream.stream),
        int("start_ns", |rows, at| Some(rows[at].time.start.0)),
        int("dur_ns", |rows, at| Some(rows[at].time.dur().0)),
        text("category", |rows, at, out| put_name(out, rows[at].wait.name())),
        int("before_id", |rows, at| Some(i64::from(rows[at].before_id))),
        int("after_id", |rows, at| Some(i64::from(rows[at].after_id))),
        int("host_id", |rows, at| rows[at].host.as_ref().map(|host| i64::from(host.id))),
        text("host_name", |rows, at, out| rows[at].host.as_ref().is_some_and(|host| put_name(out, &host.name))),
        int("host_ns", |rows, at| rows[at].host.as_ref().map(|host| host.self_ns)),
    ],
};

/// All gaps between the device work of each stream, in the order of streams and time; of a range those that meet it, cut to it.
///
/// A gap is from the latest end of the work before to the next start, where that is later. It is `host_wait` when the
/// next work was launched after the gap's start, else `kernel_wait` when it is shorter than `kernel_wait_ns`, else
/// `other`.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{KERNEL_WAIT_NS, Selection, Wait, gaps};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 0, "dur": 10},
///                 {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 12, "dur": 1}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let gaps = gaps(&Selection::all(&linked), KERNEL_WAIT_NS);
/// assert_eq!((gaps[0].time.dur().0, gaps[0].wait), (2_000, Wait::Other));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn gaps(selection: &Selection<'_>, kernel_wait_ns: i64) -> Vec<Gap> {
    let (trace, links) = (&selection.linked.trace, &selection.linked.links);
    let events = &trace.events;
    let mut gaps = Vec::new();
    // What ends before a range, or begins after it, tells when a gap inside of it began and why.
    let is_cut = !selection.is_whole && !selection.is_launched_inside;
    let range = selection.range.filter(|_| is_cut);
    let around = range.map(|_| selection.anytime());
    let around = around.as_ref().unwrap_or(selection);
    for (track, stream) in streams(selection) {
        let mut last: Option<(Ts, u32)> = None;
        for row in work(around, track) {
            let time = around.time(row);
            if let Some((end, before)) = last.filter(|(end, _)| *end < time.start) {
                let launch = links.launch.get(row);
                let gap = TimeRange { start: end, end: time.start };
                let is_late = launch.is_some_and(|launch| events.start[launch as usize] > end);
                let wait = match () {
                    () if is_late => Wait::Host,
                    () if gap.dur().0 < kernel_wait_ns && launch.is_some() => Wait::Kernel,
                    () => Wait::Other,
                };
                let (before_id, after_id) = (events.position[before as usize], events.position[row]);
                let time = range.map_or(gap, |range| clip(gap, range));
                if time.start < time.end {
                    gaps.push(Gap { stream, time, wait, before_id, after_id, launch, host: None });
                }
            }
            if last.is_none_or(|(end, _)| end <= time.end) {
                last = Some((time.end, row as u32));
            }
        }
    }
    gaps
}

/// The streams, with their tracks, in the order of device and number.
pub(super) fn streams(selection: &Selection<'_>) -> Vec<(TrackId, Stream)> {
    let tracks = selection.linked.trace.tracks.iter().enumerate();
    let mut streams: Vec<_> = tracks.filter_map(|(at, track)| Some((TrackId::from(at), track.stream?))).collect();
    sort::by_key(&mut streams, |(track, stream)| (stream.device, stream.stream, track.index()));
    streams
}

/// Rows of a track's kernels, copies and fills that are looked at, by start.
pub(super) fn work<'a>(selection: &'a Selection<'_>, track: TrackId) -> impl Iterator<Item = usize> + 'a {
    let kinds = &selection.linked.trace.events.kind;
    let rows = selection.linked.links.nesting.track_rows(track).iter().map(|row| *row as usize);
    rows.filter(|row| kinds[*row].is_device_work() && selection.contains(*row))
}

/// Gaps by stream and reason.
pub fn idle(gaps: &[Gap], micro_ns: i64) -> Vec<IdleRow> {
    let mut groups: BTreeMap<(Option<i64>, Option<i64>, Wait), Vec<i64>> = BTreeMap::new();
    let mut totals: BTreeMap<(Option<i64>, Option<i64>), i64> = BTreeMap::new();
    for gap in gaps {
        let (device, stream, ns) = (gap.stream.device, gap.stream.stream, gap.time.dur().0);
        groups.entry((device, stream, gap.wait)).or_default().push(ns);
        crate::time::add_ns(totals.entry((device, stream)).or_default(), ns);
    }
    let row = |((device, stream, wait), durs): ((Option<i64>, Option<i64>, Wait), Vec<i64>)| {
        let Durations { count, total_ns, mean_ns, std_ns, max_ns, .. } = Durations::of(&durs);
        let of_stream = totals.get(&(device, stream)).copied().unwrap_or(0);
        IdleRow {
            stream: Stream { device, stream },
            wait,
            count,
            total_ns,
            share: total_ns as f64 / of_stream.max(1) as f64,
            micro_ns: sum_ns(durs.iter().copied().filter(|ns| *ns < micro_ns)),
            mean_ns,
            std_ns,
            max_ns,
        }
    };
    groups.into_iter().map(row).collect()
}

/// How many host events of a gap are looked at: the first of them.
const MAX_LOOKED_AT: usize = 10_000;

/// What the host did for most of a gap: the thread that launched the next work, or another of its process, where that one did
/// nothing for most of it, as the thread of the backward pass before that begins.
pub(super) fn host_during(selection: &Selection<'_>, gap: &Gap) -> Option<Host> {
    let trace = &selection.linked.trace;
    let thread = trace.events.track[gap.launch? as usize];
    let own = most_during(selection.linked, thread, gap.time);
    if own.as_ref().is_some_and(|(_, all_ns)| *all_ns * 2 >= gap.time.dur().0) {
        return own.map(|(host, _)| host);
    }
    let process = trace.track(thread).process;
    let of_process =
        |at: &TrackId| *at != thread && trace.track(*at).stream.is_none() && trace.track(*at).process == process;
    let others = (0..trace.tracks.len()).map(TrackId::from).filter(of_process);
    let busiest = others.max_by_key(|other| covered_ns(selection.linked, *other, gap.time));
    let other = busiest.and_then(|busiest| most_during(selection.linked, busiest, gap.time));
    // Of threads that did as much, the one that launched.
    let most = own.into_iter().chain(other).reduce(|best, next| if next.1 > best.1 { next } else { best });
    most.map(|(host, _)| host)
}

/// For how long of a time a thread did anything.
fn covered_ns(linked: &LinkedTrace, thread: TrackId, time: TimeRange) -> i64 {
    let parent = |row: u32| linked.links.nesting.parent.get(row as usize);
    let (begun, before) = during(linked, thread, time);
    let around = std::iter::successors(before, |row| parent(*row)).last();
    let outermost = begun.iter().copied().filter(|row| parent(*row).is_none());
    sum_ns(outermost.chain(around).map(|row| inside_ns(linked, row, time)))
}

/// A thread's events that begin in a time, the first of them, and the last that began before.
fn during(linked: &LinkedTrace, thread: TrackId, time: TimeRange) -> (&[u32], Option<u32>) {
    let (events, rows) = (&linked.trace.events, linked.links.nesting.track_rows(thread));
    let first = rows.partition_point(|row| events.start[*row as usize] < time.start);
    let last = rows.partition_point(|row| events.start[*row as usize] < time.end);
    let end = last.max(first).min(first + MAX_LOOKED_AT);
    (&rows[first..end], first.checked_sub(1).map(|at| rows[at]))
}

/// How long of a time an event was.
fn inside_ns(linked: &LinkedTrace, row: u32, time: TimeRange) -> i64 {
    let events = &linked.trace.events;
    let own = TimeRange { start: events.start[row as usize], end: events.end(row as usize) };
    clip(own, time).dur().0
}

/// What a thread did for most of a time, and for how long of it it did anything.
fn most_during(linked: &LinkedTrace, thread: TrackId, time: TimeRange) -> Option<(Host, i64)> {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let self_ns = self_during(linked, thread, time);
    let all_ns = sum_ns(self_ns.values().copied());
    let (row, self_ns) = self_ns.into_iter().max_by_key(|(row, ns)| (*ns, std::cmp::Reverse(*row)))?;
    let name = trace.event_name(row as usize).to_owned();
    (self_ns > 0).then(|| (Host { id: events.position[row as usize], name, self_ns }, all_ns))
}

/// How long of a time each event of a thread was what the thread did, less what was inside of it; by row.
pub(super) fn self_during(linked: &LinkedTrace, thread: TrackId, time: TimeRange) -> BTreeMap<u32, i64> {
    let parent = |row: u32| linked.links.nesting.parent.get(row as usize);
    let mut self_ns: BTreeMap<u32, i64> = BTreeMap::new();
    let mut add = |row: u32| {
        let inside_ns = inside_ns(linked, row, time);
        *self_ns.entry(row).or_insert(0) += inside_ns;
        if let Some(parent) = parent(row) {
            *self_ns.entry(parent).or_insert(0) -= inside_ns;
        }
    };
    let (begun, before) = during(linked, thread, time);
    begun.iter().for_each(|row| add(*row));
    // What began before is around its start.
    std::iter::successors(before, |row| parent(*row)).for_each(add);
    self_ns
}
