//! Reads Chakra traces in JSON: `{"workload_graph": [{"Id": …, "Name": …, "NodeType": …,
//! "data_deps": […], …}]}`.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::text_window::TextWindow;
use crate::chakra::value::value_from_json;
use crate::chakra::{Chakra, ChakraAttribute, ChakraMetadata, ChakraNode, Dependency, NodeType};
use crate::error::{Error, ErrorKind, Position};
use crate::id::StrId;
use crate::warning::WarningKind;

const NODES: &str = "workload_graph";

/// Whether a text starts as a Chakra trace in JSON does.
pub(super) fn is_graph(text: &[u8]) -> bool {
    text.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\"workload_graph\""))
}

/// Types of the attributes that simulators ask for.
const TYPES: [(&str, &str); 11] = [
    ("is_cpu_op", "bool"),
    ("num_ops", "int64"),
    ("tensor_size", "uint64"),
    ("comm_type", "int64"),
    ("comm_priority", "int32"),
    ("comm_size", "int64"),
    ("comm_src", "int32"),
    ("comm_dst", "int32"),
    ("comm_tag", "int32"),
    ("pg_name", "string"),
    ("involved_dim", "bool_list"),
];

/// Types of all others: the first that takes the value. A text comes before a number that could be
/// written as one.
const OTHER_TYPES: [&str; 10] = [
    "bool",
    "int64",
    "uint64",
    "string",
    "double",
    "bool_list",
    "int64_list",
    "uint64_list",
    "string_list",
    "double_list",
];

/// The members of an object, in their order.
struct JsonMembers<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for JsonMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = JsonMembers<'de>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<Cow<'de, str>, &RawValue>()? {
                    members.push(member);
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Reads the text that a window stands before, all of which is in it.
///
/// # Errors
/// When it is no JSON, or no object with a list of nodes.
pub(super) fn read_graph(window: &TextWindow<'_>, file: Option<&str>) -> Result<Chakra, Error> {
    let malformed = |error: serde_json::Error| {
        let position = Position { file: file.map(Into::into), ..Position::default() };
        let expected = "a Chakra trace in JSON";
        Error::from(ErrorKind::Malformed { expected, found: error.to_string(), position })
    };
    let JsonMembers(members) = serde_json::from_slice(window.text()).map_err(malformed)?;
    let mut chakra = Chakra::default();
    for (key, value) in members.iter().filter(|(key, _)| key != NODES) {
        add_attribute(&mut chakra, key, value.get());
    }
    chakra.metadata = ChakraMetadata { attributes: 0..chakra.attributes.len() as u32, ..ChakraMetadata::default() };
    let nodes = members.iter().find(|(key, _)| key == NODES).map(|(_, value)| value.get());
    let nodes: Vec<&RawValue> = serde_json::from_str(nodes.unwrap_or_default()).map_err(malformed)?;
    for (place, node) in nodes.into_iter().enumerate() {
        if serde_json::from_str(node.get()).and_then(|members| add_node(&mut chakra, members)).is_err() {
            let position = Position { file: file.map(Into::into), event: Some(place as u64), ..Position::default() };
            chakra.warnings.push(WarningKind::MalformedElement, || position);
        }
    }
    Ok(chakra)
}

fn add_node(chakra: &mut Chakra, JsonMembers(members): JsonMembers<'_>) -> serde_json::Result<()> {
    let find = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| value.get());
    let list = |name| find(name).map_or_else(|| Ok(Vec::new()), serde_json::from_str::<Vec<u64>>);
    let number = |name| find(name).map_or(Ok(0), serde_json::from_str::<u64>);
    let missing = || serde_json::Error::custom("no id");
    let id = serde_json::from_str(find("Id").ok_or_else(missing)?)?;
    let name: String = find("Name").map_or_else(|| Ok(String::new()), serde_json::from_str)?;
    let node_type = NodeType(find("NodeType").map_or(Ok(0), serde_json::from_str)?);
    let (dur_micros, start_micros) = (number("runtime")?, number("start_time")?);
    let (control, data) = (list("ctrl_deps")?, list("data_deps")?);
    let control = if control.is_empty() { list("ctrlDeps")? } else { control };
    let target = chakra.nodes.len() as u32;
    let dependency = |is_data| move |source| Dependency { source, target, is_data };
    chakra.dependencies.extend(control.into_iter().map(dependency(false)));
    chakra.dependencies.extend(data.into_iter().map(dependency(true)));
    let attributes = add_attributes(chakra, &members);
    let name = chakra.strings.intern(&name);
    let [inputs, outputs] = [[StrId::EMPTY; 3]; 2];
    let irregular = None;
    let node = ChakraNode { id, name, node_type, start_micros, dur_micros, inputs, outputs, attributes, irregular };
    chakra.nodes.push(node);
    Ok(())
}

/// Adds fields without a column.
fn add_attributes(chakra: &mut Chakra, members: &[(Cow<'_, str>, &RawValue)]) -> Range<u32> {
    const FIELDS: [&str; 8] = ["Id", "Name", "NodeType", "runtime", "start_time", "ctrl_deps", "ctrlDeps", "data_deps"];
    let start = chakra.attributes.len() as u32;
    for (key, value) in members.iter().filter(|(key, _)| !FIELDS.contains(&key.as_ref())) {
        add_attribute(chakra, key, value.get());
    }
    start..chakra.attributes.len() as u32
}

/// Adds an attribute; a value of none of the types as a text.
fn add_attribute(chakra: &mut Chakra, name: &str, json: &str) {
    let expected = TYPES.iter().filter(|(known, _)| *known == name).map(|(_, value_type)| *value_type);
    let found = expected.chain(OTHER_TYPES).find(|value_type| value_from_json(value_type, json).is_some());
    let quoted = || serde_json::Value::from(json).to_string();
    let (value_type, value) = found.map_or_else(|| ("string", quoted()), |found| (found, json.to_owned()));
    let (name, value) = (chakra.strings.intern(name), chakra.strings.intern(&value));
    chakra.attributes.push(ChakraAttribute { name, doc: StrId::EMPTY, value_type, value });
}
