//! A walk back from the end of a job, from rank to rank.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::behind::Behind;
use super::graph::{PathEdge, PathNode};
use super::leg::{Legs, graphs};
use crate::analyze::collective::{Awaited, Clocks, Meeting, Part, meetings};
use crate::analyze::job::Job;
use crate::time::Ts;

/// A node of a member's graph.
pub(super) type Place = (usize, u32);

/// A step of the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) from: Place,
    pub(super) to: Place,
    /// When it begins.
    pub(super) start: Ts,
    /// What it is, and how long it takes.
    pub(super) edge: PathEdge,
}

/// The graphs of all members, and where one leads into another.
pub(super) struct Walk {
    legs: Vec<Legs>,
    crossings: Crossings,
}

/// From the ends of communications to the starts that they waited for, on another rank or on their own.
pub(super) type Crossings = FxHashMap<Place, Place>;

impl Walk {
    pub(super) fn of(job: &Job<'_>) -> Self {
        let graphs = graphs(job);
        let crossings = crossings(job, &graphs);
        let mut held = vec![BTreeMap::new(); graphs.len()];
        for ((member, end), (other, start)) in &crossings {
            held[*member].insert(*end, graphs[*other].time(*start));
        }
        Self { legs: graphs.into_iter().zip(held).map(|(behind, held)| Legs::of(behind, held)).collect(), crossings }
    }

    /// A node, whose time is that of its own clock.
    pub(super) fn node(&self, (member, node): Place) -> PathNode {
        self.legs[member].behind.graph.nodes[node as usize]
    }

    /// The time that a member's clock tells when another's tells that of a node.
    pub(super) fn time_on(&self, member: usize, (other, node): Place) -> Ts {
        let time = self.legs[other].behind.time(node);
        Ts(time.0.saturating_add(self.legs[member].behind.ahead_ns))
    }

    /// The steps from the last to the first. Every leg leads to an earlier time.
    pub(super) fn steps(&self) -> Vec<Step> {
        let lasts = self.legs.iter().enumerate().filter_map(|(member, legs)| Some((member, legs.last()?)));
        let mut at = lasts.max_by_key(|(member, node)| self.legs[*member].behind.time(*node));
        let mut steps = Vec::new();
        while let Some((member, end)) = at {
            let (leg, stop) = self.legs[member].leg(end);
            at = stop.and_then(|stop| self.crossings.get(&(member, stop)).copied());
            let mut to = (member, end);
            for step in leg {
                let from = at.filter(|_| Some(to.1) == stop).unwrap_or((member, step.edge.source));
                steps.push(Step { from, to, start: step.start, edge: step.edge });
                to = from;
            }
        }
        steps
    }
}

/// Where communications waited: for the last one without whom they could not end.
pub(super) fn crossings(job: &Job<'_>, graphs: &[Behind]) -> Crossings {
    let mut crossings = Crossings::default();
    for meeting in meetings(&job.ranks, Clocks::AlignedWhereKnown, |_, _| true) {
        meet(&meeting, graphs, &mut crossings);
    }
    crossings
}

fn meet(meeting: &Meeting<'_>, graphs: &[Behind], crossings: &mut Crossings) {
    let time = |(member, node): Place| graphs[member].time(node);
    let starts: Option<Vec<Place>> = meeting.parts.iter().map(|part| start(part, graphs)).collect();
    let Some(starts) = starts.filter(|starts| starts.len() > 1) else { return };
    let last = starts.iter().copied().max_by_key(|start| time(*start));
    for part in &meeting.parts {
        let awaited = match meeting.awaited(part) {
            Some(Awaited::Last) => last,
            Some(Awaited::Part(at)) => Some(starts[at]),
            Some(Awaited::Nobody) | None => None,
        };
        let Some(awaited) = awaited else { continue };
        for row in work(part) {
            let behind = &graphs[part.member as usize];
            let (Some(start), Some(end)) = (behind.starts.get(row), behind.ends.get(row)) else { continue };
            let is_held_up = behind.time(start) < time(awaited) && time(awaited) < behind.time(end);
            if is_held_up {
                crossings.insert((part.member as usize, end), awaited);
            }
        }
    }
}

/// The node at which a part first runs.
fn start(part: &Part<'_>, graphs: &[Behind]) -> Option<Place> {
    let behind = &graphs[part.member as usize];
    let start = work(part).filter_map(|row| behind.starts.get(row)).min()?;
    Some((part.member as usize, start))
}

/// The rows that a part ran as: work of a device, or a host event.
fn work(part: &Part<'_>) -> impl Iterator<Item = usize> {
    part.one.device_events.iter().copied().chain(part.one.run).map(|row| row as usize)
}
