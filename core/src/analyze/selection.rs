//! Selects the events of an analysis: all, a part, or one stream.

use std::sync::Arc;

use super::interval::{intersection, union};
use super::options::unexpected;
use super::part::TracePart;
use super::selection_request::SelectionRequest;
use super::unknown_kind::of_unknown_kind;
use crate::error::Error;
use crate::link::{Iteration, LinkedTrace, lacks_device_work};
use crate::time::{Dur, TimeRange, Ts, add_ns};
use crate::trace::track::Stream;

/// A linked trace with its selected part.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// The trace; results may hold it for lazy columns.
    pub linked: &'a Arc<LinkedTrace>,
    /// The part, unless everything is selected.
    pub part: Option<Arc<TracePart>>,
    /// The number of the only selected stream.
    pub stream: Option<i64>,
    /// Whether device events launched outside the part are left out.
    pub is_launched_inside: bool,
    /// Whether times are not cut to the part: an event counts whole in the range in which it
    /// begins, device work in the range in which its launch begins.
    pub is_unclipped: bool,
}

impl<'a> Selection<'a> {
    /// Everything in the trace.
    pub fn all(linked: &'a Arc<LinkedTrace>) -> Self {
        Self::within(linked, None)
    }

    /// Everything but the iterations in which the observer of the Execution Trace ran.
    pub(super) fn clean(linked: &'a Arc<LinkedTrace>) -> Self {
        Self::within(linked, linked.clean_range())
    }

    /// The bounds of a range, if there is one.
    pub fn within(linked: &'a Arc<LinkedTrace>, range: Option<TimeRange>) -> Self {
        let part = range.map(|range| Arc::new(TracePart::of(range)));
        Self { linked, part, stream: None, is_launched_inside: false, is_unclipped: false }
    }

    /// Resolves a request. An error where the trace does not have the part.
    ///
    /// Without a part, leaves out the iterations in which the observer of the Execution Trace ran:
    /// see [`LinkedTrace::clean_range`].
    pub fn of(linked: &'a Arc<LinkedTrace>, wanted: &SelectionRequest) -> Result<Self, Error> {
        let part = wanted.part.part(linked)?.map(Arc::new);
        if let Some(stream) = wanted.stream {
            expect_stream(linked, stream)?;
        }
        let SelectionRequest { stream, is_launched_inside, is_unclipped, .. } = *wanted;
        Ok(Self { linked, part, stream, is_launched_inside, is_unclipped })
    }

    /// The same at any time.
    pub(super) fn anytime(&self) -> Self {
        Self { linked: self.linked, part: None, stream: self.stream, is_launched_inside: false, is_unclipped: false }
    }

    /// The same from its first time to its last, with all events of that time.
    pub(super) fn whole(&self) -> Self {
        let part = self.extent().map(|range| Arc::new(TracePart::of(range)));
        Self { part, ..self.clone() }
    }

    /// The part, if it is more than a range.
    pub(super) fn parts(&self) -> Option<&TracePart> {
        self.part.as_deref().filter(|part| part.as_range().is_none())
    }

    /// Whether the part is that of named calls.
    pub(super) fn is_named(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.calls.is_some())
    }

    /// The times of a device that are looked at: disjoint, ascending.
    pub(super) fn windows(&self, device: Option<i64>) -> Vec<TimeRange> {
        self.part.as_ref().map_or_else(|| vec![self.span()], |part| part.windows(device).to_vec())
    }

    /// The union of times, without those that are not looked at on a device.
    pub(super) fn union(&self, device: Option<i64>, times: Vec<TimeRange>) -> Vec<TimeRange> {
        let times = union(times);
        if self.is_unclipped || self.parts().is_none() { times } else { intersection(&times, &self.windows(device)) }
    }

    /// Whether a time is in the selection.
    pub(super) fn has(&self, time: Ts) -> bool {
        self.part.as_ref().is_none_or(|part| part.has(time))
    }

    /// Whether an event begins in the selection.
    pub(super) fn begins_inside(&self, row: usize) -> bool {
        match self.part.as_deref() {
            None => true,
            Some(TracePart { calls: Some(calls), .. }) => calls.of_event.get(row).is_some(),
            Some(part) => part.has(self.linked.trace.events.start.at(row)),
        }
    }

    /// Whether a time meets the selection.
    pub(super) fn meets(&self, start: Ts, dur: Dur) -> bool {
        self.part.as_ref().map_or_else(|| self.span().overlaps(start, dur), |part| part.meets(start, dur))
    }

    /// Devices that have selected work at any time. One that has none in the range is idle
    /// in it.
    ///
    /// Of named calls, those that have work of theirs.
    pub(super) fn devices(&self) -> impl Iterator<Item = Option<i64>> + '_ {
        let (trace, anytime) = (&self.linked.trace, self.anytime());
        let is_named = self.is_named();
        let first_work = move |at: usize| {
            let rows = self.linked.links.nesting.track_rows(at.into()).iter().map(|row| *row as usize);
            let is_it = |row: usize| if is_named { self.contains(row) } else { anytime.contains(row) };
            rows.into_iter().find(|row| trace.events.kind[*row].is_device_work() && is_it(*row))
        };
        let on_device = (0..trace.tracks.len()).filter(|at| trace.tracks[*at].stream.is_some());
        on_device.filter_map(first_work).map(|row| trace.device(row))
    }

    /// Rows of the selected events, in file order.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.linked.trace.events.len()).filter(|row| self.contains(*row))
    }

    /// Rows of the selected kernels, copies and fills, in file order.
    pub fn device_work(&self) -> impl Iterator<Item = usize> + '_ {
        self.linked.trace.events.device_work().filter(|row| self.contains(*row))
    }

    /// Times in which lost work may have run on a device, or on its selected stream; disjoint and
    /// ascending, cut to the selection.
    pub(super) fn unknown(&self, device: Option<i64>) -> Vec<TimeRange> {
        let lost = self.linked.lost_work();
        let windows = self.windows(device);
        let Some(number) = self.stream else { return intersection(lost.of_device(device), &windows) };
        let tracks = self.linked.trace.tracks.iter().enumerate();
        let is_it = |stream: Stream| stream.device == device && stream.stream == Some(number);
        let tracks = tracks.filter(|(_, track)| track.stream.is_some_and(is_it));
        let ranges = tracks.flat_map(|(at, _)| lost.of_stream(at.into())).copied().collect();
        intersection(&union(ranges), &windows)
    }

    /// Rows of all kernels, copies and fills of the selected stream, at any time, in file order.
    pub(super) fn anytime_work(&self) -> impl Iterator<Item = usize> + use<'a> {
        let anytime = self.anytime();
        self.linked.trace.events.device_work().filter(move |row| anytime.contains(*row))
    }

    /// Rows of the selected work; of named calls, of all work, as a device that does the work of
    /// others is not idle.
    pub(super) fn work_beside(&self) -> impl Iterator<Item = usize> + '_ {
        let (is_named, anytime) = (self.is_named(), self.anytime());
        let is_it = move |row: &usize| if is_named { anytime.contains(*row) } else { self.contains(*row) };
        self.linked.trace.events.device_work().filter(is_it)
    }

    /// Whether device work was launched in the range. Work without a known launch counts where it
    /// began, unless only launched work is selected.
    pub(super) fn launched(&self, row: usize) -> bool {
        let Some(part) = &self.part else { return true };
        if let Some(calls) = &part.calls {
            return calls.of_event.get(row).is_some();
        }
        let launch = self.linked.links.launch.get(row).map(|launch| launch as usize);
        let start = self.linked.trace.events.start.at(launch.unwrap_or(row));
        (launch.is_some() || !self.is_launched_inside) && part.has(start)
    }

    /// Whether devices worked for it without a record, or with one of an unknown kind.
    pub(super) fn has_lost_work(&self) -> bool {
        let mut unknown = self.linked.lost_work().of_unknown_kind();
        self.lacks_records() || unknown.any(|row| self.contains(row as usize))
    }

    fn lacks_records(&self) -> bool {
        let lost = &self.linked.links.lost_launches;
        self.linked.lost_work().is_cut()
            || lacks_device_work(&self.linked.trace)
            || lost.iter().any(|row| self.contains(*row as usize))
    }

    /// Why a table has no rows: the file ends early, or else the reason of the table.
    pub(super) fn why_none(&self, reason: &'static str) -> &'static str {
        if self.linked.lost_work().is_cut() { CUT } else { reason }
    }

    /// Why there may be no device work.
    pub(super) fn why_nothing_ran(&self) -> &'static str {
        if self.linked.lost_work().is_cut() {
            CUT
        } else if self.lacks_records() {
            "device work ran, but the file has none of its records (see the verdict)"
        } else if !of_unknown_kind(&self.linked.trace).is_empty() {
            "no kernel, copy or fill was recognised (see the verdict)"
        } else {
            "no kernel, copy or fill was recorded"
        }
    }

    /// Whether an event is in the part, and on the stream if it is a device event.
    #[inline]
    pub fn contains(&self, row: usize) -> bool {
        // Mostly all is selected.
        (self.part.is_none() && self.stream.is_none()) || self.is_selected(row)
    }

    fn is_selected(&self, row: usize) -> bool {
        let events = &self.linked.trace.events;
        let on = self.linked.trace.track(events.track.at(row)).stream;
        if on.is_some_and(|on| self.stream.is_some_and(|stream| on.stream != Some(stream))) {
            return false;
        }
        let Some(part) = self.part.as_deref() else { return true };
        if let Some(calls) = &part.calls {
            return calls.of_event.get(row).is_some();
        }
        let is_launched =
            || self.linked.links.launch.get(row).is_some_and(|launch| part.has(events.start.at(launch as usize)));
        match on {
            Some(_) if self.is_unclipped && events.kind[row].is_device_work() => is_launched(),
            _ if self.is_unclipped => part.has(events.start.at(row)),
            _ if !part.meets(events.start.at(row), events.dur.at(row)) => false,
            Some(_) if self.is_launched_inside => is_launched(),
            _ => true,
        }
    }

    /// The event's time, without what is before the part and after it if the selection clips.
    pub fn time(&self, row: usize) -> TimeRange {
        let events = &self.linked.trace.events;
        let start = events.start.at(row);
        self.cut(TimeRange { start, end: start.after(events.dur.at(row)) })
    }

    /// A time, without what is before the part and after it if the selection clips.
    pub(super) fn cut(&self, time: TimeRange) -> TimeRange {
        self.clipping().map_or(time, |part| part.cut(time))
    }

    /// The event's duration inside the part, in nanoseconds.
    pub fn dur_ns(&self, row: usize) -> i64 {
        let events = &self.linked.trace.events;
        self.inside_ns(events.start.at(row), events.dur.at(row))
    }

    #[inline]
    fn inside_ns(&self, start: Ts, dur: Dur) -> i64 {
        let time = TimeRange { start, end: start.after(dur) };
        self.clipping().map_or(time.dur().0, |part| part.inside_ns(time))
    }

    /// The part, if times are cut to it. Events of named calls are whole.
    fn clipping(&self) -> Option<&TracePart> {
        self.part.as_deref().filter(|part| !self.is_unclipped && part.calls.is_none())
    }

    /// For each event, the time inside the range that none of its children has, in nanoseconds.
    pub fn self_ns(&self) -> Vec<i64> {
        let (events, nesting) = (&self.linked.trace.events, &self.linked.links.nesting);
        let mut self_ns = vec![0; events.len()];
        for (row, (start, dur)) in events.start.iter().zip(events.dur.iter()).enumerate() {
            let (is_inside, parent) = (self.contains(row), nesting.parent.get(row).map(|parent| parent as usize));
            let dur = self.inside_ns(start, dur);
            if is_inside {
                add_ns(&mut self_ns[row], dur);
            }
            // A call in the range may contain events that begin after it.
            if let Some(parent) = parent.filter(|parent| is_inside || (self.is_unclipped && self.contains(*parent))) {
                add_ns(&mut self_ns[parent], -dur);
            }
        }
        self_ns.iter_mut().for_each(|ns| *ns = (*ns).max(0));
        self_ns
    }

    /// The iterations that meet the selection, in the order of time.
    pub(super) fn iterations(&self) -> impl Iterator<Item = &'a Iteration> + use<'a> {
        let selection = self.clone();
        let all = self.linked.links.iterations.iter();
        all.filter(move |iteration| selection.has_iteration(iteration))
    }

    /// Whether an iteration is selected. A selected neighbour may overlap it by a little.
    pub(super) fn has_iteration(&self, iteration: &Iteration) -> bool {
        if !self.meets(iteration.start, iteration.dur) {
            return false;
        }
        let whole = TimeRange { start: iteration.start, end: iteration.start.after(iteration.dur) };
        let span = self.span();
        let inside = self.part.as_ref().map_or(whole, |part| part.cut(whole)).dur();
        [whole, span].iter().any(|range| inside.0 >= range.dur().0 / LITTLE)
    }

    /// The part, unless it is the one that is selected by default.
    pub(super) fn part_asked_for(&self) -> Option<&TracePart> {
        self.part.as_deref().filter(|part| part.as_range() != self.linked.clean_range() || part.as_range().is_none())
    }

    /// From the first selected time to the last.
    pub fn span(&self) -> TimeRange {
        self.part.as_ref().map_or_else(|| self.linked.range(), |part| part.hull)
    }

    /// From the first time of the part on the host or a device to the last; `None` for everything.
    pub fn extent(&self) -> Option<TimeRange> {
        self.part.as_ref().map(|part| part.extent())
    }

    /// The length of the selected time, in nanoseconds.
    pub fn len_ns(&self) -> i64 {
        let span = self.span();
        self.part.as_ref().filter(|_| self.parts().is_some()).map_or(span.dur().0, |part| part.inside_ns(span))
    }
}

fn expect_stream(linked: &LinkedTrace, stream: i64) -> Result<(), Error> {
    let mut streams: Vec<_> = linked.trace.tracks.iter().filter_map(|track| track.stream?.stream).collect();
    if streams.contains(&stream) {
        return Ok(());
    }
    crate::sort::ascending(&mut streams);
    streams.dedup();
    streams.truncate(MAX_NAMED);
    Err(unexpected(&format!("one of the streams {streams:?}"), &stream.to_string()))
}

/// The number of choices that an error lists.
pub(super) const MAX_NAMED: usize = 50;

/// Why there is no device work in a file that ends early.
const CUT: &str = "the file ends early: if device work ran, its records are missing (see the verdict)";

/// An overlap of less than one in so many of an iteration, and of the selection, is one of clocks.
const LITTLE: i64 = 1000;
