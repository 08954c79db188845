//! Infers process groups that traces do not name, as with gloo, from simultaneous calls.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::group_call::{GroupCall, GroupCallKey};

/// A process group that calls may be of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateGroup {
    /// How many ranks it has.
    pub size: usize,
    /// Those of them that are compared, as places among the ranks, ascending.
    pub members: Vec<usize>,
}

/// The groups of all calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InferredGroups {
    /// By rank and call, the place among the candidates.
    pub of_call: Vec<Vec<Option<u32>>>,
    /// By rank, the first call that matches none of the others'; `None` where all match.
    pub left: Vec<Option<usize>>,
}

/// Infers the group of each call: the largest one whose ranks all make the same call next.
///
/// Takes the calls of each rank in their order, and the candidates, the largest first.
pub fn infer_groups(calls: &[Vec<GroupCall>], candidates: &[CandidateGroup]) -> InferredGroups {
    let mut matching = GroupMatching::new(calls, candidates);
    matching.run();
    let left = matching.next.iter().zip(calls).map(|(next, own)| Some(*next).filter(|next| *next < own.len()));
    InferredGroups { left: left.collect(), of_call: matching.of_call }
}

/// Matches the next calls of all ranks with groups.
struct GroupMatching<'a> {
    calls: &'a [Vec<GroupCall>],
    groups: &'a [CandidateGroup],
    of_call: Vec<Vec<Option<u32>>>,
    /// The next call of each rank.
    next: Vec<usize>,
    /// The candidates that each rank is in, ascending.
    of_rank: Vec<Vec<usize>>,
    /// The places of like calls of each rank, ascending.
    places: Vec<FxHashMap<GroupCallKey<'a>, Vec<usize>>>,
}

impl<'a> GroupMatching<'a> {
    fn new(calls: &'a [Vec<GroupCall>], groups: &'a [CandidateGroup]) -> Self {
        let mut of_rank = vec![Vec::new(); calls.len()];
        for (number, group) in groups.iter().enumerate() {
            for rank in &group.members {
                of_rank[*rank].push(number);
            }
        }
        let places = calls.iter().map(|own| {
            let mut places: FxHashMap<_, Vec<usize>> = FxHashMap::default();
            for (at, call) in own.iter().enumerate() {
                places.entry(call.key()).or_default().push(at);
            }
            places
        });
        let places = places.collect();
        let of_call = calls.iter().map(|own| vec![None; own.len()]).collect();
        Self { calls, groups, of_call, next: vec![0; calls.len()], of_rank, places }
    }

    /// Matches calls until no group has the same next call on all ranks.
    fn run(&mut self) {
        let mut to_check: BTreeSet<usize> = (0..self.groups.len()).collect();
        let mut ready: BTreeSet<usize> = BTreeSet::new();
        loop {
            for number in std::mem::take(&mut to_check) {
                if self.is_ready(number) {
                    ready.insert(number);
                } else {
                    ready.remove(&number);
                }
            }
            let Some(first) = ready.first().copied() else { return };
            // A larger group may soon make the same call: groups without that chance go first.
            let number = if first == 0 || ready.len() == 1 {
                first
            } else {
                let waits = ready.iter().map(|number| (self.wait(*number), Reverse(*number)));
                waits.max().map_or(first, |(_, Reverse(number))| number)
            };
            for rank in &self.groups[number].members {
                let at = self.next[*rank];
                self.of_call[*rank][at] = Some(number as u32);
                self.next[*rank] += 1;
                to_check.extend(&self.of_rank[*rank]);
            }
        }
    }

    fn head(&self, rank: usize) -> Option<&'a GroupCall> {
        self.calls[rank].get(self.next[rank])
    }

    fn is_ready(&self, number: usize) -> bool {
        let group = &self.groups[number];
        let calls: Option<Vec<_>> = group.members.iter().map(|rank| self.head(*rank)).collect();
        let Some(calls) = calls else { return false };
        let Some(first) = calls.first() else { return false };
        let may_belong = |call: &GroupCall| match &call.members {
            Some(members) => *members == group.members,
            None => call.fits(group.size),
        };
        calls.iter().enumerate().all(|(place, call)| may_belong(call) && first.agrees(call, [0, place]))
    }

    /// Calls until all ranks of a larger group may make the same call; `usize::MAX` for never.
    fn wait(&self, number: usize) -> usize {
        let group = &self.groups[number];
        let rank = group.members.first().copied();
        let head = rank.and_then(|rank| Some((rank, self.head(rank)?))).filter(|(_, call)| call.members.is_none());
        let Some((rank, call)) = head else { return usize::MAX };
        let larger = self.of_rank[rank].iter().filter(|other| **other < number).map(|other| &self.groups[*other]);
        let holds = |other: &&CandidateGroup| {
            other.members.len() > group.members.len() && group.members.iter().all(|one| other.members.contains(one))
        };
        let larger = larger.filter(holds).filter(|other| call.fits(other.size));
        let others = |other: &CandidateGroup| {
            let others = other.members.iter().filter(|rank| !group.members.contains(rank));
            others.map(|rank| self.distance(*rank, call)).max().unwrap_or(usize::MAX)
        };
        larger.map(others).min().unwrap_or(usize::MAX)
    }

    /// Calls of a rank until it may make one like this; `usize::MAX` for never.
    fn distance(&self, rank: usize, call: &GroupCall) -> usize {
        let places = self.places[rank].get(&call.key()).map_or(&[][..], Vec::as_slice);
        let at = places.partition_point(|place| *place < self.next[rank]);
        places.get(at).map_or(usize::MAX, |place| place - self.next[rank])
    }
}
