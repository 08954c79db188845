//! Sizes of a collective by the tensors that its operator takes.

use serde_json::Value;

use super::call::CollectiveRow;
use super::facts::{CollectiveFacts, integers, num_elems, sum};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::collective::CollectivePattern;
use crate::trace::node::Node;
use crate::trace::tensor::tensor_uses;

/// Where an operator of `c10d` has its tensors: the places of the input and of the output.
fn places(name: &str, pattern: Option<CollectivePattern>) -> Option<[usize; 2]> {
    use CollectivePattern::{AllGather, AllToAll, Gather, ReduceScatter, Scatter};
    name.strip_prefix("c10d::")?;
    match pattern? {
        AllGather | AllToAll | Gather | ReduceScatter | Scatter => Some([1, 0]),
        other => other.has_message().then_some([0, 0]),
    }
}

impl CollectiveFacts {
    /// The parts of an exchange in an operator's arguments: after tensors and group, those that
    /// come out, then those that go in.
    pub(super) fn of_splits(name: &str, arguments: impl FnOnce() -> String) -> Self {
        if name != "c10d::alltoall_base_" {
            return Self::default();
        }
        let arguments: Value = serde_json::from_str(&arguments()).unwrap_or_default();
        let split = |place: usize| integers(arguments.get(place)?).map(|parts| Value::from(parts).to_string());
        Self { out_split: split(3), in_split: split(4), ..Self::default() }
    }

    /// Sizes in an operator's arguments. A list of lists has no sizes there.
    pub(super) fn of_operator_tensors(trace: &Trace, part: CollectiveRow) -> Self {
        let row = part.row as usize;
        let Some(places) = places(trace.event_name(row), part.pattern) else { return Self::default() };
        let list = |key| {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row), key, &mut text);
            serde_json::from_str::<Vec<Value>>(&text).unwrap_or_default()
        };
        let (dims, types) = (list(ArgKey::InputShapes), list(ArgKey::InputTypes));
        let kind = |place: usize| types.get(place).and_then(Value::as_str).unwrap_or_default();
        let elems = |place: usize| match (dims.get(place)?.as_array()?.as_slice(), kind(place)) {
            ([], "ScalarList") => Some(0),
            ([], "" | "TensorList") => None,
            (shapes @ [Value::Array(_), ..], _) => sum(shapes.iter().map(num_elems)),
            _ => num_elems(dims.get(place)?),
        };
        let [in_elems, out_elems] = places.map(elems);
        let mut facts = Self { in_elems, out_elems, ..Self::default() };
        let spelled = places.map(kind).into_iter().find(|kind| !["", "TensorList", "ScalarList"].contains(kind));
        facts.set_dtype(spelled.map(str::to_owned));
        facts
    }

    /// Sizes in the arguments of an operator's node.
    pub(super) fn of_operator_node_tensors(trace: &Trace, node: &Node, part: CollectiveRow) -> Self {
        let Some(places) = places(trace.strings.text(node.name), part.pattern) else { return Self::default() };
        let uses = tensor_uses(std::slice::from_ref(node), &trace.strings);
        let of = |place: usize| uses.iter().filter(move |one| !one.is_output && one.argument as usize == place);
        let types: Vec<Value> = serde_json::from_str(trace.strings.text(node.inputs.types)).unwrap_or_default();
        let elems = |place: usize| {
            let is_empty = types.get(place).and_then(Value::as_str) == Some("GenericList[]");
            let found = of(place).next().is_some();
            (found || is_empty).then(|| sum(of(place).map(|one| Some(one.num_elems))))?
        };
        let [in_elems, out_elems] = places.map(elems);
        let all = || places.into_iter().flat_map(of);
        let first = all().next().filter(|first| all().all(|one| one.dtype == first.dtype));
        let mut facts = Self { in_elems, out_elems, ..Self::default() };
        if part.pattern == Some(CollectivePattern::AllToAll) {
            // A list of tensors has a part for each rank.
            let parts = |place: usize| of(place).map(|one| one.num_elems).collect::<Vec<_>>();
            let [in_split, out_split] = places.map(|place| {
                Some(parts(place)).filter(|parts| parts.len() > 1).map(|parts| Value::from(parts).to_string())
            });
            (facts.in_split, facts.out_split) = (in_split, out_split);
        }
        facts.set_dtype(first.map(|first| first.dtype.clone()));
        facts.elem_bytes = first.map(|first| first.elem_bytes);
        facts
    }

    /// The type of the elements, without the sizes.
    pub(super) fn element_alone(self) -> Self {
        Self { dtype: self.dtype, elem_bytes: self.elem_bytes, ..Self::default() }
    }
}
