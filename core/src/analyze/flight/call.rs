//! Calls of collectives, in the order of groups, sequence numbers and ranks.

use std::borrow::Cow;
use std::ops::Range;

use super::dump::RankedDump;
use super::group::FlightJobGroup;
use super::job_groups::JobGroups;
use super::operation::FlightOperation;
use super::unknown_calls::UnknownCalls;
use crate::flight::FlightEntry;
use crate::id::StrId;

/// An entry of a dump that is a part of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FlightCall {
    pub(super) group: u32,
    pub(super) seq: i64,
    pub(super) dump: u32,
    pub(super) entry: u32,
}

/// A collective: the calls of all ranks with one sequence number.
#[derive(Debug, Clone)]
pub(super) struct FlightCollective {
    pub(super) group: u32,
    pub(super) seq: i64,
    pub(super) calls: Range<u32>,
}

/// The status of a rank in a collective, as far as its dump tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallStatus {
    /// The dump has it.
    Enqueued,
    /// The rank never enqueued it.
    Missing,
    /// The dump lost it, or may have.
    NotRecorded,
}

impl CallStatus {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Enqueued => "enqueued",
            Self::Missing => "missing",
            Self::NotRecorded => "not_recorded",
        }
    }
}

/// Dumps, their groups, and the calls of all collectives.
#[derive(Debug, Clone, Default)]
pub(super) struct FlightCalls {
    pub(super) dumps: Vec<RankedDump>,
    pub(super) groups: Vec<FlightJobGroup>,
    pub(super) calls: Vec<FlightCall>,
    /// The group of each entry of each dump; `None` where it is unreadable.
    pub(super) entry_groups: Vec<Vec<Option<u32>>>,
    unknown: UnknownCalls,
}

impl FlightCalls {
    pub(super) fn new(dumps: Vec<RankedDump>) -> Self {
        let mut groups = JobGroups::new(&dumps);
        let (mut calls, mut entry_groups) = (Vec::new(), Vec::with_capacity(dumps.len()));
        let mut unknown = UnknownCalls::default();
        for (dump, at) in dumps.iter().zip(0..) {
            let mut own = Vec::with_capacity(dump.recorder.entries.len());
            for (entry, row) in dump.recorder.entries.iter().zip(0..) {
                let group = (!entry.has_unknown_group).then(|| groups.of_entry(at, dump, entry));
                own.push(group);
                let is_p2p = dump.is_p2p(entry);
                match group.zip(entry.collective_seq).filter(|_| is_p2p.is_some()) {
                    _ if is_p2p == Some(true) => {}
                    Some((group, seq)) => calls.push(FlightCall { group, seq, dump: at, entry: row }),
                    None => unknown.push(at, group, row),
                }
            }
            dump.recorder.unreadable.iter().for_each(|row| unknown.push(at, None, *row));
            entry_groups.push(own);
        }
        calls.sort_unstable();
        unknown.sort();
        let mut all = Self { dumps, groups: groups.groups, calls, entry_groups, unknown };
        all.note_recorded();
        all
    }

    /// Notes the first and the last collective of each dump in each group, and the last one that it
    /// may have.
    fn note_recorded(&mut self) {
        for (group, number) in self.groups.iter_mut().zip(0..) {
            let start = self.calls.partition_point(|call| call.group < number);
            let of_group = self.calls[start..].iter().take_while(|call| call.group == number);
            if group.ranks.is_none() {
                group.dumps.extend(of_group.clone().map(|call| call.dump));
                group.dumps.sort_unstable();
                group.dumps.dedup();
            }
            group.recorded = vec![None; group.dumps.len()];
            let mut last_rows: Vec<Option<u32>> = vec![None; group.dumps.len()];
            let first = of_group.clone().next().map_or(0, |call| call.seq);
            for call in of_group {
                let Ok(at) = group.dumps.binary_search(&call.dump) else { continue };
                let known = group.recorded[at].unwrap_or([call.seq; 2]);
                group.recorded[at] = Some([known[0].min(call.seq), known[1].max(call.seq)]);
                last_rows[at] = last_rows[at].max(Some(call.entry));
            }
            let last_possible = |(at, dump): (usize, &u32)| {
                let num_unknown = self.unknown.count_after(*dump, number, last_rows[at]);
                self.dumps[*dump as usize].last_possible(group.recorded[at], first, num_unknown)
            };
            group.last_possible = group.dumps.iter().enumerate().map(last_possible).collect();
        }
    }

    /// All collectives, in the order of their calls.
    pub(super) fn collectives(&self) -> Vec<FlightCollective> {
        let mut all: Vec<FlightCollective> = Vec::new();
        for (call, at) in self.calls.iter().zip(0..) {
            match all.last_mut().filter(|last| (last.group, last.seq) == (call.group, call.seq)) {
                Some(last) => last.calls.end = at + 1,
                None => all.push(FlightCollective { group: call.group, seq: call.seq, calls: at..at + 1 }),
            }
        }
        all
    }

    pub(super) fn group(&self, collective: &FlightCollective) -> &FlightJobGroup {
        &self.groups[collective.group as usize]
    }

    /// The calls of each rank that has some.
    pub(super) fn by_dump(&self, collective: &FlightCollective) -> impl Iterator<Item = &[FlightCall]> {
        let calls = &self.calls[collective.calls.start as usize..collective.calls.end as usize];
        calls.chunk_by(|one, next| one.dump == next.dump)
    }

    /// The calls of one dump; none where it has none.
    pub(super) fn calls_of(&self, collective: &FlightCollective, dump: u32) -> &[FlightCall] {
        let calls = &self.calls[collective.calls.start as usize..collective.calls.end as usize];
        let start = calls.partition_point(|call| call.dump < dump);
        let num = calls[start..].partition_point(|call| call.dump == dump);
        &calls[start..start + num]
    }

    /// The status of one rank of the group in a collective, by its place in the group's dumps.
    pub(super) fn status(&self, collective: &FlightCollective, at: usize) -> CallStatus {
        let group = self.group(collective);
        let dump = group.dumps[at];
        if !self.calls_of(collective, dump).is_empty() {
            return CallStatus::Enqueued;
        }
        if group.never_enqueued(at, collective.seq) { CallStatus::Missing } else { CallStatus::NotRecorded }
    }

    /// Ranks whose dumps tell the same about a collective.
    pub(super) fn ranks_with(&self, collective: &FlightCollective, status: CallStatus) -> Vec<i64> {
        let dumps = self.group(collective).dumps.iter().enumerate();
        let those = dumps.filter(|(at, _)| self.status(collective, *at) == status);
        those.map(|(_, dump)| self.dumps[*dump as usize].rank).collect()
    }

    pub(super) fn dump(&self, call: &FlightCall) -> &RankedDump {
        &self.dumps[call.dump as usize]
    }

    pub(super) fn entry(&self, call: &FlightCall) -> &FlightEntry {
        self.dump(call).entry(call.entry)
    }

    pub(super) fn operation(&self, call: &FlightCall) -> FlightOperation<'_> {
        FlightOperation::parse(self.dump(call).text(self.entry(call).name))
    }

    /// The calls of each rank that tells its operation. A rank with fewer calls than others may
    /// have them among its unknown entries.
    pub(super) fn with_known_kind(&self, collective: &FlightCollective) -> Vec<&[FlightCall]> {
        let most = self.by_dump(collective).map(<[FlightCall]>::len).max().unwrap_or(0);
        let is_named = |call: &FlightCall| self.entry(call).name != StrId::EMPTY;
        let is_all = |calls: &[FlightCall]| {
            calls.len() == most || !self.unknown.has(calls.first().map_or(0, |call| call.dump), collective.group)
        };
        self.by_dump(collective).filter(|calls| calls.iter().all(is_named) && is_all(calls)).collect()
    }

    /// The operation of the first rank that tells it.
    pub(super) fn first_kind(&self, collective: &FlightCollective) -> Option<Cow<'_, str>> {
        self.with_known_kind(collective).first().map(|calls| self.kind(calls))
    }

    /// The operation of one rank; several are one that was coalesced.
    pub(super) fn kind(&self, calls: &[FlightCall]) -> Cow<'_, str> {
        match calls {
            [one] => Cow::Borrowed(self.operation(one).kind),
            several => several.iter().map(|call| self.operation(call).kind).collect::<Vec<_>>().join(" + ").into(),
        }
    }

    /// How far a call came; `None` where its backend does not tell.
    ///
    /// An entry that was retired as `scheduled` is one that nobody watched.
    pub(super) fn state(&self, call: &FlightCall) -> Option<&str> {
        let entry = self.entry(call);
        let state = self.dump(call).text(entry.state);
        let is_watched = entry.is_retired != Some(true) || state == "completed";
        Some(state).filter(|state| !state.is_empty() && is_watched)
    }
}
