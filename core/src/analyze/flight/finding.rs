//! The first problems of each group, in words.

use std::borrow::Cow;

use super::call::{CallStatus, FlightCalls, FlightCollective};
use super::difference::cut;
use super::problem::FlightProblem;
use super::rank_words::rank_words;
use super::transfer::FlightTransfer;
use crate::sort;
use crate::warning::{Severity, WarningKind};

/// A problem between ranks.
#[derive(Debug, Clone)]
pub(super) struct FlightFinding {
    pub(super) problem: FlightProblem,
    pub(super) group: Option<u32>,
    /// Row of the collective.
    pub(super) collective: Option<u32>,
    /// Row of the send or receive.
    pub(super) transfer: Option<u32>,
    /// The time since 1970 at which the first rank enqueued it.
    pub(super) created_ns: Option<i64>,
    /// Ranks that lag or differ, ascending.
    pub(super) ranks: Vec<i64>,
    pub(super) message: String,
}

impl FlightFinding {
    /// One about dumps as a whole.
    fn about_dumps(problem: FlightProblem, ranks: Vec<i64>, message: String) -> Self {
        Self { problem, group: None, collective: None, transfer: None, created_ns: None, ranks, message }
    }
}

/// Everything that findings rest on.
pub(super) struct FlightFacts<'a> {
    pub(super) calls: &'a FlightCalls,
    pub(super) collectives: &'a [FlightCollective],
    /// The problem of each collective.
    pub(super) problems: &'a [Option<FlightProblem>],
    pub(super) transfers: &'a [FlightTransfer],
}

impl FlightFacts<'_> {
    /// Findings of all groups: differences first, then calls that nobody completed; the earliest
    /// first, as a difference in one group holds up others.
    ///
    /// A group has the first collective at which its ranks differ, as all later differences may
    /// follow from it. If there the ranks are only not equally far, it also has the first other
    /// difference.
    pub(super) fn findings(&self) -> Vec<FlightFinding> {
        let mut all = Vec::new();
        let mut start = 0;
        for rows in self.collectives.chunk_by(|one, next| one.group == next.group) {
            self.add_group(start, rows, &mut all);
            start += rows.len();
        }
        let mut start = 0;
        for transfers in self.transfers.chunk_by(|one, next| one.group == next.group) {
            let first = (start..start + transfers.len()).find(|row| self.transfers[*row].problem.is_some());
            all.extend(first.and_then(|row| self.of_transfer(row)));
            start += transfers.len();
        }
        let order = |finding: &FlightFinding| {
            (finding.problem == FlightProblem::Pending, finding.created_ns.is_none(), finding.created_ns)
        };
        sort::by_key(&mut all, order);
        all.extend(self.without_dump());
        all.extend(self.without_entries());
        all.extend(self.defects());
        all
    }

    fn add_group(&self, start: usize, rows: &[FlightCollective], all: &mut Vec<FlightFinding>) {
        let places = start..start + rows.len();
        let first = places.clone().find(|row| self.problems[*row].is_some());
        let pending = places.clone().take_while(|row| self.problems[*row].is_none()).find(|row| self.is_pending(*row));
        let is_grave = |row: &usize| self.problems[*row].is_some_and(|problem| problem < FlightProblem::State);
        let grave = places.clone().find(is_grave).filter(|row| Some(*row) != first);
        all.extend(first.into_iter().chain(grave).filter_map(|row| self.of_collective(row)));
        all.extend(pending.map(|row| self.of_pending(row)));
    }

    /// Whether all ranks with a dump enqueued a collective, and none completed it.
    fn is_pending(&self, row: usize) -> bool {
        let collective = &self.collectives[row];
        let is_open = |state: Option<&str>| matches!(state, Some("scheduled" | "started"));
        let mut parts = self.calls.by_dump(collective);
        parts.all(|calls| calls.last().is_some_and(|call| is_open(self.calls.state(call))))
            && self.calls.by_dump(collective).count() == self.calls.group(collective).dumps.len()
    }

    fn of_pending(&self, row: usize) -> FlightFinding {
        let collective = &self.collectives[row];
        let ranks = self.calls.ranks_with(collective, CallStatus::Enqueued);
        let kind = self.calls.first_kind(collective).unwrap_or(Cow::Borrowed("it"));
        let message =
            format!("{}: {} enqueued {}, and none completed it", self.place(row), rank_words(&ranks), cut(&kind));
        FlightFinding { ranks, message, ..self.about(row, FlightProblem::Pending) }
    }

    fn of_collective(&self, row: usize) -> Option<FlightFinding> {
        let differences = self.calls.differences(&self.collectives[row]);
        let first = differences.first()?;
        let words: Vec<_> = differences.iter().map(|difference| difference.message.as_str()).collect();
        let message = format!("{}: {}", self.place(row), words.join("; "));
        Some(FlightFinding { ranks: first.ranks.clone(), message, ..self.about(row, first.problem) })
    }

    fn of_transfer(&self, row: usize) -> Option<FlightFinding> {
        let transfer = &self.transfers[row];
        let (rank, message) = self.calls.transfer_message(transfer)?;
        Some(FlightFinding {
            problem: transfer.problem?,
            group: Some(transfer.group),
            collective: None,
            transfer: Some(row as u32),
            created_ns: [transfer.send, transfer.recv]
                .into_iter()
                .flatten()
                .filter_map(|place| self.calls.entry_at(place).created_ns)
                .min(),
            ranks: rank.into_iter().collect(),
            message: format!("{}: {message}", self.calls.groups[transfer.group as usize].words()),
        })
    }

    /// Ranks of known groups without a dump.
    fn without_dump(&self) -> Option<FlightFinding> {
        let known: Vec<i64> = self.calls.dumps.iter().map(|dump| dump.rank).collect();
        let ranks = self.calls.groups.iter().filter_map(|group| group.ranks.as_ref()).flat_map(|ranks| ranks.iter());
        let ranks = sort::distinct(ranks.copied().filter(|rank| known.binary_search(rank).is_err()));
        let whose = if ranks.len() == 1 { "its" } else { "their" };
        let message = format!("no dump of {}: {whose} calls are unknown", rank_words(&ranks));
        (!ranks.is_empty()).then(|| FlightFinding::about_dumps(FlightProblem::NoDump, ranks, message))
    }

    /// Ranks with an empty dump. They count as ranks that enqueued nothing, which nothing proves.
    fn without_entries(&self) -> Option<FlightFinding> {
        let ranks: Vec<i64> = self.calls.dumps.iter().filter(|dump| dump.is_empty()).map(|dump| dump.rank).collect();
        let (dump, has, they) = if ranks.len() == 1 { ("dump", "has", "it") } else { ("dumps", "have", "they") };
        let words = rank_words(&ranks);
        let message = format!("the {dump} of {words} {has} no entries: {they} enqueued nothing or did not record");
        (!ranks.is_empty()).then(|| FlightFinding::about_dumps(FlightProblem::EmptyDump, ranks, message))
    }

    /// Defects of dumps by kind: they may hide differences.
    fn defects(&self) -> Vec<FlightFinding> {
        let mut kinds: Vec<(WarningKind, Vec<i64>)> = Vec::new();
        for dump in &self.calls.dumps {
            let defects = dump.recorder.warnings.iter().filter(|warning| warning.kind.severity() == Severity::Defect);
            for kind in defects.map(|warning| warning.kind) {
                match kinds.iter_mut().find(|(other, _)| *other == kind) {
                    Some((_, ranks)) => ranks.push(dump.rank),
                    None => kinds.push((kind, vec![dump.rank])),
                }
            }
        }
        let finding = |(kind, ranks): (WarningKind, Vec<i64>)| {
            let dump = if ranks.len() == 1 { "dump" } else { "dumps" };
            let message = format!("the {dump} of {}: {}", rank_words(&ranks), kind.message());
            FlightFinding::about_dumps(FlightProblem::Unreadable, ranks, message)
        };
        kinds.into_iter().map(finding).collect()
    }

    fn about(&self, row: usize, problem: FlightProblem) -> FlightFinding {
        let calls = self.calls.by_dump(&self.collectives[row]).flatten();
        FlightFinding {
            problem,
            group: Some(self.collectives[row].group),
            collective: Some(row as u32),
            transfer: None,
            created_ns: calls.filter_map(|call| self.calls.entry(call).created_ns).min(),
            ranks: Vec::new(),
            message: String::new(),
        }
    }

    /// Group and number of a collective in words.
    fn place(&self, row: usize) -> String {
        let collective = &self.collectives[row];
        format!("{}, collective {}", self.calls.group(collective).words(), collective.seq)
    }
}
