//! Lists the frames of a flame graph.

use std::cmp::Reverse;
use std::sync::Arc;

use super::order::FlameOrder;
use super::tree::FlameTree;
use super::walk::{FlameVisit, walk};
use crate::analyze::selection::Selection;
use crate::link::FrameOrigin;
use crate::sort;
use crate::table::{Column, Table, float, int, put, put_name, text};

/// A frame of a flame graph.
#[derive(Debug, Clone)]
pub struct FlameRow {
    names: Arc<[String]>,
    name: u32,
    /// `python`, `module`, `operator`, `launch`, `kernel`, `copy` or `fill`; `backward` for work of
    /// the backward pass; `none` for all that is in no frame.
    pub kind: &'static str,
    /// The row of the frame around it.
    pub parent: Option<u32>,
    /// How many frames are around it.
    pub depth: u32,
    /// Selected calls that have a weight.
    pub count: i64,
    /// The weight in it and in no frame inside.
    pub self_weight: i64,
    /// The weight in it and in all frames inside.
    pub total_weight: i64,
    /// Where it begins, from the left: after the frames before it that are in the same frame.
    pub start_weight: i64,
    /// `total_weight` over the weight of everything.
    pub share: f64,
    /// Id of the call of the most weight.
    pub largest_id: Option<u32>,
}

impl FlameRow {
    /// Its name: of a module without a prefix, of any without addresses of objects.
    pub fn name(&self) -> &str {
        self.names.get(self.name as usize).map_or("", String::as_str)
    }

    /// The origin of a Python frame with a line.
    fn origin(&self) -> Option<&'static str> {
        (self.kind == "python").then(|| FrameOrigin::of(self.name()))?.map(FrameOrigin::name)
    }
}

pub(super) static TABLE: Table<Vec<FlameRow>> = Table {
    name: "flamegraph",
    doc: "a frame with the weight of all calls inside it; frames inside it follow",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<FlameRow>>] = &[
    int("node", |_, at| Some(at as i64)),
    int("parent_node", |rows, at| rows[at].parent.map(i64::from)),
    int("depth", |rows, at| Some(i64::from(rows[at].depth))),
    text("name", |rows, at, out| put_name(out, rows[at].name())),
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    text("origin", |rows, at, out| rows[at].origin().is_some_and(|origin| put(out, origin))),
    int("count", |rows, at| Some(rows[at].count)),
    int("self_weight", |rows, at| Some(rows[at].self_weight)),
    int("total_weight", |rows, at| Some(rows[at].total_weight)),
    int("start_weight", |rows, at| Some(rows[at].start_weight)),
    float("share", |rows, at| Some(rows[at].share)),
    int("largest_id", |rows, at| rows[at].largest_id.map(i64::from)),
];

/// The frames with a weight, each before the frames inside it.
pub(super) fn rows(selection: &Selection<'_>, tree: FlameTree, order: FlameOrder) -> Vec<FlameRow> {
    let (all, positions) = (tree.total_weight().max(1), &selection.linked.trace.events.position);
    let FlameTree { nodes, names, .. } = tree;
    let names: Arc<[String]> = names.into();
    let mut inside: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate().skip(1).filter(|(_, node)| node.total_weight > 0) {
        inside[node.parent as usize].push(at as u32);
    }
    for children in &mut inside {
        let node = |at: &u32| &nodes[*at as usize];
        match order {
            FlameOrder::Merged => {
                let key = |at: &u32| (Reverse(node(at).total_weight), names[node(at).name as usize].as_str());
                sort::by(children, |a, b| key(a).cmp(&key(b)));
            }
            FlameOrder::Time => sort::by_key(children, |at| (node(at).start, *at)),
        }
    }
    let visits = walk(&inside, |at| i128::from(nodes[at as usize].total_weight));
    let row = |visit: FlameVisit<i128>| {
        let node = &nodes[visit.node as usize];
        FlameRow {
            names: Arc::clone(&names),
            name: node.name,
            kind: node.kind,
            parent: visit.parent,
            depth: visit.depth,
            count: node.count,
            self_weight: node.self_weight,
            total_weight: node.total_weight,
            start_weight: i64::try_from(visit.start).unwrap_or(i64::MAX),
            share: node.total_weight as f64 / all as f64,
            largest_id: node.largest.map(|(row, _)| positions.at(row as usize)),
        }
    };
    visits.into_iter().map(row).collect()
}
