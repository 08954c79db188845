//! One row per pair of ranks: the time that one waited for the other.

use rustc_hash::FxHashMap;

use crate::analyze::collective::{AwaitedParticipant, JobCollective};
use crate::sort;
use crate::table::{Table, int};
use crate::time::add_ns;

/// Pairs that are listed: those with the longest waits.
const MAX_PAIRS: usize = 1_000;

/// Waits of a rank for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairRow {
    rank: i64,
    awaited: i64,
    count: u64,
    wait_ns: i64,
    max_wait_ns: i64,
}

pub(crate) static TABLE: Table<Vec<PairRow>> = Table {
    name: "waiting_pairs",
    doc: "a rank that waited at communications for another one; the 1,000 pairs with the longest waits",
    num_rows: Vec::len,
    columns: &[
        int("rank", |rows, at| Some(rows[at].rank)),
        int("awaited_rank", |rows, at| Some(rows[at].awaited)),
        int("count", |rows, at| Some(rows[at].count as i64)),
        int("wait_ns", |rows, at| Some(rows[at].wait_ns)),
        int("max_wait_ns", |rows, at| Some(rows[at].max_wait_ns)),
    ],
};

/// The pairs with the longest waits.
pub(super) fn rows(meetings: &[JobCollective<'_>]) -> Vec<PairRow> {
    let mut pairs: FxHashMap<(i64, i64), PairRow> = FxHashMap::default();
    for (rank, awaited, wait_ns) in meetings.iter().flat_map(waits) {
        let new = PairRow { rank, awaited, count: 0, wait_ns: 0, max_wait_ns: 0 };
        let pair = pairs.entry((rank, awaited)).or_insert(new);
        pair.count += 1;
        pair.max_wait_ns = pair.max_wait_ns.max(wait_ns);
        add_ns(&mut pair.wait_ns, wait_ns);
    }
    let mut rows: Vec<_> = pairs.into_values().collect();
    sort::by_key(&mut rows, |row| (std::cmp::Reverse(row.wait_ns), row.rank, row.awaited));
    rows.truncate(MAX_PAIRS);
    rows
}

/// The waits in a communication: who waited, for whom, and for how long.
pub(super) fn waits(meeting: &JobCollective<'_>) -> Vec<(i64, i64, i64)> {
    let (Some(waits), Some((_, last))) = (meeting.waits_ns(), meeting.ends()) else { return Vec::new() };
    let waited = |(part, wait_ns): (&_, i64)| {
        let awaited = match meeting.awaited(part)? {
            AwaitedParticipant::Last => last.rank,
            AwaitedParticipant::Part(at) => meeting.parts[at].rank,
            AwaitedParticipant::Nobody => None,
        };
        Some((part.rank?, awaited?, wait_ns)).filter(|(rank, awaited, ns)| rank != awaited && *ns > 0)
    };
    meeting.parts.iter().zip(waits).filter_map(waited).collect()
}
