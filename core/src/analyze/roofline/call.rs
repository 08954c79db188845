//! The arguments of an operator's call: tensors by shape and type, and other values.

use serde_json::Value;

use super::dtype::{Dtype, spelled};
use crate::link::LinkedTrace;
use crate::strings::Strings;
use crate::trace::arg_key::ArgKey;
use crate::trace::node::NodeValues;
use crate::trace::tensor::element_types;

/// A tensor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TensorArgument {
    pub shape: Vec<i64>,
    pub dtype: Dtype,
    /// How many elements memory holds of it: fewer than its shape says where it is expanded.
    pub num_stored: i64,
}

impl TensorArgument {
    /// Number of elements.
    pub(super) fn num_elems(&self) -> i64 {
        product(&self.shape)
    }

    /// The bytes that memory holds of it.
    pub(super) fn bytes(&self) -> i64 {
        self.num_stored.saturating_mul(self.dtype.bytes)
    }

    /// The bytes of a new tensor of its shape and type.
    pub(super) fn rewritten_bytes(&self) -> i64 {
        self.num_elems().saturating_mul(self.dtype.bytes)
    }
}

/// The bytes of a list of tensors.
pub(super) fn list_bytes(list: &[TensorArgument]) -> i64 {
    list.iter().map(TensorArgument::bytes).fold(0, i64::saturating_add)
}

/// The product of sizes; saturates.
pub(super) fn product(sizes: &[i64]) -> i64 {
    sizes.iter().fold(1, |product: i64, size| product.saturating_mul(*size))
}

/// An argument.
#[derive(Debug, Clone, PartialEq)]
enum CallArgument {
    Tensor(TensorArgument),
    Tensors(Vec<TensorArgument>),
    Value(Value),
}

/// The arguments of a call, in the order of its schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct OperatorCall {
    arguments: Vec<CallArgument>,
    /// The shapes, as the file writes them.
    pub shapes: String,
    /// Whether there is a list of tensors of unknown types.
    pub(super) has_untyped_list: bool,
}

/// How a Kineto trace records a list of tensors: without number and types.
pub(super) const UNTYPED_LIST: &str = "TensorList";

impl OperatorCall {
    /// From `Input Dims`, `Input Strides`, `Input type` and `Concrete Inputs` of an event; from the
    /// inputs of its node where there are none, or where they have lists whose types are not said.
    pub(super) fn of(linked: &LinkedTrace, row: usize) -> Option<Self> {
        let trace = &linked.trace;
        let text = |key| {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row), key, &mut text).then_some(text)
        };
        let Some(shapes) = text(ArgKey::InputShapes) else {
            let node = linked.links.nodes.node_of_event.get(row)?;
            return Self::of_node(&trace.nodes[node as usize].inputs, &trace.strings);
        };
        let types = list(&text(ArgKey::InputTypes)?);
        let has_untyped_list = types.iter().any(|name| name == UNTYPED_LIST);
        if has_untyped_list
            && let Some((node, _)) = linked.links.nodes.find(row)
            && let Some(of_node) = Self::of_node(&trace.nodes[node as usize].inputs, &trace.strings)
        {
            return Some(of_node);
        }
        let recorded = |key| list(&text(key).unwrap_or_default());
        let (dims, strides, concrete) =
            (list(&shapes), recorded(ArgKey::InputStrides), recorded(ArgKey::ConcreteInputs));
        let argument = |(at, name): (usize, &Value)| {
            let value = concrete.get(at).and_then(Value::as_str).map_or(Value::Null, plain);
            argument(name.as_str().unwrap_or(""), [dims.get(at), strides.get(at)], value)
        };
        Some(Self { arguments: types.iter().enumerate().map(argument).collect(), shapes, has_untyped_list })
    }

    fn of_node(inputs: &NodeValues, strings: &Strings) -> Option<Self> {
        let parse = |id| list(strings.text(id));
        let (types, dims, values) = (parse(inputs.types), parse(inputs.shapes), parse(inputs.values));
        let strides = parse(inputs.strides);
        let argument = |(at, name): (usize, &Value)| {
            let value = values.get(at).cloned().unwrap_or_default();
            argument(name.as_str().unwrap_or(""), [dims.get(at), strides.get(at)], value)
        };
        let shapes = strings.text(inputs.shapes).to_owned();
        let arguments: Vec<_> = types.iter().enumerate().map(argument).collect();
        (!types.is_empty()).then_some(Self { arguments, shapes, has_untyped_list: false })
    }

    /// Without the output arguments (`out=`): tensors at the end, after the inputs.
    pub(super) fn without_outputs(&self, num_places: usize) -> Self {
        let mut call = self.clone();
        while call.arguments.len() > num_places && matches!(call.arguments.last(), Some(CallArgument::Tensor(_))) {
            call.arguments.pop();
        }
        call
    }

    /// The tensor at a place.
    pub(super) fn tensor(&self, at: usize) -> Option<&TensorArgument> {
        match self.arguments.get(at)? {
            CallArgument::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The list of tensors at a place; none where it is empty.
    pub(super) fn tensors(&self, at: usize) -> Option<&[TensorArgument]> {
        match self.arguments.get(at)? {
            CallArgument::Tensors(tensors) if !tensors.is_empty() => Some(tensors),
            _ => None,
        }
    }

    /// All tensors, those in lists too.
    pub(super) fn all_tensors(&self) -> impl Iterator<Item = &TensorArgument> {
        self.arguments.iter().flat_map(|argument| match argument {
            CallArgument::Tensor(tensor) => std::slice::from_ref(tensor),
            CallArgument::Tensors(tensors) => tensors,
            CallArgument::Value(_) => &[],
        })
    }

    /// How many arguments there are.
    pub(super) fn num_arguments(&self) -> usize {
        self.arguments.len()
    }

    /// The bytes of all tensors.
    pub(super) fn read_bytes(&self) -> i64 {
        self.all_tensors().fold(0, |sum, tensor| sum.saturating_add(tensor.bytes()))
    }

    /// The value at a place; none where it is missing.
    pub(super) fn value(&self, at: usize) -> Option<&Value> {
        match self.arguments.get(at)? {
            CallArgument::Value(value) if !value.is_null() => Some(value),
            _ => None,
        }
    }

    /// The integers at a place: a list, or one.
    pub(super) fn integers(&self, at: usize) -> Option<Vec<i64>> {
        match self.value(at)? {
            Value::Array(items) => items.iter().map(Value::as_i64).collect(),
            other => Some(vec![other.as_i64()?]),
        }
    }

    /// The flag at a place; not set where it is missing.
    pub(super) fn flag(&self, at: usize) -> bool {
        self.value(at).is_some_and(|value| value.as_bool().unwrap_or(value.as_i64().is_some_and(|number| number != 0)))
    }
}

fn list(json: &str) -> Vec<Value> {
    serde_json::from_str(json).unwrap_or_default()
}

/// A value as `Concrete Inputs` writes it: Python's, in a string.
fn plain(text: &str) -> Value {
    match text {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        other => serde_json::from_str(other).or_else(|_| flags(other)).unwrap_or_default(),
    }
}

fn flags(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&text.to_ascii_lowercase())
}

fn argument(type_name: &str, layout: [Option<&Value>; 2], value: Value) -> CallArgument {
    let name = type_name.strip_prefix("Tensor(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(type_name);
    if let Some(dtype) = spelled(name) {
        return tensor(dtype, layout).map_or(CallArgument::Value(Value::Null), CallArgument::Tensor);
    }
    let Some(types) = element_types(type_name) else { return CallArgument::Value(value) };
    let tensors = types.iter().enumerate().map(|(at, name)| {
        let dtype = spelled(name.strip_prefix("Tensor(")?.strip_suffix(')')?)?;
        tensor(dtype, layout.map(|of_all| of_all.and_then(|of_all| of_all.get(at))))
    });
    tensors.collect::<Option<Vec<_>>>().map_or(CallArgument::Value(value), CallArgument::Tensors)
}

fn tensor(dtype: Dtype, [dims, strides]: [Option<&Value>; 2]) -> Option<TensorArgument> {
    let shape = dims?.as_array()?.iter().map(|size| size.as_i64().filter(|size| *size >= 0));
    let shape: Vec<i64> = shape.collect::<Option<_>>()?;
    let strides = strides.and_then(Value::as_array).filter(|strides| strides.len() == shape.len());
    let is_repeated = |at: usize| strides.is_some_and(|strides| strides[at].as_i64() == Some(0));
    let stored = (0..shape.len()).map(|at| if is_repeated(at) { shape[at].min(1) } else { shape[at] });
    let num_stored = product(&stored.collect::<Vec<_>>());
    Some(TensorArgument { shape, dtype, num_stored })
}
