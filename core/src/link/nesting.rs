//! Which event is inside which, and which lane of its track it is drawn in.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::count_events;
use super::lane::Lanes;
use crate::id::{OptionalColumn, TrackId};
use crate::time::{Dur, Ts, add_ns};
use crate::trace::Trace;
use crate::trace::kind::EventKind;
use crate::warning::{WarningKind, Warnings};

/// Parents, depths and lanes; a row an event unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Nesting {
    /// Row of the innermost event of the same track that contains this one.
    pub parent: OptionalColumn,
    /// How many events are above this one, from parent to parent.
    pub depth: Vec<u32>,
    /// Lane in the track. Events of one lane never overlap.
    pub lane: Vec<u32>,
    /// Time in children, summed.
    pub children_ns: Vec<i64>,
    /// Rows of all events by track, then start, then longest first.
    pub order: Vec<u32>,
    /// Where each track's rows start in `order`; one more than there are tracks.
    pub track_starts: Vec<u32>,
}

impl Nesting {
    /// Rows of a track's events by start.
    pub fn track_rows(&self, track: TrackId) -> &[u32] {
        match self.track_starts.get(track.index()..track.index() + 2) {
            Some([start, end]) => &self.order[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

/// When times are whole microseconds, start and duration were both cut, so a child may seem to end one later.
const COARSE_SLACK: Dur = Dur(1_000);

/// Nests the events of each track.
pub(super) fn nest(trace: &Trace, warnings: &mut Warnings) -> Nesting {
    let events = &trace.events;
    let num_events = events.len();
    let (order, track_starts) = order(trace);
    let mut nesting = Nesting {
        parent: OptionalColumn::empty(num_events),
        depth: vec![0; num_events],
        lane: vec![0; num_events],
        children_ns: vec![0; num_events],
        track_starts,
        order,
    };
    let mut overlapping = Vec::new();
    for track in 0..trace.tracks.len() {
        let range = nesting.track_starts[track] as usize..nesting.track_starts[track + 1] as usize;
        // Device times are whole microseconds of one clock: what overlaps on a stream really overlaps.
        let is_coarse = trace.has_coarse_times && trace.tracks[track].stream.is_none();
        let slack = if is_coarse { COARSE_SLACK } else { Dur(0) };
        nest_track(trace, &mut nesting, range, slack, &mut overlapping);
    }
    overlapping.sort_unstable();
    count_events(trace, WarningKind::PartialOverlap, overlapping.into_iter(), warnings);
    nesting
}

/// All rows by track, start and duration, and where each track's rows start.
fn order(trace: &Trace) -> (Vec<u32>, Vec<u32>) {
    let events = &trace.events;
    let mut starts = vec![0_u32; trace.tracks.len() + 1];
    for track in &events.track {
        starts[track.index() + 1] += 1;
    }
    for track in 1..starts.len() {
        starts[track] += starts[track - 1];
    }
    let mut next = starts.clone();
    // With their keys beside them: a look at each event for each comparison would take longer than the sorting.
    let mut keys = vec![(Ts(0), Reverse(Dur(0)), 0_u32); events.len()];
    for (row, track) in events.track.iter().enumerate() {
        let place = &mut next[track.index()];
        keys[*place as usize] = (events.start[row], Reverse(events.dur[row]), row as u32);
        *place += 1;
    }
    for track in 0..trace.tracks.len() {
        // The stable sort makes use of the runs that a profiler writes.
        keys[starts[track] as usize..starts[track + 1] as usize].sort();
    }
    (keys.into_iter().map(|(_, _, row)| row).collect(), starts)
}

/// Adds to `overlapping` the rows of events that start inside another and outlast it.
fn nest_track(trace: &Trace, nesting: &mut Nesting, range: Range<usize>, slack: Dur, overlapping: &mut Vec<usize>) {
    let events = &trace.events;
    let mut open: Vec<usize> = Vec::new();
    // Events that a longer one with the same parent starts inside of and outlasts.
    let mut outlasted: FxHashSet<usize> = FxHashSet::default();
    // Ends of those that are no longer open, having been outlasted, but not over either.
    let mut ends: BTreeSet<Ts> = BTreeSet::new();
    for at in range.clone() {
        let row = nesting.order[at] as usize;
        let (start, end) = (events.start[row], events.end(row));
        let mut cut_short = Vec::new();
        // Launches are timed by another clock; what does not contain them as written does not own them.
        let slack = if events.kind[row] == EventKind::Launch { Dur(0) } else { slack };
        // An open event that ends before this one can hold nothing that comes later and is not inside this one.
        while let Some(&top) = open.last() {
            let top_end = events.end(top);
            let is_around = top_end.after(slack) >= end && (top_end > start || top_end >= end);
            if is_around {
                break;
            }
            cut_short.extend((top_end > start).then_some(top));
            open.pop();
        }
        while ends.first().is_some_and(|first| *first <= start) {
            ends.pop_first();
        }
        if !cut_short.is_empty() || ends.first().is_some_and(|first| first.after(slack) < end) {
            overlapping.push(row);
        }
        ends.extend(cut_short.iter().map(|other| events.end(*other)));
        if let Some(&parent) = open.last() {
            nesting.parent.set(row, parent as u32);
            nesting.depth[row] = nesting.depth[parent] + 1;
            add_ns(&mut nesting.children_ns[parent], events.dur[row].0);
        }
        let is_outlasted = |other: &usize| {
            events.dur[*other] < events.dur[row] && nesting.parent.get(*other) == nesting.parent.get(row)
        };
        outlasted.extend(cut_short.into_iter().filter(is_outlasted));
        open.push(row);
    }
    let mut lanes = Lanes::default();
    for at in range {
        let row = nesting.order[at] as usize;
        // The lane next to the parent's is left to the longer event, with all that it will hold.
        let step = if outlasted.contains(&row) { 2 } else { 1 };
        let first = nesting.parent.get(row).map_or(step - 1, |parent| nesting.lane[parent as usize] + step);
        nesting.lane[row] = lanes.place(first, events.start[row], events.end(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Input, Limits, read};

    /// Parents and lanes of events given as start and duration.
    fn nested(events: &[(i64, i64)]) -> (Vec<Option<u32>>, Vec<u32>) {
        let event = |(start, dur): &(i64, i64)| {
            format!(r#"{{"ph":"X","name":"e","pid":1,"tid":1,"ts":{start}.0,"dur":{dur}.0}}"#)
        };
        let json = format!("[{}]", events.iter().map(event).collect::<Vec<_>>().join(","));
        let trace = read([Input::new(json.as_bytes())], Limits::default()).unwrap();
        let nesting = nest(&trace, &mut Warnings::default());
        ((0..events.len()).map(|row| nesting.parent.get(row)).collect(), nesting.lane)
    }

    #[test]
    fn children_are_inside_and_siblings_share_a_lane() {
        let (parents, lanes) = nested(&[(0, 10), (1, 3), (5, 4), (6, 1)]);
        assert_eq!(parents, [None, Some(0), Some(0), Some(2)]);
        assert_eq!(lanes, [0, 1, 1, 2]);
    }

    #[test]
    fn partial_overlap_gets_its_own_lane() {
        let (parents, lanes) = nested(&[(0, 10), (5, 10), (6, 3), (11, 3)]);
        assert_eq!(parents, [None, None, Some(1), Some(1)]);
        assert_eq!(lanes, [0, 1, 2, 2]);
    }

    #[test]
    fn what_a_longer_event_outlasts_makes_room_for_it() {
        // A step that starts inside three short frames and goes on after them, with a long frame inside it.
        let (parents, lanes) = nested(&[(0, 1000), (1, 9), (2, 7), (3, 5), (5, 900), (20, 800)]);
        assert_eq!(parents, [None, Some(0), Some(1), Some(2), Some(0), Some(4)]);
        assert_eq!(lanes, [0, 2, 3, 4, 1, 2]);
    }

    #[test]
    fn events_of_no_duration_do_not_hide_each_other() {
        let (_, lanes) = nested(&[(0, 0), (0, 0), (0, 0)]);
        assert_eq!(lanes, [0, 1, 2]);
    }

    #[test]
    fn many_overlaps_are_placed_without_loss() {
        let events: Vec<_> = (0..1000).map(|at| (at, 2000)).collect();
        let (_, lanes) = nested(&events);
        assert_eq!(lanes, (0..1000).collect::<Vec<u32>>());
    }
}
