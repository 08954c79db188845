//! Matches collectives of several traces that are the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::unnamed::UnnamedGroups;
use super::{JobMember, MatchMethod, SharedCollective};
use crate::link::collective::Collective;
use crate::sort;
use crate::trace::collective::CollectivePattern;
use crate::trace::group::GroupRanks as RankList;

/// The key of a collective that all ranks share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CollectiveFamily {
    group: Option<String>,
    ranks: Option<Arc<RankList>>,
    /// The group that only a number of each rank's own names, where there are several.
    unnamed: Option<u32>,
    pattern: CollectivePattern,
    /// Source and destination, of two ranks.
    ends: Option<(i64, i64)>,
}

/// Communications of one family: members ascending, each with its rows in order.
type MemberRows = Vec<(u32, Vec<u32>)>;

/// The communications that at least two ranks have, in the order of the first trace that has them.
pub(super) fn shared(members: &[JobMember]) -> Vec<SharedCollective> {
    let mut families: FxHashMap<CollectiveFamily, MemberRows> = FxHashMap::default();
    let unnamed = UnnamedGroups::of(members.iter().map(JobMember::collectives));
    let ranks = ranks_by_name(members);
    for (at, member) in members.iter().enumerate() {
        for (row, family) in member.families(at, &unnamed, &ranks) {
            let rows = families.entry(family).or_default();
            match rows.last_mut() {
                Some((last, rows)) if *last == at as u32 => rows.push(row),
                _ => rows.push((at as u32, vec![row])),
            }
        }
    }
    let mut all = Vec::new();
    for (family, rows) in &families {
        let of = |member: u32, row: u32| members[member as usize].collective(row as usize);
        let mut each = rows.iter().flat_map(|(member, rows)| rows.iter().map(|row| of(*member, *row)));
        // Two ranks may each have talked to others in between: their numbers are their own.
        if family.ends.is_none() && each.all(|row| row.facts.seq.is_some()) {
            all.extend(by_number(members, rows));
        } else {
            all.extend(by_place(members, rows));
        }
    }
    all.retain(|shared| {
        let rows = &shared.rows;
        rows.len() > 1 && is_of_different_ranks(members, rows) && is_of_one_group(members, rows)
    });
    sort::by(&mut all, |a, b| a.rows.cmp(&b.rows));
    all
}

fn is_of_different_ranks(members: &[JobMember], rows: &[(u32, u32)]) -> bool {
    let mut seen = FxHashSet::default();
    rows.iter().filter_map(|(member, _)| members[*member as usize].rank).all(|rank| seen.insert(rank))
}

/// Whether the size of the group allows that these are all of one: there are no more than it has,
/// and where only a size tells of the group, no other ranks of the job may be of it.
fn is_of_one_group(members: &[JobMember], rows: &[(u32, u32)]) -> bool {
    let each = || rows.iter().map(|(member, row)| (&members[*member as usize], *row as usize));
    let sizes: FxHashSet<i64> = each().filter_map(|(member, row)| member.collective(row).facts.group_size).collect();
    let Some(size) = sizes.iter().next() else { return true };
    let is_told = |(member, row): (&JobMember, usize)| {
        let row = member.collective(row);
        row.ranks.is_some() || row.facts.group_name.is_some() || row.facts.group_id.is_some()
    };
    let num_ranks = each().find_map(|(member, _)| member.linked.trace.num_ranks());
    let ranks = || members.iter().filter_map(|member| member.rank).collect::<FxHashSet<i64>>();
    let are_all_there = || num_ranks.is_none_or(|num_ranks| num_ranks <= ranks().len() as i64);
    sizes.len() == 1 && rows.len() as i64 <= *size && (each().any(is_told) || are_all_there())
}

fn by_number(members: &[JobMember], rows: &MemberRows) -> Vec<SharedCollective> {
    let mut of_number: BTreeMap<i64, Vec<(u32, u32)>> = BTreeMap::new();
    for (member, rows) in rows {
        for row in rows {
            if let Some(seq) = members[*member as usize].collective(*row as usize).facts.seq {
                of_number.entry(seq).or_default().push((*member, *row));
            }
        }
    }
    of_number.into_values().map(|rows| SharedCollective { rows, how: MatchMethod::Number, last_start: None }).collect()
}

/// By iteration, and in it by order, where all that have any have as many, and like ones.
fn by_place(members: &[JobMember], rows: &MemberRows) -> Vec<SharedCollective> {
    let mut of_iteration: BTreeMap<Option<i64>, MemberRows> = BTreeMap::new();
    for (member, rows) in rows {
        for row in rows {
            let member_of = &members[*member as usize];
            let iteration = member_of.collective(*row as usize).iteration(&member_of.linked);
            let those = of_iteration.entry(iteration).or_default();
            match those.last_mut() {
                Some((last, rows)) if last == member => rows.push(*row),
                _ => those.push((*member, vec![*row])),
            }
        }
    }
    let mut found = Vec::new();
    for rows in of_iteration.into_values() {
        let places = rows.first().map_or(0, |(_, rows)| rows.len());
        let at = |place: usize| rows.iter().map(move |(member, rows)| Some((*member, *rows.get(place)?))).collect();
        let all: Option<Vec<Vec<(u32, u32)>>> = (0..places).map(at).collect();
        let is_even = rows.iter().all(|(_, rows)| rows.len() == places);
        if let Some(all) = all.filter(|all| is_even && all.iter().all(|rows| is_alike(members, rows))) {
            found.extend(all.into_iter().map(|rows| SharedCollective {
                rows,
                how: MatchMethod::Order,
                last_start: None,
            }));
        }
    }
    found
}

/// Whether nothing says that these are different: types, and sizes where they are the same on all
/// ranks.
fn is_alike(members: &[JobMember], rows: &[(u32, u32)]) -> bool {
    let one = |get: fn(&Collective) -> Option<String>| {
        let mut said = rows.iter().filter_map(|(member, row)| get(members[*member as usize].collective(*row as usize)));
        said.next().is_none_or(|first| said.all(|other| other == first))
    };
    one(|row| row.facts.dtype.clone())
        && one(|row| {
            Some(row.facts.in_elems.filter(|_| row.pattern.is_some_and(CollectivePattern::keeps_size))?.to_string())
        })
}

impl JobMember {
    /// The rows that may be found elsewhere, each with its family.
    fn families(&self, at: usize, unnamed: &UnnamedGroups, ranks: &RanksByName<'_>) -> Vec<(u32, CollectiveFamily)> {
        let rows = &self.collectives().rows;
        // A collective called before the recording began has no position in its order.
        let is_called = |row: &Collective| row.event.or(row.run).or(row.node).is_some();
        let has_calls = rows.iter().any(is_called);
        let family = |row: &Collective| {
            let is_matched = (is_called(row) || !has_calls) && !row.is_local && !row.is_failed;
            let pattern = row.pattern.filter(|_| is_matched)?;
            let ends = if pattern.is_p2p() { Some((row.src_rank?, row.dst_rank?)) } else { None };
            let pattern = if pattern.is_p2p() { CollectivePattern::Send } else { pattern };
            let group = row.facts.group_name.clone();
            let told = || ranks.get(group.as_deref()?)?.cloned();
            Some(CollectiveFamily {
                ranks: row.ranks.clone().or_else(told),
                unnamed: unnamed.label(at, row)?,
                group,
                pattern,
                ends,
            })
        };
        let rows = (0_u32..).zip(rows).filter(|(at, _)| !self.is_ambiguous(*at));
        rows.filter_map(|(at, row)| Some((at, family(row)?))).collect()
    }
}

/// The ranks of a group that some trace knows, by the name that all give it; `None` where they
/// contradict each other.
type RanksByName<'a> = FxHashMap<&'a str, Option<&'a Arc<RankList>>>;

fn ranks_by_name(members: &[JobMember]) -> RanksByName<'_> {
    let mut found = RanksByName::default();
    for row in members.iter().flat_map(|member| &member.collectives().rows) {
        if let (Some(name), Some(ranks)) = (row.facts.group_name.as_deref(), row.ranks.as_ref()) {
            let known = found.entry(name).or_insert(Some(ranks));
            *known = known.filter(|known| *known == ranks);
        }
    }
    found
}
