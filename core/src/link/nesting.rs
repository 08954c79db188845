//! Which event is inside which, and which lane of its track it is drawn in.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::lane::Lanes;
use crate::id::{OptionalColumn, TrackId};
use crate::time::{Dur, add_ns};
use crate::trace::Trace;
use crate::trace::kind::EventKind;

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
pub(super) fn nest(trace: &Trace) -> Nesting {
    let events = &trace.events;
    let num_events = events.len();
    let mut order: Vec<u32> = (0..num_events as u32).collect();
    order.sort_unstable_by_key(|row| {
        let row = *row as usize;
        (events.track[row], events.start[row], std::cmp::Reverse(events.dur[row]), row)
    });
    let mut nesting = Nesting {
        parent: OptionalColumn::empty(num_events),
        depth: vec![0; num_events],
        lane: vec![0; num_events],
        children_ns: vec![0; num_events],
        track_starts: Vec::with_capacity(trace.tracks.len() + 1),
        order,
    };
    let mut start = 0;
    for track in 0..trace.tracks.len() {
        nesting.track_starts.push(start as u32);
        let rest = &nesting.order[start..];
        let end = start + rest.partition_point(|row| events.track[*row as usize].index() <= track);
        // Device times are whole microseconds of one clock: what overlaps on a stream really overlaps.
        let is_coarse = trace.has_coarse_times && trace.tracks[track].stream.is_none();
        let slack = if is_coarse { COARSE_SLACK } else { Dur(0) };
        nest_track(trace, &mut nesting, start..end, slack);
        start = end;
    }
    nesting.track_starts.push(start as u32);
    nesting
}

fn nest_track(trace: &Trace, nesting: &mut Nesting, range: Range<usize>, slack: Dur) {
    let events = &trace.events;
    let mut open: Vec<usize> = Vec::new();
    // Events that a longer one with the same parent starts inside of and outlasts.
    let mut outlasted: FxHashSet<usize> = FxHashSet::default();
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
        let nesting = nest(&trace);
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
