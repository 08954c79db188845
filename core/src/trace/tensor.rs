//! Finds the tensor inputs and outputs of nodes.

use serde_json::Value;

use crate::strings::Strings;
use crate::trace::node::{Node, NodeValues};

/// One tensor in a node's inputs or outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorUse {
    /// Row of the node.
    pub node: u32,
    /// Whether it is an output.
    pub is_output: bool,
    /// Place among the node's flattened tensors of that role.
    pub index: u32,
    /// Place of the argument or result that it is, or is in.
    pub argument: u32,
    /// Id of the tensor; reused when its address is.
    pub tensor_id: u64,
    /// Id of the storage; reused when its address is.
    pub storage_id: u64,
    /// Offset into the storage, in elements.
    pub offset: i64,
    /// Number of elements.
    pub num_elems: i64,
    /// Size of an element.
    pub elem_bytes: i64,
    /// Device, such as `cuda:0`.
    pub device: String,
    /// Type, such as `float`.
    pub dtype: String,
    /// Shape, as JSON.
    pub shape: String,
    /// Strides, as JSON; empty when not recorded.
    pub stride: String,
}

/// All uses of tensors, in the order of the nodes, inputs first.
pub fn tensor_uses(nodes: &[Node], strings: &Strings) -> Vec<TensorUse> {
    let mut uses = Vec::new();
    for (row, node) in nodes.iter().enumerate() {
        for (is_output, values) in [(false, &node.inputs), (true, &node.outputs)] {
            let mut walk = TensorWalk { uses: &mut uses, node: row as u32, is_output, index: 0, argument: 0 };
            walk.values(values, strings);
        }
    }
    uses
}

struct TensorWalk<'a> {
    uses: &'a mut Vec<TensorUse>,
    node: u32,
    is_output: bool,
    index: u32,
    argument: u32,
}

impl TensorWalk<'_> {
    fn values(&mut self, values: &NodeValues, strings: &Strings) {
        let parse = |id| serde_json::from_str::<Value>(strings.text(id)).unwrap_or(Value::Null);
        let types = parse(values.types);
        let (shapes, strides, values) = (parse(values.shapes), parse(values.strides), parse(values.values));
        for (at, value) in values.as_array().into_iter().flatten().enumerate() {
            let type_name = types.get(at).and_then(Value::as_str).unwrap_or("");
            self.argument = at as u32;
            self.value(value, type_name, [shapes.get(at), strides.get(at)]);
        }
    }

    /// A tensor is a tuple of numbers; a list holds values, with as many shapes and strides.
    fn value(&mut self, value: &Value, type_name: &str, [shape, stride]: [Option<&Value>; 2]) {
        let Some(items) = value.as_array() else { return };
        if let Some(dtype) = type_name.strip_prefix("Tensor(").and_then(|rest| rest.strip_suffix(')')) {
            self.tensor(items, dtype, [shape, stride]);
        } else if let Some(elements) = element_types(type_name) {
            for (at, item) in items.iter().enumerate() {
                let at_index = |list: Option<&'_ Value>| list.and_then(|list| list.get(at)).cloned();
                let (shape, stride) = (at_index(shape), at_index(stride));
                let element = elements.get(at).copied().unwrap_or("");
                self.value(item, element, [shape.as_ref(), stride.as_ref()]);
            }
        }
    }

    fn tensor(&mut self, tuple: &[Value], dtype: &str, [shape, stride]: [Option<&Value>; 2]) {
        let id = |at: usize| tuple.get(at).and_then(Value::as_u64).unwrap_or(0);
        let number = |at: usize| tuple.get(at).and_then(Value::as_i64).unwrap_or(0);
        let json = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
        self.uses.push(TensorUse {
            node: self.node,
            is_output: self.is_output,
            index: self.index,
            argument: self.argument,
            tensor_id: id(0),
            storage_id: id(1),
            offset: number(2),
            num_elems: number(3),
            elem_bytes: number(4),
            device: tuple.get(5).and_then(Value::as_str).unwrap_or("").to_owned(),
            dtype: dtype.to_owned(),
            shape: json(shape),
            stride: json(stride),
        });
        self.index += 1;
    }
}

/// The types in `GenericList[…]` or `Tuple[…]`, split at the commas of the outermost level.
pub(crate) fn element_types(type_name: &str) -> Option<Vec<&str>> {
    let inner = type_name.strip_prefix("GenericList[").or_else(|| type_name.strip_prefix("Tuple["))?;
    let inner = inner.strip_suffix(']')?;
    let mut elements = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth -= 1,
            b',' if depth == 0 => {
                elements.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    elements.push(&inner[start..]);
    Some(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_lists_are_split_at_their_own_commas() {
        assert_eq!(
            element_types("GenericList[Tuple[Int,Int],Tensor(long int)]").unwrap(),
            ["Tuple[Int,Int]", "Tensor(long int)"]
        );
        assert_eq!(element_types("Int"), None);
    }

    #[test]
    fn tensors_inside_lists_are_found_with_their_shapes() {
        let mut strings = Strings::default();
        let inputs = NodeValues {
            values: strings.intern(r#"[[[7,8,0,6,4,"cpu"],[9,10,2,3,4,"cpu"]],1]"#),
            shapes: strings.intern("[[[2,3],[3]],[]]"),
            types: strings.intern(r#"["GenericList[Tensor(float),Tensor(float)]","Int"]"#),
            strides: strings.intern("[[[3,1],[1]],[]]"),
        };
        let nodes = [Node { inputs, ..Node::default() }];
        let uses = tensor_uses(&nodes, &strings);
        assert_eq!(uses.len(), 2);
        assert_eq!((uses[1].tensor_id, uses[1].offset, uses[1].index), (9, 2, 1));
        assert_eq!((uses[1].shape.as_str(), uses[1].stride.as_str()), ("[3]", "[1]"));
    }
}
