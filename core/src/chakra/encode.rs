//! Encodes rows of a Chakra trace as messages.

use std::ops::Range;

use prost::Message as _;

use super::message::{self, GlobalMetadata};
use super::value::value_from_json;
use super::{Chakra, ChakraAttribute};
use crate::id::StrId;

impl Chakra {
    /// The bytes of the first message.
    pub fn encoded_metadata(&self) -> Vec<u8> {
        let attr = self.messages(&self.metadata.attributes);
        GlobalMetadata { version: self.metadata.version.clone(), attr }.encode_to_vec()
    }

    /// The bytes of a node's message, from the columns alone.
    pub fn encoded_node(&self, row: usize) -> Vec<u8> {
        let node = &self.nodes[row];
        let waits = self.dependencies_of(row).iter();
        let sources = |is_data| {
            let kind = waits.clone().filter(move |dependency| dependency.is_data == is_data);
            kind.map(|dependency| dependency.source).collect()
        };
        let message = message::NodeMessage {
            id: node.id,
            name: self.strings.text(node.name).to_owned(),
            r#type: node.node_type.0,
            ctrl_deps: sources(false),
            data_deps: sources(true),
            start_time_micros: node.start_micros,
            duration_micros: node.dur_micros,
            inputs: self.values(node.inputs),
            outputs: self.values(node.outputs),
            attr: self.messages(&node.attributes),
        };
        message.encode_to_vec()
    }

    fn values(&self, values: [StrId; 3]) -> Option<message::IoInfo> {
        let [values, shapes, types] = values.map(|id| self.strings.text(id).to_owned());
        let values = message::IoInfo { values, shapes, types };
        (values != message::IoInfo::default()).then_some(values)
    }

    fn messages(&self, range: &Range<u32>) -> Vec<message::AttributeMessage> {
        self.attributes(range).iter().map(|attribute| self.message(attribute)).collect()
    }

    fn message(&self, attribute: &ChakraAttribute) -> message::AttributeMessage {
        message::AttributeMessage {
            name: self.strings.text(attribute.name).to_owned(),
            doc_string: self.strings.text(attribute.doc).to_owned(),
            value: value_from_json(attribute.value_type, self.strings.text(attribute.value)),
        }
    }
}
