//! Assigns the events of a track to lanes without overlap, for drawing.

use crate::time::{Dur, Ts};

/// Ends of the last events of each lane, in a tree of minima, so that the first free lane is found
/// quickly.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// A complete binary tree: node `i` has children `2i` and `2i + 1`, the lanes are its second
    /// half.
    ends: Vec<Ts>,
}

const NEVER_USED: Ts = Ts(i64::MIN);

impl Lanes {
    /// Puts an event into the first lane from `first` on that is free at `start`.
    pub(super) fn place(&mut self, first: u32, start: Ts, end: Ts) -> u32 {
        let first = first as usize;
        let is_free = self.ends[self.num_lanes()..].get(first).is_some_and(|end| *end <= start);
        let lane = if is_free { first } else { self.free_lane(first, start) };
        let mut node = self.ends.len() / 2 + lane;
        // An event of no duration still takes its point.
        self.ends[node] = end.max(start.after(Dur(1)));
        while node > 1 {
            node /= 2;
            let lowest = self.ends[2 * node].min(self.ends[2 * node + 1]);
            if std::mem::replace(&mut self.ends[node], lowest) == lowest {
                break;
            }
        }
        lane as u32
    }

    fn free_lane(&mut self, first: usize, start: Ts) -> usize {
        loop {
            match self.find(1, first, start) {
                Some(lane) => return lane,
                None => self.grow(),
            }
        }
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
