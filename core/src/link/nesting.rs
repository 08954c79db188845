//! Which event is inside which, and which lane of its track it is drawn in.

use crate::id::{OptionalColumn, TrackId};
use crate::time::{Dur, Ts, add_ns};
use crate::trace::Trace;

/// Parents, depths and lanes; a row an event unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Nesting {
    /// Row of the innermost event of the same track that contains this one.
    pub parent: OptionalColumn,
    /// How many events contain this one.
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

/// When times are whole microseconds, start and duration were both cut, so a child may seem to end up to two later.
const COARSE_SLACK: Dur = Dur(2_000);

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

fn nest_track(trace: &Trace, nesting: &mut Nesting, range: std::ops::Range<usize>, slack: Dur) {
    let events = &trace.events;
    let mut open: Vec<usize> = Vec::new();
    let mut lanes = Lanes::default();
    for at in range {
        let row = nesting.order[at] as usize;
        let (start, end) = (events.start[row], events.end(row));
        // An open event that ends before this one can hold nothing that comes later and is not inside this one.
        while let Some(&top) = open.last() {
            let top_end = events.end(top);
            let is_around = top_end.after(slack) >= end && (top_end > start || top_end >= end);
            if is_around {
                break;
            }
            open.pop();
        }
        let mut first_lane = 0;
        if let Some(&parent) = open.last() {
            nesting.parent.set(row, parent as u32);
            nesting.depth[row] = nesting.depth[parent] + 1;
            add_ns(&mut nesting.children_ns[parent], events.dur[row].0);
            first_lane = nesting.lane[parent] + 1;
        }
        nesting.lane[row] = lanes.place(first_lane, start, end);
        open.push(row);
    }
}

/// Ends of the last events of each lane, in a tree of minima, so that the first free lane is found quickly.
#[derive(Debug, Default)]
struct Lanes {
    /// A complete binary tree: node `i` has children `2i` and `2i + 1`, the lanes are its second half.
    ends: Vec<Ts>,
}

const NEVER_USED: Ts = Ts(i64::MIN);

impl Lanes {
    /// Puts an event into the first lane from `first` on that is free at `start`.
    fn place(&mut self, first: u32, start: Ts, end: Ts) -> u32 {
        let lane = loop {
            match self.find(1, first as usize, start) {
                Some(lane) => break lane,
                None => self.grow(),
            }
        };
        let mut node = self.ends.len() / 2 + lane;
        // An event of no duration still takes its point.
        self.ends[node] = end.max(start.after(Dur(1)));
        while node > 1 {
            node /= 2;
            self.ends[node] = self.ends[2 * node].min(self.ends[2 * node + 1]);
        }
        lane as u32
    }

    fn num_lanes(&self) -> usize {
        self.ends.len() / 2
    }

    /// The first lane under `node`, not before `first`, that is free at `start`.
    fn find(&self, node: usize, first: usize, start: Ts) -> Option<usize> {
        let num_lanes = self.num_lanes();
        if num_lanes == 0 || self.ends[node] > start {
            return None;
        }
        let width = num_lanes >> node.ilog2();
        let lowest = node * width - num_lanes;
        if lowest + width <= first {
            return None;
        }
        if width == 1 {
            return Some(lowest);
        }
        self.find(2 * node, first, start).or_else(|| self.find(2 * node + 1, first, start))
    }

    fn grow(&mut self) {
        let old = self.num_lanes();
        let new = (old * 2).max(4);
        let mut ends = vec![NEVER_USED; new * 2];
        ends[new..new + old].copy_from_slice(&self.ends[old..]);
        for node in (1..new).rev() {
            ends[node] = ends[2 * node].min(ends[2 * node + 1]);
        }
        self.ends = ends;
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
        let trace = read(&[Input::new(json.as_bytes())], Limits::default()).unwrap();
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
