//! A walk back from the end of a job, from rank to rank.

use rustc_hash::FxHashMap;

use super::behind::Behind;
use super::graph::{PathEdge, PathKind, PathNode};
use super::graph_of;
use crate::analyze::collective::{Awaited, Clocks, Meeting, Part, meetings};
use crate::analyze::job::Job;
use crate::sort;
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
    graphs: Vec<Behind>,
    /// From the ends of communications to the starts that they waited for.
    awaited: FxHashMap<Place, Place>,
    /// Those ends, in order.
    ends: Vec<Place>,
}

impl Walk {
    pub(super) fn of(job: &Job<'_>) -> Self {
        let graphs = job.each(|member, part| {
            let ahead_ns = job.ranks.members[member].clock.map_or(0, |clock| clock.offset_ns);
            Behind::of(graph_of(part), ahead_ns, part.linked.trace.events.len(), |row| {
                part.linked.trace.is_on_device(row)
            })
        });
        let mut walk = Self { graphs, awaited: FxHashMap::default(), ends: Vec::new() };
        for meeting in meetings(&job.ranks, Clocks::AlignedWhereKnown, |_, _| true) {
            walk.meet(&meeting);
        }
        walk.ends = walk.awaited.keys().copied().collect();
        sort::ascending(&mut walk.ends);
        walk
    }

    fn time(&self, (member, node): Place) -> Ts {
        self.graphs[member].time(node)
    }

    fn meet(&mut self, meeting: &Meeting<'_>) {
        let starts: Option<Vec<Place>> = meeting.parts.iter().map(|part| self.start(part)).collect();
        let Some(starts) = starts.filter(|starts| starts.len() > 1) else { return };
        let last = starts.iter().copied().max_by_key(|start| self.time(*start));
        for part in &meeting.parts {
            let awaited = match meeting.awaited(part) {
                Some(Awaited::Last) => last,
                Some(Awaited::Part(at)) => Some(starts[at]),
                Some(Awaited::Nobody) | None => None,
            };
            let Some(awaited) = awaited else { continue };
            for row in work(part) {
                let behind = &self.graphs[part.member as usize];
                let (Some(start), Some(end)) = (behind.starts.get(row), behind.ends.get(row)) else { continue };
                let is_held_up = behind.time(start) < self.time(awaited) && self.time(awaited) < behind.time(end);
                if is_held_up {
                    self.awaited.insert((part.member as usize, end), awaited);
                }
            }
        }
    }

    /// The node at which a part first runs.
    fn start(&self, part: &Part<'_>) -> Option<Place> {
        let behind = &self.graphs[part.member as usize];
        let start = work(part).filter_map(|row| behind.starts.get(row)).min()?;
        Some((part.member as usize, start))
    }

    /// What leads to a node on its rank. Work that began once a communication had ended in which its rank waited, and for most
    /// of the time since it could have begun had not, is held to have waited for it: not all traces say so.
    fn edge(&self, (member, node): Place) -> Option<PathEdge> {
        let behind = &self.graphs[member];
        let edge = behind.edge(node)?;
        if !behind.is_device[node as usize] || !behind.graph.nodes[node as usize].is_start {
            return Some(edge);
        }
        let before = self.ends.partition_point(|end| *end < (member, node));
        let end = before.checked_sub(1).map(|at| self.ends[at]).filter(|end| end.0 == member).map(|end| end.1);
        let waited =
            |end: &u32| behind.time(*end).since(behind.time(edge.source)) > behind.time(node).since(behind.time(*end));
        let held = |source| PathEdge { source, kind: PathKind::Sync, ..edge };
        Some(end.filter(waited).map_or(edge, held))
    }

    /// A node, whose time is that of its own clock.
    pub(super) fn node(&self, (member, node): Place) -> PathNode {
        self.graphs[member].graph.nodes[node as usize]
    }

    /// The time that a member's clock tells when another's tells that of a node.
    pub(super) fn time_on(&self, member: usize, place: Place) -> Ts {
        Ts(self.time(place).0.saturating_add(self.graphs[member].ahead_ns))
    }

    /// The steps from the last to the first. Every step leads to an earlier time, or to an earlier node of the same graph.
    pub(super) fn steps(&self) -> Vec<Step> {
        let last =
            |(member, behind): (usize, &Behind)| Some((member, (behind.graph.nodes.len() as u32).checked_sub(1)?));
        let lasts = self.graphs.iter().enumerate().filter_map(last);
        let mut at = lasts.max_by_key(|place| self.time(*place));
        let mut steps = Vec::new();
        while let Some((member, node)) = at {
            let behind = &self.graphs[member];
            let (place, edge) = match self.awaited.get(&(member, node)) {
                Some(place) => (Some(*place), behind.transfer(node)),
                None => {
                    self.edge((member, node)).map_or((None, None), |edge| (Some((member, edge.source)), Some(edge)))
                }
            };
            if let (Some(place), Some(edge)) = (place, edge) {
                let start = self.time(place);
                let edge = PathEdge { weight_ns: behind.time(node).since(start).0.max(0), ..edge };
                steps.push(Step { from: place, to: (member, node), start, edge });
            }
            at = place;
        }
        steps
    }
}

/// The rows that a part ran as: work of a device, or a host event.
fn work(part: &Part<'_>) -> impl Iterator<Item = usize> {
    part.one.device_events.iter().copied().chain(part.one.run).map(|row| row as usize)
}
