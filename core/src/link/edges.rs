//! Lists all links of a trace as edges.

use super::edge::Edge;
use super::linked_trace::LinkedTrace;

impl LinkedTrace {
    /// All links as edges; computed on first use.
    pub fn edge_list(&self) -> &[Edge] {
        self.edges.get_or_init(|| self.edges().collect())
    }

    /// All edges: launches, operators that device events name, forward to backward, waits, events
    /// to nodes.
    fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let launched = &self.links.launched;
        let launches = (0..launched.len()).filter_map(|at| launched.pair(at));
        let launches = launches.map(|(source, target)| Edge::launch(source, target, launched.how(target)));
        let named = self.links.named.iter().copied().map(Edge::named);
        let backward = self.forward_backward().iter().copied().map(Edge::forward_backward);
        launches.chain(named).chain(backward).chain(self.sync_edges().iter().copied()).chain(self.node_edges())
    }

    fn node_edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let nodes = &self.links.nodes;
        (0..self.trace.events.len()).filter_map(move |row| {
            let (node, how) = nodes.find(row)?;
            let confidence = if Some(how) == nodes.how { nodes.confidence } else { how.confidence() };
            Some(Edge::node(row as u32, node, how, confidence))
        })
    }

    /// The edges that touch an event: a launch's device events or a device event's launch, and its
    /// partners.
    pub fn edges_of(&self, row: usize) -> Vec<Edge> {
        let (links, here) = (&self.links, row as u32);
        let launch = links.launch.get(row).map(|launch| Edge::launch(launch, here, links.launched.how(here)));
        let devices = links.launched.of(row).map(|device| device as u32);
        let devices = devices.map(|device| Edge::launch(here, device, links.launched.how(device)));
        let named = links.named.iter().filter(|named| named.device == here || named.operator == here);
        let partners = self.forward_backward().iter().filter(|pair| pair.forward == here || pair.backward == here);
        let mut edges: Vec<_> = launch.into_iter().chain(devices).collect();
        edges.extend(named.copied().map(Edge::named));
        edges.extend(partners.copied().map(Edge::forward_backward));
        edges.extend(self.sync_edges().iter().filter(|edge| edge.source == here || edge.target == here));
        edges
    }
}
