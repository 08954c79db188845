//! Shortens durations that cannot be.
//!
//! A stream runs its work in order. Where later work ended long before an earlier item, the end of
//! the earlier one is wrong, as when a counter of the device overflows. Kernels that overlap a
//! little are real (programmatic dependent launch), as are parallel branches of one graph and the
//! work of streams that run out of order.

use super::beyond_recording::{self, MUCH_LONGER};
use super::event_warnings::count_events;
use crate::column::Times;
use crate::id::TrackId;
use crate::sort;
use crate::strings::TextCache;
use crate::time::{Dur, Ts};
use crate::trace::Trace;
use crate::vendor;
use crate::warning::{WarningKind, Warnings};

/// Work that ends this much after later work of its stream did not run so long.
const FAR: Dur = Dur(100_000);

/// A stream of which more than one in so many outlast later work does not run in order.
const IN_ORDER: usize = 5;

/// Shortens impossible durations; [`EventTable::recorded`] keeps those of the file.
///
/// [`EventTable::recorded`]: crate::trace::event::EventTable::recorded
pub(super) fn shorten(trace: &mut Trace) {
    trace.events.restore_durs();
    let suspects = suspects(trace);
    let starts = starts_range(&trace.events.start);
    let mut shortened: Vec<(u32, Dur)> = suspects.iter().flat_map(|rows| shortened(trace, rows, starts)).collect();
    shortened.extend(unfinished(trace, starts));
    shortened.extend(beyond_recording::shortened(trace));
    sort::ascending(&mut shortened);
    shortened.dedup_by_key(|(row, _)| *row);
    let events = &mut trace.events;
    for (row, dur) in shortened {
        events.recorded.push((row, events.dur.at(row as usize)));
        events.dur.set(row as usize, dur);
    }
}

/// Counts the events that were shortened.
pub(super) fn count(trace: &Trace, warnings: &mut Warnings) {
    let rows = |on_device: bool| {
        let rows = trace.events.recorded.iter().map(|(row, _)| *row as usize);
        rows.filter(move |row| trace.is_on_device(*row) == on_device)
    };
    count_events(trace, WarningKind::OverlongWork, rows(true), warnings);
    count_events(trace, WarningKind::OverlongCall, rows(false), warnings);
}

/// From the first to the last start.
fn starts_range(starts: &Times) -> i64 {
    let Some(first) = starts.get(0) else { return 0 };
    let (first, last) = starts.iter().fold((first, first), |(first, last), start| (first.min(start), last.max(start)));
    last.since(first).0
}

/// The device work, by start, of each stream on which something ended long before an earlier item.
fn suspects(trace: &Trace) -> Vec<Vec<u32>> {
    let events = &trace.events;
    // The latest end so far, and whether work ends long before it.
    let mut ends = vec![(Ts(i64::MIN), false); trace.tracks.len()];
    for row in events.device_work() {
        let end = events.end(row);
        let (last, is_suspect) = &mut ends[events.track.at(row).index()];
        *is_suspect |= end.after(FAR) <= *last;
        *last = end.max(*last);
    }
    let is_suspect = |track: &TrackId| ends[track.index()].1 && trace.track(*track).stream.is_some();
    if !(0..trace.tracks.len()).map(TrackId::from).any(|track| is_suspect(&track)) {
        return Vec::new();
    }
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); trace.tracks.len()];
    for row in events.device_work().filter(|row| is_suspect(&events.track.at(*row))) {
        rows[events.track.at(row).index()].push(row as u32);
    }
    rows.retain(|rows| !rows.is_empty());
    rows.iter_mut().for_each(|rows| sort::by_key(rows, |row| (events.start.at(*row as usize), *row)));
    rows
}

/// Device work that ends long after later work, on streams where that is too frequent for a fault:
/// of each stream the rows, and the number of all. They run out of order, or their durations are
/// wrong.
pub(super) fn out_of_order(trace: &Trace) -> Vec<(Vec<u32>, usize)> {
    let of_stream = |rows: Vec<u32>| {
        let outlasting = outlasting(trace, &rows);
        let unexplained = outlasting.iter().map(|(at, _)| rows[*at]);
        let unexplained: Vec<_> =
            unexplained.filter(|row| trace.events.impossible_dur(*row as usize).is_none()).collect();
        (!is_rare(outlasting.len(), rows.len()) && !unexplained.is_empty()).then_some((unexplained, rows.len()))
    };
    suspects(trace).into_iter().filter_map(of_stream).collect()
}

fn is_rare(num: usize, num_all: usize) -> bool {
    num * IN_ORDER <= num_all
}

/// The rows of a stream that outlast later work by a fault, with the time to the next start.
fn shortened(trace: &Trace, rows: &[u32], starts: i64) -> Vec<(u32, Dur)> {
    let events = &trace.events;
    let mut places = outlasting(trace, rows);
    if !is_rare(places.len(), rows.len()) {
        places.retain(|(at, _)| events.dur.at(rows[*at] as usize).0 > starts);
    }
    let until_next = |(at, next): (usize, usize)| {
        let (row, next) = (rows[at], rows[next]);
        (row, events.start.at(next as usize).since(events.start.at(row as usize)))
    };
    places.into_iter().map(until_next).collect()
}

/// The places of the work of a stream that outlasts later work, each with that of the next work.
fn outlasting(trace: &Trace, rows: &[u32]) -> Vec<(usize, usize)> {
    let events = &trace.events;
    let end = |at: usize| events.end(rows[at] as usize);
    // The earliest end from each place on, and the next work of another launch.
    let mut first_end = vec![Ts(i64::MAX); rows.len() + 1];
    let mut next = vec![rows.len(); rows.len()];
    let ids: Vec<_> = rows.iter().map(|row| trace.correlation_id(*row as usize)).collect();
    for at in (0..rows.len()).rev() {
        first_end[at] = first_end[at + 1].min(end(at));
        let is_of_launch = ids[at].is_some() && ids.get(at + 1) == Some(&ids[at]);
        next[at] = if is_of_launch { next[at + 1] } else { at + 1 };
    }
    let mut envelope = TextCache::new(&trace.strings, vendor::is_envelope);
    (0..rows.len())
        .filter(|at| next[*at] < rows.len() && first_end[next[*at]].after(FAR) <= end(*at))
        .filter(|at| !envelope.of(events.name.at(rows[*at] as usize)))
        .map(|at| (at, next[at]))
        .collect()
}

/// Device work much longer than all else that runs on after the host synchronised with its device,
/// with the time until then.
fn unfinished(trace: &Trace, starts: i64) -> Vec<(u32, Dur)> {
    let events = &trace.events;
    let is_long = |row: &usize| events.dur.at(*row).0 > starts.saturating_mul(MUCH_LONGER);
    let long: Vec<_> = events.device_work().filter(is_long).collect();
    if long.is_empty() || starts == 0 {
        return Vec::new();
    }
    let mut synchronizes = TextCache::new(&trace.strings, vendor::synchronizes_device);
    let calls = (0..events.len()).filter(|row| !trace.is_on_device(*row) && synchronizes.of(events.name.at(*row)));
    let mut ends: Vec<_> = calls.map(|row| (events.start.at(row), events.end(row))).collect();
    sort::ascending(&mut ends);
    // The earliest end of a call and of all that begin later.
    let mut first = Ts(i64::MAX);
    for (_, end) in ends.iter_mut().rev() {
        first = first.min(*end);
        *end = first;
    }
    let until_synchronized = |row: usize| {
        let at = ends.partition_point(|(start, _)| *start < events.start.at(row));
        let after = ends.get(at)?.1;
        (after.after(FAR) <= events.end(row)).then(|| (row as u32, after.since(events.start.at(row))))
    };
    long.into_iter().filter_map(until_synchronized).collect()
}
