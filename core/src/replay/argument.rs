//! The recorded arguments of an operator's call.

use serde_json::{Value, json};

use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::collective::dtype;
use crate::trace::node::Node;
use crate::trace::tensor::tensor_uses;

/// Tensors of one type: how many elements each has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TensorGroup {
    pub elems: Vec<i64>,
    pub dtype: Option<String>,
    pub elem_bytes: Option<i64>,
}

impl TensorGroup {
    /// Tensors of these shapes; none where one is unknown.
    fn of_shapes(shapes: Option<&Value>, spelling: Option<&str>) -> Self {
        let elems = |shape: &Value| {
            let mut dims = shape.as_array()?.iter().map(Value::as_i64);
            dims.try_fold(1_i64, |product, dim| product.checked_mul(dim?))
        };
        let shapes = shapes.and_then(Value::as_array);
        let elems: Option<Vec<i64>> = shapes.into_iter().flatten().map(elems).collect();
        let elem_bytes = spelling.and_then(|spelling| dtype(spelling).1);
        Self { elems: elems.unwrap_or_default(), dtype: spelling.map(str::to_owned), elem_bytes }
    }
}

/// A value that Kineto wrote as a text: `False`, `7`, `[1, 2]`.
fn recorded_value(text: &str) -> Value {
    match text {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        _ => serde_json::from_str(text).unwrap_or_default(),
    }
}

/// The arguments of a call, with their types as the file spells them.
#[derive(Debug, Default)]
pub(super) struct CallArguments {
    values: Vec<Value>,
    types: Vec<String>,
    tensors: Vec<TensorGroup>,
    results: TensorGroup,
}

impl CallArguments {
    pub(super) fn of(trace: &Trace, node: &Node) -> Self {
        let parse = |id| serde_json::from_str::<Vec<Value>>(trace.strings.text(id)).unwrap_or_default();
        let values = parse(node.inputs.values);
        let types = parse(node.inputs.types).iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect();
        let mut found = Self {
            tensors: vec![TensorGroup::default(); values.len()],
            values,
            types,
            results: TensorGroup::default(),
        };
        for tensor in tensor_uses(std::slice::from_ref(node), &trace.strings) {
            let place = (!tensor.is_output).then_some(tensor.argument as usize);
            let Some(those) = place.map_or(Some(&mut found.results), |place| found.tensors.get_mut(place)) else {
                continue;
            };
            those.elems.push(tensor.num_elems);
            those.dtype.get_or_insert(tensor.dtype);
            those.elem_bytes.get_or_insert(tensor.elem_bytes);
        }
        found
    }

    /// Those of a host event, which has no types of lists and no lists of lists.
    pub(super) fn of_event(trace: &Trace, row: usize) -> Self {
        let list = |key| {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row), key, &mut text);
            serde_json::from_str::<Vec<Value>>(&text).unwrap_or_default()
        };
        let (shapes, concrete) = (list(ArgKey::InputShapes), list(ArgKey::ConcreteInputs));
        let mut found = Self::default();
        for (at, name) in list(ArgKey::InputTypes).iter().enumerate() {
            let name = name.as_str().unwrap_or_default();
            let value = concrete.get(at).and_then(Value::as_str).map_or(Value::Null, recorded_value);
            let (type_name, tensors) = match name {
                "TensorList" => ("GenericList[Tensor]", TensorGroup::of_shapes(shapes.get(at), None)),
                "ScalarList" => ("GenericList[Int]", TensorGroup::default()),
                "Scalar" if value.is_boolean() => ("Bool", TensorGroup::default()),
                "Scalar" if value.is_i64() => ("Int", TensorGroup::default()),
                "" | "Scalar" => ("Object", TensorGroup::default()),
                _ => {
                    ("Tensor", TensorGroup::of_shapes(shapes.get(at).map(|shape| json!([shape])).as_ref(), Some(name)))
                }
            };
            found.types.push(type_name.to_owned());
            found.values.push(value);
            found.tensors.push(tensors);
        }
        found
    }

    /// The tensors of an argument, or of the list that it is.
    pub(super) fn tensors(&self, place: usize) -> TensorGroup {
        self.tensors.get(place).cloned().unwrap_or_default()
    }

    /// The tensors that came out.
    pub(super) fn results(&self) -> TensorGroup {
        self.results.clone()
    }

    /// Whether an argument is a list.
    pub(super) fn is_list(&self, place: usize) -> bool {
        self.types.get(place).is_some_and(|name| name.starts_with("GenericList["))
    }

    /// The first whole number among the arguments.
    pub(super) fn int(&self) -> Option<i64> {
        self.ints().next()
    }

    /// All whole numbers among the arguments.
    pub(super) fn ints(&self) -> impl Iterator<Item = i64> {
        let ints = self.types.iter().zip(&self.values).filter(|(name, _)| *name == "Int");
        ints.filter_map(|(_, value)| value.as_i64())
    }

    /// The first truth.
    pub(super) fn truth(&self) -> Option<bool> {
        self.first("Bool")?.as_bool()
    }

    /// All texts.
    pub(super) fn texts(&self) -> Vec<&str> {
        let texts = self.types.iter().zip(&self.values).filter(|(name, _)| *name == "String");
        texts.filter_map(|(_, value)| value.as_str()).collect()
    }

    /// Lists of whole numbers from an argument on; empty ones too.
    pub(super) fn lists(&self, from: usize) -> Vec<Vec<i64>> {
        let lists = self.types.iter().zip(&self.values).skip(from);
        let lists = lists.filter(|(name, _)| *name == "GenericList[]" || name.starts_with("GenericList[Int"));
        lists.map(|(_, value)| numbers(value)).collect()
    }

    fn first(&self, wanted: &str) -> Option<&Value> {
        self.values.get(self.types.iter().position(|name| name == wanted)?)
    }
}

/// The whole numbers of a list; none where one is something else.
pub(super) fn numbers(value: &Value) -> Vec<i64> {
    let numbers: Option<Vec<i64>> = value.as_array().into_iter().flatten().map(Value::as_i64).collect();
    numbers.unwrap_or_default()
}
