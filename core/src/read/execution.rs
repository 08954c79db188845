//! Nodes of the Execution Trace, found by their keys in both layouts.
//!
//! The flat layout (1.0.1) has `parent`, `inputs`, `input_shapes`, …; the later one has `ctrl_deps`,
//! `inputs: {values, shapes, types[, strides]}` and `attrs: [{name, type, value}]`.

use super::builder::Builder;
use super::element::unquoted;
use crate::id::StrId;
use crate::json::{self, Fault, Scanner, Text};
use crate::trace::args::plain_text;
use crate::trace::node::{Node, Values};
use crate::warning::WarningKind;

impl Builder {
    /// Reads the node that the scanner stands on; false for an object that is none.
    pub(super) fn read_node(&mut self, scanner: &mut Scanner<'_>) -> Result<bool, Fault> {
        let mut marks = (false, false);
        let mut node = Node::default();
        let mut rest = Rest::default();
        scanner.enter_object()?;
        while let Some(key) = scanner.next_key()? {
            marks.0 |= key.raw == b"id";
            marks.1 |= key.raw == b"name";
            match key.raw {
                b"attrs" if scanner.peek() == Some(b'[') => self.read_attrs(scanner, &mut node, &mut rest)?,
                b"inputs" if scanner.peek() == Some(b'{') => node.inputs = self.read_values(scanner)?,
                b"outputs" if scanner.peek() == Some(b'{') => node.outputs = self.read_values(scanner)?,
                b"name" if scanner.peek() == Some(b'"') => node.name = self.intern(scanner.string()?),
                _ => {
                    let value = scanner.skip_value()?;
                    if !self.set_field(&mut node, key, value) {
                        rest.push(key, value);
                    }
                }
            }
        }
        if marks != (true, true) {
            self.warn(WarningKind::NotAnEvent);
            return Ok(false);
        }
        node.rest = self.trace.strings.intern(&rest.finish());
        self.settle_irregular();
        self.trace.nodes.push(node);
        Ok(true)
    }

    /// Sets a field of either layout; false for a key that is no field.
    fn set_field(&mut self, node: &mut Node, key: Text<'_>, value: &[u8]) -> bool {
        match key.raw {
            b"id" => node.id = self.integer(value).unwrap_or(0),
            b"parent" | b"ctrl_deps" => node.parent = self.integer(value),
            b"rf_id" => node.record_id = self.integer(value).unwrap_or(0),
            b"fw_parent" => node.fw_parent = self.integer(value),
            b"seq_id" => node.seq_num = self.integer(value).unwrap_or(-1),
            b"scope" => node.scope = self.integer(value),
            b"tid" => node.thread = self.integer(value),
            b"fw_tid" => node.fw_thread = self.integer(value),
            b"op_schema" => node.schema = self.intern_plain(value),
            b"kernel_backend" => node.kernel_backend = self.intern_plain(value),
            b"kernel_file" => node.kernel_file = self.intern_plain(value),
            b"inputs" => node.inputs.values = self.intern_json(value),
            b"input_shapes" => node.inputs.shapes = self.intern_json(value),
            b"input_types" => node.inputs.types = self.intern_json(value),
            b"input_strides" => node.inputs.strides = self.intern_json(value),
            b"outputs" => node.outputs.values = self.intern_json(value),
            b"output_shapes" => node.outputs.shapes = self.intern_json(value),
            b"output_types" => node.outputs.types = self.intern_json(value),
            b"output_strides" => node.outputs.strides = self.intern_json(value),
            _ => return false,
        }
        true
    }

    fn read_values(&mut self, scanner: &mut Scanner<'_>) -> Result<Values, Fault> {
        let mut values = Values::default();
        scanner.enter_object()?;
        while let Some(key) = scanner.next_key()? {
            let value = self.intern_json(scanner.skip_value()?);
            match key.raw {
                b"values" => values.values = value,
                b"shapes" => values.shapes = value,
                b"types" => values.types = value,
                b"strides" => values.strides = value,
                _ => self.warn(WarningKind::UnknownKey),
            }
        }
        Ok(values)
    }

    fn read_attrs(&mut self, scanner: &mut Scanner<'_>, node: &mut Node, rest: &mut Rest) -> Result<(), Fault> {
        scanner.enter_array()?;
        while scanner.next_element()? {
            let (mut name, mut value) = (None, &b"null"[..]);
            scanner.enter_object()?;
            while let Some(key) = scanner.next_key()? {
                match key.raw {
                    b"name" => name = Some(scanner.string()?),
                    b"value" => value = scanner.skip_value()?,
                    _ => drop(scanner.skip_value()?),
                }
            }
            if let Some(name) = name
                && !self.set_field(node, name, value)
            {
                rest.push(name, value);
            }
        }
        Ok(())
    }

    fn intern_plain(&mut self, value: &[u8]) -> StrId {
        let text = plain_text(&json::canonical(value).text);
        self.trace.strings.intern(&text)
    }

    fn integer<T: std::str::FromStr>(&mut self, value: &[u8]) -> Option<T> {
        let number = std::str::from_utf8(unquoted(value)).ok().and_then(|text| text.parse().ok());
        if number.is_none() {
            self.warn(WarningKind::InvalidNumber);
        }
        number
    }
}

/// Keys that are no fields, as a JSON object.
#[derive(Debug, Default)]
struct Rest(String);

impl Rest {
    fn push(&mut self, key: Text<'_>, value: &[u8]) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        json::write_string(&mut self.0, &key.decode_lossy());
        self.0.push(':');
        self.0.push_str(&json::canonical(value).text);
    }

    fn finish(mut self) -> String {
        if !self.0.is_empty() {
            self.0.push('}');
        }
        self.0
    }
}
