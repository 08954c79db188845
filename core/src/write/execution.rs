//! The Execution Trace's JSON, in the layout that it was read in.

use std::fmt::Write as _;
use std::io;

use super::page::{Page, Style};
use crate::json::{Scanner, write_string};
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::layout::{Slot, parts};
use crate::trace::node::Node;

/// Writes the nodes as JSON that reads back to equal nodes with an equal header: the same keys in the same order, the same
/// types of attributes, every number with its digits.
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
    let mut page = Page::open(trace, Style::Lines, out);
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
    let mut rest = Rest::new(strings.text(node.rest));
    for (text, slot) in parts(strings.text(node.layout)) {
        out.push_str(text);
        match slot {
            Some(Slot::Rest) => out.push_str(rest.next()),
            Some(slot) => write_slot(out, strings, node, slot),
            None => {}
        }
    }
}

/// Writes the value of a column; nothing for [`Slot::Rest`], which is none.
fn write_slot(out: &mut String, strings: &Strings, node: &Node, slot: Slot) {
    match slot {
        Slot::Id => write_number(out, node.id),
        Slot::Parent => write_number(out, node.parent.unwrap_or(0)),
        Slot::RecordId => write_number(out, node.record_id),
        Slot::FwParent => write_number(out, node.fw_parent.unwrap_or(0)),
        Slot::SeqNum => write_number(out, node.seq_num),
        Slot::Scope => write_number(out, node.scope.unwrap_or(0)),
        Slot::Thread => write_number(out, node.thread.unwrap_or(0)),
        Slot::FwThread => write_number(out, node.fw_thread.unwrap_or(0)),
        Slot::Name => write_string(out, strings.text(node.name)),
        Slot::Schema => write_string(out, strings.text(node.schema)),
        Slot::KernelBackend => write_string(out, strings.text(node.kernel_backend)),
        Slot::KernelFile => write_string(out, strings.text(node.kernel_file)),
        Slot::Inputs => out.push_str(strings.text(node.inputs.values)),
        Slot::InputShapes => out.push_str(strings.text(node.inputs.shapes)),
        Slot::InputTypes => out.push_str(strings.text(node.inputs.types)),
        Slot::InputStrides => out.push_str(strings.text(node.inputs.strides)),
        Slot::Outputs => out.push_str(strings.text(node.outputs.values)),
        Slot::OutputShapes => out.push_str(strings.text(node.outputs.shapes)),
        Slot::OutputTypes => out.push_str(strings.text(node.outputs.types)),
        Slot::OutputStrides => out.push_str(strings.text(node.outputs.strides)),
        Slot::Rest => {}
    }
}

fn write_number(out: &mut String, number: impl std::fmt::Display) {
    // Writing into a `String` cannot fail.
    let _ = write!(out, "{number}");
}

/// The values of a node that have no column, one after another.
struct Rest<'a>(Scanner<'a>);

impl<'a> Rest<'a> {
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
