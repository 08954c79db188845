//! Checks that all text ids of a snapshot exist.

use super::decode::fault;
use crate::error::Error;
use crate::id::StrId;
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::args::{FieldValue, TemplateField};
use crate::trace::node::Node;

/// Checks texts outside of events, instants, flows, counters and metadata, which check their own.
pub(super) fn expect_texts(trace: &Trace) -> Result<(), Error> {
    let strings = &trace.strings;
    for (key, value) in trace.header.iter().chain(&trace.execution_header) {
        expect("the header", &[*key, *value], strings)?;
    }
    for track in &trace.tracks {
        expect("a track", &[track.process, track.thread, track.name], strings)?;
    }
    for process in &trace.processes {
        expect("a process", &[process.process, process.name, process.labels], strings)?;
    }
    trace.nodes.iter().try_for_each(|node| expect_texts_of_node(node, strings))
}

/// Checks the key and the value of an argument.
pub(super) fn expect_texts_of_field(field: &TemplateField, strings: &Strings) -> Result<(), Error> {
    let value = match field.value {
        FieldValue::Slot(_) => StrId::EMPTY,
        FieldValue::Json(value) => value,
    };
    expect("an argument", &[field.key, value], strings)
}

/// Checks that all are there.
pub(super) fn expect(whose: &str, ids: &[StrId], strings: &Strings) -> Result<(), Error> {
    let is_there = ids.iter().all(|id| id.index() < strings.len());
    if is_there { Ok(()) } else { Err(missing(whose)) }
}

// Cold for the same reason as `fault`.
#[cold]
fn missing(whose: &str) -> Error {
    fault(&format!("a missing text of {whose}"))
}

fn expect_texts_of_node(node: &Node, strings: &Strings) -> Result<(), Error> {
    for values in [node.inputs, node.outputs] {
        expect("a node", &[values.values, values.shapes, values.types, values.strides], strings)?;
    }
    let own = [node.name, node.schema, node.kernel_backend, node.kernel_file, node.rest, node.layout];
    expect("a node", &own, strings)
}
