//! Tells which ranks lack collectives that others of their process group have.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::analyze::collective::{JobCollective, Participant};
use crate::link::rank::JobRanks;
use crate::sort;
use crate::table::{Column, Table, int, put, put_name, put_ranks, text};
use crate::trace::collective::CollectivePattern;
use crate::trace::group::GroupRanks;

/// The collectives of one name and group that a rank lacks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LackingRow {
    rank: i64,
    collective: Option<String>,
    group: (Option<String>, Option<String>),
    count: u64,
    /// Of the first of them.
    seq: Option<i64>,
    /// The ranks that have it.
    ranks: GroupRanks,
    /// Its event on the first of these.
    event_id: Option<i64>,
}

pub(crate) static TABLE: Table<Vec<LackingRow>> = Table {
    name: "lacking_collectives",
    doc: "collectives of one type and process group that a rank lacks, though others of the group have them",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<LackingRow>>] = &[
    int("rank", |rows, at| Some(rows[at].rank)),
    text("collective", |rows, at, out| put(out, rows[at].collective.as_deref().unwrap_or_default())),
    text("group_name", |rows, at, out| rows[at].group.0.as_ref().is_some_and(|name| put_name(out, name))),
    text("group_desc", |rows, at, out| rows[at].group.1.as_ref().is_some_and(|desc| put_name(out, desc))),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("seq", |rows, at| rows[at].seq),
    text("ranks", |rows, at, out| put_ranks(out, &rows[at].ranks)),
    int("event_id", |rows, at| rows[at].event_id),
];

/// The communications of one group, as one member has them: the numbers in their order.
type OwnNumbers = FxHashMap<(u32, Arc<GroupRanks>), Vec<i64>>;

/// Collectives that are not on all ranks of their group, as far as these were recorded.
///
/// A rank lacks a collective if it has an earlier and a later one of the group, by the numbers in
/// sequence, and none of this number; or if it has no communication of the group at all. At the
/// edges of a recording, collectives are on some ranks alone, which tells nothing.
pub(super) fn lacking(ranks: &JobRanks, meetings: &[JobCollective<'_>]) -> Vec<LackingRow> {
    let Some(members) = members_by_rank(ranks) else { return Vec::new() };
    let numbers = own_numbers(ranks);
    let mut groups: FxHashMap<&Arc<GroupRanks>, Vec<(i64, u32)>> = FxHashMap::default();
    let mut rows: BTreeMap<(i64, Option<String>, Option<String>), LackingRow> = BTreeMap::new();
    for meeting in meetings.iter().filter(|meeting| is_of_all(meeting)) {
        let Some((first, group)) = meeting.first().and_then(|first| Some((first, first.one.ranks.as_ref()?))) else {
            continue;
        };
        let all = groups.entry(group).or_insert_with(|| recorded(group, &members));
        // Parts are in the order of members.
        let has_it = |member: &u32| meeting.parts.binary_search_by_key(member, |part| part.member).is_ok();
        if all.len() <= meeting.parts.len() {
            continue;
        }
        for (rank, member) in all.iter().filter(|(_, member)| !has_it(member)) {
            let key = (*member, Arc::clone(group));
            let is_between = |own: &Vec<i64>| {
                let (first, seq, last) = (own.first()?, first.one.facts.seq?, own.last()?);
                Some(own.binary_search(&seq).is_err() && *first < seq && seq < *last)
            };
            if numbers.get(&key).is_none_or(|own| is_between(own) == Some(true)) {
                let row = LackingRow { rank: *rank, ..row(meeting, first) };
                let place = (*rank, row.group.0.clone(), row.collective.clone());
                rows.entry(place).or_insert(row).count += 1;
            }
        }
    }
    rows.into_values().collect()
}

/// The numbers of all communications of each member by group, selected or not.
fn own_numbers(ranks: &JobRanks) -> OwnNumbers {
    let mut numbers = OwnNumbers::default();
    for (member, one) in ranks.members.iter().enumerate() {
        for call in &one.collectives().rows {
            if let Some(group) = &call.ranks {
                numbers.entry((member as u32, Arc::clone(group))).or_default().extend(call.facts.seq);
            }
        }
    }
    numbers.values_mut().for_each(|own| sort::ascending(own));
    numbers
}

/// Whether all ranks of the group must call it: not a message between two, and not one that failed.
fn is_of_all(meeting: &JobCollective<'_>) -> bool {
    let is_p2p = |part: &Participant<'_>| part.one.pattern.is_none_or(CollectivePattern::is_p2p);
    meeting.parts.iter().all(|part| !is_p2p(part) && !part.one.is_failed && part.one.ranks.is_some())
}

/// The member of each rank; `None` if a rank has several traces.
fn members_by_rank(ranks: &JobRanks) -> Option<BTreeMap<i64, u32>> {
    let mut members = BTreeMap::new();
    for (member, one) in ranks.members.iter().enumerate() {
        if one.rank.is_some_and(|rank| members.insert(rank, member as u32).is_some()) {
            return None;
        }
    }
    Some(members)
}

/// The ranks of a group that have a trace, with their members.
fn recorded(group: &GroupRanks, members: &BTreeMap<i64, u32>) -> Vec<(i64, u32)> {
    let found = |(rank, member): (&i64, &u32)| (*rank, *member);
    match group {
        GroupRanks::All(size) => members.range(0..(*size).max(0)).map(found).collect(),
        GroupRanks::Listed(ranks) => {
            let mut all: Vec<_> = ranks.iter().filter_map(|rank| members.get_key_value(rank)).map(found).collect();
            sort::by_key(&mut all, |(rank, _)| *rank);
            all
        }
    }
}

fn row(meeting: &JobCollective<'_>, first: &Participant<'_>) -> LackingRow {
    let events = &first.linked.trace.events;
    let event = first.one.first_event();
    LackingRow {
        rank: 0,
        collective: meeting.any(|part| part.one.name.clone()),
        group: (
            meeting.any(|part| part.one.group_name(part.linked).map(str::to_owned)),
            meeting.any(|part| part.one.facts.group_desc.clone()),
        ),
        count: 0,
        seq: first.one.facts.seq,
        ranks: meeting.parts.iter().filter_map(|part| part.rank).collect::<Vec<_>>().into(),
        event_id: event.map(|row| i64::from(events.position.at(row as usize))),
    }
}
