//! Indexes events by lane for level-of-detail queries.

use std::ops::Range;

use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::time::{Dur, Ts};

/// Rows by track, lane and start. Within a lane events do not overlap, so starts and ends both
/// ascend.
#[derive(Debug, Clone, Default)]
pub(super) struct LaneIndex {
    /// The lane of each event by its row, of those that are not shown too.
    of_row: Vec<u32>,
    rows: Vec<u32>,
    /// For each track, where its lanes start in `rows`, and where the last one ends.
    lane_starts: Vec<Vec<u32>>,
    /// Positions in `rows` of the longest event of each block of 32, then of each block of 32
    /// blocks, and so on.
    longest: Vec<Vec<u32>>,
}

const BLOCK: usize = 32;

impl LaneIndex {
    /// Of the events that are shown.
    pub(super) fn new(linked: &LinkedTrace, is_shown: &dyn Fn(usize) -> bool) -> Self {
        let nesting = &linked.links.nesting;
        let lanes = linked.lanes(is_shown);
        let shown = |row: &&u32| is_shown(**row as usize);
        let mut rows = vec![0; nesting.order.iter().filter(shown).count()];
        let mut lane_starts = Vec::with_capacity(linked.trace.tracks.len());
        let mut start = 0;
        for track in 0..linked.trace.tracks.len() {
            let track_rows = nesting.track_rows(TrackId::from(track));
            let lane_of = |row: u32| lanes[row as usize] as usize;
            let num_lanes = track_rows.iter().filter(shown).map(|row| lane_of(*row) + 1).max().unwrap_or(0);
            let mut starts = vec![0_u32; num_lanes + 1];
            for row in track_rows.iter().filter(shown) {
                starts[lane_of(*row) + 1] += 1;
            }
            starts[0] = start;
            for lane in 0..num_lanes {
                starts[lane + 1] += starts[lane];
            }
            let mut next = starts.clone();
            for row in track_rows.iter().filter(shown) {
                let place = &mut next[lane_of(*row)];
                rows[*place as usize] = *row;
                *place += 1;
            }
            start = starts[num_lanes];
            lane_starts.push(starts);
        }
        let longest = longest_of_blocks(linked, &rows);
        Self { of_row: lanes, rows, lane_starts, longest }
    }

    /// The lane of an event.
    pub(super) fn of_row(&self, row: usize) -> u32 {
        self.of_row[row]
    }

    /// How many events a track has.
    pub(super) fn num_events(&self, track: usize) -> usize {
        let starts = self.lane_starts.get(track).and_then(|starts| Some(starts.first()?..starts.last()?));
        starts.map_or(0, |starts| (starts.end - starts.start) as usize)
    }

    /// How many lanes a track has.
    pub(super) fn num_lanes(&self, track: usize) -> usize {
        self.lane_starts.get(track).map_or(0, |starts| starts.len().saturating_sub(1))
    }

    /// Where a lane's events are; empty for a lane that is not there.
    pub(super) fn lane(&self, track: usize, lane: usize) -> Range<usize> {
        match self.lane_starts.get(track).and_then(|starts| starts.get(lane..lane + 2)) {
            Some([start, end]) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }

    /// The event at a place of the index.
    pub(super) fn row(&self, at: usize) -> usize {
        self.rows[at] as usize
    }

    /// The first place in `lane` with `is_past`, which also holds for all later events.
    pub(super) fn first(&self, lane: Range<usize>, is_past: impl Fn(usize) -> bool) -> usize {
        lane.start + self.rows[lane].partition_point(|row| !is_past(*row as usize))
    }

    /// The row of the longest event in a range of places that is not empty; the first of equals.
    pub(super) fn longest(&self, linked: &LinkedTrace, range: Range<usize>) -> usize {
        let dur = |at: usize| linked.trace.events.dur.at(self.row(at));
        let mut best = range.start;
        let mut consider = |at: usize| {
            if (dur(at), std::cmp::Reverse(at)) > (dur(best), std::cmp::Reverse(best)) {
                best = at;
            }
        };
        let (mut start, mut end) = (range.start, range.end);
        let mut level = 0;
        while start < end {
            let place = |at: usize| if level == 0 { at } else { self.longest[level - 1][at] as usize };
            while start < end && !start.is_multiple_of(BLOCK) {
                consider(place(start));
                start += 1;
            }
            while start < end && !end.is_multiple_of(BLOCK) {
                end -= 1;
                consider(place(end));
            }
            start /= BLOCK;
            end /= BLOCK;
            level += 1;
        }
        self.row(best)
    }

    /// The event at `time`, or the nearest one not farther away than `tolerance`.
    pub(super) fn at(&self, linked: &LinkedTrace, lane: Range<usize>, time: Ts, tolerance: Dur) -> Option<usize> {
        let events = &linked.trace.events;
        let after = self.first(lane.clone(), |row| events.start.at(row) > time);
        let before = after.checked_sub(1).filter(|at| *at >= lane.start);
        let distance = |at: usize| {
            let row = self.row(at);
            if events.start.at(row) > time {
                events.start.at(row).since(time)
            } else {
                Dur(time.since(events.end(row)).0.max(0))
            }
        };
        let candidates = before.into_iter().chain((after < lane.end).then_some(after));
        let nearest = candidates.min_by_key(|at| distance(*at))?;
        (distance(nearest) <= tolerance).then(|| self.row(nearest))
    }
}

fn longest_of_blocks(linked: &LinkedTrace, rows: &[u32]) -> Vec<Vec<u32>> {
    let dur = |at: u32| linked.trace.events.dur.at(rows[at as usize] as usize);
    let longest = |block: &[u32]| block.iter().copied().reduce(|a, b| if dur(b) > dur(a) { b } else { a }).unwrap_or(0);
    let mut levels: Vec<Vec<u32>> = Vec::new();
    let mut places: Vec<u32> = (0..rows.len() as u32).collect();
    while places.len() > BLOCK {
        // A last block that is not full is never asked for as a whole.
        places = places.chunks_exact(BLOCK).map(longest).collect();
        levels.push(places.clone());
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Input, Limits, read};

    #[test]
    fn the_longest_is_found_across_blocks() {
        let dur = |at: usize| (at * 7919) % 1000 + 1;
        let event =
            |at: usize| format!(r#"{{"ph":"X","name":"e","pid":1,"tid":1,"ts":{}.0,"dur":{}.0}}"#, at * 2000, dur(at));
        let json = format!("[{}]", (0..5000).map(event).collect::<Vec<_>>().join(","));
        let linked = LinkedTrace::new(read([Input::new(json.as_bytes())], Limits::default()).unwrap());
        let lanes = LaneIndex::new(&linked, &|_| true);
        assert_eq!(lanes.lane(0, 0), 0..5000);
        for (start, end) in [(0, 5000), (3, 4), (31, 33), (32, 1056), (17, 4999), (1000, 3100)] {
            let expected = (start..end).max_by_key(|at| (dur(*at), std::cmp::Reverse(*at))).unwrap();
            assert_eq!(lanes.longest(&linked, start..end), expected, "{start}..{end}");
        }
    }
}
