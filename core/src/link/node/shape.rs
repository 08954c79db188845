//! Checks whether the input shapes of two calls contradict each other.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::id::{StrId, TemplateId};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// A hash of each input's dimensions; 0 if unknown.
type InputDims = Vec<u64>;

/// Shapes of inputs, read once for each text that there is.
pub(super) struct InputShapes<'a> {
    trace: &'a Trace,
    of_events: RefCell<FxHashMap<TemplateId, InputDims>>,
    of_nodes: RefCell<FxHashMap<StrId, InputDims>>,
}

impl<'a> InputShapes<'a> {
    pub(super) fn new(trace: &'a Trace) -> Self {
        Self { trace, of_events: RefCell::default(), of_nodes: RefCell::default() }
    }

    /// Whether any of the events has shapes.
    pub(super) fn are_known(&self, events: &[u32]) -> bool {
        let (args, strings) = (&self.trace.args, &self.trace.strings);
        let args_of = |event: u32| self.trace.events.args(event as usize);
        events.iter().any(|event| args.write_text(strings, args_of(*event), ArgKey::InputShapes, &mut String::new()))
    }

    /// Whether an input has other dimensions in one file than in the other.
    ///
    /// Old Kineto traces have none for lists of tensors; they have none for scalars, where nodes
    /// have empty ones.
    pub(super) fn contradict(&self, event: u32, node: u32) -> bool {
        let (template, shapes) =
            (self.trace.events.template.at(event as usize), self.trace.nodes[node as usize].inputs.shapes);
        let (mut of_events, mut of_nodes) = (self.of_events.borrow_mut(), self.of_nodes.borrow_mut());
        let in_event = of_events.entry(template).or_insert_with(|| {
            let mut text = String::new();
            let args = self.trace.events.args(event as usize);
            self.trace.args.write_text(&self.trace.strings, args, ArgKey::InputShapes, &mut text);
            dims(&text)
        });
        let in_node = of_nodes.entry(shapes).or_insert_with(|| dims(self.trace.strings.text(shapes)));
        in_event.iter().zip(in_node).any(|(event, node)| *event != 0 && *node != 0 && event != node)
    }
}

/// The dimensions in a text such as `[[2,3],[],[[4],[5]]]`.
fn dims(text: &str) -> InputDims {
    let (mut dims, mut hash, mut depth, mut in_number) = (Vec::new(), 0_u64, 0_u32, false);
    for byte in text.bytes() {
        let is_digit = byte.is_ascii_digit();
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => dims.push(std::mem::take(&mut hash)),
            _ if is_digit => hash = mixed(hash, byte),
            _ => {}
        }
        if in_number && !is_digit {
            // Where a number ends and where a list of them does: `[12]` is not `[1,2]`, nor
            // `[[1],[2]]`.
            hash = if depth > 0 { mixed(hash, byte) } else { hash };
        }
        in_number = is_digit;
    }
    dims.push(hash);
    dims
}

fn mixed(hash: u64, byte: u8) -> u64 {
    (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
}

#[cfg(test)]
mod tests {
    use super::dims;

    #[test]
    fn dims_are_compared_by_input() {
        assert_eq!(dims("[[2, 3], [], [[4], [5]]]"), dims("[[2,3],[[],[]],[[4],[5]]]"));
        assert_eq!(dims("[[2,3],[]]").len(), 2);
        assert_ne!(dims("[[2,3]]"), dims("[[23]]"));
        assert_ne!(dims("[[2,3]]"), dims("[[[2],[3]]]"));
        assert_eq!(dims("[[],[]]"), [0, 0]);
    }
}
