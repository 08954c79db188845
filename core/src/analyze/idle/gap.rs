//! Finds the idle gaps of streams.

use super::host::HostActivity;
use super::stream_work::streams;
use super::stream_work::work;
use crate::analyze::class::WorkClass;
use crate::analyze::interval::{clip, difference, within};
use crate::analyze::selection::Selection;
use crate::id::TrackId;
use crate::link::LostWork;
use crate::sort;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::track::Stream;

/// Default threshold in ns: shorter gaps before launched work count as kernel wait.
pub const KERNEL_WAIT_NS: i64 = 30;

/// Why a stream had nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdleCause {
    /// The next work was launched only after the work before had ended.
    Host,
    /// The next work had been launched, and began almost at once.
    Kernel,
    /// The next work had been launched, and waited for something else; or its launch is not known.
    Other,
    /// Lost work may have run.
    Unknown,
}

impl IdleCause {
    /// Why a stream had nothing to do before work of which the row of the launch is known, or not.
    pub(super) fn before(trace: &Trace, gap: TimeRange, launch: Option<u32>, kernel_wait_ns: i64) -> Self {
        let is_late = launch.is_some_and(|launch| trace.events.start.at(launch as usize) > gap.start);
        match () {
            () if is_late => Self::Host,
            () if gap.dur().0 < kernel_wait_ns && launch.is_some() => Self::Kernel,
            () => Self::Other,
        }
    }

    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host_wait",
            Self::Kernel => "kernel_wait",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }
}

/// A time in which a stream had nothing to do, between two device events; or in which it may have
/// run lost work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleGap {
    /// The stream.
    pub stream: Stream,
    /// From the end of all work before it to the start of the next.
    pub time: TimeRange,
    /// Why.
    pub wait: IdleCause,
    /// Id of the event that ended last before it, unless lost work may have run in between.
    pub before_id: Option<u32>,
    /// Id of the event after it, likewise.
    pub after_id: Option<u32>,
    /// Row of the launch of the event after it.
    pub launch: Option<u32>,
    /// Row of the launching thread's activity during most of the gap, if it was looked up.
    pub host: Option<HostActivity>,
    /// Class of the event after it, if it was looked up.
    pub after: Option<WorkClass>,
}

/// All gaps between the device work of each stream, in the order of streams and time; of a range
/// those that meet it, cut to it.
///
/// A gap is from the latest end of the work before to the next start, where that is later. It is
/// `host_wait` when the next work was launched after the gap's start, else `kernel_wait` when it is
/// shorter than `kernel_wait_ns`, else `other`. The part of a gap in which lost work may have run
/// is a gap of its own, `unknown`; so is such a time before the first and after the last work.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{KERNEL_WAIT_NS, Selection, IdleCause, gaps};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 0, "dur": 10},
///                 {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 12, "dur": 1}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let gaps = gaps(&Selection::all(&linked), KERNEL_WAIT_NS);
/// assert_eq!((gaps[0].time.dur().0, gaps[0].wait), (2_000, IdleCause::Other));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn gaps(selection: &Selection<'_>, kernel_wait_ns: i64) -> Vec<IdleGap> {
    let (events, links) = (&selection.linked.trace.events, &selection.linked.links);
    let mut gaps = Vec::new();
    // Events before or after a range determine when and why a gap inside of it began.
    let is_cut = !selection.is_unclipped && !selection.is_launched_inside;
    let part = selection.part.as_ref().filter(|part| is_cut || part.calls.is_some());
    let around = part.map(|_| selection.anytime());
    let around = around.as_ref().unwrap_or(selection);
    for (track, stream) in streams(selection) {
        let mut lost = LostTimes::of(selection, track);
        let mut last: Option<(Ts, u32)> = None;
        for row in work(around, track) {
            let time = around.time(row);
            let end = last.map_or(Ts(i64::MIN), |(end, _)| end);
            if end < time.start {
                let launch = links.launch.get(row);
                let gap = last.map(|(end, before)| {
                    let time = TimeRange { start: end, end: time.start };
                    let wait = IdleCause::before(&selection.linked.trace, time, launch, kernel_wait_ns);
                    let ids = [before, row as u32].map(|row| Some(events.position.at(row as usize)));
                    IdleGap { stream, time, wait, before_id: ids[0], after_id: ids[1], launch, host: None, after: None }
                });
                let silence = TimeRange { start: end, end: time.start };
                gaps.extend(lost.split(stream, silence, gap));
            }
            if last.is_none_or(|(end, _)| end <= time.end) {
                last = Some((time.end, row as u32));
            }
        }
        let end = last.map_or(Ts(i64::MIN), |(end, _)| end);
        gaps.extend(lost.split(stream, TimeRange { start: end, end: Ts(i64::MAX) }, None));
    }
    match part {
        Some(part) => gaps.iter().flat_map(|gap| cut(gap, part.windows(gap.stream.device))).collect(),
        None => gaps,
    }
}

/// The parts of a gap inside of the times that are looked at.
fn cut<'a>(gap: &'a IdleGap, windows: &[TimeRange]) -> impl Iterator<Item = IdleGap> + use<'a> {
    within(windows, gap.time).into_iter().map(|time| IdleGap { time, ..gap.clone() })
}

/// The times in which lost work may have run on a stream.
struct LostTimes<'a> {
    lost: &'a LostWork,
    ranges: &'a [TimeRange],
    /// Those before ended before the present gap.
    next: usize,
}

impl<'a> LostTimes<'a> {
    fn of(selection: &Selection<'a>, track: TrackId) -> Self {
        let lost = selection.linked.lost_work();
        Self { lost, ranges: lost.of_stream(track), next: 0 }
    }

    /// A silence of the stream in parts: the unknown ones, and those of the gap, if it is one.
    /// Silences come in order of time.
    fn split(&mut self, stream: Stream, silence: TimeRange, gap: Option<IdleGap>) -> Vec<IdleGap> {
        while self.ranges.get(self.next).is_some_and(|range| range.end <= silence.start) {
            self.next += 1;
        }
        let lost = self.ranges[self.next..].iter().take_while(|range| range.start < silence.end);
        let unknown: Vec<_> = lost.map(|range| clip(*range, silence)).filter(|range| range.start < range.end).collect();
        if unknown.is_empty() {
            return gap.into_iter().collect();
        }
        let of_lost = |time: TimeRange| IdleGap {
            stream,
            time,
            wait: IdleCause::Unknown,
            before_id: None,
            after_id: None,
            launch: None,
            host: None,
            after: None,
        };
        let all_lost = self.lost;
        let known = gap.into_iter().flat_map(|gap| {
            let of_gap = move |time: TimeRange| IdleGap {
                before_id: gap.before_id.filter(|_| time.start == gap.time.start),
                after_id: gap.after_id.filter(|_| time.end == gap.time.end),
                wait: match () {
                    () if time.end == gap.time.end => gap.wait,
                    () if all_lost.has_unknown_start(stream, time.end) => IdleCause::Other,
                    // Before lost work, the stream waits for the launch of that.
                    () => IdleCause::Host,
                },
                launch: gap.launch.filter(|_| time.end == gap.time.end),
                time,
                ..gap.clone()
            };
            difference(&[silence], &unknown).into_iter().map(of_gap)
        });
        let mut parts: Vec<_> = known.chain(unknown.iter().copied().map(of_lost)).collect();
        sort::by_key(&mut parts, |part| part.time.start);
        parts
    }
}
