//! Checks that all text ids of a snapshot exist, and that texts are JSON where exports need JSON.

use serde::de::IgnoredAny;

use super::decode::fault;
use crate::error::Error;
use crate::id::StrId;
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::args::{FieldValue, TemplateField};
use crate::trace::node::Node;

/// Checks texts outside of events, instants, flows, counters and metadata, which check their own.
pub(super) fn expect_texts(trace: &Trace, json: &mut JsonTexts) -> Result<(), Error> {
    let strings = &trace.strings;
    for (key, value) in trace.header.iter().chain(&trace.execution_header) {
        expect("the header", &[*key, *value], strings)?;
        json.expect("the header", *value, strings)?;
    }
    for track in &trace.tracks {
        expect("a track", &[track.process, track.thread, track.name], strings)?;
    }
    for process in &trace.processes {
        expect("a process", &[process.process, process.name, process.labels], strings)?;
    }
    trace.nodes.iter().try_for_each(|node| expect_texts_of_node(node, strings, json))
}

/// Checks the key and the value of an argument.
pub(super) fn expect_texts_of_field(
    field: &TemplateField,
    strings: &Strings,
    json: &mut JsonTexts,
) -> Result<(), Error> {
    expect("an argument", &[field.key], strings)?;
    match field.value {
        FieldValue::Slot(_) => Ok(()),
        FieldValue::Json(value) => {
            expect("an argument", &[value], strings)?;
            json.expect("an argument", value, strings)
        }
    }
}

/// The texts that were found to be JSON, each checked once.
#[derive(Debug, Default)]
pub(super) struct JsonTexts(Vec<bool>);

impl JsonTexts {
    /// Checks that a text is JSON.
    fn expect(&mut self, whose: &str, id: StrId, strings: &Strings) -> Result<(), Error> {
        if self.0.is_empty() {
            self.0.resize(strings.len(), false);
        }
        let is_known = self.0.get_mut(id.index()).is_some_and(|known| std::mem::replace(known, true));
        if is_known || serde_json::from_str::<IgnoredAny>(strings.text(id)).is_ok() {
            Ok(())
        } else {
            Err(no_json(whose))
        }
    }
}

// Cold for the same reason as `fault`.
#[cold]
fn no_json(whose: &str) -> Error {
    fault(&format!("a text of {whose} that is not JSON"))
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

fn expect_texts_of_node(node: &Node, strings: &Strings, json: &mut JsonTexts) -> Result<(), Error> {
    let lists = [node.inputs, node.outputs].map(|list| [list.values, list.shapes, list.types, list.strides]);
    for id in lists.into_iter().flatten().chain([node.rest]) {
        expect("a node", &[id], strings)?;
        if id != StrId::EMPTY {
            json.expect("a node", id, strings)?;
        }
    }
    let own = [node.name, node.schema, node.kernel_backend, node.kernel_file, node.layout];
    expect("a node", &own, strings)
}
