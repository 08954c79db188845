//! Nests events by time on each track.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::event_warnings::count_events;
use super::lane::Lanes;
use crate::column::Durs;
use crate::column::OptionalColumn;
use crate::id::TrackId;
use crate::sort;
use crate::time::{Dur, Ts, add_ns};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::event::EventTable;
use crate::trace::kind::EventKind;
use crate::warning::{WarningKind, Warnings};

/// Parents, and the order of each track.
#[derive(Debug, Clone, Default)]
pub struct Nesting {
    /// Row of the innermost event of the same track that contains this one; a row an event.
    pub parent: OptionalColumn,
    /// Rows of all events by track, then start, then longest first.
    pub order: Vec<u32>,
    /// Where each track's rows start in `order`; one more than there are tracks.
    pub track_starts: Vec<u32>,
    /// Rows of events that a longer one with the same parent starts inside of and outlasts, sorted.
    outlasted: Vec<u32>,
}

impl Nesting {
    /// Rows of a track's events by start.
    pub fn track_rows(&self, track: TrackId) -> &[u32] {
        match self.track_starts.get(track.index()..track.index() + 2) {
            Some([start, end]) => &self.order[*start as usize..*end as usize],
            _ => &[],
        }
    }

    /// Row of the innermost event of a track that a time is inside of.
    pub(crate) fn around(&self, events: &EventTable, track: TrackId, time: Ts) -> Option<u32> {
        let rows = self.track_rows(track);
        let last = rows.partition_point(|row| events.start.at(*row as usize) <= time).checked_sub(1)?;
        std::iter::successors(Some(rows[last]), |row| self.parent.get(*row as usize))
            .find(|row| time < events.end(*row as usize))
    }

    /// Row of the innermost event around each event, on the same track, that is of a sort.
    pub(crate) fn innermost(&self, is_it: impl Fn(usize) -> bool) -> OptionalColumn {
        let mut found = OptionalColumn::empty(self.order.len());
        // Parents come before their children in this order, so each is found in one step; and
        // children of the same mostly one after another.
        let (mut last, mut inherited) = (None, None);
        for row in self.order.iter().map(|row| *row as usize) {
            let Some(parent) = self.parent.get(row) else { continue };
            if last != Some(parent) {
                last = Some(parent);
                inherited = if is_it(parent as usize) { last } else { found.get(parent as usize) };
            }
            if let Some(inherited) = inherited {
                found.set(row, inherited);
            }
        }
        found
    }

    /// Row of the innermost annotation around each event, by time: it starts no later on the same
    /// track and ends no earlier.
    ///
    /// Parents alone would not tell: an annotation may begin in one Python frame and end in the
    /// next, as `ProfilerStep#n` does when a callback calls `step()`.
    pub(super) fn annotations(&self, trace: &Trace) -> OptionalColumn {
        let events = &trace.events;
        let mut found = OptionalColumn::empty(events.len());
        for track in 0..trace.tracks.len() {
            let slack = slack(trace, track);
            // Of those that began, each ends before the one under it: one that ends earlier than a
            // later one is never the innermost again.
            let mut open: Vec<OpenEvent> = Vec::new();
            for row in self.track_rows(TrackId::from(track)).iter().map(|row| *row as usize) {
                let kind = events.kind[row];
                let is_annotation = kind == EventKind::Annotation;
                if open.is_empty() && !is_annotation {
                    continue;
                }
                let event = OpenEvent::of(events, row);
                let slack = own_slack(kind, slack);
                let num_around = open.partition_point(|other| other.is_around(&event, slack));
                if let Some(innermost) = num_around.checked_sub(1) {
                    found.set(row, open[innermost].row as u32);
                }
                if is_annotation {
                    open.truncate(open.partition_point(|other| other.end > event.end));
                    open.push(event);
                }
            }
        }
        found
    }

    /// Whether each row is inside of another one of the same key. Rows without a key do not count.
    pub(crate) fn inside_same<K: Hash + Eq + Copy>(&self, keys: &[Option<K>]) -> Vec<bool> {
        let mut is_inside = vec![false; self.order.len()];
        // Others are left out of the tree: mostly only a few rows have a key.
        let around = self.innermost(|row| keys[row].is_some());
        let keyed: Vec<(u32, K)> = self.order.iter().filter_map(|row| Some((*row, keys[*row as usize]?))).collect();
        let places: FxHashMap<u32, usize> = keyed.iter().enumerate().map(|(place, (row, _))| (*row, place)).collect();
        let (mut first_child, mut next_sibling) = (vec![None; keyed.len()], vec![None; keyed.len()]);
        let mut steps = Vec::new();
        for (place, (row, _)) in keyed.iter().enumerate().rev() {
            match around.get(*row as usize).and_then(|around| places.get(&around)) {
                Some(parent) => next_sibling[place] = first_child[*parent].replace(place),
                None => steps.push(NestingStep::Enter(place)),
            }
        }
        let mut num_open: FxHashMap<K, u32> = FxHashMap::default();
        while let Some(step) = steps.pop() {
            match step {
                NestingStep::Enter(place) => {
                    let (row, key) = keyed[place];
                    let num_open = num_open.entry(key).or_default();
                    is_inside[row as usize] = *num_open > 0;
                    *num_open += 1;
                    steps.push(NestingStep::Leave(key));
                    let children = std::iter::successors(first_child[place], |child| next_sibling[*child]);
                    steps.extend(children.map(NestingStep::Enter));
                }
                NestingStep::Leave(key) => {
                    num_open.entry(key).and_modify(|count| *count -= 1);
                }
            }
        }
        is_inside
    }

    /// How many events are above each event, from parent to parent.
    pub(super) fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.order.len()];
        for row in &self.order {
            if let Some(parent) = self.parent.get(*row as usize) {
                depths[*row as usize] = depths[parent as usize] + 1;
            }
        }
        depths
    }

    /// Time in the children of each event, summed.
    pub(super) fn children_ns(&self, durs: &Durs) -> Vec<i64> {
        let mut sums = vec![0; durs.len()];
        for (row, dur) in durs.iter().enumerate() {
            if let Some(parent) = self.parent.get(row) {
                add_ns(&mut sums[parent as usize], dur.0);
            }
        }
        sums
    }

    /// The lane of each event in its track, counting only shown events. Events of one lane never
    /// overlap. Hidden events get the first lane of their children.
    pub(super) fn lanes(&self, trace: &Trace, is_shown: &dyn Fn(usize) -> bool) -> Vec<u32> {
        let events = &trace.events;
        let mut places = vec![0; events.len()];
        for track in 0..trace.tracks.len() {
            let mut lanes = Lanes::default();
            for row in self.track_rows(TrackId::from(track)).iter().map(|row| *row as usize) {
                // The lane next to the parent's is left to the longer event, with all that it will
                // hold.
                let parent = self.parent.get(row).map(|parent| parent as usize);
                let first = parent.map_or(0, |parent| places[parent] + u32::from(is_shown(parent)));
                let left = u32::from(self.outlasted.binary_search(&(row as u32)).is_ok());
                places[row] = if is_shown(row) {
                    lanes.place(first + left, events.start.at(row), events.end(row))
                } else {
                    first
                };
            }
        }
        places
    }
}

/// A step of a walk through the tree of events.
enum NestingStep<K> {
    /// Enters the event of this place.
    Enter(usize),
    /// Leaves an event of this key, with all that is inside of it.
    Leave(K),
}

/// When times are whole microseconds, start and duration were both cut, so a child may seem to end
/// one later.
const COARSE_SLACK: Dur = Dur(1_000);

/// By how much a child may seem to outlast its parent. Device times are whole microseconds of one
/// clock, so overlaps on a stream are real.
fn slack(trace: &Trace, track: usize) -> Dur {
    let is_coarse = trace.has_coarse_times && trace.tracks[track].stream.is_none();
    if is_coarse { COARSE_SLACK } else { Dur(0) }
}

/// Nests the events of each track.
pub(super) fn nest(trace: &Trace, warnings: &mut Warnings) -> Nesting {
    let events = &trace.events;
    let (order, track_starts) = order(trace);
    let mut nesting =
        Nesting { parent: OptionalColumn::empty(events.len()), track_starts, order, outlasted: Vec::new() };
    let mut overlapping = Vec::new();
    for track in 0..trace.tracks.len() {
        let range = nesting.track_starts[track] as usize..nesting.track_starts[track + 1] as usize;
        nest_track(trace, &mut nesting, range, slack(trace, track), &mut overlapping);
    }
    sort::ascending(&mut nesting.outlasted);
    sort::ascending(&mut overlapping);
    count_events(trace, WarningKind::PartialOverlap, overlapping.into_iter(), warnings);
    nesting
}

/// All rows by track, start and duration, and where each track's rows start.
fn order(trace: &Trace) -> (Vec<u32>, Vec<u32>) {
    let events = &trace.events;
    let mut starts = vec![0_u32; trace.tracks.len() + 1];
    for track in events.track.iter() {
        starts[track.index() + 1] += 1;
    }
    for track in 1..starts.len() {
        starts[track] += starts[track - 1];
    }
    let mut next = starts.clone();
    let mut order = vec![0_u32; events.len()];
    for (row, track) in events.track.iter().enumerate() {
        let place = &mut next[track.index()];
        order[*place as usize] = row as u32;
        *place += 1;
    }
    let key = |row: u32| (events.start.at(row as usize), Reverse(events.dur.at(row as usize)));
    for track in 0..trace.tracks.len() {
        sort::runs_by_key(&mut order[starts[track] as usize..starts[track + 1] as usize], key);
    }
    (order, starts)
}

/// An event around which others may be. Its times are at hand: many are compared with them.
#[derive(Debug, Clone, Copy)]
struct OpenEvent {
    row: usize,
    start: Ts,
    dur: Dur,
    end: Ts,
}

impl OpenEvent {
    fn of(events: &EventTable, row: usize) -> Self {
        let (start, dur) = (events.start.at(row), events.dur.at(row));
        Self { row, start, dur, end: start.after(dur) }
    }

    /// Whether the event contains another one of its track that started no earlier.
    fn is_around(&self, inner: &Self, slack: Dur) -> bool {
        self.end.after(slack) >= inner.end && (self.end > inner.start || self.end >= inner.end)
    }
}

/// Adds to `overlapping` the rows of events that start inside another and outlast it.
fn nest_track(trace: &Trace, nesting: &mut Nesting, range: Range<usize>, slack: Dur, overlapping: &mut Vec<usize>) {
    let events = &trace.events;
    let mut open: Vec<OpenEvent> = Vec::new();
    // Ends of those that are no longer open, having been outlasted, but not over either.
    let mut ends: BTreeSet<Ts> = BTreeSet::new();
    let Nesting { parent: parents, order, outlasted, .. } = nesting;
    for row in &order[range] {
        let event = OpenEvent::of(events, *row as usize);
        let own_slack = own_slack(events.kind[event.row], slack);
        let mut cut_short = Vec::new();
        // An open event that ends before this one can hold nothing that comes later and is not
        // inside this one.
        while let Some(&top) = open.last() {
            if top.is_around(&event, own_slack) {
                break;
            }
            cut_short.extend((top.end > event.start).then_some(top));
            open.pop();
        }
        while ends.first().is_some_and(|first| *first <= event.start) {
            ends.pop_first();
        }
        let is_cut_short = !cut_short.is_empty();
        if is_cut_short || ends.first().is_some_and(|first| first.after(own_slack) < event.end) {
            overlapping.push(event.row);
        }
        let parent = parent(trace, &open, event.row).map(|parent| parent as u32);
        if let Some(parent) = parent {
            parents.set(event.row, parent);
        }
        if is_cut_short {
            ends.extend(cut_short.iter().map(|other| other.end));
            cut_short.retain(|other| other.dur < event.dur && parents.get(other.row) == parent);
            outlasted.extend(cut_short.into_iter().map(|other| other.row as u32));
        }
        open.push(event);
    }
}

/// The slack of a track, for one event. Another clock times launches, so only events that strictly
/// contain one own it.
fn own_slack(kind: EventKind, slack: Dur) -> Dur {
    if kind == EventKind::Launch { Dur(0) } else { slack }
}

/// The innermost of the open events that holds another one. Times cut to microseconds do not tell
/// whether a function of Python is inside of another or right after it; the profiler's numbers do.
fn parent(trace: &Trace, open: &[OpenEvent], row: usize) -> Option<usize> {
    let number = |row: usize, key| trace.args.integer(&trace.strings, trace.events.args(row), key);
    let is_told = trace.has_coarse_times && trace.events.kind[row] == EventKind::Python;
    let caller = is_told.then(|| number(row, ArgKey::PythonParentId)).flatten();
    let function = |other: &OpenEvent| number(other.row, ArgKey::PythonId);
    let inside = caller.and_then(|caller| open.iter().rposition(|other| function(other) == Some(caller)));
    let held =
        inside.and_then(|at| open[at + 1..].iter().position(|other| function(other).is_some()).map(|no| at + no));
    held.map_or_else(|| open.last(), |at| open.get(at)).map(|parent| parent.row)
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
        ((0..events.len()).map(|row| nesting.parent.get(row)).collect(), nesting.lanes(&trace, &|_| true))
    }

    #[test]
    fn children_are_inside_and_siblings_share_a_lane() {
        let (parents, lanes) = nested(&[(0, 10), (1, 3), (5, 4), (6, 1)]);
        assert_eq!(parents, [None, Some(0), Some(0), Some(2)]);
        assert_eq!(lanes, [0, 1, 1, 2]);
    }

    #[test]
    fn a_function_of_python_is_inside_of_the_one_that_called_it() {
        let frame = |(id, caller, start, dur): (i64, i64, i64, i64)| {
            format!(
                r#"{{"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":{start},"dur":{dur},
                     "args":{{"Python id":{id},"Python parent id":{caller}}}}}"#
            )
        };
        // The second and the third end where the fourth begins and ends; the last is inside of it.
        let frames = [(1, 0, 10, 20), (2, 1, 14, 1), (3, 2, 15, 0), (4, 1, 15, 0), (5, 4, 15, 0), (6, 1, 16, 2)];
        let json = format!("[{}]", frames.map(frame).join(","));
        let trace = read([Input::new(json.as_bytes())], Limits::default()).unwrap();
        let nesting = nest(&trace, &mut Warnings::default());
        let parents: Vec<_> = (0..frames.len()).map(|row| nesting.parent.get(row)).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(0), Some(3), Some(0)]);
    }

    #[test]
    fn partial_overlap_gets_its_own_lane() {
        let (parents, lanes) = nested(&[(0, 10), (5, 10), (6, 3), (11, 3)]);
        assert_eq!(parents, [None, None, Some(1), Some(1)]);
        assert_eq!(lanes, [0, 1, 2, 2]);
    }

    #[test]
    fn what_a_longer_event_outlasts_makes_room_for_it() {
        // A step that starts inside three short frames and goes on after them, with a long frame
        // inside it.
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
