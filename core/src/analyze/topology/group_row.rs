//! One row per process group: its ranks, its machines and its waits.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::collective::JobCollective;
use crate::analyze::collective::skew::{self, SkewRow};
use crate::analyze::collective::summary::CollectiveTotals;
use crate::analyze::machine::placement::Placement;
use crate::link::rank::JobRanks;
use crate::sort;
use crate::table::{Column, Table, int, json, put_name, put_ranks, text};
use crate::time::add_ns;
use crate::trace::group::GroupRanks;

/// A process group, or the ranks that communicate without one.
#[derive(Debug, Clone)]
pub(crate) struct GroupRow {
    key: TopologyKey,
    num_traces: u64,
    reach: Option<&'static str>,
    totals: CollectiveTotals,
    /// The rank that others waited for most, and that wait.
    awaited: Option<(i64, i64)>,
}

/// Description and name of a process group, with its ranks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TopologyKey {
    desc: Option<String>,
    name: Option<String>,
    ranks: GroupRanks,
}

/// The members, communications and waits of a group.
#[derive(Default)]
struct GroupMeetings {
    members: BTreeSet<u32>,
    skews: Vec<SkewRow>,
    caused: BTreeMap<i64, i64>,
}

pub(crate) static TABLE: Table<Vec<GroupRow>> = Table {
    name: "topology",
    doc: "a process group with its ranks, its machines and its waits",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<GroupRow>>] = &[
    text("group_name", |rows, at, out| rows[at].key.name.as_ref().is_some_and(|name| put_name(out, name))),
    text("group_desc", |rows, at, out| rows[at].key.desc.as_ref().is_some_and(|desc| put_name(out, desc))),
    int("group_size", |rows, at| Some(rows[at].key.ranks.size())),
    json("ranks", |rows, at, out| put_ranks(out, &rows[at].key.ranks)),
    text("reach", |rows, at, out| rows[at].reach.is_some_and(|reach| put_name(out, reach))),
    int("num_traces", |rows, at| Some(rows[at].num_traces as i64)),
    int("count", |rows, at| Some(rows[at].totals.count as i64)),
    int("bytes", |rows, at| rows[at].totals.bytes),
    int("total_ns", |rows, at| rows[at].totals.total_ns),
    int("wait_ns", |rows, at| rows[at].totals.wait_ns),
    int("awaited_rank", |rows, at| rows[at].awaited.map(|(rank, _)| rank)),
    int("awaited_ns", |rows, at| rows[at].awaited.map(|(_, ns)| ns)),
];

/// The groups that communicated, those with the longest waits first.
pub(super) fn rows(job: &JobRanks, meetings: &[JobCollective<'_>]) -> Vec<GroupRow> {
    let placement = Placement::of(job, 0);
    let mut groups: BTreeMap<TopologyKey, GroupMeetings> = BTreeMap::new();
    for meeting in meetings {
        let skew = skew::row(meeting);
        let desc = meeting.any(|part| part.one.group_desc(part.linked).map(str::to_owned));
        let key = TopologyKey { desc, name: skew.group.0.clone(), ranks: ranks(meeting) };
        let group = groups.entry(key).or_default();
        group.members.extend(meeting.parts.iter().map(|part| part.member));
        for (_, awaited, wait_ns) in super::pair_row::waits(meeting) {
            add_ns(group.caused.entry(awaited).or_default(), wait_ns);
        }
        group.skews.push(skew);
    }
    let row = |(key, group): (TopologyKey, GroupMeetings)| GroupRow {
        reach: placement.of_group(&key.ranks).name(),
        num_traces: group.members.len() as u64,
        totals: CollectiveTotals::of(&group.skews.iter().collect::<Vec<_>>()),
        awaited: group.caused.into_iter().max_by_key(|(rank, ns)| (*ns, std::cmp::Reverse(*rank))),
        key,
    };
    let mut rows: Vec<_> = groups.into_iter().map(row).collect();
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.totals.wait_ns));
    rows
}

/// The ranks of a communication, in ascending order: those of its group or, without one, those that
/// share it. A group of all ranks is as large as a file claims, so it stays a number.
fn ranks(meeting: &JobCollective<'_>) -> GroupRanks {
    let listed = match meeting.any(|part| part.one.ranks.as_deref()) {
        Some(all @ GroupRanks::All(_)) => return all.clone(),
        Some(GroupRanks::Listed(ranks)) => Some(ranks.clone()),
        None => None,
    };
    let mut ranks = listed.unwrap_or_else(|| meeting.parts.iter().filter_map(|part| part.rank).collect());
    sort::ascending(&mut ranks);
    GroupRanks::from(ranks)
}
