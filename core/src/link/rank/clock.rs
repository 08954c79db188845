//! Estimates clock offsets between ranks: symmetric collectives end on all ranks at about the same
//! time.

use rustc_hash::FxHashMap;

use super::{JobRanks, SharedCollective};
use crate::sort;
use crate::time::Ts;

/// How far a clock is ahead of the first trace's, or, where no communication leads to that one, of
/// the first in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockOffset {
    /// Its time minus the other's, in nanoseconds: the median over communications that end on both
    /// at once.
    pub offset_ns: i64,
    /// The median of how far single communications are from that, in nanoseconds.
    pub spread_ns: i64,
    /// How many communications there were.
    pub num_collectives: u64,
    /// The connected component of traces, from 0; offsets within one compare.
    pub group: u32,
}

/// Ends of one communication, by member.
type CollectiveEnds = Vec<(u32, Ts)>;

/// Gives each member its offset to the first of its group: directly, or through others that have
/// offsets already. Spreads add up on the way.
pub(super) fn align(ranks: &mut JobRanks) {
    let all: Vec<CollectiveEnds> = ranks.shared.iter().filter_map(|shared| ends(ranks, shared)).collect();
    let mut of_member: Vec<Vec<u32>> = vec![Vec::new(); ranks.members.len()];
    for (at, ends) in all.iter().enumerate() {
        for (member, _) in ends {
            of_member[*member as usize].push(at as u32);
        }
    }
    // After one of its members was gone through, all of a communication's have their clocks.
    let mut is_done = vec![false; all.len()];
    let mut group = 0;
    for first in 0..of_member.len() {
        if !of_member[first].is_empty() && ranks.members[first].clock.is_none() {
            let num_collectives = of_member[first].len() as u64;
            ranks.members[first].clock = Some(ClockOffset { num_collectives, group, ..ClockOffset::default() });
            reach(ranks, first, (&all, &of_member), &mut is_done);
            group += 1;
        }
    }
}

/// Gives an offset to all that communications lead to from the first of a group.
fn reach(ranks: &mut JobRanks, first: usize, (all, of_member): (&[CollectiveEnds], &[Vec<u32>]), is_done: &mut [bool]) {
    let mut reached = vec![first];
    let mut next = 0;
    while let Some(&near) = reached.get(next) {
        next += 1;
        let Some(known) = ranks.members[near].clock else { continue };
        let mut differences: FxHashMap<u32, Vec<i64>> = FxHashMap::default();
        for at in of_member[near].iter().map(|at| *at as usize) {
            if std::mem::replace(&mut is_done[at], true) {
                continue;
            }
            let ends = &all[at];
            let Some((_, here)) = ends.iter().find(|(member, _)| *member as usize == near) else { continue };
            for (member, there) in ends.iter().filter(|(member, _)| ranks.members[*member as usize].clock.is_none()) {
                differences.entry(*member).or_default().push(there.0.saturating_sub(here.0));
            }
        }
        let mut found: Vec<_> = differences.into_iter().collect();
        sort::by_key(&mut found, |(member, _)| *member);
        for (member, differences) in found {
            ranks.members[member as usize].clock = Some(further(known, differences));
            reached.push(member as usize);
        }
    }
}

/// The offset of a clock, from its differences to a clock of offset `near`.
fn further(near: ClockOffset, mut differences: Vec<i64>) -> ClockOffset {
    let difference = median(&mut differences);
    let mut spreads: Vec<_> =
        differences.iter().map(|other| other.saturating_sub(difference).saturating_abs()).collect();
    ClockOffset {
        offset_ns: near.offset_ns.saturating_add(difference),
        spread_ns: near.spread_ns.saturating_add(median(&mut spreads)),
        num_collectives: differences.len() as u64,
        group: near.group,
    }
}

/// The lower one of two.
fn median(values: &mut [i64]) -> i64 {
    sort::ascending(values);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// When a communication ended on each member, if it cannot end on one long before the others.
fn ends(ranks: &JobRanks, shared: &SharedCollective) -> Option<CollectiveEnds> {
    let row = |(member, row): (u32, u32)| (member, ranks.members[member as usize].collective(row as usize));
    let (_, one) = row(*shared.rows.first()?);
    one.pattern.filter(|pattern| pattern.is_together())?;
    let end = |(member, row): (u32, &crate::link::Collective)| {
        Some((member, row.time(&ranks.members[member as usize].linked.trace)?.end))
    };
    Some(shared.rows.iter().filter_map(|at| end(row(*at))).collect())
}
