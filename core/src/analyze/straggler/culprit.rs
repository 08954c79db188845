//! The operator or the kernel that took a rank longer than the others.

use std::borrow::Cow;

use super::activity::Cause;
use super::doing::{ByName, Did};
use super::late::median;
use crate::analyze::class::Class;
use crate::analyze::collective::Part;
use crate::analyze::idle::self_during;
use crate::analyze::interval::clip;
use crate::link::LinkedTrace;
use crate::time::{TimeRange, add_ns};
use crate::trace::kind::EventKind;

/// The name that took the rank of `member` the most longer than the median of the others, and by how much; each in its
/// span. Of the thread that called the communication, or of the devices.
pub(super) fn culprit(
    cause: Cause,
    member: u32,
    (parts, spans): (&[Part<'_>], &[TimeRange]),
    did: &Did<'_>,
) -> Option<(String, i64)> {
    let all: Vec<_> =
        parts.iter().zip(spans).map(|(part, span)| (part.member, did.names(cause, part, *span))).collect();
    let (_, own) = all.iter().find(|(other, _)| *other == member)?;
    let mut worst: Option<(&Cow<'_, str>, i64)> = None;
    for (name, ns) in own {
        let others = all.iter().filter(|(other, _)| *other != member);
        let usual = median(others.map(|(_, names)| names.get(name).copied().unwrap_or(0)));
        let more = ns.saturating_sub(usual);
        if more > worst.map_or(0, |(_, most)| most) {
            worst = Some((name, more));
        }
    }
    worst.map(|(name, ns)| (name.clone().into_owned(), ns))
}

/// What ran, of the thread of this call or of the devices, and how long.
pub(super) fn names(cause: Cause, linked: &LinkedTrace, call: Option<u32>, span: TimeRange) -> ByName<'_> {
    match cause {
        Cause::Host => host(linked, call, span),
        Cause::Compute | Cause::Copy | Cause::Communication => device(cause, linked, span),
        Cause::Idle => ByName::new(),
    }
}

fn host(linked: &LinkedTrace, call: Option<u32>, span: TimeRange) -> ByName<'_> {
    let trace = &linked.trace;
    let mut names = ByName::new();
    let Some(call) = call else { return names };
    for (row, ns) in self_during(linked, trace.events.track[call as usize], span) {
        add_ns(names.entry(Cow::Borrowed(trace.event_name(row as usize))).or_default(), ns);
    }
    names
}

fn device(cause: Cause, linked: &LinkedTrace, span: TimeRange) -> ByName<'_> {
    let (trace, nesting) = (&linked.trace, &linked.links.nesting);
    let events = &trace.events;
    let mut names = ByName::new();
    for (at, _) in trace.tracks.iter().enumerate().filter(|(_, track)| track.stream.is_some()) {
        let rows = nesting.track_rows(at.into());
        let first = rows.partition_point(|row| events.start[*row as usize] < span.start).saturating_sub(1);
        for row in rows[first..].iter().map(|row| *row as usize).take_while(|row| events.start[*row] < span.end) {
            let time = clip(TimeRange { start: events.start[row], end: events.end(row) }, span);
            if of_work(events.kind[row], trace.event_name(row)) == Some(cause) && time.start < time.end {
                add_ns(names.entry(Cow::Borrowed(trace.event_name(row))).or_default(), time.dur().0);
            }
        }
    }
    names
}

fn of_work(kind: EventKind, name: &str) -> Option<Cause> {
    match kind {
        EventKind::Copy | EventKind::Fill => Some(Cause::Copy),
        EventKind::Kernel => Some(Cause::of(Class::of_kernel(name))),
        _ => None,
    }
}
