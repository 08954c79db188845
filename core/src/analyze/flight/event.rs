//! Finds the events of recorded calls in traces of the same run.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::dump::RankedDump;
use super::job::FlightJob;
use super::operation::FlightOperation;
use crate::analyze::job::RankedTrace;
use crate::analyze::result::AnalysisResult;
use crate::flight::FlightEntry;
use crate::link::rank::windows;
use crate::link::{Collective, LinkedTrace};
use crate::sort;
use crate::table::{Table, int, put_name, text, uint};
use crate::trace::collective::CollectivePattern;

/// An entry and its event are written at the same call: further apart, they are of other runs.
const MAX_APART_NS: u64 = 1_000_000_000;

/// So many calls before an entry may still be open.
const MAX_OPEN: usize = 64;

/// An entry of a dump with its events in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FlightEventRow {
    rank: i64,
    window: i64,
    entry: u32,
    collective: Option<u32>,
    event_id: i64,
    node_id: Option<u64>,
    device_event_id: Option<i64>,
    method: &'static str,
}

static TABLE: Table<Vec<FlightEventRow>> = Table {
    name: "flight_events",
    doc: "an entry of a flight recorder with its event in the trace of the same rank",
    num_rows: Vec::len,
    columns: &[
        int("rank", |rows, at| Some(rows[at].rank)),
        int("window", |rows, at| Some(rows[at].window)),
        int("entry_id", |rows, at| Some(i64::from(rows[at].entry))),
        int("collective_id", |rows, at| rows[at].collective.map(i64::from)),
        int("event_id", |rows, at| Some(rows[at].event_id)),
        uint("node_id", |rows, at| rows[at].node_id),
        int("device_event_id", |rows, at| rows[at].device_event_id),
        text("method", |rows, at, out| put_name(out, rows[at].method)),
    ],
};

/// Finds the event of each entry, in the trace of its rank.
///
/// A collective is found by the name of its process group and its sequence number. Both files must
/// have as many calls of that number, of the same patterns, written within a second. Backends that
/// write no sequence numbers to traces are found by time: the only such call in which the entry was
/// made. So are sends and receives, whose numbers differ between both files. Other entries have no
/// row.
pub fn flight_events(job: &FlightJob, traces: &[RankedTrace]) -> AnalysisResult {
    let ranks: Vec<_> = traces.iter().map(|(rank, _)| *rank).collect();
    let mut rows = Vec::new();
    for ((rank, linked), window) in traces.iter().zip(windows(&ranks)) {
        let Some(dump) = job.calls.dumps.iter().position(|dump| Some(dump.rank) == *rank) else { continue };
        rows.extend(TraceCalls::new(linked).rows(job, dump, window));
    }
    sort::by_key(&mut rows, |row| (row.rank, row.window, row.entry));
    AnalysisResult::of(&TABLE, rows, "no entry is known to have an event in these traces")
}

/// The communications of a trace, to look up by number and by time.
struct TraceCalls<'a> {
    linked: &'a Arc<LinkedTrace>,
    rows: Vec<&'a Collective>,
    by_seq: FxHashMap<(&'a str, i64), Vec<usize>>,
    /// Start and row, ascending.
    by_start: Vec<(i64, usize)>,
}

impl<'a> TraceCalls<'a> {
    fn new(linked: &'a Arc<LinkedTrace>) -> Self {
        let mut all = Self { linked, rows: Vec::new(), by_seq: FxHashMap::default(), by_start: Vec::new() };
        for one in &linked.collectives().rows {
            let Some(host) = one.event.or(one.run) else { continue };
            let at = all.rows.len();
            all.rows.push(one);
            // Sends and receives have the number of the next collective.
            let seq = one.facts.seq.filter(|_| !one.pattern.is_some_and(CollectivePattern::is_p2p));
            match one.group_name(linked).zip(seq) {
                Some(key) => all.by_seq.entry(key).or_default().push(at),
                None => all.by_start.push((linked.trace.events.start.at(host as usize).0, at)),
            }
        }
        all.by_start.sort_unstable();
        all
    }

    fn rows(&self, job: &FlightJob, at: usize, window: i64) -> Vec<FlightEventRow> {
        let dump = &job.calls.dumps[at];
        let mut collectives: FxHashMap<u32, u32> = FxHashMap::default();
        for (collective, row) in job.collectives.iter().zip(0..) {
            collectives.extend(job.calls.calls_of(collective, at as u32).iter().map(|call| (call.entry, row)));
        }
        let mut numbered: FxHashMap<(&str, i64), Vec<u32>> = FxHashMap::default();
        let mut pairs: Vec<(u32, usize, &'static str)> = Vec::new();
        for (entry, row) in dump.recorder.entries.iter().zip(0..) {
            let group = job.calls.entry_groups[at][row as usize];
            let group = group.map_or("", |group| job.calls.groups[group as usize].name.as_str());
            let seq = entry.collective_seq.filter(|_| collectives.contains_key(&row));
            match seq.filter(|seq| self.by_seq.contains_key(&(group, *seq))) {
                Some(seq) => numbered.entry((group, seq)).or_default().push(row),
                None => pairs.extend(self.at_time(dump, entry, group).map(|found| (row, found, "time"))),
            }
        }
        // Two entries in one call: nothing tells which of them it made.
        let mut counts: FxHashMap<usize, u32> = FxHashMap::default();
        pairs.iter().for_each(|(_, found, _)| *counts.entry(*found).or_default() += 1);
        pairs.retain(|(_, found, _)| counts[found] == 1);
        for (key, entries) in numbered {
            let found = &self.by_seq[&key];
            let both = || entries.iter().copied().zip(found.iter().copied());
            if entries.len() == found.len() && both().all(|(row, found)| self.may_be(dump, row, found)) {
                pairs.extend(both().map(|(row, found)| (row, found, "sequence")));
            }
        }
        let row = |(entry, found, method)| {
            Some(FlightEventRow { method, ..self.row(found, dump.rank, window, (entry, collectives.get(&entry)))? })
        };
        pairs.into_iter().filter_map(row).collect()
    }

    fn row(
        &self,
        found: usize,
        rank: i64,
        window: i64,
        (entry, collective): (u32, Option<&u32>),
    ) -> Option<FlightEventRow> {
        let one = self.rows[found];
        let trace = &self.linked.trace;
        let id = |row: u32| i64::from(trace.events.position.at(row as usize));
        Some(FlightEventRow {
            rank,
            window,
            entry,
            collective: collective.copied(),
            event_id: id(one.event.or(one.run)?),
            node_id: one.node.map(|node| trace.nodes[node as usize].id),
            device_event_id: one.device_events.first().copied().map(id),
            method: "",
        })
    }

    /// Whether an entry was made near the start of a call of the same pattern, as far as both tell.
    fn may_be(&self, dump: &RankedDump, row: u32, found: usize) -> bool {
        let entry = dump.entry(row);
        let pattern = FlightOperation::parse(dump.text(entry.name)).pattern();
        if pattern.zip(self.rows[found].pattern).is_some_and(|(one, other)| one != other) {
            return false;
        }
        let Some(host) = self.rows[found].event.or(self.rows[found].run) else { return false };
        let start = self.linked.trace.events.start.at(host as usize).0;
        let is_dated = self.linked.trace.base_ns > 0;
        entry.created_ns.filter(|_| is_dated).is_none_or(|created| created.abs_diff(start) <= MAX_APART_NS)
    }

    /// The only call of the same operation, and of the group if it has one, that was open as an
    /// entry was made.
    fn at_time(&self, dump: &RankedDump, entry: &FlightEntry, group: &str) -> Option<usize> {
        let created = entry.created_ns.filter(|_| self.linked.trace.base_ns > 0)?;
        let pattern = FlightOperation::parse(dump.text(entry.name)).pattern()?;
        let end = self.by_start.partition_point(|(start, _)| *start <= created);
        let is_open = |row: &usize| {
            let one = self.rows[*row];
            let is_same = one.pattern == Some(pattern) && one.group_name(self.linked).is_none_or(|name| name == group);
            let events = &self.linked.trace.events;
            is_same && one.event.or(one.run).is_some_and(|host| created <= events.end(host as usize).0)
        };
        let open = self.by_start[end.saturating_sub(MAX_OPEN)..end].iter().map(|(_, row)| *row);
        let mut open = open.filter(is_open);
        open.next().filter(|_| open.next().is_none())
    }
}
