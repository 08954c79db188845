//! The layout of a node: its JSON, with a mark for each value that has a column.
//!
//! `PyTorch` versions write nodes in about six ways, and one file uses only a few layouts. Each
//! layout is stored once, as a string, so that a node is written exactly as it was read. Marks are
//! control characters, which JSON does not allow.

/// A value of a node that a column holds. Codes are the marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the fields of `Node` and `Values`")]
pub enum LayoutSlot {
    Id = 1,
    Parent,
    Name,
    RecordId,
    FwParent,
    SeqNum,
    Scope,
    Thread,
    FwThread,
    Schema,
    KernelBackend,
    KernelFile,
    Inputs,
    InputShapes,
    InputTypes,
    InputStrides,
    Outputs,
    OutputShapes,
    OutputTypes,
    OutputStrides,
    /// The next value of `Node::rest`.
    Rest,
}

/// All slots but the last, in the order of their codes, with the keys that files use.
const KEYS: [(LayoutSlot, &[&str]); 20] = [
    (LayoutSlot::Id, &["id"]),
    (LayoutSlot::Parent, &["ctrl_deps", "parent"]),
    (LayoutSlot::Name, &["name"]),
    (LayoutSlot::RecordId, &["rf_id"]),
    (LayoutSlot::FwParent, &["fw_parent"]),
    (LayoutSlot::SeqNum, &["seq_id"]),
    (LayoutSlot::Scope, &["scope"]),
    (LayoutSlot::Thread, &["tid"]),
    (LayoutSlot::FwThread, &["fw_tid"]),
    (LayoutSlot::Schema, &["op_schema"]),
    (LayoutSlot::KernelBackend, &["kernel_backend"]),
    (LayoutSlot::KernelFile, &["kernel_file"]),
    (LayoutSlot::Inputs, &["inputs"]),
    (LayoutSlot::InputShapes, &["input_shapes"]),
    (LayoutSlot::InputTypes, &["input_types"]),
    (LayoutSlot::InputStrides, &["input_strides"]),
    (LayoutSlot::Outputs, &["outputs"]),
    (LayoutSlot::OutputShapes, &["output_shapes"]),
    (LayoutSlot::OutputTypes, &["output_types"]),
    (LayoutSlot::OutputStrides, &["output_strides"]),
];

impl LayoutSlot {
    /// The slot of a node's own key, or of an attribute.
    pub fn of(key: &[u8]) -> Option<Self> {
        KEYS.iter().find(|(_, keys)| keys.iter().any(|known| known.as_bytes() == key)).map(|(slot, _)| *slot)
    }

    /// Whether the column is one of numbers.
    pub fn is_number(self) -> bool {
        matches!(
            self,
            Self::Id
                | Self::Parent
                | Self::RecordId
                | Self::FwParent
                | Self::SeqNum
                | Self::Scope
                | Self::Thread
                | Self::FwThread
        )
    }

    /// The character that stands for it.
    pub fn mark(self) -> char {
        char::from(self as u8)
    }

    fn of_mark(mark: u8) -> Option<Self> {
        let known = KEYS.get(usize::from(mark).wrapping_sub(1)).map(|(slot, _)| *slot);
        known.or((mark == Self::Rest as u8).then_some(Self::Rest))
    }
}

/// The parts of a layout: text, and the slot behind it; none behind the last.
///
/// ```
/// use kinetoscope::trace::layout::{LayoutSlot, parts};
/// let layout = format!("{{\"id\":{}}}", LayoutSlot::Id.mark());
/// assert!(parts(&layout).eq([("{\"id\":", Some(LayoutSlot::Id)), ("}", None)]));
/// ```
pub fn parts(layout: &str) -> impl Iterator<Item = (&str, Option<LayoutSlot>)> {
    let mut rest = Some(layout);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(at) = text.bytes().position(|byte| byte < b' ') else { return Some((text, None)) };
        rest = Some(&text[at + 1..]);
        Some((&text[..at], LayoutSlot::of_mark(text.as_bytes()[at])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_stands_at_its_own_place() {
        for (place, (slot, _)) in KEYS.iter().enumerate() {
            assert_eq!(*slot as usize, place + 1);
        }
        assert_eq!(LayoutSlot::Rest as usize, KEYS.len() + 1);
    }

    #[test]
    fn other_control_characters_stand_for_nothing() {
        assert!(parts("a\u{1f}b").eq([("a", None), ("b", None)]));
    }
}
