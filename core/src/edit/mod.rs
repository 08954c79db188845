//! Traces, edited: a range of one; an Execution Trace's iteration or node with all below it, in the newest layout, without private names.

mod anew;
mod communications;
mod cut;
mod extent;
mod harmless;
mod kept;
mod note;
mod pseudonym;
mod public;
mod redact;
mod rest;
mod texts;
mod thin;
mod trim;
mod upgrade;

use crate::error::Error;
use crate::id::StrId;
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::node::{Node, NodeSpan};
pub use communications::communications;
pub use extent::Extent;
pub use redact::{Redaction, redact};
pub use thin::thin;
pub use trim::{Trimmed, trim};

/// What to do, in this order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Edit<'a> {
    /// Keep this iteration alone: the nodes from `ProfilerStep#n` up to the next one, on all threads; or, where no node
    /// is one, those of its span, with all that they are inside of.
    pub iteration: Option<i64>,
    /// The iterations as the Kineto trace knows them.
    pub spans: &'a [NodeSpan],
    /// Keep the node with this id and all below it.
    pub subtree: Option<u64>,
    /// Lay nodes out as the newest schema (1.1.1) has them.
    pub upgrade: bool,
    /// Put pseudonyms in the place of names and texts that are not `PyTorch`'s own.
    pub anonymise: bool,
}

/// The nodes in the making, with the texts of the trace that they are of.
struct Draft {
    strings: Strings,
    header: Vec<(StrId, StrId)>,
    nodes: Vec<Node>,
}

/// A trace of the nodes alone, edited. The root, the threads and the process groups are always kept, and a node whose
/// parent is not becomes its thread's.
///
/// # Errors
/// When there is no Execution Trace, no such iteration or no such node.
///
/// ```
/// use kinetoscope::edit::{Edit, edit};
/// use kinetoscope::{Input, Limits, read};
/// let json = br#"{"schema": "1.0.1", "nodes": [
///     {"name": "ProfilerStep#1", "id": 3, "parent": 2}, {"name": "aten::add", "id": 4, "parent": 3},
///     {"name": "ProfilerStep#2", "id": 5, "parent": 2}, {"name": "aten::mul", "id": 6, "parent": 5}]}"#;
/// let trace = read([Input::new(json)], Limits::default())?;
/// let second = edit(&trace, Edit { iteration: Some(2), ..Edit::default() })?;
/// assert_eq!(second.nodes.iter().map(|node| node.id).collect::<Vec<_>>(), [5, 6]);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn edit(trace: &Trace, edit: Edit<'_>) -> Result<Trace, Error> {
    trace.expect_execution()?;
    let mut draft =
        Draft { strings: trace.strings.clone(), header: trace.execution_header.clone(), nodes: trace.nodes.clone() };
    if let Some(number) = edit.iteration {
        cut::keep_iteration(&mut draft, number, edit.spans)?;
    }
    if let Some(id) = edit.subtree {
        cut::keep_subtree(&mut draft, id)?;
    }
    if edit.upgrade {
        upgrade::upgrade(&mut draft);
    }
    if edit.anonymise {
        pseudonym::anonymise(&mut draft);
    }
    Ok(draft.finish())
}

impl Draft {
    fn name(&self, node: &Node) -> &str {
        self.strings.text(node.name)
    }

    /// A trace with the texts that are still used, and no others.
    fn finish(mut self) -> Trace {
        let mut strings = Strings::default();
        let mut keep = |id: StrId| strings.intern(self.strings.text(id));
        let execution_header = self.header.iter().map(|(key, value)| (keep(*key), keep(*value))).collect();
        for text in self.nodes.iter_mut().flat_map(Node::texts_mut) {
            *text = keep(*text);
        }
        Trace { strings, execution_header, nodes: self.nodes, ..Trace::default() }
    }
}
