//! Merges the ways from events to their outermost frames into a tree.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::chain::FrameChains;
use super::order::FlameOrder;
use super::weight::WeightedRows;
use crate::analyze::frame_names::FrameNames;
use crate::analyze::selection::Selection;
use crate::time::{Ts, add_ns, sum_ns};

/// The node that holds all others; it is no frame.
pub(super) const ROOT: u32 = 0;

/// The kind of the frame for all that is in no other.
const NONE: &str = "none";

/// A frame of a flame graph.
#[derive(Debug, Clone)]
pub(super) struct FlameNode {
    pub(super) parent: u32,
    /// The number of its name.
    pub(super) name: u32,
    pub(super) kind: &'static str,
    /// Selected calls that have a weight.
    pub(super) count: i64,
    pub(super) self_weight: i64,
    pub(super) total_weight: i64,
    /// The row of the call of the most weight, and its weight.
    pub(super) largest: Option<(u32, i64)>,
    /// The earliest start of an event in it.
    pub(super) start: Ts,
}

/// Frames inside of frames; each comes after the one it is in.
pub(super) struct FlameTree {
    pub(super) nodes: Vec<FlameNode>,
    pub(super) names: Vec<String>,
}

/// A call's frame and its way outwards, while they are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowState {
    Unknown,
    OnTheWay,
    Found(u32),
}

struct FlameTreeBuilder<'a> {
    selection: &'a Selection<'a>,
    chains: &'a FrameChains<'a>,
    order: FlameOrder,
    nodes: Vec<FlameNode>,
    names: FrameNames,
    known: FxHashMap<(u32, u32, &'static str), u32>,
    states: Vec<RowState>,
    /// Rows with their next outer row; each comes after that one.
    found: Vec<(u32, Option<u32>)>,
}

impl FlameTree {
    pub(super) fn of(
        selection: &Selection<'_>,
        chains: &FrameChains<'_>,
        order: FlameOrder,
        (weighted, names): (&WeightedRows, FrameNames),
    ) -> Self {
        let mut builder = FlameTreeBuilder::new(selection, chains, order, names);
        let mut weights = vec![0; selection.linked.trace.events.len()];
        for (row, weight) in weighted.counted(chains) {
            let mut node = builder.node_of(row);
            if node == ROOT {
                node = builder.node_of_none(row);
            }
            add_ns(&mut builder.nodes[node as usize].self_weight, weight);
            add_ns(&mut weights[row], weight);
        }
        if weighted.unowned > 0 {
            let node = builder.child(ROOT, chains.frames.name_of_none(), NONE);
            add_ns(&mut builder.nodes[node as usize].self_weight, weighted.unowned);
        }
        builder.count_calls(weights);
        Self { nodes: with_totals(builder.nodes), names: builder.names.into_texts() }
    }

    /// The weight in no frame of the trace, which has a frame of its own.
    pub(super) fn unattributed(&self) -> i64 {
        let outermost = self.nodes.iter().skip(1).filter(|node| node.parent == ROOT && node.kind == NONE);
        sum_ns(outermost.map(|node| node.total_weight))
    }

    /// The weight of everything.
    pub(super) fn total_weight(&self) -> i64 {
        self.nodes[ROOT as usize].total_weight
    }
}

/// Each frame comes after the one it is in, so sums from the last to the first are those of all
/// frames inside.
pub(super) fn with_totals(mut nodes: Vec<FlameNode>) -> Vec<FlameNode> {
    for at in (0..nodes.len()).rev() {
        let (own, parent, start) = (nodes[at].self_weight, nodes[at].parent as usize, nodes[at].start);
        add_ns(&mut nodes[at].total_weight, own);
        if at != ROOT as usize {
            let total = nodes[at].total_weight;
            add_ns(&mut nodes[parent].total_weight, total);
            nodes[parent].start = nodes[parent].start.min(start);
        }
    }
    nodes
}

impl<'a> FlameTreeBuilder<'a> {
    fn new(selection: &'a Selection<'a>, chains: &'a FrameChains<'a>, order: FlameOrder, names: FrameNames) -> Self {
        let mut builder = Self {
            selection,
            chains,
            order,
            nodes: Vec::new(),
            names,
            known: FxHashMap::default(),
            states: vec![RowState::Unknown; selection.linked.trace.events.len()],
            found: Vec::new(),
        };
        builder.push(ROOT, 0, NONE);
        builder
    }

    /// The innermost frame that an event is in, or is; the root without any.
    fn node_of(&mut self, row: usize) -> u32 {
        let (mut node, mut way, mut next) = (ROOT, Vec::new(), Some(row));
        while let Some(at) = next {
            match self.states[at] {
                RowState::Found(known) => {
                    node = known;
                    break;
                }
                // A file may claim that an event is inside of itself.
                RowState::OnTheWay => {
                    next = None;
                    break;
                }
                RowState::Unknown => {}
            }
            self.states[at] = RowState::OnTheWay;
            way.push(at);
            next = self.chains.outer(at).map(|outer| outer as usize);
        }
        let mut outer = next.map(|outer| outer as u32);
        for at in way.into_iter().rev() {
            node = self.enter(node, at);
            self.states[at] = RowState::Found(node);
            self.found.push((at as u32, outer));
            outer = Some(at as u32);
        }
        node
    }

    /// The frame that an event makes inside of another one, if it makes one.
    fn enter(&mut self, around: u32, row: usize) -> u32 {
        let mut node = around;
        for frame in self.chains.unrecorded(row) {
            node = self.child(node, &frame.name, frame.kind);
        }
        if !self.chains.is_frame(row) {
            return node;
        }
        let trace = &self.selection.linked.trace;
        if node == ROOT && trace.events.kind[row].is_device_work() {
            node = self.node_of_none(row);
        }
        let name = self.names.of_event(&trace.strings, trace.events.name.at(row));
        let kind = self.chains.kind(row);
        match self.order {
            FlameOrder::Merged => self.numbered(node, name, kind),
            FlameOrder::Time => self.push(node, name, kind),
        }
    }

    /// The frame for all that is in no other.
    fn node_of_none(&mut self, row: usize) -> u32 {
        let node = self.child(ROOT, self.chains.frames.name_of_none(), NONE);
        let start = self.selection.linked.trace.events.start.at(row);
        let first = &mut self.nodes[node as usize].start;
        *first = start.min(*first);
        node
    }

    fn child(&mut self, parent: u32, name: &str, kind: &'static str) -> u32 {
        let name = self.names.of_text(name);
        self.numbered(parent, name, kind)
    }

    fn numbered(&mut self, parent: u32, name: u32, kind: &'static str) -> u32 {
        if let Some(node) = self.known.get(&(parent, name, kind)) {
            return *node;
        }
        let node = self.push(parent, name, kind);
        self.known.insert((parent, name, kind), node);
        node
    }

    fn push(&mut self, parent: u32, name: u32, kind: &'static str) -> u32 {
        self.nodes.push(FlameNode {
            parent,
            name,
            kind,
            count: 0,
            self_weight: 0,
            total_weight: 0,
            largest: None,
            start: Ts(i64::MAX),
        });
        (self.nodes.len() - 1) as u32
    }

    /// Counts the calls of each frame, and finds the one of the most weight; `weights` has those of
    /// each row.
    fn count_calls(&mut self, mut weights: Vec<i64>) {
        let events = &self.selection.linked.trace.events;
        for (row, outer) in self.found.iter().rev() {
            let (place, weight) = (*row as usize, weights[*row as usize]);
            if let Some(outer) = outer {
                add_ns(&mut weights[*outer as usize], weight);
            }
            let RowState::Found(node) = self.states[place] else { continue };
            let node = &mut self.nodes[node as usize];
            node.start = node.start.min(events.start.at(place));
            if self.chains.is_frame(place) && weight > 0 {
                node.count += i64::from(self.selection.contains(place));
                let is_larger = |(best, most): (u32, i64)| (weight, Reverse(*row)) > (most, Reverse(best));
                if node.largest.is_none_or(is_larger) {
                    node.largest = Some((*row, weight));
                }
            }
        }
    }
}
