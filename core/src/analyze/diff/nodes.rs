//! Compares the operators of two Execution Traces by name and shapes: no times needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analyze::result::AnalysisResult;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Table, TableRows, int, json, put, put_name, text};
use crate::trace::node::NodeKind;

/// Calls of one operator with equal shapes, whose number differs between two traces.
#[derive(Debug)]
struct NodeCountChange {
    name: String,
    shapes: String,
    counts: [i64; 2],
    ids: [Option<i64>; 2],
}

/// Adds the changes of nodes to the comparison of two traces; none where one of them has no nodes.
/// Without events, theirs is the first table.
pub(super) fn with_nodes(mut found: AnalysisResult, before: &LinkedTrace, after: &LinkedTrace) -> AnalysisResult {
    let none = || -> Arc<dyn TableRows> { TABLE.of(&Arc::new(Vec::new())) };
    let nodes = if have_nodes(before, after) { node_changes(before, after) } else { none() };
    if [before, after].iter().any(|linked| !linked.trace.events.is_empty()) {
        found.tables.push(nodes);
        return found;
    }
    found.reason = (nodes.num_rows() == 0).then_some("the Execution Traces have the same operators".into());
    found.plot = None;
    found.tables.insert(0, nodes);
    found
}

/// Whether both traces have nodes.
pub(super) fn have_nodes(before: &LinkedTrace, after: &LinkedTrace) -> bool {
    [before, after].iter().all(|linked| !linked.trace.nodes.is_empty())
}

/// The operators whose number of calls differs between two Execution Traces, the largest
/// difference first.
pub fn node_changes(before: &LinkedTrace, after: &LinkedTrace) -> Arc<dyn TableRows> {
    let mut found: BTreeMap<(&str, &str), NodeCountChange> = BTreeMap::new();
    for (side, linked) in [before, after].into_iter().enumerate() {
        let strings = &linked.trace.strings;
        for node in &linked.trace.nodes {
            let name = strings.text(node.name);
            if node.kind(name) != NodeKind::Operator {
                continue;
            }
            let shapes = strings.text(node.inputs.shapes);
            let row = found.entry((name, shapes)).or_insert_with(|| NodeCountChange {
                name: name.to_owned(),
                shapes: shapes.to_owned(),
                counts: [0; 2],
                ids: [None; 2],
            });
            row.counts[side] += 1;
            row.ids[side].get_or_insert(node.id as i64);
        }
    }
    let mut rows: Vec<_> = found.into_values().filter(|row| row.counts[0] != row.counts[1]).collect();
    sort::by(&mut rows, |a, b| {
        let size = |row: &NodeCountChange| row.counts[0].abs_diff(row.counts[1]);
        size(b).cmp(&size(a)).then_with(|| (&a.name, &a.shapes).cmp(&(&b.name, &b.shapes)))
    });
    TABLE.of(&Arc::new(rows))
}

impl NodeCountChange {
    fn status(&self) -> &'static str {
        match self.counts {
            [0, _] => "added",
            [_, 0] => "removed",
            _ => "changed",
        }
    }
}

static TABLE: Table<Vec<NodeCountChange>> = Table {
    name: "diff_nodes",
    doc: "operators of Execution Traces, by name and shapes, whose number of calls differs",
    num_rows: Vec::len,
    columns: &[
        text("name", |rows, row, out| put_name(out, &rows[row].name)),
        json("input_shapes", |rows, row, out| !rows[row].shapes.is_empty() && put(out, &rows[row].shapes)),
        text("status", |rows, row, out| put_name(out, rows[row].status())),
        int("before_count", |rows, row| Some(rows[row].counts[0])),
        int("after_count", |rows, row| Some(rows[row].counts[1])),
        int("change_count", |rows, row| Some(rows[row].counts[1].saturating_sub(rows[row].counts[0]))),
        int("before_id", |rows, row| rows[row].ids[0]),
        int("after_id", |rows, row| rows[row].ids[1]),
    ],
};
