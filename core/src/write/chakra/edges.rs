//! Finds the dependencies of vertices. Every edge leads forward in their order, so there is no
//! cycle.

use rustc_hash::FxHashMap;

use super::et_plus_keys::EtPlusKeys;
use super::vertex::{ChakraVertices, VertexOrigin, VertexRunner};
use crate::link::{Collective, LinkedTrace};
use crate::time::{Dur, Ts};

/// A thread that did nothing for longer than this has waited for another one.
const PAUSE: Dur = Dur(1_000_000);

/// Edges as pairs of the vertex that waits and the one that it waits for.
#[derive(Debug, Default)]
pub(super) struct ChakraEdges {
    pub(super) control: Vec<(u32, u32)>,
    pub(super) data: Vec<(u32, u32)>,
    /// Those that would lead backward, and are left out.
    pub(super) backward: Vec<(u32, u32)>,
}

impl ChakraEdges {
    pub(super) fn of(linked: &LinkedTrace, vertices: &ChakraVertices) -> Self {
        let mut edges = Self::default();
        edges.add_callers(linked, vertices);
        edges.add_sequences(vertices);
        edges.add_tensors(linked, vertices);
        edges.add_forward_backward(linked, vertices);
        edges.add_other_threads(vertices);
        edges.add_communications(linked, vertices);
        edges.add_syncs(linked, vertices);
        edges.add_linked_before(linked, vertices);
        for list in [&mut edges.control, &mut edges.data, &mut edges.backward] {
            list.sort_unstable();
            list.dedup();
        }
        edges
    }

    fn add_control(&mut self, source: u32, target: u32) {
        let list = if source < target { &mut self.control } else { &mut self.backward };
        list.push((target, source));
    }

    fn add_data(&mut self, source: u32, target: u32) {
        let list = if source < target { &mut self.data } else { &mut self.backward };
        // A vertex with two roles does not wait for itself.
        if source != target {
            list.push((target, source));
        }
    }

    /// A node is called by the one around it; a device event is enqueued by one.
    fn add_callers(&mut self, linked: &LinkedTrace, vertices: &ChakraVertices) {
        for (target, vertex) in (0..).zip(&vertices.all) {
            let caller = match vertex.origin {
                VertexOrigin::Node(row) => linked.links.nodes.parent_of_node.get(row as usize),
                VertexOrigin::Event(_) => vertex.host,
            };
            let Some(caller) = caller.and_then(|caller| vertices.node(caller)) else { continue };
            self.add_control(caller, target);
            if vertex.is_on_device {
                self.add_data(caller, target);
            }
        }
    }

    /// A thread and a stream do one thing after another.
    fn add_sequences(&mut self, vertices: &ChakraVertices) {
        let mut last: FxHashMap<VertexRunner, u32> = FxHashMap::default();
        for (target, vertex) in (0..).zip(&vertices.all) {
            if let Some(source) = last.insert(vertex.runner, target) {
                self.add_data(source, target);
            }
        }
    }

    fn add_tensors(&mut self, linked: &LinkedTrace, vertices: &ChakraVertices) {
        for edge in &linked.data_dependencies().edges {
            if let (Some(source), Some(target)) = (vertices.node(edge.producer), vertices.node(edge.consumer)) {
                self.add_data(source, target);
            }
        }
    }

    fn add_forward_backward(&mut self, linked: &LinkedTrace, vertices: &ChakraVertices) {
        let node = |event: u32| vertices.node(linked.links.nodes.node_of_event.get(event as usize)?);
        for pair in linked.forward_backward() {
            if let (Some(source), Some(target)) = (node(pair.forward), node(pair.backward)) {
                self.add_data(source, target);
            }
        }
    }

    /// A thread's first vertex, and its first after a pause, waits for the last one of another
    /// thread.
    fn add_other_threads(&mut self, vertices: &ChakraVertices) {
        let hosts = || (0_u32..).zip(&vertices.all).filter(|(_, vertex)| !vertex.is_on_device);
        let mut ended: Vec<(Ts, u32)> = hosts().filter_map(|(place, vertex)| Some((vertex.end()?, place))).collect();
        ended.sort_unstable();
        let mut ended = ended.into_iter().peekable();
        let mut latest = LatestVertices::default();
        // When each thread was last seen to begin or end something.
        let mut seen: FxHashMap<VertexRunner, Ts> = FxHashMap::default();
        let mut starts: Vec<(Ts, u32)> =
            hosts().filter_map(|(place, vertex)| Some((vertex.measured?.0, place))).collect();
        starts.sort_unstable();
        for (start, target) in starts {
            while let Some((end, place)) = ended.next_if(|(end, _)| *end <= start) {
                let runner = vertices.all[place as usize].runner;
                latest.add(place, runner);
                seen.insert(runner, end);
            }
            let runner = vertices.all[target as usize].runner;
            if seen.insert(runner, start).is_none_or(|before| start.since(before) > PAUSE) {
                // Ids follow starts, except for nodes that two threads begin within a moment.
                let source = latest.but(runner).filter(|source| *source < target);
                source.into_iter().for_each(|source| self.add_data(source, target));
            }
        }
    }

    /// The host's own communications wait for their calls, and whoever waits for one, for it.
    fn add_communications(&mut self, linked: &LinkedTrace, vertices: &ChakraVertices) {
        let collectives = linked.collectives();
        let node_of = |event: u32| linked.links.nodes.node_of_event.get(event as usize);
        let call = |node: Option<u32>, event: Option<u32>| vertices.node(node.or_else(|| node_of(event?))?);
        let runs = |row: &Collective| {
            row.runs().filter_map(|run| vertices.node(node_of(run)?)).collect::<Vec<_>>().into_iter()
        };
        for row in &collectives.rows {
            let Some(source) = call(row.node, row.event) else { continue };
            runs(row).for_each(|target| self.add_data(source, target));
        }
        for wait in &collectives.waits {
            let Some(row) = wait.collective.and_then(|row| collectives.rows.get(row as usize)) else { continue };
            let Some(target) = call(wait.call.node, wait.call.event) else { continue };
            runs(row).for_each(|source| self.add_data(source, target));
        }
    }

    /// Work of a stream waits for that of another one, or a thread for that of a stream: its next
    /// vertex waits.
    fn add_syncs(&mut self, linked: &LinkedTrace, vertices: &ChakraVertices) {
        let mut begun: FxHashMap<VertexRunner, Vec<(Ts, u32)>> = FxHashMap::default();
        for (place, vertex) in (0..).zip(&vertices.all).filter(|(_, vertex)| !vertex.is_on_device) {
            let start = vertex.measured.map(|(start, _)| (start, place));
            begun.entry(vertex.runner).or_default().extend(start);
        }
        begun.values_mut().for_each(|starts| starts.sort_unstable());
        let events = &linked.trace.events;
        let next = |call: usize| {
            let starts = begun.get(&VertexRunner::Track(events.track.at(call)))?;
            starts.get(starts.partition_point(|(start, _)| *start < events.end(call))).map(|(_, place)| *place)
        };
        for edge in linked.sync_edges() {
            let target = vertices.of_event.get(edge.target as usize).or_else(|| next(edge.target as usize));
            if let (Some(source), Some(target)) = (vertices.of_event.get(edge.source as usize), target) {
                self.add_data(source, target);
            }
        }
    }

    /// Dependencies that an earlier linker wrote beside the nodes.
    fn add_linked_before(&mut self, linked: &LinkedTrace, vertices: &ChakraVertices) {
        let nodes = &linked.trace.nodes;
        let by_id: FxHashMap<u64, u32> =
            (0..).zip(nodes).filter_map(|(row, node)| Some((node.id, vertices.node(row)?))).collect();
        for (target, vertex) in (0..).zip(&vertices.all) {
            let VertexOrigin::Node(row) = vertex.origin else { continue };
            let plus = EtPlusKeys::of(&nodes[row as usize], &linked.trace.strings);
            let sources = plus.inter_thread_dep.iter().chain(&plus.sync_dep);
            sources.filter_map(|id| by_id.get(id)).for_each(|source| self.add_data(*source, target));
        }
    }
}

/// The vertex that ended last, and the one that ended last of any other runner.
#[derive(Debug, Default)]
struct LatestVertices {
    first: Option<(u32, VertexRunner)>,
    second: Option<(u32, VertexRunner)>,
}

impl LatestVertices {
    fn add(&mut self, place: u32, runner: VertexRunner) {
        if self.first.is_some_and(|(_, first)| first != runner) {
            self.second = self.first;
        }
        self.first = Some((place, runner));
    }

    /// The one that ended last of other runners than this.
    fn but(&self, runner: VertexRunner) -> Option<u32> {
        [self.first, self.second].into_iter().flatten().find(|(_, other)| *other != runner).map(|(place, _)| place)
    }
}
