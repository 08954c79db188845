//! Compares two flame graphs, frame by frame.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::tree::{FlameTree, ROOT};
use super::walk::{FlameVisit, walk};
use crate::analyze::selection::Selection;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};

/// A frame on both sides of a comparison. Weights are those of an iteration.
#[derive(Debug, Clone)]
pub(in crate::analyze) struct FlameChangeRow {
    names: Arc<[String]>,
    name: u32,
    kind: &'static str,
    parent: Option<u32>,
    depth: u32,
    start: f64,
    weights: [f64; 2],
    largest_ids: [Option<u32>; 2],
}

pub(super) static TABLE: Table<Vec<FlameChangeRow>> = Table {
    name: "diff_flamegraph",
    doc: "a frame with the weight of all calls inside it, before and after",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<FlameChangeRow>>] = &[
    int("node", |_, at| Some(at as i64)),
    int("parent_node", |rows, at| rows[at].parent.map(i64::from)),
    int("depth", |rows, at| Some(i64::from(rows[at].depth))),
    text("name", |rows, at, out| put_name(out, &rows[at].names[rows[at].name as usize])),
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    float("before_weight", |rows, at| Some(rows[at].weights[0])),
    float("after_weight", |rows, at| Some(rows[at].weights[1])),
    float("change_weight", |rows, at| Some(rows[at].weights[1] - rows[at].weights[0])),
    float("total_weight", |rows, at| Some(rows[at].weights[0] + rows[at].weights[1])),
    float("start_weight", |rows, at| Some(rows[at].start)),
    int("before_id", |rows, at| rows[at].largest_ids[0].map(i64::from)),
    int("after_id", |rows, at| rows[at].largest_ids[1].map(i64::from)),
];

/// A frame with the rows of its largest calls, while both sides are merged.
struct ChangedNode {
    parent: u32,
    name: u32,
    kind: &'static str,
    weights: [f64; 2],
    largest: [Option<u32>; 2],
}

/// Frames of both sides, each before the frames inside it, the one of most weight first.
///
/// A frame is as wide as both weights together, so that added and removed frames are seen and
/// widths add up.
pub(super) fn rows(selections: [&Selection<'_>; 2], trees: [FlameTree; 2]) -> Vec<FlameChangeRow> {
    let divisors = divisors(selections);
    let (nodes, names) = merged(trees, divisors);
    let names: Arc<[String]> = names.into();
    let total = |at: u32| nodes[at as usize].weights[0] + nodes[at as usize].weights[1];
    let mut inside: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (at, node) in (0..).zip(&nodes).skip(1).filter(|(at, _)| total(*at) > 0.0) {
        inside[node.parent as usize].push(at);
    }
    let name = |at: &u32| names[nodes[*at as usize].name as usize].as_str();
    for children in &mut inside {
        sort::by(children, |a, b| total(*b).total_cmp(&total(*a)).then_with(|| name(a).cmp(name(b))));
    }
    let id = |side: usize, row: u32| selections[side].linked.trace.events.position.at(row as usize);
    let row = |visit: FlameVisit<f64>| {
        let node = &nodes[visit.node as usize];
        FlameChangeRow {
            names: Arc::clone(&names),
            name: node.name,
            kind: node.kind,
            parent: visit.parent,
            depth: visit.depth,
            start: visit.start,
            weights: node.weights,
            largest_ids: [0, 1].map(|side| node.largest[side].map(|row| id(side, row))),
        }
    };
    walk(&inside, total).into_iter().map(row).collect()
}

/// The iterations of each side, where both have some.
fn divisors(selections: [&Selection<'_>; 2]) -> [f64; 2] {
    let counts = selections.map(|selection| selection.iterations().count());
    if counts.contains(&0) { [1.0, 1.0] } else { counts.map(|count| count as f64) }
}

fn merged(trees: [FlameTree; 2], divisors: [f64; 2]) -> (Vec<ChangedNode>, Vec<String>) {
    let root = ChangedNode { parent: ROOT, name: 0, kind: "none", weights: [0.0; 2], largest: [None; 2] };
    let (mut nodes, mut names) = (vec![root], Vec::new());
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let mut known: FxHashMap<(u32, u32, &'static str), u32> = FxHashMap::default();
    for (side, tree) in trees.into_iter().enumerate() {
        let mut number_of = |name: &String| {
            let next = names.len() as u32;
            *numbers.entry(name.clone()).or_insert_with(|| {
                names.push(name.clone());
                next
            })
        };
        let own: Vec<u32> = tree.names.iter().map(&mut number_of).collect();
        let mut places = vec![ROOT; tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate().skip(1) {
            let key = (places[node.parent as usize], own[node.name as usize], node.kind);
            let next = nodes.len() as u32;
            let place = *known.entry(key).or_insert(next);
            if place == next {
                let (parent, name, kind) = key;
                nodes.push(ChangedNode { parent, name, kind, weights: [0.0; 2], largest: [None; 2] });
            }
            places[at] = place;
            let merged = &mut nodes[place as usize];
            merged.weights[side] += node.total_weight as f64 / divisors[side];
            merged.largest[side] = merged.largest[side].or(node.largest.map(|(row, _)| row));
        }
    }
    (nodes, names)
}
