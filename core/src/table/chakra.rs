//! Tables of a Chakra trace.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::column::{Table, boolean, int, json, put, put_json, put_name, text, uint};
use super::health::CHAKRA_HEALTH;
use crate::chakra::{Chakra, collective_name};
use crate::id::StrId;

/// All tables of a Chakra trace.
pub const CHAKRA_TABLES: &[&Table<Chakra>] = &[&NODES, &DEPENDENCIES, &CHAKRA_HEALTH];

static NODES: Table<Chakra> = Table {
    name: "nodes",
    doc: "a node of the Chakra trace",
    num_rows: |chakra| chakra.nodes.len(),
    columns: &[
        uint("node_id", |chakra, row| Some(chakra.nodes[row].id)),
        text("name", |chakra, row, out| put_name(out, chakra.strings.text(chakra.nodes[row].name))),
        text("node_type", |chakra, row, out| {
            let node_type = chakra.nodes[row].node_type;
            put(out, node_type.name().unwrap_or(&node_type.0.to_string()))
        }),
        int("start_ns", |chakra, row| Some(nanoseconds(chakra.nodes[row].start_micros))),
        int("dur_ns", |chakra, row| Some(nanoseconds(chakra.nodes[row].dur_micros))),
        boolean("is_on_host", |chakra, row| attribute_bool(chakra, row, "is_cpu_op")),
        int("stream", |chakra, row| attribute_int(chakra, row, "stream")),
        text("collective", |chakra, row, out| {
            attribute_int(chakra, row, "comm_type")
                .is_some_and(|number| put(out, collective_name(number).unwrap_or(&number.to_string())))
        }),
        int("comm_bytes", |chakra, row| attribute_int(chakra, row, "comm_size")),
        text("group_name", |chakra, row, out| attribute_text(chakra, row, "pg_name", out)),
        int("comm_source", |chakra, row| attribute_int(chakra, row, "comm_src")),
        int("comm_target", |chakra, row| attribute_int(chakra, row, "comm_dst")),
        text("inputs", |chakra, row, out| value(chakra, out, chakra.nodes[row].inputs[0])),
        text("input_shapes", |chakra, row, out| value(chakra, out, chakra.nodes[row].inputs[1])),
        text("input_types", |chakra, row, out| value(chakra, out, chakra.nodes[row].inputs[2])),
        text("outputs", |chakra, row, out| value(chakra, out, chakra.nodes[row].outputs[0])),
        text("output_shapes", |chakra, row, out| value(chakra, out, chakra.nodes[row].outputs[1])),
        text("output_types", |chakra, row, out| value(chakra, out, chakra.nodes[row].outputs[2])),
        json("attrs", |chakra, row, out| put(out, &attributes_json(chakra, &chakra.nodes[row].attributes))),
    ],
};

static DEPENDENCIES: Table<Chakra> = Table {
    name: "dependencies",
    doc: "a dependency: the target node waits for the source node",
    num_rows: |chakra| chakra.dependencies.len(),
    columns: &[
        uint("source", |chakra, row| Some(chakra.dependencies[row].source)),
        uint("target", |chakra, row| Some(chakra.nodes[chakra.dependencies[row].target as usize].id)),
        text("kind", |chakra, row, out| put(out, if chakra.dependencies[row].is_data { "data" } else { "control" })),
    ],
};

/// The first message of the file as a JSON object: version and typed attributes.
pub fn chakra_metadata(chakra: &Chakra) -> String {
    let metadata = &chakra.metadata;
    let version = Value::from(metadata.version.as_str());
    format!(r#"{{"version":{version},"attrs":{}}}"#, attributes_json(chakra, &metadata.attributes))
}

/// An attribute as the tables show it; its value is not parsed, so that no digit of it changes.
#[derive(Serialize)]
struct AttributeJson<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    value_type: &'a str,
    value: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "str::is_empty")]
    doc: &'a str,
}

fn attributes_json(chakra: &Chakra, range: &Range<u32>) -> String {
    let text = |id: StrId| chakra.strings.text(id);
    let attributes = chakra.attributes(range).iter().map(|attribute| AttributeJson {
        name: text(attribute.name),
        value_type: attribute.value_type,
        value: serde_json::from_str(text(attribute.value)).ok(),
        doc: text(attribute.doc),
    });
    serde_json::to_string(&attributes.collect::<Vec<_>>()).unwrap_or_default()
}

fn nanoseconds(micros: u64) -> i64 {
    i64::try_from(micros).unwrap_or(i64::MAX).saturating_mul(1000)
}

fn value(chakra: &Chakra, out: &mut String, id: StrId) -> bool {
    put(out, chakra.strings.text(id))
}

fn attribute_int(chakra: &Chakra, row: usize, name: &str) -> Option<i64> {
    chakra.attribute(&chakra.nodes[row], name)?.parse().ok()
}

fn attribute_bool(chakra: &Chakra, row: usize, name: &str) -> Option<bool> {
    match chakra.attribute(&chakra.nodes[row], name)? {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

fn attribute_text(chakra: &Chakra, row: usize, name: &str, out: &mut String) -> bool {
    let json = chakra.attribute(&chakra.nodes[row], name);
    json.and_then(|json| serde_json::from_str(json).ok()).is_some_and(|value| put_json(out, &value))
}
