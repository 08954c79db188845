//! Reads nodes of the Execution Trace in both layouts.
//!
//! The flat layout (1.0.1) has `parent`, `inputs`, `input_shapes`, …; the later one has
//! `ctrl_deps`, `inputs: {values, shapes, types[, strides]}` and `attrs: [{name, type, value}]`.

use super::builder::TraceBuilder;
use super::element::unquoted;
use crate::id::StrId;
use crate::json::{self, JsonText, ScanFault, Scanner};
use crate::trace::args::plain_text;
use crate::trace::layout::LayoutSlot;
use crate::trace::node::Node;
use crate::warning::WarningKind;

/// Where `inputs` keeps its values, shapes, types and strides.
const INPUTS: [LayoutSlot; 4] =
    [LayoutSlot::Inputs, LayoutSlot::InputShapes, LayoutSlot::InputTypes, LayoutSlot::InputStrides];
/// The same of `outputs`.
const OUTPUTS: [LayoutSlot; 4] =
    [LayoutSlot::Outputs, LayoutSlot::OutputShapes, LayoutSlot::OutputTypes, LayoutSlot::OutputStrides];

/// A node in the making.
#[derive(Debug, Default)]
struct NodeDraft {
    node: Node,
    /// Text of its layout.
    layout: String,
    /// Values without a column, as a JSON object that is still open.
    rest: String,
    /// Columns that have their value, a bit each: a second one stays among the rest.
    taken: u32,
}

impl TraceBuilder {
    /// Reads the node that the scanner stands on; false for an object that is none.
    pub(super) fn read_node(&mut self, scanner: &mut Scanner<'_>) -> Result<bool, ScanFault> {
        let mut marks = (false, false);
        let mut draft = NodeDraft::default();
        draft.layout.push('{');
        scanner.enter_object()?;
        while let Some(key) = scanner.next_key()? {
            marks.0 |= key.raw == b"id";
            marks.1 |= key.raw == b"name";
            draft.key(key);
            let opens = scanner.peek();
            match (key.raw, opens) {
                (b"attrs", Some(b'[')) => self.read_attrs(scanner, &mut draft)?,
                (b"inputs", Some(b'{')) => self.read_values(scanner, &mut draft, INPUTS)?,
                (b"outputs", Some(b'{')) => self.read_values(scanner, &mut draft, OUTPUTS)?,
                (b"name", Some(b'"')) if draft.take(LayoutSlot::Name) => {
                    draft.node.name = self.intern(scanner.string()?);
                    draft.layout.push(LayoutSlot::Name.mark());
                }
                _ => {
                    let (value, place) = (scanner.skip_value()?, draft.layout.len());
                    self.put_value(&mut draft, key, value, place);
                }
            }
        }
        draft.layout.push('}');
        if marks != (true, true) {
            self.warn(WarningKind::NotAnEvent);
            return Ok(false);
        }
        self.keep(draft);
        Ok(true)
    }

    fn keep(&mut self, mut draft: NodeDraft) {
        if !draft.rest.is_empty() {
            draft.rest.push('}');
        }
        draft.node.rest = self.trace.strings.intern(&draft.rest);
        draft.node.layout = self.trace.strings.intern(&draft.layout);
        self.settle_irregular();
        self.trace.nodes.push(draft.node);
    }

    /// Puts a value into its column, or among those that have none, and its mark into the layout at
    /// `place`.
    fn put_value(&mut self, draft: &mut NodeDraft, key: JsonText<'_>, value: &[u8], place: usize) {
        let slot = LayoutSlot::of(key.raw).filter(|slot| self.set(draft, *slot, value).is_some());
        if slot.is_none() {
            draft.push_rest(key, value);
        }
        let is_quoted = slot.is_some_and(LayoutSlot::is_number) && value.starts_with(b"\"");
        if is_quoted {
            draft.layout.insert_str(place, "\"\"");
        }
        draft.layout.insert(place + usize::from(is_quoted), slot.unwrap_or(LayoutSlot::Rest).mark());
    }

    /// Sets a column's value; `None` when it is not of the column's type, or has one already.
    fn set(&mut self, draft: &mut NodeDraft, slot: LayoutSlot, value: &[u8]) -> Option<()> {
        if slot == LayoutSlot::Name || !draft.take(slot) {
            return None;
        }
        let node = &mut draft.node;
        match slot {
            LayoutSlot::Id => node.id = self.integer(value)?,
            LayoutSlot::Parent => node.parent = Some(self.integer(value)?),
            LayoutSlot::RecordId => node.record_id = self.integer(value)?,
            LayoutSlot::FwParent => node.fw_parent = Some(self.integer(value)?),
            LayoutSlot::SeqNum => node.seq_num = self.integer(value)?,
            LayoutSlot::Scope => node.scope = Some(self.integer(value)?),
            LayoutSlot::Thread => node.thread = Some(self.integer(value)?),
            LayoutSlot::FwThread => node.fw_thread = Some(self.integer(value)?),
            LayoutSlot::Schema => node.schema = self.intern_plain(value)?,
            LayoutSlot::KernelBackend => node.kernel_backend = self.intern_plain(value)?,
            LayoutSlot::KernelFile => node.kernel_file = self.intern_plain(value)?,
            LayoutSlot::Inputs => node.inputs.values = self.intern_list(value),
            LayoutSlot::InputShapes => node.inputs.shapes = self.intern_json(value),
            LayoutSlot::InputTypes => node.inputs.types = self.intern_json(value),
            LayoutSlot::InputStrides => node.inputs.strides = self.intern_json(value),
            LayoutSlot::Outputs => node.outputs.values = self.intern_list(value),
            LayoutSlot::OutputShapes => node.outputs.shapes = self.intern_json(value),
            LayoutSlot::OutputTypes => node.outputs.types = self.intern_json(value),
            LayoutSlot::OutputStrides => node.outputs.strides = self.intern_json(value),
            LayoutSlot::Name | LayoutSlot::Rest => return None,
        }
        Some(())
    }

    fn read_values(
        &mut self,
        scanner: &mut Scanner<'_>,
        draft: &mut NodeDraft,
        slots: [LayoutSlot; 4],
    ) -> Result<(), ScanFault> {
        let [values, shapes, types, strides] = slots;
        scanner.enter_object()?;
        draft.layout.push('{');
        while let Some(key) = scanner.next_key()? {
            draft.key(key);
            let value = scanner.skip_value()?;
            let slot = match key.raw {
                b"values" => Some(values),
                b"shapes" => Some(shapes),
                b"types" => Some(types),
                b"strides" => Some(strides),
                _ => {
                    self.warn(WarningKind::UnknownKey);
                    None
                }
            };
            match slot.filter(|slot| self.set(draft, *slot, value).is_some()) {
                Some(slot) => draft.layout.push(slot.mark()),
                None => draft.literal(value),
            }
        }
        draft.layout.push('}');
        Ok(())
    }

    fn read_attrs(&mut self, scanner: &mut Scanner<'_>, draft: &mut NodeDraft) -> Result<(), ScanFault> {
        scanner.enter_array()?;
        draft.layout.push('[');
        while scanner.next_element()? {
            if !draft.layout.ends_with('[') {
                draft.layout.push(',');
            }
            self.read_attr(scanner, draft)?;
        }
        draft.layout.push(']');
        Ok(())
    }

    /// Reads `{name, type, value}`, in any order.
    fn read_attr(&mut self, scanner: &mut Scanner<'_>, draft: &mut NodeDraft) -> Result<(), ScanFault> {
        let (mut name, mut value) = (None, None);
        scanner.enter_object()?;
        draft.layout.push('{');
        while let Some(key) = scanner.next_key()? {
            draft.key(key);
            let opens = scanner.peek();
            match (key.raw, opens) {
                (b"name", Some(b'"')) if name.is_none() => {
                    let text = scanner.string()?;
                    json::write_string(&mut draft.layout, &text.decode_lossy());
                    name = Some(text);
                }
                (b"value", _) if value.is_none() => value = Some((scanner.skip_value()?, draft.layout.len())),
                _ => draft.literal(scanner.skip_value()?),
            }
        }
        draft.layout.push('}');
        match (name, value) {
            (Some(name), Some((value, place))) => self.put_value(draft, name, value, place),
            (None, Some((value, place))) => draft.layout.insert_str(place, &json::canonical(value).text),
            (_, None) => {}
        }
        Ok(())
    }

    fn intern_plain(&mut self, value: &[u8]) -> Option<StrId> {
        let is_text = value.starts_with(b"\"");
        is_text.then(|| self.trace.strings.intern(&plain_text(&json::canonical(value).text)))
    }

    /// A number that is written again as it stands: `+1` and `007` in quotes are none.
    fn integer<T: std::str::FromStr>(&mut self, value: &[u8]) -> Option<T> {
        let digits = unquoted(value);
        let is_plain = matches!(digits, b"0" | [b'1'..=b'9', ..] | [b'-', b'1'..=b'9', ..]);
        let text = std::str::from_utf8(digits).ok().filter(|_| is_plain);
        let number = text.and_then(|text| text.parse().ok());
        if number.is_none() {
            self.warn(WarningKind::InvalidNumber);
        }
        number
    }
}

impl NodeDraft {
    /// Whether the column's value is still to be set.
    fn take(&mut self, slot: LayoutSlot) -> bool {
        let bit = 1 << slot as u8;
        let is_free = self.taken & bit == 0;
        self.taken |= bit;
        is_free
    }

    fn key(&mut self, key: JsonText<'_>) {
        if !self.layout.ends_with('{') {
            self.layout.push(',');
        }
        json::write_string(&mut self.layout, &key.decode_lossy());
        self.layout.push(':');
    }

    /// A value that is the layout's own.
    fn literal(&mut self, value: &[u8]) {
        self.layout.push_str(&json::canonical(value).text);
    }

    fn push_rest(&mut self, key: JsonText<'_>, value: &[u8]) {
        self.rest.push(if self.rest.is_empty() { '{' } else { ',' });
        json::write_string(&mut self.rest, &key.decode_lossy());
        self.rest.push(':');
        self.rest.push_str(&json::canonical(value).text);
    }
}
