//! Events matched with their nodes.

use super::iteration_match::IterationMatch;
use crate::link::link_method::LinkMethod;

/// Events with their nodes, and how they were found.
#[derive(Debug, Default)]
pub(super) struct MatchedNodes {
    /// Row of the event, row of the node.
    pub(super) rows: Vec<(u32, u32)>,
    pub(super) how: Option<LinkMethod>,
    pub(super) confidence: f32,
    pub(super) windows: Vec<IterationMatch>,
}
