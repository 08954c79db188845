//! Walks back from the end of a job, from rank to rank.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::backward_graph::BackwardGraph;
use super::graph::{PathEdge, PathNode};
use super::leg::{CriticalPathLegs, graphs};
use crate::analyze::collective::{AwaitedParticipant, ClockAlignment, JobCollective, Participant, job_collectives};
use crate::analyze::job::Job;
use crate::time::Ts;

/// A node of a member's graph.
pub(super) type MemberNode = (usize, u32);

/// A step of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct CriticalPathStep {
    pub(super) from: MemberNode,
    pub(super) to: MemberNode,
    /// When it begins.
    pub(super) start: Ts,
    /// The edge: its kind and duration.
    pub(super) edge: PathEdge,
}

/// The graphs of all members, and where one leads into another.
pub(super) struct CriticalPathWalk {
    legs: Vec<CriticalPathLegs>,
    crossings: Crossings,
}

/// From the ends of communications to the starts that they waited for, on another rank or on their
/// own.
pub(super) type Crossings = FxHashMap<MemberNode, MemberNode>;

impl CriticalPathWalk {
    pub(super) fn of(job: &Job<'_>) -> Self {
        let graphs = graphs(job);
        let crossings = crossings(job, &graphs);
        let mut held = vec![BTreeMap::new(); graphs.len()];
        for ((member, end), (other, start)) in &crossings {
            held[*member].insert(*end, graphs[*other].time(*start));
        }
        Self {
            legs: graphs.into_iter().zip(held).map(|(backward, held)| CriticalPathLegs::of(backward, held)).collect(),
            crossings,
        }
    }

    /// A node; its time is on its own clock.
    pub(super) fn node(&self, (member, node): MemberNode) -> PathNode {
        self.legs[member].backward.graph.nodes[node as usize]
    }

    /// The time that a member's clock tells when another's tells that of a node.
    pub(super) fn time_on(&self, member: usize, (other, node): MemberNode) -> Ts {
        let time = self.legs[other].backward.time(node);
        Ts(time.0.saturating_add(self.legs[member].backward.ahead_ns))
    }

    /// The steps from the last to the first. Every leg leads to an earlier time.
    pub(super) fn steps(&self) -> Vec<CriticalPathStep> {
        let lasts = self.legs.iter().enumerate().filter_map(|(member, legs)| Some((member, legs.last()?)));
        let mut at = lasts.max_by_key(|(member, node)| self.legs[*member].backward.time(*node));
        let mut steps = Vec::new();
        while let Some((member, end)) = at {
            let (leg, stop) = self.legs[member].leg(end);
            at = stop.and_then(|stop| self.crossings.get(&(member, stop)).copied());
            let mut to = (member, end);
            for step in leg {
                let from = at.filter(|_| Some(to.1) == stop).unwrap_or((member, step.edge.source));
                steps.push(CriticalPathStep { from, to, start: step.start, edge: step.edge });
                to = from;
            }
        }
        steps
    }
}

/// Waits of collectives for the last rank that they needed to end.
pub(super) fn crossings(job: &Job<'_>, graphs: &[BackwardGraph]) -> Crossings {
    let mut crossings = Crossings::default();
    for meeting in job_collectives(&job.ranks, ClockAlignment::AlignedWhereKnown, |_, _| true) {
        add_crossings(&meeting, graphs, &mut crossings);
    }
    crossings
}

fn add_crossings(meeting: &JobCollective<'_>, graphs: &[BackwardGraph], crossings: &mut Crossings) {
    let time = |(member, node): MemberNode| graphs[member].time(node);
    let starts: Option<Vec<MemberNode>> = meeting.parts.iter().map(|part| start(part, graphs)).collect();
    let Some(starts) = starts.filter(|starts| starts.len() > 1) else { return };
    let last = starts.iter().copied().max_by_key(|start| time(*start));
    for part in &meeting.parts {
        let awaited = match meeting.awaited(part) {
            Some(AwaitedParticipant::Last) => last,
            Some(AwaitedParticipant::Part(at)) => Some(starts[at]),
            Some(AwaitedParticipant::Nobody) | None => None,
        };
        let Some(awaited) = awaited else { continue };
        for row in work(part) {
            let backward = &graphs[part.member as usize];
            let (Some(start), Some(end)) = (backward.starts.get(row), backward.ends.get(row)) else { continue };
            let is_held_up = backward.time(start) < time(awaited) && time(awaited) < backward.time(end);
            if is_held_up {
                crossings.insert((part.member as usize, end), awaited);
            }
        }
    }
}

/// The node at which a part first runs.
fn start(part: &Participant<'_>, graphs: &[BackwardGraph]) -> Option<MemberNode> {
    let backward = &graphs[part.member as usize];
    let start = work(part).filter_map(|row| backward.starts.get(row)).min()?;
    Some((part.member as usize, start))
}

/// The rows that a part ran as: work of a device, or a host event.
fn work(part: &Participant<'_>) -> impl Iterator<Item = usize> {
    part.one.device_events.iter().copied().chain(part.one.runs()).map(|row| row as usize)
}
