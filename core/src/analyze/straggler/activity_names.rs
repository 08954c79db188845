//! Sums the time of events by name during an interval.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::activity::DelayCause;
use crate::analyze::class::WorkClass;
use crate::analyze::idle::self_during;
use crate::analyze::interval::clip;
use crate::link::LinkedTrace;
use crate::time::{TimeRange, add_ns};
use crate::trace::kind::EventKind;

/// Nanoseconds by name.
pub(super) type TimeByName<'a> = BTreeMap<Cow<'a, str>, i64>;

/// Nanoseconds by name of the events of the call's thread or of the devices.
pub(super) fn names(cause: DelayCause, linked: &LinkedTrace, call: Option<u32>, span: TimeRange) -> TimeByName<'_> {
    match cause {
        DelayCause::Host => host(linked, call, span),
        DelayCause::Compute | DelayCause::Copy | DelayCause::Communication => device(cause, linked, span),
        DelayCause::Idle => TimeByName::new(),
    }
}

fn host(linked: &LinkedTrace, call: Option<u32>, span: TimeRange) -> TimeByName<'_> {
    let trace = &linked.trace;
    let mut names = TimeByName::new();
    let Some(call) = call else { return names };
    for (row, ns) in self_during(linked, trace.events.track.at(call as usize), span) {
        add_ns(names.entry(Cow::Borrowed(trace.event_name(row as usize))).or_default(), ns);
    }
    names
}

fn device(cause: DelayCause, linked: &LinkedTrace, span: TimeRange) -> TimeByName<'_> {
    let (trace, nesting) = (&linked.trace, &linked.links.nesting);
    let events = &trace.events;
    let mut names = TimeByName::new();
    for (at, _) in trace.tracks.iter().enumerate().filter(|(_, track)| track.stream.is_some()) {
        let rows = nesting.track_rows(at.into());
        let first = rows.partition_point(|row| events.start.at(*row as usize) < span.start).saturating_sub(1);
        for row in rows[first..].iter().map(|row| *row as usize).take_while(|row| events.start.at(*row) < span.end) {
            let time = clip(TimeRange { start: events.start.at(row), end: events.end(row) }, span);
            if of_work(events.kind[row], trace.event_name(row)) == Some(cause) && time.start < time.end {
                add_ns(names.entry(Cow::Borrowed(trace.event_name(row))).or_default(), time.dur().0);
            }
        }
    }
    names
}

fn of_work(kind: EventKind, name: &str) -> Option<DelayCause> {
    match kind {
        EventKind::Copy | EventKind::Fill => Some(DelayCause::Copy),
        EventKind::Kernel => Some(DelayCause::of(WorkClass::of_kernel(name))),
        _ => None,
    }
}
