//! What belongs to what: derived columns beside a trace, never inside it.

mod device_time;
mod edge;
mod flow;
mod how;
mod iteration;
mod lane;
mod launch;
mod nesting;
mod record;

use std::sync::OnceLock;

use serde_json::Value;

use crate::error::Position;
use crate::id::OptionalColumn;
use crate::trace::Trace;
use crate::trace::group::{ProcessGroup, process_groups};
use crate::trace::node::Node;
use crate::trace::tensor::{TensorUse, tensor_uses};
use crate::warning::{Warning, WarningKind, Warnings};
pub use device_time::DeviceTime;
pub use edge::{Edge, EdgeKind};
pub use flow::ForwardBackward;
pub use how::How;
pub use iteration::Iteration;
pub use launch::Launched;
pub use nesting::Nesting;
pub use record::RecordLinks;

/// Everything that is derived from one trace, a row an event unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Parents, depths, lanes and the order of each track.
    pub nesting: Nesting,
    /// Row of the host event that enqueued a device event.
    pub launch: OptionalColumn,
    /// The same, from the launch's side.
    pub launched: Launched,
    /// Row of the operator or annotation that owns an event: the innermost around it, or around its launch.
    pub operator: OptionalColumn,
    /// Device time of host events.
    pub device_time: DeviceTime,
    /// Operators and nodes that share a record id.
    pub record: RecordLinks,
    /// Operators of the forward pass with the operators of the backward pass they caused.
    pub forward_backward: Vec<ForwardBackward>,
    /// Iterations in the order of time.
    pub iterations: Vec<Iteration>,
    /// Row in `iterations`.
    pub iteration: OptionalColumn,
    /// What could not be linked and should have been.
    pub warnings: Warnings,
}

/// A trace with its links.
#[derive(Debug, Clone, Default)]
pub struct LinkedTrace {
    /// What was recorded.
    pub trace: Trace,
    /// What was derived.
    pub links: Links,
    tensors: OnceLock<Vec<TensorUse>>,
    edges: OnceLock<Vec<Edge>>,
    groups: OnceLock<Vec<ProcessGroup>>,
    attrs: OnceLock<Vec<Value>>,
}

impl LinkedTrace {
    /// Links a trace.
    pub fn new(trace: Trace) -> Self {
        let links = link(&trace);
        Self { trace, links, ..Self::default() }
    }

    /// Uses of tensors by the Execution Trace's nodes; found when first asked for.
    pub fn tensors(&self) -> &[TensorUse] {
        self.tensors.get_or_init(|| tensor_uses(&self.trace.nodes, &self.trace.strings))
    }

    /// All defects: those of the files, then those found while linking.
    pub fn warnings(&self) -> impl Iterator<Item = &Warning> {
        self.trace.warnings.iter().chain(&self.links.warnings)
    }

    /// The process groups; found when first asked for.
    pub fn process_groups(&self) -> &[ProcessGroup] {
        self.groups.get_or_init(|| process_groups(&self.trace))
    }

    /// What a node has besides its fields, such as the attributes of a communication.
    pub fn node_attr(&self, node: usize, key: &str) -> Option<&Value> {
        let parse = |node: &Node| serde_json::from_str(self.trace.strings.text(node.rest)).unwrap_or_default();
        self.attrs.get_or_init(|| self.trace.nodes.iter().map(parse).collect()).get(node)?.get(key)
    }

    /// All links as edges; listed when first asked for.
    pub fn edge_list(&self) -> &[Edge] {
        self.edges.get_or_init(|| self.edges().collect())
    }

    /// Time in an event that is in none of its children, in nanoseconds; a device event's whole duration.
    pub fn self_ns(&self, row: usize) -> i64 {
        self.trace.events.dur[row].0.saturating_sub(self.links.nesting.children_ns[row]).max(0)
    }
}

fn link(trace: &Trace) -> Links {
    let mut warnings = Warnings::default();
    let nesting = nesting::nest(trace, &mut warnings);
    count_zero_durations(trace, &mut warnings);
    let (launch, launched) = launch::link_launches(trace, &mut warnings);
    let operator = launch::own(trace, &nesting, &launch);
    let device_time = device_time::attribute(trace, &nesting, &operator);
    let record = record::link_records(trace, &mut warnings);
    let forward_backward = flow::link_forward_backward(trace, &nesting);
    let (iterations, iteration) = iteration::find_iterations(trace, &launch);
    Links {
        nesting,
        launch,
        launched,
        operator,
        device_time,
        record,
        forward_backward,
        iterations,
        iteration,
        warnings,
    }
}

fn count_zero_durations(trace: &Trace, warnings: &mut Warnings) {
    let rows = (0..trace.events.len()).filter(|row| trace.events.dur[*row].0 == 0);
    count_events(trace, WarningKind::ZeroDuration, rows, warnings);
}

/// Counts events, given by row, as of one kind.
fn count_events(trace: &Trace, kind: WarningKind, rows: impl Iterator<Item = usize>, warnings: &mut Warnings) {
    let (mut count, mut first) = (0, None);
    for row in rows {
        count += 1;
        first.get_or_insert(row);
    }
    let event = first.map(|row| u64::from(trace.events.position[row]));
    warnings.push_many(kind, count, || Position { event, ..Position::default() });
}
