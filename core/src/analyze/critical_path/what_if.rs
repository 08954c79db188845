//! Recomputes the critical path with scaled durations of some events.

use super::graph::PathKind;
use super::longest::longest;
use super::path::CriticalPath;
use crate::analyze::selection::Selection;
use crate::time::sum_ns;

/// A critical path, and another where some events took another time.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The length of the path as it was.
    pub length_ns: i64,
    /// The selected time.
    pub span_ns: i64,
    /// The text in the names of scaled events, if given.
    pub name: Option<String>,
    /// How many times their time they take.
    pub factor: f64,
    /// How many of them have time in the graph.
    pub num_events: u64,
    /// The length of the longest path then.
    pub new_length_ns: i64,
}

impl WhatIf {
    /// The length of the longest path through the same graph where the time inside of some events,
    /// of operators with all that is inside of them on their thread, is multiplied. Every other
    /// time stays.
    pub fn of(selection: &Selection<'_>, path: &CriticalPath, name: Option<&str>, factor: f64) -> Self {
        let length_ns = path.length_ns();
        let mut found = Self {
            length_ns,
            span_ns: selection.len_ns(),
            name: name.map(str::to_owned),
            factor,
            num_events: 0,
            new_length_ns: length_ns,
        };
        let Some(name) = name else { return found };
        let is_meant = meant(selection, name);
        let mut graph = path.graph.clone();
        let mut counted = vec![false; is_meant.len()];
        for edge in &mut graph.edges {
            let event = edge.event as usize;
            if is_meant[event] && matches!(edge.kind, PathKind::Operator | PathKind::Kernel) {
                edge.weight_ns = (edge.weight_ns as f64 * factor).round() as i64;
                counted[event] = true;
            }
        }
        let new = longest(&graph);
        found.new_length_ns = sum_ns(new.iter().map(|edge| graph.edges[*edge as usize].weight_ns.max(0)));
        found.num_events = counted.iter().filter(|is_counted| **is_counted).count() as u64;
        found
    }
}

/// Events with a text in their name, and all events inside them.
fn meant(selection: &Selection<'_>, name: &str) -> Vec<bool> {
    let (trace, nesting) = (&selection.linked.trace, &selection.linked.links.nesting);
    let mut is_meant: Vec<bool> = (0..trace.events.len()).map(|row| trace.event_name(row).contains(name)).collect();
    for row in nesting.order.iter().map(|row| *row as usize).filter(|row| !trace.is_on_device(*row)) {
        is_meant[row] |= nesting.parent.get(row).is_some_and(|parent| is_meant[parent as usize]);
    }
    is_meant
}
