//! Reads Chakra traces: length-delimited protobuf messages, plain or in gzip.

use std::cmp::Ordering;
use std::ops::Range;

use prost::Message as _;
use serde_json::Value;

use super::text_window::TextWindow;
use crate::chakra::message::{self, GlobalMetadata};
use crate::chakra::value::typed_value;
use crate::chakra::{Chakra, ChakraAttribute, ChakraMetadata, ChakraNode, Dependency, NodeType};
use crate::error::{Error, ErrorKind, Position};
use crate::id::StrId;
use crate::warning::WarningKind;

/// Whether a file may be a Chakra trace: whether it starts with a message that can be the first of
/// one.
pub(super) fn is_chakra(head: &[u8]) -> bool {
    let Some((length, start)) = length(head).filter(|(length, _)| *length <= MAX_METADATA) else { return false };
    let rest = &head[start..];
    let first = &rest[..rest.len().min(length)];
    let has_metadata_tag = matches!(first.first(), Some(0x0a | 0x12)) || length == 0;
    let next = rest.get(length..).and_then(|next| self::length(next).and_then(|(_, start)| next.get(start)));
    // A node starts with its id, or with its name when its id is 0.
    let has_node_tag = matches!(next, Some(0x08 | 0x12));
    // No JSON is taken for one: no text has a control character there, nor its first bit set.
    let is_text = matches!(head.first(), Some(b'{' | b'['));
    let is_metadata = has_metadata_tag && GlobalMetadata::decode(first).is_ok();
    match rest.len().cmp(&length) {
        Ordering::Less => has_metadata_tag && head[0] >= 0x80,
        Ordering::Equal => is_metadata && !is_text,
        Ordering::Greater => is_metadata && has_node_tag,
    }
}

/// Reads a file of one rank.
///
/// # Errors
/// When the first message is none, and when a limit is passed.
pub(super) fn read_chakra(mut window: TextWindow<'_>, file: Option<&str>) -> Result<Chakra, Error> {
    let mut reader = ChakraReader { chakra: Chakra::default(), num_messages: 0, file };
    while let Some(range) = reader.next_message(&mut window)? {
        let at = window.offset();
        let bytes = &window.text()[range.clone()];
        reader.read_message(bytes, at)?;
        window.consume(range.end);
    }
    if window.is_damaged {
        reader.warn(WarningKind::DamagedCompression, window.offset());
    }
    if reader.chakra.nodes.is_empty() && reader.chakra.warnings.iter().len() > 0 {
        return Err(reader.not_chakra(String::from("no readable node"), window.offset()));
    }
    Ok(reader.chakra)
}

struct ChakraReader<'a> {
    chakra: Chakra,
    num_messages: u64,
    file: Option<&'a str>,
}

impl ChakraReader<'_> {
    /// Where the next message stands in the window, all of it; `None` at the end of the file.
    fn next_message(&mut self, window: &mut TextWindow<'_>) -> Result<Option<Range<usize>>, Error> {
        loop {
            let text = window.text();
            let found = length(text).map(|(length, start)| start..start.saturating_add(length));
            let (is_empty, is_unreadable) = (text.is_empty(), found.is_none() && text.len() >= MAX_LENGTH_BYTES);
            match found.filter(|range| range.end <= text.len()) {
                Some(range) => return Ok(Some(range)),
                None if is_unreadable => self.warn(WarningKind::MalformedElement, window.offset()),
                None if window.fill()? => continue,
                None if is_empty => {}
                None => self.warn(WarningKind::Truncated, window.offset()),
            }
            return Ok(None);
        }
    }

    fn read_message(&mut self, bytes: &[u8], at: u64) -> Result<(), Error> {
        if self.num_messages == 0 {
            let metadata = GlobalMetadata::decode(bytes).map_err(|error| self.not_chakra(error.to_string(), at))?;
            let attributes = self.attributes(&metadata.attr);
            self.chakra.metadata = ChakraMetadata { version: metadata.version, attributes, irregular: None };
            self.chakra.metadata.irregular = self.irregular(bytes, &self.chakra.encoded_metadata(), at);
        } else {
            match message::NodeMessage::decode(bytes) {
                Ok(node) if !bytes.is_empty() => self.push(&node, bytes, at),
                _ => self.warn(WarningKind::MalformedElement, at),
            }
        }
        self.num_messages += 1;
        Ok(())
    }

    /// The original message, if encoding the columns gives another one.
    fn irregular(&mut self, bytes: &[u8], encoded: &[u8], at: u64) -> Option<Box<[u8]>> {
        if encoded == bytes {
            return None;
        }
        self.warn(WarningKind::IrregularMessage, at);
        Some(bytes.into())
    }

    fn push(&mut self, node: &message::NodeMessage, bytes: &[u8], at: u64) {
        let target = self.chakra.nodes.len() as u32;
        let dependency = |is_data| move |source: &u64| Dependency { source: *source, target, is_data };
        self.chakra.dependencies.extend(node.ctrl_deps.iter().map(dependency(false)));
        self.chakra.dependencies.extend(node.data_deps.iter().map(dependency(true)));
        let attributes = self.attributes(&node.attr);
        let (inputs, outputs) = (self.values(node.inputs.as_ref()), self.values(node.outputs.as_ref()));
        self.chakra.nodes.push(ChakraNode {
            id: node.id,
            name: self.chakra.strings.intern(&node.name),
            node_type: NodeType(node.r#type),
            start_micros: node.start_time_micros,
            dur_micros: node.duration_micros,
            inputs,
            outputs,
            attributes,
            irregular: None,
        });
        let row = target as usize;
        self.chakra.nodes[row].irregular = self.irregular(bytes, &self.chakra.encoded_node(row), at);
    }

    fn values(&mut self, values: Option<&message::IoInfo>) -> [StrId; 3] {
        values.map_or([StrId::EMPTY; 3], |values| {
            [&values.values, &values.shapes, &values.types].map(|text| self.chakra.strings.intern(text))
        })
    }

    fn attributes(&mut self, attributes: &[message::AttributeMessage]) -> Range<u32> {
        let start = self.chakra.attributes.len() as u32;
        let strings = &mut self.chakra.strings;
        let attribute = |found: &message::AttributeMessage| {
            let (value_type, value) = found.value.as_ref().map_or(("", Value::Null), typed_value);
            ChakraAttribute {
                name: strings.intern(&found.name),
                doc: strings.intern(&found.doc_string),
                value_type,
                value: strings.intern(&value.to_string()),
            }
        };
        self.chakra.attributes.extend(attributes.iter().map(attribute));
        start..self.chakra.attributes.len() as u32
    }

    fn position(&self, at: u64) -> Position {
        Position {
            file: self.file.map(Into::into),
            byte: Some(at),
            event: self.num_messages.checked_sub(1),
            node: None,
        }
    }

    fn warn(&mut self, kind: WarningKind, at: u64) {
        let position = self.position(at);
        self.chakra.warnings.push(kind, || position);
    }

    fn not_chakra(&self, found: String, at: u64) -> Error {
        let expected = "the metadata of a Chakra trace";
        ErrorKind::Malformed { expected, found, position: self.position(at) }.into()
    }
}

/// A first message longer than this is none.
const MAX_METADATA: usize = 1 << 20;

/// More bytes than these are no length.
const MAX_LENGTH_BYTES: usize = 10;

/// The length that stands before a message, and how many bytes say it.
fn length(text: &[u8]) -> Option<(usize, usize)> {
    let mut rest = text;
    let length = prost::decode_length_delimiter(&mut rest).ok()?;
    Some((length, text.len() - rest.len()))
}
