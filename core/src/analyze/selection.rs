//! Selects the events of an analysis: all, a range of time, or one stream.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::interval::{clip, union, within};
use super::options::unexpected;
use super::unknown_kind::of_unknown_kind;
use crate::error::Error;
use crate::link::{Iteration, LinkedTrace, lacks_device_work};
use crate::time::{TimeRange, Ts, add_ns};
use crate::trace::track::Stream;

/// A linked trace with its selected part.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// The trace; results may hold it for lazy columns.
    pub linked: &'a Arc<LinkedTrace>,
    /// The range, unless everything is selected.
    pub range: Option<TimeRange>,
    /// The number of the only selected stream.
    pub stream: Option<i64>,
    /// Whether device events launched outside the range are left out.
    pub is_launched_inside: bool,
    /// Whether times are not cut to the range: an event counts whole in the range in which it
    /// begins, device work in the range in which its launch begins.
    pub is_unclipped: bool,
}

/// A request for a part of a trace.
#[derive(Debug, Clone, Default)]
pub struct SelectionRequest {
    /// Start of the range, as the tables count time.
    pub start_ns: Option<i64>,
    /// Its end.
    pub end_ns: Option<i64>,
    /// The number of an iteration, in place of a range.
    pub iteration: Option<i64>,
    /// The number of a stream.
    pub stream: Option<i64>,
    /// See [`Selection::is_launched_inside`].
    pub is_launched_inside: bool,
    /// See [`Selection::is_unclipped`].
    pub is_unclipped: bool,
    /// Whether iterations in which the observer of the Execution Trace ran are selected, too, if no
    /// range and no iteration is asked for.
    pub is_with_observed: bool,
}

impl SelectionRequest {
    /// Removes the keys of the selection from a request.
    pub(super) fn take(request: &mut Map<String, Value>) -> Result<Self, Error> {
        let mut integer = |name: &str| match request.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                value.as_i64().map(Some).ok_or_else(|| unexpected(&format!("an integer as {name}"), &value.to_string()))
            }
        };
        let (start_ns, end_ns) = (integer("start_ns")?, integer("end_ns")?);
        let (iteration, stream) = (integer("iteration")?, integer("stream")?);
        let mut flag = |name: &str, default: bool| match request.remove(name) {
            None | Some(Value::Null) => Ok(default),
            Some(Value::Bool(is_wanted)) => Ok(is_wanted),
            Some(other) => Err(unexpected(&format!("true or false as {name}"), &other.to_string())),
        };
        let (is_launched_inside, is_unclipped) = (flag("launched_inside", false)?, !flag("clip", true)?);
        let is_with_observed = flag("observed", false)?;
        Ok(Self { start_ns, end_ns, iteration, stream, is_launched_inside, is_unclipped, is_with_observed })
    }
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
        Self { linked, range, stream: None, is_launched_inside: false, is_unclipped: false }
    }

    /// Resolves a request. An error where the trace does not have the part.
    ///
    /// Without a range or an iteration, leaves out the iterations in which the observer of the
    /// Execution Trace ran: see [`LinkedTrace::clean_range`].
    pub fn of(linked: &'a Arc<LinkedTrace>, wanted: &SelectionRequest) -> Result<Self, Error> {
        let range = range(linked, wanted)?;
        if let Some(stream) = wanted.stream {
            expect_stream(linked, stream)?;
        }
        let SelectionRequest { stream, is_launched_inside, is_unclipped, .. } = *wanted;
        Ok(Self { linked, range, stream, is_launched_inside, is_unclipped })
    }

    /// The same at any time.
    pub(super) fn anytime(&self) -> Self {
        Self { linked: self.linked, range: None, stream: self.stream, is_launched_inside: false, is_unclipped: false }
    }

    /// Devices that have selected work at any time. One that has none in the range is idle
    /// in it.
    pub(super) fn devices(&self) -> impl Iterator<Item = Option<i64>> + '_ {
        let (trace, anytime) = (&self.linked.trace, self.anytime());
        let is_work = move |row: &usize| trace.events.kind[*row].is_device_work() && anytime.contains(*row);
        let rows = |at: usize| self.linked.links.nesting.track_rows(at.into()).iter().map(|row| *row as usize);
        let on_device = (0..trace.tracks.len()).filter(|at| trace.tracks[*at].stream.is_some());
        on_device.filter_map(move |at| rows(at).find(is_work)).map(|row| trace.device(row))
    }

    /// Rows of the selected events, in file order.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.linked.trace.events.len()).filter(|row| self.contains(*row))
    }

    /// Rows of the selected kernels, copies and fills, in file order.
    pub fn device_work(&self) -> impl Iterator<Item = usize> + '_ {
        let kinds = &self.linked.trace.events.kind;
        self.rows().filter(|row| kinds[*row].is_device_work())
    }

    /// Times in which lost work may have run on a device, or on its selected stream; disjoint and
    /// ascending, cut to the selection.
    pub(super) fn unknown(&self, device: Option<i64>) -> Vec<TimeRange> {
        let lost = self.linked.lost_work();
        let Some(number) = self.stream else { return within(lost.of_device(device), self.span()) };
        let tracks = self.linked.trace.tracks.iter().enumerate();
        let is_it = |stream: Stream| stream.device == device && stream.stream == Some(number);
        let tracks = tracks.filter(|(_, track)| track.stream.is_some_and(is_it));
        let ranges = tracks.flat_map(|(at, _)| lost.of_stream(at.into())).copied().collect();
        within(&union(ranges), self.span())
    }

    /// Rows of all kernels, copies and fills of the selected stream, at any time, in file order.
    pub(super) fn anytime_work(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (anytime, kinds) = (self.anytime(), &self.linked.trace.events.kind);
        (0..kinds.len()).filter(move |row| kinds[*row].is_device_work() && anytime.contains(*row))
    }

    /// Whether device work was launched in the range. Work without a known launch counts where it
    /// began, unless only launched work is selected.
    pub(super) fn launched(&self, row: usize) -> bool {
        let Some(range) = self.range else { return true };
        let launch = self.linked.links.launch.get(row).map(|launch| launch as usize);
        let start = self.linked.trace.events.start[launch.unwrap_or(row)];
        (launch.is_some() || !self.is_launched_inside) && range.start <= start && start < range.end
    }

    /// Why there may be no device work.
    pub(super) fn why_nothing_ran(&self) -> &'static str {
        if lacks_device_work(&self.linked.trace) {
            "device work ran, but the file has none of its records (see `problems`)"
        } else if !of_unknown_kind(&self.linked.trace).is_empty() {
            "no kernel, copy or fill was recognised (see `problems`)"
        } else {
            "no kernel, copy or fill ran"
        }
    }

    /// Whether an event is in the range, and on the stream if it is a device event.
    pub fn contains(&self, row: usize) -> bool {
        if self.range.is_none() && self.stream.is_none() {
            return true;
        }
        let events = &self.linked.trace.events;
        let on = self.linked.trace.track(events.track[row]).stream;
        if on.is_some_and(|on| self.stream.is_some_and(|stream| on.stream != Some(stream))) {
            return false;
        }
        let Some(range) = self.range else { return true };
        let begins_inside = |start: Ts| range.start <= start && start < range.end;
        let is_launched =
            || self.linked.links.launch.get(row).is_some_and(|launch| begins_inside(events.start[launch as usize]));
        match on {
            Some(_) if self.is_unclipped && events.kind[row].is_device_work() => is_launched(),
            _ if self.is_unclipped => begins_inside(events.start[row]),
            _ if !range.overlaps(events.start[row], events.dur[row]) => false,
            Some(_) if self.is_launched_inside => is_launched(),
            _ => true,
        }
    }

    /// The event's time, cut to the range if the selection clips.
    pub fn time(&self, row: usize) -> TimeRange {
        let events = &self.linked.trace.events;
        self.cut(TimeRange { start: events.start[row], end: events.end(row) })
    }

    /// A time, cut to the range if the selection clips.
    pub(super) fn cut(&self, time: TimeRange) -> TimeRange {
        self.range.filter(|_| !self.is_unclipped).map_or(time, |range| clip(time, range))
    }

    /// The event's duration inside the range, in nanoseconds.
    pub fn dur_ns(&self, row: usize) -> i64 {
        self.time(row).dur().0
    }

    /// For each event, the time inside the range that none of its children has, in nanoseconds.
    pub fn self_ns(&self) -> Vec<i64> {
        let nesting = &self.linked.links.nesting;
        let mut self_ns = vec![0; self.linked.trace.events.len()];
        for row in 0..self_ns.len() {
            let (is_inside, parent) = (self.contains(row), nesting.parent.get(row).map(|parent| parent as usize));
            let dur = self.dur_ns(row);
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
        let span = self.span();
        self.linked.links.iterations.iter().filter(move |iteration| span.overlaps(iteration.start, iteration.dur))
    }

    /// The range, unless it is the one that is selected by default.
    pub(super) fn range_asked_for(&self) -> Option<TimeRange> {
        self.range.filter(|range| Some(*range) != self.linked.clean_range())
    }

    /// The selected range.
    pub fn span(&self) -> TimeRange {
        self.range.unwrap_or_else(|| self.linked.range())
    }
}

fn range(linked: &LinkedTrace, wanted: &SelectionRequest) -> Result<Option<TimeRange>, Error> {
    let (start, end) = (wanted.start_ns.map(Ts), wanted.end_ns.map(Ts));
    if let Some(number) = wanted.iteration {
        if start.or(end).is_some() {
            return Err(unexpected("a range or an iteration", "both"));
        }
        let iterations = &linked.links.iterations;
        let Some(iteration) = iterations.iter().find(|iteration| iteration.number == number) else {
            let numbers: Vec<_> = iterations.iter().take(MAX_NAMED).map(|iteration| iteration.number).collect();
            return Err(unexpected(&format!("one of the iterations {numbers:?}"), &number.to_string()));
        };
        return Ok(Some(iteration.range()));
    }
    if start.or(end).is_none() {
        return Ok(if wanted.is_with_observed { None } else { linked.clean_range() });
    }
    let whole = linked.range();
    let range = TimeRange { start: start.unwrap_or(whole.start), end: end.unwrap_or(whole.end) };
    if start.is_some() && end.is_some() && range.end < range.start {
        return Err(unexpected("a range that ends after its start", &format!("{} to {}", range.start.0, range.end.0)));
    }
    Ok(Some(TimeRange { end: range.end.max(range.start), ..range }))
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
const MAX_NAMED: usize = 50;
