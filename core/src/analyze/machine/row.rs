//! One row per kind of communication: inside of machines, or between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::placement::{Placement, Reach};
use crate::analyze::collective::skew::{self, SkewRow};
use crate::analyze::collective::summary::CollectiveTotals;
use crate::analyze::collective::{JobCollective, Participant};
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text};
use crate::trace::group::GroupRanks;

/// All communications of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MachineRow {
    kind: CommunicationKind,
    num_ranks: u64,
    totals: CollectiveTotals,
}

/// Name, size of the group, and whether its ranks share a machine; else why that is unknown.
type CommunicationKind = (Option<String>, Option<i64>, Result<Reach, &'static str>);

/// Ranks, and traces of unknown rank by their members.
type RankSet = BTreeSet<(Option<i64>, u32)>;

pub(super) static TABLE: Table<Vec<MachineRow>> = Table {
    name: "machines",
    doc: "all collectives of one name and group size, inside of machines or between them",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<MachineRow>>] = &[
    text("collective", |rows, at, out| put(out, rows[at].kind.0.as_deref().unwrap_or_default())),
    int("group_size", |rows, at| rows[at].kind.1),
    text("reach", |rows, at, out| rows[at].reach().is_some_and(|reach| put_name(out, reach))),
    int("count", |rows, at| Some(rows[at].totals.count as i64)),
    int("num_ranks", |rows, at| Some(rows[at].num_ranks as i64)),
    int("bytes", |rows, at| rows[at].totals.bytes),
    int("total_ns", |rows, at| rows[at].totals.total_ns),
    int("wait_ns", |rows, at| rows[at].totals.wait_ns),
    int("transfer_ns", |rows, at| rows[at].totals.transfer_ns),
    float("min_bus_gbps", |rows, at| Some(rows[at].totals.bus_gbps?[0])),
    float("median_bus_gbps", |rows, at| Some(rows[at].totals.bus_gbps?[1])),
    float("max_bus_gbps", |rows, at| Some(rows[at].totals.bus_gbps?[2])),
    text("reason", |rows, at, out| rows[at].kind.2.err().is_some_and(|reason| put_name(out, reason))),
];

impl MachineRow {
    fn reach(&self) -> Option<&'static str> {
        self.kind.2.ok()?.name()
    }
}

/// Like communications together, those that took the ranks most time first.
pub(super) fn rows(meetings: &[JobCollective<'_>], placement: &Placement) -> Vec<MachineRow> {
    let mut groups = GroupReaches { placement, known: FxHashMap::default() };
    let mut by_kind: BTreeMap<CommunicationKind, (RankSet, Vec<SkewRow>)> = BTreeMap::new();
    for meeting in meetings {
        let skew = skew::row(meeting);
        let kind = (skew.collective.clone(), skew.group_size, groups.of(meeting));
        let (ranks, skews) = by_kind.entry(kind).or_default();
        ranks.extend(meeting.parts.iter().map(|part| (part.rank, part.rank.map_or(part.member, |_| 0))));
        skews.push(skew);
    }
    let row = |(kind, (ranks, skews)): (CommunicationKind, (RankSet, Vec<SkewRow>))| MachineRow {
        kind,
        num_ranks: ranks.len() as u64,
        totals: CollectiveTotals::of(&skews.iter().collect::<Vec<_>>()),
    };
    let mut rows: Vec<_> = by_kind.into_iter().map(row).collect();
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.totals.total_ns));
    rows
}

/// Whether groups of ranks share a machine; looked up once for each list of a trace.
struct GroupReaches<'a> {
    placement: &'a Placement,
    known: FxHashMap<*const GroupRanks, Reach>,
}

impl GroupReaches<'_> {
    fn of(&mut self, meeting: &JobCollective<'_>) -> Result<Reach, &'static str> {
        let placement = self.placement;
        let (reach, is_whole) = if let Some(ends) = ends(meeting) {
            (placement.of_ranks(ends), true)
        } else if let Some(group) =
            meeting.parts.iter().find_map(|part| part.one.ranks.as_ref()).filter(|_| !is_p2p(meeting))
        {
            let known = self.known.entry(Arc::as_ptr(group));
            (*known.or_insert_with(|| placement.of_group(group)), true)
        } else {
            let ranks: Option<Vec<_>> = meeting.parts.iter().map(|part| part.rank).collect();
            let size = if is_p2p(meeting) { Some(2) } else { meeting.any(|part| part.one.facts.group_size) };
            let is_whole = ranks.as_ref().is_some_and(|ranks| Some(ranks.len() as i64) == size);
            (placement.of_ranks(meeting.parts.iter().filter_map(|part| part.rank)), is_whole)
        };
        match reach {
            Reach::Between => Ok(reach),
            _ if !is_whole => Err("not all ranks that take part are known"),
            Reach::Unplaced => Err("the machines of some ranks are unknown"),
            Reach::Inside => Ok(reach),
        }
    }
}

/// The two ranks of a message.
fn ends(meeting: &JobCollective<'_>) -> Option<[i64; 2]> {
    let end = |get: fn(&Participant<'_>) -> Option<i64>| meeting.any(get);
    is_p2p(meeting).then_some(())?;
    Some([end(|part| part.one.src_rank)?, end(|part| part.one.dst_rank)?])
}

fn is_p2p(meeting: &JobCollective<'_>) -> bool {
    meeting.any(|part| part.one.is_p2p()).unwrap_or(false)
}
