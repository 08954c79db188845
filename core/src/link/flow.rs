//! Attaches the flow arrows of a file to events.

use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::id::{StrId, TrackId};
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::flow::{Flow, FlowId};

/// The ends of each flow that `is_wanted`, in the order of the file.
pub(super) fn flows(trace: &Trace, is_wanted: impl Fn(&Flow) -> bool) -> impl Iterator<Item = Vec<&Flow>> {
    let mut places: FxHashMap<(StrId, FlowId), usize> = FxHashMap::default();
    let mut flows: Vec<Vec<&Flow>> = Vec::new();
    for end in trace.flows.iter().filter(|flow| is_wanted(flow)) {
        let place = *places.entry((end.category, end.id)).or_insert(flows.len());
        if place == flows.len() {
            flows.push(Vec::new());
        }
        flows[place].push(end);
    }
    flows.into_iter()
}

/// Events that the ends of flows may be attached to.
pub(super) struct FlowTargets<'a> {
    trace: &'a Trace,
    /// By track, start and place in the file.
    rows: Vec<(TrackId, Ts, u32)>,
    /// Places in `rows` by track and start, the longest event first; equal ones in their order.
    shortest: OnceCell<Vec<u32>>,
    /// Events that were looked at in `rows` and cannot be found any more.
    passed: PassedPlaces,
    /// The same in `shortest`.
    passed_shortest: PassedPlaces,
}

/// Where no more events than these start at once on a track, each is looked at.
const FEW: usize = 8;

impl<'a> FlowTargets<'a> {
    pub(super) fn new(trace: &'a Trace, rows: impl Iterator<Item = usize>) -> Self {
        let events = &trace.events;
        let mut rows: Vec<_> = rows.map(|row| (events.track.at(row), events.start.at(row), row as u32)).collect();
        sort::by_key(&mut rows, |(track, start, row)| (*track, *start, events.position.at(*row as usize)));
        let (passed, passed_shortest) = (PassedPlaces::default(), PassedPlaces::default());
        Self { trace, rows, shortest: OnceCell::new(), passed, passed_shortest }
    }

    /// The event that starts where a flow has its end. Of several, the one that the file has
    /// written just before the end, or else the shortest.
    ///
    /// An event for which `is_it` was false once stays out: many flows may end at one instant, and
    /// each passes over events only once.
    pub(super) fn at(&self, end: &Flow, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let key = (end.track, end.time);
        let first = self.rows.partition_point(|(track, start, _)| (*track, *start) < key);
        let few = self.rows[first..].iter().take(FEW + 1).take_while(|(track, start, _)| (*track, *start) == key);
        let num = match few.count() {
            num if num <= FEW => num,
            _ => self.rows[first..].partition_point(|(track, start, _)| (*track, *start) == key),
        };
        let here = first..first + num;
        let is_at = |place: usize| is_it(self.rows[place].2);
        let positions = &self.trace.events.position;
        let num_before =
            self.rows[here.clone()].partition_point(|(.., row)| positions.at(*row as usize) < end.position);
        let before = self.passed.last(first..first + num_before, is_at);
        let place = before.or_else(|| {
            let shortest = self.shortest();
            let found = self.passed_shortest.last(here, |at| is_at(shortest[at] as usize))?;
            Some(shortest[found] as usize)
        })?;
        Some(self.rows[place].2)
    }

    fn shortest(&self) -> &[u32] {
        self.shortest.get_or_init(|| {
            let mut places: Vec<u32> = (0..self.rows.len() as u32).collect();
            sort::by_key(&mut places, |place| {
                let (track, start, row) = self.rows[*place as usize];
                (track, start, Reverse(self.trace.events.dur.at(row as usize)), *place)
            });
            places
        })
    }
}

/// Places that a search from the back need not look at again.
#[derive(Default)]
struct PassedPlaces {
    /// Of each place that was passed, how many before it may still be found; made on first use.
    ends: RefCell<FxHashMap<usize, usize>>,
}

impl PassedPlaces {
    /// The last place of a range that is wanted; the others stay unwanted.
    fn last(&self, range: Range<usize>, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let mut ends = self.ends.borrow_mut();
        let mut end = range.end;
        let mut passed = Vec::new();
        let found = loop {
            if end <= range.start {
                break None;
            }
            if let Some(before) = ends.get(&end) {
                passed.push(end);
                end = *before;
            } else if is_wanted(end - 1) {
                break Some(end - 1);
            } else {
                passed.push(end);
                end -= 1;
            }
        };
        for place in passed {
            ends.insert(place, end);
        }
        found
    }
}
