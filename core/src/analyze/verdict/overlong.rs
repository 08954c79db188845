//! Reports durations that were shortened.

use std::collections::BTreeMap;

use super::problem::{Problem, VerdictState};
use crate::analyze::number_text::duration_text;
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::time::TimeRange;

const ADVICE: &str =
    "trust the order and the number of these events, not their durations; update the profiler or driver";

/// A problem for each stream with device work that passed the next start, or thread with calls
/// longer than any recording.
pub(super) fn problems(linked: &LinkedTrace) -> Vec<Problem> {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let mut tracks: BTreeMap<TrackId, Vec<u32>> = BTreeMap::new();
    for (row, _) in &events.recorded {
        tracks.entry(events.track.at(*row as usize)).or_default().push(*row);
    }
    let problem = |(track, rows): (TrackId, Vec<u32>)| {
        let durs = rows.iter().filter_map(|row| events.impossible_dur(*row as usize));
        let longest = duration_text(durs.map(|dur| dur.0).max().unwrap_or_default());
        let stream = trace.track(track).stream;
        let (name, message) = match stream {
            Some(_) => {
                ("overlong_work", "durations pass the next start on an in-order stream, or the end of the recording")
            }
            None => ("overlong_call", "durations are longer than the recording"),
        };
        let message =
            format!("{message} (the longest is {longest}): the ends are shortened, recorded_dur_ns keeps them");
        let all = linked.links.nesting.track_rows(track);
        let start = rows.iter().map(|row| events.start.at(*row as usize)).min().unwrap_or_default();
        let end = rows.iter().map(|row| events.end(*row as usize)).max().unwrap_or_default();
        Problem::new(name, VerdictState::Inconsistent, rows.len(), message)
            .of_rows(trace, &rows)
            .at(TimeRange { start, end })
            .of(all.len())
            .on(stream)
            .advised(ADVICE)
    };
    tracks.into_iter().map(problem).collect()
}
