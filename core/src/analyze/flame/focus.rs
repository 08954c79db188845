//! Turns a flame graph around one name: what its calls call, or what calls it.

use rustc_hash::FxHashMap;

use super::tree::{FlameNode, FlameTree, ROOT, with_totals};

/// Frames of a path to the outermost one that are looked at; the weight stays in the last of them.
const MAX_CALLERS: usize = 256;

/// A flame graph of the frames of one name.
struct FocusedTree<'a> {
    source: &'a FlameTree,
    nodes: Vec<FlameNode>,
    known: FxHashMap<(u32, u32, &'static str), u32>,
}

/// The frames inside of all frames of a name, as if those were one.
pub(super) fn callees(source: &FlameTree, name: &str) -> FlameTree {
    let mut focused = FocusedTree::of(source);
    let mut places: Vec<Option<u32>> = vec![None; source.nodes.len()];
    for (at, node) in source.nodes.iter().enumerate().skip(1) {
        let is_focus = || source.names[node.name as usize] == name;
        let parent = places[node.parent as usize].or_else(|| is_focus().then_some(ROOT));
        places[at] = parent.map(|parent| focused.add(parent, at, node.self_weight));
    }
    focused.finish()
}

/// The frames around all frames of a name, the innermost first. A frame inside of another one of
/// the name counts for that one.
pub(super) fn callers(source: &FlameTree, name: &str) -> FlameTree {
    let mut focused = FocusedTree::of(source);
    let mut is_inside = vec![false; source.nodes.len()];
    for (at, node) in source.nodes.iter().enumerate().skip(1) {
        let is_focus = source.names[node.name as usize] == name;
        let is_around = is_inside[node.parent as usize];
        is_inside[at] = is_around || is_focus;
        if !is_focus || is_around {
            continue;
        }
        let mut parent = focused.add(ROOT, at, 0);
        let outer = |at: usize| Some(source.nodes[at].parent as usize).filter(|parent| *parent != ROOT as usize);
        for caller in std::iter::successors(outer(at), |caller| outer(*caller)).take(MAX_CALLERS) {
            parent = focused.add_weightless(parent, caller, node.count);
        }
        let own = &mut focused.nodes[parent as usize].self_weight;
        *own = own.saturating_add(node.total_weight);
    }
    focused.finish()
}

impl<'a> FocusedTree<'a> {
    fn of(source: &'a FlameTree) -> Self {
        let root = FlameNode { self_weight: 0, total_weight: 0, ..source.nodes[ROOT as usize].clone() };
        Self { source, nodes: vec![root], known: FxHashMap::default() }
    }

    /// Adds a frame of the source inside of a frame.
    fn add(&mut self, parent: u32, at: usize, self_weight: i64) -> u32 {
        let (source, count) = (&self.source.nodes[at], self.source.nodes[at].count);
        let place = self.add_weightless(parent, at, count);
        let node = &mut self.nodes[place as usize];
        node.self_weight = node.self_weight.saturating_add(self_weight);
        node.largest = [node.largest, source.largest].into_iter().flatten().max_by_key(|(_, weight)| *weight);
        place
    }

    fn add_weightless(&mut self, parent: u32, at: usize, count: i64) -> u32 {
        let source = &self.source.nodes[at];
        let key = (parent, source.name, source.kind);
        let next = self.nodes.len() as u32;
        let place = *self.known.entry(key).or_insert(next);
        if place == next {
            self.nodes.push(FlameNode {
                parent,
                count: 0,
                self_weight: 0,
                total_weight: 0,
                largest: None,
                ..source.clone()
            });
        }
        let node = &mut self.nodes[place as usize];
        node.count = node.count.saturating_add(count);
        node.start = node.start.min(source.start);
        place
    }

    fn finish(self) -> FlameTree {
        FlameTree { nodes: with_totals(self.nodes), names: self.source.names.clone() }
    }
}
