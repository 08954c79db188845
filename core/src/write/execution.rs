//! Writes the Execution Trace as JSON, in its original layout.

use std::fmt::Write as _;
use std::io;

use super::node_document::{DocumentStyle, NodeDocument};
use crate::json::{Scanner, write_string};
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::layout::{LayoutSlot, parts};
use crate::trace::node::Node;

/// Writes the nodes as JSON that reads back to equal nodes with an equal header: the same keys in
/// the same order, the same types of attributes, every number with its digits.
///
/// # Errors
/// Those of `out`.
///
/// ```
/// use kinetoscope::{Input, Limits, read, write::execution::write_execution};
/// let json = br#"{"schema": "1.0.1", "nodes": [{"name": "aten::add", "id": 2, "parent": 1, "x": 1.50}]}"#;
/// let mut out = Vec::new();
/// write_execution(&read([Input::new(json)], Limits::default())?, &mut out).unwrap();
/// assert_eq!(out, br#"{"schema":"1.0.1","nodes":[
/// {"name":"aten::add","id":2,"parent":1,"x":1.50}
/// ]}
/// "#);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn write_execution(trace: &Trace, out: &mut dyn io::Write) -> io::Result<()> {
    let mut page = NodeDocument::open(trace, DocumentStyle::Lines, out);
    let mut text = String::new();
    for node in &trace.nodes {
        text.clear();
        write_node(&mut text, &trace.strings, node);
        page.push(&text)?;
    }
    page.close()
}

/// Writes a node as its layout has it.
pub(super) fn write_node(out: &mut String, strings: &Strings, node: &Node) {
    let mut rest = ExtraValues::new(strings.text(node.rest));
    for (text, slot) in parts(strings.text(node.layout)) {
        out.push_str(text);
        match slot {
            Some(LayoutSlot::Rest) => out.push_str(rest.next()),
            Some(slot) => write_slot(out, strings, node, slot),
            None => {}
        }
    }
}

/// Writes the value of a column; nothing for [`LayoutSlot::Rest`], which is none.
fn write_slot(out: &mut String, strings: &Strings, node: &Node, slot: LayoutSlot) {
    match slot {
        LayoutSlot::Id => write_number(out, node.id),
        LayoutSlot::Parent => write_number(out, node.parent.unwrap_or(0)),
        LayoutSlot::RecordId => write_number(out, node.record_id),
        LayoutSlot::FwParent => write_number(out, node.fw_parent.unwrap_or(0)),
        LayoutSlot::SeqNum => write_number(out, node.seq_num),
        LayoutSlot::Scope => write_number(out, node.scope.unwrap_or(0)),
        LayoutSlot::Thread => write_number(out, node.thread.unwrap_or(0)),
        LayoutSlot::FwThread => write_number(out, node.fw_thread.unwrap_or(0)),
        LayoutSlot::Name => write_string(out, strings.text(node.name)),
        LayoutSlot::Schema => write_string(out, strings.text(node.schema)),
        LayoutSlot::KernelBackend => write_string(out, strings.text(node.kernel_backend)),
        LayoutSlot::KernelFile => write_string(out, strings.text(node.kernel_file)),
        LayoutSlot::Inputs => write_json(out, strings.text(node.inputs.values)),
        LayoutSlot::InputShapes => write_json(out, strings.text(node.inputs.shapes)),
        LayoutSlot::InputTypes => write_json(out, strings.text(node.inputs.types)),
        LayoutSlot::InputStrides => write_json(out, strings.text(node.inputs.strides)),
        LayoutSlot::Outputs => write_json(out, strings.text(node.outputs.values)),
        LayoutSlot::OutputShapes => write_json(out, strings.text(node.outputs.shapes)),
        LayoutSlot::OutputTypes => write_json(out, strings.text(node.outputs.types)),
        LayoutSlot::OutputStrides => write_json(out, strings.text(node.outputs.strides)),
        LayoutSlot::Rest => {}
    }
}

/// Writes a value that is JSON; `null` where there is none, as in no trace that was read.
fn write_json(out: &mut String, value: &str) {
    out.push_str(if value.is_empty() { "null" } else { value });
}

fn write_number(out: &mut String, number: impl std::fmt::Display) {
    // Writing into a `String` cannot fail.
    let _ = write!(out, "{number}");
}

/// The values of a node that have no column, one after another.
struct ExtraValues<'a>(Scanner<'a>);

impl<'a> ExtraValues<'a> {
    fn new(object: &'a str) -> Self {
        let mut scanner = Scanner::new(object.as_bytes());
        // A node without such values has no object either, and no slots for them.
        let _ = scanner.enter_object();
        Self(scanner)
    }

    /// The next value's text; `null` where there is none, as in no trace that was read.
    fn next(&mut self) -> &'a str {
        let value = match self.0.next_key() {
            Ok(Some(_)) => self.0.skip_value().ok(),
            _ => None,
        };
        value.and_then(|value| std::str::from_utf8(value).ok()).unwrap_or("null")
    }
}
