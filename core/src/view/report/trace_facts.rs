//! Facts about a trace that a report tells beside its analyses.

use serde::{Deserialize, Serialize};

use super::edit_counts::edits;
use super::recording_facts::RecordingFacts;
use crate::analyze::{HealthRow, LinkCoverage, LinkedShare, Problem, TimeOutline, VerdictState};
use crate::view::session_trace::SessionTrace;

/// Facts about a trace, which stand for it where a worker holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TraceFacts {
    pub(super) rank: Option<i64>,
    pub(super) is_trimmed: bool,
    pub(super) time: TraceTime,
    pub(super) state: VerdictState,
    pub(super) problems: Vec<ShownProblem>,
    pub(super) defects: Vec<ShownDefect>,
    /// Linked rows and all rows, in the order of [`LINKS`].
    pub(super) links: [(u64, u64); LINKS.len()],
    /// Rows by kind of edit.
    pub(super) edits: Vec<(String, u64)>,
    pub(super) recording: RecordingFacts,
}

/// The ends of links, those that need no Execution Trace first.
pub(super) const LINKS: [&str; 5] = [
    "kernels, copies and fills with a launch",
    "kernels, copies and fills with an operator",
    "work of graphs with its capture or a label",
    "operators with an Execution Trace node",
    "Execution Trace nodes with an operator",
];

/// Of [`LINKS`], those that need no Execution Trace.
const NUM_DEVICE_LINKS: usize = 3;

/// Time of a trace, as far as a job's report tells it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TraceTime {
    pub(super) num_events: u64,
    pub(super) num_nodes: u64,
    pub(super) duration_ns: i64,
    pub(super) has_iterations: bool,
    pub(super) mean_iteration_ns: Option<i64>,
    /// Share of busy time of each device.
    pub(super) busy_shares: Vec<f64>,
    /// Share of exposed communication of each device.
    pub(super) exposed_shares: Vec<f64>,
}

/// A problem in words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ShownProblem {
    pub(super) state: VerdictState,
    pub(super) message: String,
    pub(super) advice: String,
}

/// A kind of defect in words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ShownDefect {
    pub(super) message: String,
    pub(super) count: u64,
    /// The first place; empty where it has none.
    pub(super) first: String,
}

impl TraceFacts {
    pub(super) fn of(part: &SessionTrace, outline: &TimeOutline) -> Self {
        let verdict = part.verdict();
        let (defects, coverage) = part.health_and_coverage();
        Self {
            rank: part.rank,
            is_trimmed: part.extent.is_some(),
            time: TraceTime::of(outline),
            state: verdict.state,
            problems: verdict.problems.iter().filter(|problem| problem.is_shown).map(ShownProblem::of).collect(),
            defects: defects.iter().map(ShownDefect::of).collect(),
            links: links(coverage),
            edits: edits(&part.linked.trace),
            recording: RecordingFacts::of(&part.linked.trace, outline.start_ns),
        }
    }
}

impl TraceTime {
    /// Whether the recording holds neither events nor nodes.
    pub(super) fn is_empty(&self) -> bool {
        self.num_events == 0 && self.num_nodes == 0
    }

    fn of(outline: &TimeOutline) -> Self {
        let exposed = |ns: i64| ns as f64 / outline.duration_ns.max(1) as f64;
        Self {
            num_events: outline.num_events,
            num_nodes: outline.num_nodes,
            duration_ns: outline.duration_ns,
            has_iterations: !outline.iterations.is_empty(),
            mean_iteration_ns: outline.iteration_time.as_ref().map(|time| time.mean_ns),
            busy_shares: outline.devices.iter().map(|device| device.busy_share).collect(),
            exposed_shares: outline.breakdown.iter().map(|row| exposed(row.exposed_communication_ns)).collect(),
        }
    }
}

impl ShownProblem {
    fn of(problem: &Problem) -> Self {
        Self { state: problem.state, message: problem.message.clone(), advice: problem.advice.to_owned() }
    }
}

impl ShownDefect {
    fn of(row: &HealthRow) -> Self {
        Self { message: row.message.to_owned(), count: row.count, first: row.first.clone() }
    }
}

/// Links of nodes count only where there are nodes.
fn links(coverage: &LinkCoverage) -> [(u64, u64); LINKS.len()] {
    let LinkCoverage { device_events, device_owners, graph_work, operators, nodes, .. } = coverage;
    let has_nodes = nodes.count > 0;
    let mut at = 0;
    [device_events, device_owners, graph_work, operators, nodes].map(|share: &LinkedShare| {
        at += 1;
        if at <= NUM_DEVICE_LINKS || has_nodes { (share.num_linked, share.count) } else { (0, 0) }
    })
}
