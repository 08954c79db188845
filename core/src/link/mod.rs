//! What belongs to what: derived columns beside a trace, never inside it.

mod backward_work;
mod blocking;
mod calls;
mod capture;
mod collective;
mod dependency;
mod device_time;
mod edge;
mod flow;
mod forward_backward;
mod frame;
mod how;
mod iteration;
mod lane;
mod late_step;
mod launch;
mod nesting;
mod node;
mod owner;
pub mod rank;
mod storage;
mod stream_wait;
mod sync;
mod unfit;

use std::sync::OnceLock;

use serde_json::Value;

use self::backward_work::BackwardWork;
use crate::error::{Error, Position};
use crate::id::OptionalColumn;
use crate::threads::both;
use crate::trace::Trace;
use crate::trace::group::{ProcessGroup, process_groups};
use crate::trace::kind::EventKind;
use crate::trace::node::{Node, NodeSpan};
use crate::trace::tensor::{TensorUse, tensor_uses};
use crate::warning::{Warning, WarningKind, Warnings};
pub use capture::{Captured, CapturedGraphs};
pub use collective::{Collective, Collectives, Facts, Wait};
pub(crate) use collective::{bus_bytes, communicates, gbps};
pub use dependency::{DataDependencies, DataDependency};
pub use device_time::DeviceTime;
pub use edge::{Edge, EdgeKind};
pub use forward_backward::ForwardBackward;
pub use frame::{Frames, MODULE_PREFIX};
pub use how::How;
pub use iteration::Iteration;
pub use launch::Launched;
pub(crate) use launch::lacks_device_work;
pub use nesting::Nesting;
pub(crate) use node::aligned;
pub use node::{NodeLinks, Window, is_call, node_order};
pub use owner::Named;
pub(crate) use stream_wait::stream_wait_witnesses;
pub(crate) use sync::report_witnesses;

/// Everything that is derived from one trace, a row an event unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Parents, and the order of each track.
    pub nesting: Nesting,
    /// Row of the host event that enqueued a device event.
    pub launch: OptionalColumn,
    /// The same, from the launch's side.
    pub launched: Launched,
    /// Row of the operator or annotation that owns an event: the innermost around it, or around its launch, or the one
    /// that a device event without a launch names.
    pub operator: OptionalColumn,
    /// Device events whose launch is unknown, but that name their operator; by row.
    pub named: Vec<Named>,
    /// Operators and annotations with their nodes of the Execution Trace.
    pub nodes: NodeLinks,
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
    depths: OnceLock<Vec<u32>>,
    children_ns: OnceLock<Vec<i64>>,
    device_time: OnceLock<DeviceTime>,
    backward_work: OnceLock<BackwardWork>,
    node_device_ns: OnceLock<Vec<Option<i64>>>,
    tensors: OnceLock<Vec<TensorUse>>,
    dependencies: OnceLock<DataDependencies>,
    forward_backward: OnceLock<Vec<ForwardBackward>>,
    frames: OnceLock<Frames>,
    sync_edges: OnceLock<Vec<Edge>>,
    edges: OnceLock<Vec<Edge>>,
    groups: OnceLock<Vec<ProcessGroup>>,
    attrs: OnceLock<Vec<Value>>,
    collectives: OnceLock<Collectives>,
}

impl LinkedTrace {
    /// Links a trace.
    pub fn new(trace: Trace) -> Self {
        Self::with_threads(trace, 1)
    }

    /// Links a trace on as many threads as may be made; two are made use of.
    pub fn with_threads(trace: Trace, max_threads: usize) -> Self {
        let max_threads = if trace.events.len() < WORTH_A_THREAD { 1 } else { max_threads };
        let links = link(&trace, max_threads);
        Self { trace, links, ..Self::default() }
    }

    /// Links a trace as if one iteration of its longer recording were all that the shorter one recorded: the one of
    /// that number, or the one that fits best.
    ///
    /// What is known of processes and record ids is left out of account, so that files of two runs of one program are
    /// linked, too.
    ///
    /// # Errors
    /// When one of the recordings is missing, or the iteration does not fit; then it says how well others do.
    pub fn linked_to(mut trace: Trace, iteration: Option<i64>) -> Result<Self, Error> {
        trace.expect_execution()?;
        let text = iteration.map_or_else(|| String::from("null"), |number| number.to_string());
        let (key, value) = (trace.strings.intern(node::ASKED_FOR), trace.strings.intern(&text));
        trace.execution_header.retain(|(other, _)| *other != key);
        trace.execution_header.push((key, value));
        let linked = Self::new(trace);
        if linked.links.nodes.how.is_some() {
            return Ok(linked);
        }
        Err(unfit::unfit(&linked, iteration))
    }

    /// How many events are above each event, from parent to parent; counted when first asked for.
    pub fn depths(&self) -> &[u32] {
        self.depths.get_or_init(|| self.links.nesting.depths())
    }

    /// The lane of each event in its track, as if there were no others than those that are shown; of these, events of one lane
    /// never overlap.
    pub fn lanes(&self, is_shown: &dyn Fn(usize) -> bool) -> Vec<u32> {
        self.links.nesting.lanes(&self.trace, is_shown)
    }

    /// Time in the children of each event, summed, in nanoseconds; when first asked for.
    pub fn children_ns(&self) -> &[i64] {
        self.children_ns.get_or_init(|| self.links.nesting.children_ns(&self.trace.events.dur))
    }

    /// Which nodes were entered in each iteration, by the events that they are linked to; in the order of time.
    ///
    /// For Execution Traces that do not say so themselves, as [`edit`](crate::edit) takes it.
    pub fn spans(&self) -> Vec<NodeSpan> {
        iteration::spans(&self.trace, &self.links)
    }

    /// Device time of host events; summed when first asked for.
    pub fn device_time(&self) -> &DeviceTime {
        self.device_time.get_or_init(|| device_time::attribute(&self.trace, &self.links))
    }

    /// Device time of the work launched inside of an event, in nanoseconds; of an annotation also of the backward pass that
    /// its thread waited for while it lasted.
    pub fn device_ns(&self, row: usize) -> i64 {
        let backward_ns = self.backward_work(row).map_or(0, |work| work.during_ns(self, row));
        self.device_time().total_ns[row].saturating_add(backward_ns)
    }

    /// Rows of the device work that the backward pass launched for the thread of an annotation while that lasted; of other
    /// events none.
    pub fn awaited_work(&self, row: usize) -> &[u32] {
        self.backward_work(row).map_or(&[], |work| work.during(self, row))
    }

    /// What the backward pass launched on its own thread, for annotations; found when first asked for.
    fn backward_work(&self, row: usize) -> Option<&BackwardWork> {
        let is_annotation = self.trace.events.kind[row] == EventKind::Annotation;
        is_annotation.then(|| self.backward_work.get_or_init(|| BackwardWork::of(self)))
    }

    /// Device time in each node and all nodes inside it, in nanoseconds, where events tell it; when first asked for.
    pub fn node_device_ns(&self) -> &[Option<i64>] {
        let sum = || device_time::of_nodes(&self.trace, &self.links.nodes, self.device_time());
        self.node_device_ns.get_or_init(sum)
    }

    /// Uses of tensors by the Execution Trace's nodes; found when first asked for.
    pub fn tensors(&self) -> &[TensorUse] {
        self.tensors.get_or_init(|| tensor_uses(&self.trace.nodes, &self.trace.strings))
    }

    /// Which nodes of the Execution Trace computed what others read; found when first asked for.
    ///
    /// From `inputs`, `outputs` and `op_schema` of the nodes, called in the order of their ids.
    pub fn data_dependencies(&self) -> &DataDependencies {
        let parents = &self.links.nodes.parent_of_node;
        self.dependencies.get_or_init(|| dependency::data_dependencies(&self.trace, parents, self.tensors()))
    }

    /// Operators of the forward pass with the operators of the backward pass they caused, sorted; found when first asked
    /// for.
    ///
    /// From `fwdbwd` flows, and where there is none from `Sequence number` and `Fwd thread id`.
    pub fn forward_backward(&self) -> &[ForwardBackward] {
        let find = || forward_backward::link_forward_backward(&self.trace, &self.links.nesting);
        self.forward_backward.get_or_init(find)
    }

    /// Python frames, modules and annotations that events are for; found when first asked for.
    pub fn frames(&self) -> &Frames {
        self.frames.get_or_init(|| frame::find_frames(self))
    }

    /// What waited for which device event, by the row of who waited; found when first asked for.
    ///
    /// From `cuda_sync` events: the kind, `stream`, `wait_on_stream` and `wait_on_cuda_event_record_corr_id`. Of a call that
    /// none reports, from the times: what ended last while it lasted ([`How::EndedInside`]). Of work that was made to wait
    /// for another stream and no report says for what, what ended before it began ([`How::EndedBefore`]).
    pub fn sync_edges(&self) -> &[Edge] {
        self.sync_edges.get_or_init(|| sync::sync_edges(&self.trace, &self.links))
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

    /// The communications; found when first asked for.
    pub fn collectives(&self) -> &Collectives {
        self.collectives.get_or_init(|| collective::find(self))
    }

    /// All links as edges; listed when first asked for.
    pub fn edge_list(&self) -> &[Edge] {
        self.edges.get_or_init(|| self.edges().collect())
    }

    /// Time in an event that is in none of its children, in nanoseconds; a device event's whole duration.
    pub fn self_ns(&self, row: usize) -> i64 {
        self.trace.events.dur[row].0.saturating_sub(self.children_ns()[row]).max(0)
    }
}

/// Fewer events are linked before a second thread would have begun.
const WORTH_A_THREAD: usize = 10_000;

fn link(trace: &Trace, max_threads: usize) -> Links {
    let nest = || {
        let mut warnings = Warnings::default();
        (nesting::nest(trace, &mut warnings), warnings)
    };
    let join = || {
        let mut warnings = Warnings::default();
        count_odd_durations(trace, &mut warnings);
        let (launch, launched) = launch::link_launches(trace, &mut warnings);
        let (iterations, late) = iteration::find_iterations(trace);
        let nodes = node::link_nodes(trace, &iterations, &mut warnings);
        count_events(trace, WarningKind::LateStep, late.into_iter(), &mut warnings);
        let iteration = iteration::of_events(trace, &iterations, &launch);
        Links { launch, launched, nodes, iterations, iteration, warnings, ..Links::default() }
    };
    let ((nesting, mut warnings), joined) = both(max_threads, nest, join);
    warnings.extend(&joined.warnings);
    let (operator, named) = owner::own(trace, &nesting, &joined.launch);
    Links { nesting, operator, named, warnings, ..joined }
}

fn count_odd_durations(trace: &Trace, warnings: &mut Warnings) {
    let rows = (0..trace.events.len()).filter(|row| trace.events.dur[*row].0 == 0);
    count_events(trace, WarningKind::ZeroDuration, rows, warnings);
    count_events(trace, WarningKind::ImmenseTime, immense(trace), warnings);
}

/// Rows with which durations up to there add up to more than a number of 64 bits holds, or that end so long after the first
/// start.
fn immense(trace: &Trace) -> impl Iterator<Item = usize> {
    let (start, dur) = (&trace.events.start, &trace.events.dur);
    let first = i128::from(start.iter().copied().min().unwrap_or_default().0.min(0));
    let mut sum = 0_i128;
    (0..start.len()).filter(move |row| {
        let dur = i128::from(dur[*row].0);
        sum += dur;
        sum.max(i128::from(start[*row].0) + dur - first) > i128::from(i64::MAX)
    })
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
