//! Visits the frames of a flame graph from left to right, each before the frames inside it.

use std::ops::AddAssign;

use super::tree::ROOT;

/// A frame with its place.
pub(super) struct FlameVisit<W> {
    pub(super) node: u32,
    /// The number of the visit of the frame around it.
    pub(super) parent: Option<u32>,
    pub(super) depth: u32,
    /// Where it begins: after the frames before it that are in the same frame.
    pub(super) start: W,
}

/// Visits all nodes below the root; `inside` has the nodes inside of each, from left to right.
pub(super) fn walk<W: Copy + Default + AddAssign>(
    inside: &[Vec<u32>],
    weight: impl Fn(u32) -> W,
) -> Vec<FlameVisit<W>> {
    // Where the next frame begins inside of each frame.
    let mut next = vec![W::default(); inside.len()];
    let mut visits = Vec::new();
    let mut waiting: Vec<(u32, u32, Option<u32>, u32)> = Vec::new();
    let around = |node: u32, visit: Option<u32>, depth: u32| {
        inside[node as usize].iter().rev().map(move |child| (*child, node, visit, depth))
    };
    waiting.extend(around(ROOT, None, 0));
    while let Some((node, outer, parent, depth)) = waiting.pop() {
        let start = next[outer as usize];
        next[node as usize] = start;
        next[outer as usize] += weight(node);
        waiting.extend(around(node, Some(visits.len() as u32), depth + 1));
        visits.push(FlameVisit { node, parent, depth, start });
    }
    visits
}
