//! Checks that all text ids of a snapshot exist, and that texts that stand for JSON are JSON.

use serde::de::IgnoredAny;

use super::decode::fault;
use crate::error::Error;
use crate::id::StrId;
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::args::{FieldValue, TemplateField};
use crate::trace::layout::{LayoutSlot, parts};
use crate::trace::node::Node;

/// Checks texts outside of events, instants, flows, counters and metadata, which check their own.
pub(super) fn expect_texts(trace: &Trace) -> Result<(), Error> {
    let strings = &trace.strings;
    let mut json = JsonTexts::new(strings);
    for (key, value) in trace.header.iter().chain(&trace.execution_header) {
        expect("the header", &[*key], strings)?;
        json.expect("the header", *value)?;
    }
    for track in &trace.tracks {
        expect("a track", &[track.process, track.thread, track.name], strings)?;
    }
    for process in &trace.processes {
        expect("a process", &[process.process, process.name, process.labels], strings)?;
    }
    trace.nodes.iter().try_for_each(|node| expect_texts_of_node(node, &mut json))
}

/// Checks the keys and the values of arguments.
pub(super) fn expect_texts_of_fields<'a>(
    fields: impl Iterator<Item = &'a TemplateField>,
    strings: &Strings,
) -> Result<(), Error> {
    let mut json = JsonTexts::new(strings);
    for field in fields {
        expect("an argument", &[field.key], strings)?;
        if let FieldValue::Json(value) = field.value {
            json.expect("an argument", value)?;
        }
    }
    Ok(())
}

/// Texts that stand for JSON. They are written as they are, so that others would break the files
/// that are made of the trace. Each is parsed once.
struct JsonTexts<'a> {
    strings: &'a Strings,
    is_checked: Vec<bool>,
    is_checked_layout: Vec<bool>,
}

impl<'a> JsonTexts<'a> {
    fn new(strings: &'a Strings) -> Self {
        let is_checked = vec![false; strings.len()];
        Self { strings, is_checked_layout: is_checked.clone(), is_checked }
    }

    fn expect(&mut self, whose: &str, id: StrId) -> Result<(), Error> {
        expect(whose, &[id], self.strings)?;
        if std::mem::replace(&mut self.is_checked[id.index()], true) {
            return Ok(());
        }
        serde_json::from_str::<IgnoredAny>(self.strings.text(id)).map(drop).map_err(|_| no_json(whose))
    }

    /// The same of a layout, an object whose marks stand where JSON has a value. Those of numbers
    /// may stand within quotes.
    fn expect_layout(&mut self, whose: &str, id: StrId) -> Result<(), Error> {
        expect(whose, &[id], self.strings)?;
        if id == StrId::EMPTY || std::mem::replace(&mut self.is_checked_layout[id.index()], true) {
            return Ok(());
        }
        let text = with_values(self.strings.text(id));
        let is_object = text.starts_with('{') && serde_json::from_str::<IgnoredAny>(&text).is_ok();
        if is_object { Ok(()) } else { Err(no_json(whose)) }
    }

    /// The same of a value that may be missing.
    fn expect_if_any(&mut self, whose: &str, id: StrId) -> Result<(), Error> {
        if id == StrId::EMPTY { Ok(()) } else { self.expect(whose, id) }
    }
}

/// A layout with a number or a string for each mark.
fn with_values(layout: &str) -> String {
    let value = |slot: LayoutSlot| if slot.is_number() { "0" } else { "\"\"" };
    parts(layout).flat_map(|(text, slot)| [text, slot.map_or("", value)]).collect()
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

#[cold]
fn no_json(whose: &str) -> Error {
    fault(&format!("a text of {whose} that is no JSON"))
}

fn expect_texts_of_node(node: &Node, json: &mut JsonTexts<'_>) -> Result<(), Error> {
    expect("a node", &[node.name, node.schema, node.kernel_backend, node.kernel_file], json.strings)?;
    for values in [node.inputs, node.outputs] {
        let parts = [values.values, values.shapes, values.types, values.strides];
        parts.into_iter().try_for_each(|part| json.expect_if_any("a node", part))?;
    }
    json.expect_if_any("a node", node.rest)?;
    json.expect_layout("a node", node.layout)
}
