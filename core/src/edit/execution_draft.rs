//! The nodes of an Execution Trace while they are edited.

use crate::id::StrId;
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::node::Node;

/// The nodes in the making, with the texts of the trace that they are of.
pub(super) struct ExecutionDraft {
    pub(super) strings: Strings,
    pub(super) header: Vec<(StrId, StrId)>,
    pub(super) nodes: Vec<Node>,
}

impl ExecutionDraft {
    pub(super) fn name(&self, node: &Node) -> &str {
        self.strings.text(node.name)
    }

    /// A trace with the texts that are still used, and no others.
    pub(super) fn finish(mut self) -> Trace {
        let mut strings = Strings::default();
        let mut keep = |id: StrId| strings.intern(self.strings.text(id));
        let execution_header = self.header.iter().map(|(key, value)| (keep(*key), keep(*value))).collect();
        for text in self.nodes.iter_mut().flat_map(Node::texts_mut) {
            *text = keep(*text);
        }
        Trace { strings, execution_header, nodes: self.nodes, ..Trace::default() }
    }
}
