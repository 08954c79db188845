//! Finds the idle gaps of streams.

use super::host::HostActivity;
use super::stream_work::streams;
use super::stream_work::work;
use crate::analyze::interval::clip;
use crate::analyze::selection::Selection;
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
}

impl IdleCause {
    /// Why a stream had nothing to do before work of which the row of the launch is known, or not.
    pub(super) fn before(trace: &Trace, gap: TimeRange, launch: Option<u32>, kernel_wait_ns: i64) -> Self {
        let is_late = launch.is_some_and(|launch| trace.events.start[launch as usize] > gap.start);
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
        }
    }
}

/// A time in which a stream had nothing to do, between two device events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleGap {
    /// The stream.
    pub stream: Stream,
    /// From the end of all work before it to the start of the next.
    pub time: TimeRange,
    /// Why.
    pub wait: IdleCause,
    /// Id of the event that ended last before it.
    pub before_id: u32,
    /// Id of the event after it.
    pub after_id: u32,
    /// Row of the launch of the event after it.
    pub launch: Option<u32>,
    /// Row of the launching thread's activity during most of the gap, if it was looked up.
    pub host: Option<HostActivity>,
}

/// All gaps between the device work of each stream, in the order of streams and time; of a range
/// those that meet it, cut to it.
///
/// A gap is from the latest end of the work before to the next start, where that is later. It is
/// `host_wait` when the next work was launched after the gap's start, else `kernel_wait` when it is
/// shorter than `kernel_wait_ns`, else `other`.
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
                let wait = IdleCause::before(&selection.linked.trace, gap, launch, kernel_wait_ns);
                let (before_id, after_id) = (events.position[before as usize], events.position[row]);
                let time = range.map_or(gap, |range| clip(gap, range));
                if time.start < time.end {
                    gaps.push(IdleGap { stream, time, wait, before_id, after_id, launch, host: None });
                }
            }
            if last.is_none_or(|(end, _)| end <= time.end) {
                last = Some((time.end, row as u32));
            }
        }
    }
    gaps
}
