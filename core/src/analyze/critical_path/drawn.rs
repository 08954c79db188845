//! Critical paths for drawing: each step leads from a time on one event to a time on another or the
//! same.

use std::sync::Arc;

use super::bound::{BoundFinder, PathBound};
use super::graph::{PathEdge, PathKind, PathNode};
use super::path::critical_path;
use super::walk::{CriticalPathStep, CriticalPathWalk};
use crate::analyze::job::Job;
use crate::analyze::selection::Selection;
use crate::link::LinkedTrace;
use crate::time::Ts;

/// A step from a time on an event of a member of a job to one on an event of a member, each by its
/// own clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DrawnStep {
    pub(crate) from: (usize, u32, Ts),
    pub(crate) to: (usize, u32, Ts),
    /// Its contribution to the length, in nanoseconds.
    pub(crate) weight_ns: i64,
    pub(crate) bound: PathBound,
}

impl DrawnStep {
    /// A step on one member: work is drawn on the event that did it, all else as the way between
    /// two.
    fn on_one(member: usize, edge: &PathEdge, ends: [PathNode; 2], bound: PathBound) -> Self {
        let is_work = matches!(edge.kind, PathKind::Operator | PathKind::Kernel);
        let [from, to] = ends.map(|node| (member, if is_work { edge.event } else { node.event }, node.time));
        Self { from, to, weight_ns: edge.weight_ns, bound }
    }
}

/// The steps through a trace, which is this member, in order.
pub(crate) fn drawn_steps(linked: &Arc<LinkedTrace>, member: usize) -> Vec<DrawnStep> {
    let path = critical_path(&Selection::clean(linked));
    let bounds = BoundFinder::of(linked);
    let node = |at: u32| path.graph.nodes[at as usize];
    let step =
        |edge: &PathEdge| DrawnStep::on_one(member, edge, [edge.source, edge.target].map(node), bounds.bound(edge));
    path.steps().map(step).collect()
}

/// The steps through all ranks of a job. A step into a wait for another rank becomes two: the way
/// from there, and the rest of the wait.
pub(crate) fn drawn_steps_of_job(job: &Job<'_>) -> Vec<DrawnStep> {
    let bounds = job.each(|_, part| BoundFinder::of(part.linked));
    let walk = CriticalPathWalk::of(job);
    let mut drawn = Vec::new();
    for CriticalPathStep { from, to, edge, .. } in walk.steps().into_iter().rev() {
        let (member, bound) = (to.0, bounds[to.0].bound(&edge));
        let (source, target) = (walk.node(from), walk.node(to));
        if from.0 == member {
            drawn.push(DrawnStep::on_one(member, &edge, [source, target], bound));
            continue;
        }
        let here = (member, edge.event, walk.time_on(member, from));
        drawn.push(DrawnStep { from: (from.0, source.event, source.time), to: here, weight_ns: 0, bound });
        let end = (member, target.event, target.time);
        drawn.push(DrawnStep { from: here, to: end, weight_ns: edge.weight_ns, bound });
    }
    drawn
}
