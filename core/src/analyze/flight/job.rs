//! Dumps of several ranks of one job.

use std::sync::Arc;

use super::call::{CallStatus, FlightCalls, FlightCollective};
use super::dump::RankedDump;
use super::finding::{FlightFacts, FlightFinding};
use super::problem::FlightProblem;
use super::transfer::{FlightTransfer, transfers};
use crate::flight::FlightRecorder;

/// Dumps of the flight recorder by rank, compared: each collective and each send with all ranks
/// that enqueued it, and the first problems of each group.
///
/// ```
/// use kinetoscope::analyze::FlightJob;
/// use kinetoscope::{Input, Limits, Recording, read_file};
/// let dump = |entries: &str| {
///     let group = r#"{"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}"#;
///     let json = format!(r#"{{"version": "2.10", "pg_config": {group}, "entries": [{entries}]}}"#);
///     match read_file(Input::new(json.as_bytes()), Limits::default()).unwrap() {
///         Recording::FlightRecorder(recorder) => (*recorder).into(),
///         _ => unreachable!(),
///     }
/// };
/// let entry = |number: i64| {
///     format!(r#"{{"record_id": {number}, "process_group": ["0", "default_pg"], "collective_seq_id": {number},
///         "profiling_name": "gloo:all_reduce", "state": "completed"}}"#)
/// };
/// let job = FlightJob::new(vec![(0, dump(&[entry(1), entry(2)].join(","))), (1, dump(&entry(1)))]);
/// assert_eq!(job.verdict(), "differ");
/// assert_eq!(job.messages().collect::<Vec<_>>(), ["group 0 (default_pg), collective 2: rank 1 never enqueued all_reduce"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct FlightJob {
    pub(super) calls: FlightCalls,
    pub(super) collectives: Vec<FlightCollective>,
    /// The gravest problem of each collective.
    pub(super) problems: Vec<Option<FlightProblem>>,
    pub(super) transfers: Vec<FlightTransfer>,
    pub(super) findings: Vec<FlightFinding>,
    /// The first row of each collective among the calls of all ranks, and their number.
    pub(super) starts: Vec<usize>,
}

impl FlightJob {
    /// Compares dumps; of a rank with several, the first counts.
    pub fn new(mut dumps: Vec<(i64, Arc<FlightRecorder>)>) -> Self {
        dumps.sort_by_key(|(rank, _)| *rank);
        dumps.dedup_by_key(|(rank, _)| *rank);
        let calls = FlightCalls::new(dumps.into_iter().map(|(rank, dump)| RankedDump::new(rank, dump)).collect());
        let collectives = calls.collectives();
        let problem = |collective| calls.differences(collective).first().map(|difference| difference.problem);
        let problems: Vec<_> = collectives.iter().map(problem).collect();
        let transfers = transfers(&calls);
        let facts =
            FlightFacts { calls: &calls, collectives: &collectives, problems: &problems, transfers: &transfers };
        let findings = facts.findings();
        let mut starts = vec![0];
        let mut end = 0;
        starts.extend(collectives.iter().map(|collective| {
            end += calls.group(collective).dumps.len();
            end
        }));
        Self { calls, collectives, problems, transfers, findings, starts }
    }

    /// `differ`, `pending` (alike, but not completed), `agree`, or `unknown` if no collective and
    /// no send has two ranks to compare.
    pub fn verdict(&self) -> &'static str {
        let has = |wanted: fn(FlightProblem) -> bool| self.findings.iter().any(|finding| wanted(finding.problem));
        let is_compared = |collective| {
            let all = self.calls.ranks_with(collective, CallStatus::Enqueued).len();
            all > 1
        };
        if has(|problem| problem < FlightProblem::Pending) {
            "differ"
        } else if has(|problem| problem == FlightProblem::Pending) {
            "pending"
        } else if self.collectives.iter().any(is_compared) || self.transfers.iter().any(FlightTransfer::is_pair) {
            "agree"
        } else {
            "unknown"
        }
    }

    /// Verdict, ranks and messages as a JSON object.
    pub fn metadata_json(&self) -> String {
        let ranks: Vec<_> = self.ranks().collect();
        let messages: Vec<_> = self.messages().collect();
        serde_json::json!({"verdict": self.verdict(), "ranks": ranks, "messages": messages}).to_string()
    }

    /// All findings in words.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().map(|finding| finding.message.as_str())
    }

    /// Ranks with a dump, ascending.
    pub fn ranks(&self) -> impl Iterator<Item = i64> + '_ {
        self.calls.dumps.iter().map(|dump| dump.rank)
    }
}

impl FlightTransfer {
    fn is_pair(&self) -> bool {
        self.send.is_some() && self.recv.is_some()
    }
}
