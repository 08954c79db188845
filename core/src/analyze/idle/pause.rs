//! Explains an idle moment of a stream.

use super::gap::{IdleCause, KERNEL_WAIT_NS};
use super::host::{ThreadActivity, thread_activity};
use super::stream_work::streams;
use super::stream_work::work;
use crate::analyze::interval::{clip, total_ns, union};
use crate::analyze::launch::why_unlaunched;
use crate::analyze::number_text::duration_text;
use crate::analyze::selection::Selection;
use crate::id::TrackId;
use crate::link::{EdgeKind, LinkedTrace};
use crate::time::{TimeRange, Ts};

/// An idle time of a stream: a gap, or the time before its first or after its last work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamPause {
    track: TrackId,
    /// From the latest end of the work before it to the next start; else from where the trace
    /// begins, or to where it ends.
    pub(crate) time: TimeRange,
    /// Row of the work that ended last before it.
    pub(crate) before: Option<u32>,
    /// Row of the work after it.
    pub(crate) after: Option<u32>,
    /// Row of the launch of that.
    pub(crate) launch: Option<u32>,
    /// Why the work after it did not begin sooner.
    pub(crate) wait: Option<IdleCause>,
}

/// The idle time of a stream at a moment; `None` while it worked, and for tracks other than
/// streams.
pub(crate) fn pause_at(selection: &Selection<'_>, track: TrackId, at: Ts) -> Option<StreamPause> {
    let linked = selection.linked;
    let whole = linked.range();
    linked.trace.tracks.get(track.index())?.stream?;
    let mut rows = work(selection, track).peekable();
    let (mut start, mut before) = (whole.start, None);
    while let Some(row) = rows.next_if(|row| selection.time(*row).start <= at) {
        let end = selection.time(row).end;
        if before.is_none() || end >= start {
            (start, before) = (end, Some(row as u32));
        }
    }
    let after = rows.peek().map(|row| *row as u32);
    let end = after.map_or(whole.end, |row| linked.trace.events.start.at(row as usize));
    let time = TimeRange { start, end };
    let launch = after.and_then(|row| linked.links.launch.get(row as usize));
    (start <= at && at < end).then(|| StreamPause {
        track,
        time,
        before,
        after,
        launch,
        wait: after.map(|_| IdleCause::before(&linked.trace, time, launch, KERNEL_WAIT_NS)),
    })
}

impl StreamPause {
    /// Rows of the work that the next work waited for.
    pub(crate) fn waited_for(&self, linked: &LinkedTrace) -> Vec<u32> {
        let edges = self.after.map_or_else(Vec::new, |row| linked.edges_of(row as usize)).into_iter();
        let waits = edges.filter(|edge| edge.kind == EdgeKind::Sync && Some(edge.target) == self.after);
        waits.map(|edge| edge.source).collect()
    }

    /// For how long of it other streams of the device worked.
    pub(crate) fn elsewhere_ns(&self, selection: &Selection<'_>) -> i64 {
        let (all, time) = (streams(selection), self.time);
        let device = all.iter().find(|(own, _)| *own == self.track).map(|(_, stream)| stream.device);
        let others = all.iter().filter(|(other, stream)| *other != self.track && Some(stream.device) == device);
        let is_before_end = |row: &usize| selection.time(*row).start < time.end;
        let rows = others.flat_map(|(other, _)| work(selection, *other).take_while(is_before_end));
        total_ns(&union(rows.map(|row| clip(selection.time(row), time)).collect()))
    }

    /// Whether lost work may have run meanwhile.
    pub(crate) fn is_unknown(&self, linked: &LinkedTrace) -> bool {
        linked
            .lost_work()
            .of_stream(self.track)
            .iter()
            .any(|lost| lost.start < self.time.end && self.time.start < lost.end)
    }

    /// Whether the stream ran work of an unknown kind meanwhile.
    fn has_unknown_kind(&self, linked: &LinkedTrace) -> bool {
        let ranges = linked.lost_work().of_stream(self.track).iter();
        let Some(stream) = linked.trace.track(self.track).stream else { return false };
        let mut inside = ranges.filter(|lost| lost.start < self.time.end && self.time.start < lost.end);
        inside.any(|lost| linked.lost_work().has_unknown_start(stream, lost.start))
    }

    /// Host activity meanwhile; `None` where it is unknown.
    pub(crate) fn host(&self, linked: &LinkedTrace) -> Option<ThreadActivity> {
        let launch = self.launch.or_else(|| linked.links.launch.get(self.before? as usize))?;
        thread_activity(linked, launch, self.time)
    }

    /// Why the stream had nothing to do, in words.
    pub(crate) fn why(&self, linked: &LinkedTrace) -> String {
        if self.is_unknown(linked) && linked.lost_work().is_cut() {
            return "the file ends early, so records of the stream may be missing in this time".to_owned();
        }
        if self.has_unknown_kind(linked) {
            return "work of an unknown kind ran in this time".to_owned();
        }
        if self.is_unknown(linked) {
            return "launches in this time have no device work in the file, so the stream may have worked".to_owned();
        }
        let (Some(after), Some(wait)) = (self.after, self.wait) else {
            return "no later work was recorded on this stream".to_owned();
        };
        let Some(launch) = self.launch else {
            let why = why_unlaunched(linked, after as usize).unwrap_or("its launch is not in the file");
            return format!("launch time of the next work is unknown: {why}");
        };
        let launched = linked.trace.events.start.at(launch as usize);
        let late = TimeRange { start: self.time.start, end: launched };
        let since = if self.before.is_some() { "after the previous work ended" } else { "after the trace began" };
        let told = |range: TimeRange| duration_text(range.dur().0);
        match wait {
            IdleCause::Host => {
                let delay = TimeRange { start: launched, end: self.time.end };
                format!("the host launched the next work {} {since}; the work began {} later", told(late), told(delay))
            }
            IdleCause::Kernel => "the next work was already launched: normal delay between two kernels".to_owned(),
            IdleCause::Unknown => "lost work may have run".to_owned(),
            IdleCause::Other if self.waited_for(linked).is_empty() => {
                let early = TimeRange { start: launched, end: self.time.start };
                format!(
                    "the next work was launched {} earlier and waited for something that was not recorded",
                    told(early)
                )
            }
            IdleCause::Other => "the next work was already launched and waited for other work".to_owned(),
        }
    }
}
