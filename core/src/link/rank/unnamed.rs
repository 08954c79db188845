//! Finds the same process group on several ranks, where each rank has a number of its own for it.
//!
//! Files before `PyTorch` 2.4 know a group by an address, which differs from rank to rank. Calls of
//! one group have equal numbers in sequence, patterns and sizes on all ranks.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::link::collective::{Collective, Collectives};
use crate::trace::collective::CollectivePattern;

/// A group on one rank: the member and the group's number there.
type GroupOnRank = (usize, i64);

/// So many groups without a name are compared with others: more hardly have anything in common.
const MAX_GROUPS: usize = 256;

/// So many groups of a job are told apart.
const MAX_CLUSTERS: usize = 1024;

/// Labels of groups, equal on all ranks. A group whose counterparts are not certain has none.
#[derive(Debug, Default)]
pub(super) struct UnnamedGroups {
    labels: FxHashMap<GroupOnRank, Option<u32>>,
}

/// The facts of a call that all ranks of its group state alike.
type CallLikeness<'a> = (CollectivePattern, Option<&'a str>, Option<i64>);

/// The calls of a group on one rank, by their numbers, or else their places.
type GroupCalls<'a> = BTreeMap<i64, CallLikeness<'a>>;

/// A group on the ranks that were found to have it.
#[derive(Debug, Default)]
struct GroupCluster<'a> {
    size: Option<i64>,
    members: FxHashSet<usize>,
    groups: Vec<GroupOnRank>,
    calls: GroupCalls<'a>,
    is_certain: bool,
}

impl UnnamedGroups {
    /// Of the communications of each member.
    pub(super) fn of<'a>(members: impl Iterator<Item = &'a Collectives>) -> Self {
        let found: Vec<_> = members.map(groups_of).collect();
        if found.iter().all(|groups| groups.len() < 2) {
            return Self::default();
        }
        let mut clusters: Vec<GroupCluster<'_>> = Vec::new();
        for (member, groups) in found.into_iter().enumerate() {
            for (number, (size, calls)) in groups {
                put(&mut clusters, (member, number), size, calls);
            }
        }
        let mut labels = FxHashMap::default();
        for (label, cluster) in (0..).zip(&clusters) {
            let has_room = cluster.size.is_none_or(|size| cluster.members.len() as i64 <= size);
            let label = Some(label).filter(|_| cluster.is_certain && has_room);
            labels.extend(cluster.groups.iter().map(|group| (*group, label)));
        }
        Self { labels }
    }

    /// The label of a row's group; `None` inside where the group has a name or is the only one,
    /// outside where its counterparts are not certain.
    #[expect(clippy::option_option, reason = "a named group has no label; an uncertain one matches nothing")]
    pub(super) fn label(&self, member: usize, row: &Collective) -> Option<Option<u32>> {
        match number(row) {
            Some(number) if !self.labels.is_empty() => Some(Some(self.labels.get(&(member, number)).copied()??)),
            _ => Some(None),
        }
    }
}

/// Puts a group to the one cluster that it fits. Where it fits several, none of them is certain.
fn put<'a>(clusters: &mut Vec<GroupCluster<'a>>, group: GroupOnRank, size: Option<i64>, calls: GroupCalls<'a>) {
    let fits = |cluster: &GroupCluster<'_>| {
        let do_agree = calls.iter().all(|(number, call)| cluster.calls.get(number).is_none_or(|other| other == call));
        let shares = calls.keys().any(|number| cluster.calls.contains_key(number));
        cluster.size == size && shares && do_agree
    };
    let found: Vec<usize> = (0..clusters.len()).filter(|at| fits(&clusters[*at])).collect();
    let is_certain = found.len() < 2 && found.iter().all(|at| !clusters[*at].members.contains(&group.0));
    for at in &found {
        clusters[*at].is_certain &= is_certain;
    }
    if found.is_empty() && clusters.len() == MAX_CLUSTERS {
        return;
    }
    let at = found.first().copied().unwrap_or_else(|| {
        clusters.push(GroupCluster { size, is_certain: true, ..GroupCluster::default() });
        clusters.len() - 1
    });
    let cluster = &mut clusters[at];
    cluster.members.insert(group.0);
    cluster.groups.push(group);
    for (number, call) in calls {
        cluster.calls.entry(number).or_insert(call);
    }
}

/// The groups of a rank that only a number names, each with its size and its calls.
fn groups_of(collectives: &Collectives) -> BTreeMap<i64, (Option<i64>, GroupCalls<'_>)> {
    let mut found: BTreeMap<i64, (Option<i64>, GroupCalls<'_>)> = BTreeMap::new();
    for row in collectives.rows.iter().filter(|row| !row.is_local) {
        let (Some(number), Some(pattern)) = (number(row), row.pattern) else { continue };
        if found.len() == MAX_GROUPS && !found.contains_key(&number) {
            continue;
        }
        let (size, calls) = found.entry(number).or_default();
        *size = size.or(row.facts.group_size);
        let place = row.facts.seq.unwrap_or(calls.len() as i64);
        let elems = row.facts.in_elems.filter(|_| pattern.keeps_size());
        calls.insert(place, (pattern, row.facts.dtype.as_deref(), elems));
    }
    found
}

/// The number of a group without a name, which is another one on each rank.
fn number(row: &Collective) -> Option<i64> {
    row.facts.group_id.filter(|_| row.facts.group_name.is_none() && row.group.is_none())
}
