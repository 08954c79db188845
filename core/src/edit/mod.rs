//! Edits traces: trims, splits, redacts, shrinks, adds memory; cuts, upgrades, anonymises Execution
//! Traces.

#[cfg(feature = "companions")]
mod beside;
mod capture;
mod comm_attrs;
mod communications;
mod companion;
mod cut;
mod edit_log;
mod execution_draft;
mod extent;
mod extra_attrs;
mod harmless_words;
mod held_memory;
mod kept_rows;
mod kernel_names;
mod memory;
mod memory_record;
mod memory_thread;
mod pseudonym;
mod public;
mod public_names;
mod rebuild;
mod redact;
mod shrink;
mod split;
mod texts;
mod trim;
mod unknown_rank;
mod upgrade;

use crate::error::Error;
use crate::trace::Trace;
use crate::trace::node::NodeSpan;
#[cfg(feature = "companions")]
pub use beside::{CompanionAlignment, beside};
pub use capture::with_captures;
pub use communications::communications;
pub use companion::Companion;
use execution_draft::ExecutionDraft;
pub use extent::TrimExtent;
pub use memory::with_memory;
pub use redact::{Redaction, redact};
pub use shrink::shrink;
pub use split::{RankTrace, separate_devices, split};
pub use trim::{TrimmedTrace, trim};

/// The edits, in this order.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExecutionEdit<'a> {
    /// Keep this iteration alone: the nodes from `ProfilerStep#n` up to the next one, on all
    /// threads; or, where no node is one, those of its span, with all that they are inside of.
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

/// A trace of the nodes alone, edited. The root, the threads and the process groups are always
/// kept, and a node whose parent is not becomes its thread's.
///
/// # Errors
/// When there is no Execution Trace, no such iteration or no such node.
///
/// ```
/// use kinetoscope::edit::{ExecutionEdit, edit};
/// use kinetoscope::{Input, Limits, read};
/// let json = br#"{"schema": "1.0.1", "nodes": [
///     {"name": "ProfilerStep#1", "id": 3, "parent": 2}, {"name": "aten::add", "id": 4, "parent": 3},
///     {"name": "ProfilerStep#2", "id": 5, "parent": 2}, {"name": "aten::mul", "id": 6, "parent": 5}]}"#;
/// let trace = read([Input::new(json)], Limits::default())?;
/// let second = edit(&trace, ExecutionEdit { iteration: Some(2), ..ExecutionEdit::default() })?;
/// assert_eq!(second.nodes.iter().map(|node| node.id).collect::<Vec<_>>(), [5, 6]);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn edit(trace: &Trace, edit: ExecutionEdit<'_>) -> Result<Trace, Error> {
    trace.expect_execution()?;
    let mut draft = ExecutionDraft {
        strings: trace.strings.clone(),
        header: trace.execution_header.clone(),
        nodes: trace.nodes.clone(),
    };
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
