//! The table of links.

use super::column::{Table, float, int, put, text, uint};
use crate::link::{Edge, EdgeKind, LinkedTrace};

/// One row an edge.
pub(super) static LINKS: Table = Table {
    name: "links",
    doc: "a directed link between two events, or from an event to a node",
    num_rows: |linked| linked.edge_list().len(),
    columns: &[
        int("source_id", |linked, row| Some(super::event::id(linked, edge(linked, row).source))),
        int("target_id", |linked, row| match edge(linked, row).kind {
            EdgeKind::Node => None,
            _ => Some(super::event::id(linked, edge(linked, row).target)),
        }),
        uint("target_node_id", |linked, row| match edge(linked, row).kind {
            EdgeKind::Node => Some(linked.trace.nodes[edge(linked, row).target as usize].id),
            _ => None,
        }),
        text("kind", |linked, row, out| put(out, edge(linked, row).kind.name())),
        text("method", |linked, row, out| put(out, edge(linked, row).how.name())),
        float("confidence", |linked, row| Some(f64::from(edge(linked, row).confidence))),
    ],
};

fn edge(linked: &LinkedTrace, row: usize) -> Edge {
    linked.edge_list()[row]
}
