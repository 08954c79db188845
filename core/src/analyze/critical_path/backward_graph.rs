//! A dependency graph, read backwards from its end.

use super::graph::{PathEdge, PathGraph, PathKind};
use crate::column::OptionalColumn;
use crate::time::Ts;

/// No edge.
const NONE: u32 = u32::MAX;

/// A graph, seen from its end.
pub(super) struct BackwardGraph {
    pub(super) graph: PathGraph,
    /// How far its clock is ahead.
    pub(super) ahead_ns: i64,
    /// For each node, the edge from the latest of its dependencies.
    edges: Vec<u32>,
    /// For each node the last one of a thread before it.
    hosts: Vec<u32>,
    pub(super) starts: OptionalColumn,
    pub(super) ends: OptionalColumn,
    pub(super) is_device: Vec<bool>,
}

impl BackwardGraph {
    pub(super) fn of(graph: PathGraph, ahead_ns: i64, num_events: usize, is_on_device: impl Fn(usize) -> bool) -> Self {
        let (mut edges, mut hosts) = (vec![NONE; graph.nodes.len()], Vec::with_capacity(graph.nodes.len()));
        let key =
            |edge: &PathEdge| (graph.nodes[edge.source as usize].time, edge.kind != PathKind::Dependency, edge.source);
        for (place, edge) in graph.edges.iter().enumerate() {
            let last = &mut edges[edge.target as usize];
            if *last == NONE || key(edge) > key(&graph.edges[*last as usize]) {
                *last = place as u32;
            }
        }
        let (mut starts, mut ends) = (OptionalColumn::empty(num_events), OptionalColumn::empty(num_events));
        let (mut host, mut is_device) = (NONE, Vec::with_capacity(graph.nodes.len()));
        for (place, node) in graph.nodes.iter().enumerate() {
            let column = if node.is_start { &mut starts } else { &mut ends };
            column.set(node.event as usize, place as u32);
            hosts.push(host);
            is_device.push(is_on_device(node.event as usize));
            if !is_on_device(node.event as usize) {
                host = place as u32;
            }
        }
        Self { graph, ahead_ns, edges, hosts, starts, ends, is_device }
    }

    pub(super) fn time(&self, node: u32) -> Ts {
        Ts(self.graph.nodes[node as usize].time.0.saturating_sub(self.ahead_ns))
    }

    /// The edge to a node: the one that begins last. Without a known dependency, it spans the time
    /// since the thread's previous event.
    pub(super) fn edge(&self, node: u32) -> Option<PathEdge> {
        let event = self.graph.nodes[node as usize].event;
        let known = self.graph.edges.get(self.edges[node as usize] as usize).copied();
        let host = self.hosts[node as usize];
        let unknown = PathEdge { source: host, target: node, weight_ns: 0, kind: PathKind::Dependency, event };
        let is_unknown = |edge: &PathEdge| {
            self.is_device[node as usize]
                && edge.kind == PathKind::Dependency
                && host != NONE
                && self.time(host) > self.time(edge.source)
        };
        let known = known.filter(|edge| !is_unknown(edge));
        let edge = known.or_else(|| (host != NONE).then_some(unknown))?;
        let is_between = edge.kind == PathKind::Dependency && !self.is_device[node as usize];
        let is_gap = is_between && self.time(edge.source) < self.time(node);
        Some(if is_gap { PathEdge { kind: PathKind::Between, ..edge } } else { edge })
    }

    /// The transfer of a collective after the last arrival.
    pub(super) fn transfer(&self, node: u32) -> Option<PathEdge> {
        let kind = if self.is_device[node as usize] { PathKind::Kernel } else { PathKind::Operator };
        Some(PathEdge { kind, event: self.graph.nodes[node as usize].event, ..self.edge(node)? })
    }
}
