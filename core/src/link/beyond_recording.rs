//! Shortens calls and device work that last longer than the recording.

use rustc_hash::FxHashMap;

use crate::id::TrackId;
use crate::sort;
use crate::time::{Dur, TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// No recording lasts so long: a day.
const IMMENSE: Dur = Dur(24 * 3_600 * 1_000_000_000);

/// Rounding of the recorder's own time.
const SLACK: Dur = Dur(100_000);

/// Without the recorder's own time, an event lasts impossibly long if it lasts this many times as
/// long as all others together, and at least so long, and the others do not last for a moment only.
pub(super) const MUCH_LONGER: i64 = 10;
const LONG: Dur = Dur(100_000_000);
const MOMENT: Dur = Dur(1_000_000);

/// Impossible durations, with the shorter ones: to the end of the recording, and for a call to the
/// next start of its kind on its thread.
pub(super) fn shortened(trace: &Trace) -> Vec<(u32, Dur)> {
    let events = &trace.events;
    let rows = immense(trace);
    let rows = if rows.is_empty() { longer_than_recording(trace) } else { rows };
    let Some(last) = end_of_others(trace, &rows) else { return Vec::new() };
    let last = recording(trace).map_or(last, |span| span.end.max(last));
    let starts = KindStarts::of(trace);
    let shorter = |row: u32| {
        let start = events.start.at(row as usize);
        let next = if trace.is_on_device(row as usize) { None } else { starts.after(trace, row) };
        (row, next.map_or(last, |next| next.min(last)).since(start))
    };
    rows.into_iter().map(shorter).filter(|(row, dur)| *dur < events.dur.at(*row as usize)).collect()
}

/// Events of any kind that last for more than a day, unless the file is as long.
fn immense(trace: &Trace) -> Vec<u32> {
    let events = &trace.events;
    if !events.dur.iter().any(|dur| dur > IMMENSE) {
        return Vec::new();
    }
    let (first, last) = (events.start.iter().min(), events.start.iter().max());
    if first.zip(last).is_none_or(|(first, last)| last.since(first) > IMMENSE) {
        return Vec::new();
    }
    (0..events.len()).filter(|row| events.dur.at(*row) > IMMENSE).map(|row| row as u32).collect()
}

/// Calls and device work that last longer than the recorder ran, or much longer than all else.
fn longer_than_recording(trace: &Trace) -> Vec<u32> {
    let longer = |limit: Dur| -> Vec<u32> {
        let durs = trace.events.dur.iter().enumerate();
        let longer = durs.filter(|(row, dur)| *dur > limit && is_bound(trace, *row));
        longer.map(|(row, _)| row as u32).collect()
    };
    if let Some(span) = recording(trace) {
        return longer(Dur(span.dur().0.saturating_add(SLACK.0)));
    }
    let (Some(first), Some(last)) = (trace.events.start.iter().min(), trace.events.start.iter().max()) else {
        return Vec::new();
    };
    let much_longer = |range: Dur| Dur(range.0.saturating_mul(MUCH_LONGER).max(LONG.0));
    let rows = longer(much_longer(last.since(first)));
    let others = if rows.is_empty() { None } else { end_of_others(trace, &rows) };
    let Some(others) = others.map(|end| end.since(first)).filter(|others| *others >= MOMENT) else {
        return Vec::new();
    };
    rows.into_iter().filter(|row| trace.events.dur.at(*row as usize) > much_longer(others)).collect()
}

/// Whether the recorder ends an event of this kind. Annotations and functions may have begun
/// before.
fn is_bound(trace: &Trace, row: usize) -> bool {
    let kind = trace.events.kind[row];
    matches!(kind, EventKind::Operator | EventKind::Launch) || (kind.is_device_work() && trace.is_on_device(row))
}

/// The time in which Kineto recorded: its event `PyTorch Profiler (0)` of category `Trace`.
fn recording(trace: &Trace) -> Option<TimeRange> {
    let category = trace.strings.get(b"Trace")?;
    let events = &trace.events;
    let is_span = |row: &usize| events.dur.at(*row).0 > 0 && trace.event_name(*row).contains("Profiler");
    let of_category = events.category.iter().enumerate().filter(|(_, other)| *other == category);
    let spans = of_category.map(|(row, _)| row).filter(is_span);
    let range = spans
        .map(|row| TimeRange { start: events.start.at(row), end: events.end(row) })
        .reduce(|all, one| TimeRange { start: all.start.min(one.start), end: all.end.max(one.end) });
    range.filter(|range| range.dur() <= IMMENSE)
}

/// The end of all events but these, or their last start.
fn end_of_others(trace: &Trace, rows: &[u32]) -> Option<Ts> {
    let events = &trace.events;
    let end = |row: usize| {
        if rows.binary_search(&(row as u32)).is_ok() { events.start.at(row) } else { events.end(row) }
    };
    if rows.is_empty() { None } else { (0..events.len()).map(end).max() }
}

/// The starts of all events of each kind on each track, ascending.
struct KindStarts(FxHashMap<(TrackId, EventKind), Vec<Ts>>);

impl KindStarts {
    fn of(trace: &Trace) -> Self {
        let events = &trace.events;
        let mut starts: FxHashMap<_, Vec<Ts>> = FxHashMap::default();
        for row in 0..events.len() {
            starts.entry((events.track.at(row), events.kind[row])).or_default().push(events.start.at(row));
        }
        starts.values_mut().for_each(|starts| sort::ascending(starts));
        Self(starts)
    }

    /// The next start of an event of the same kind on the track.
    fn after(&self, trace: &Trace, row: u32) -> Option<Ts> {
        let (events, row) = (&trace.events, row as usize);
        let starts = self.0.get(&(events.track.at(row), events.kind[row]))?;
        starts.get(starts.partition_point(|start| *start <= events.start.at(row))).copied()
    }
}
