//! Converts nodes to the newest layout.
//!
//! Facts that an older layout lacks stay unknown, except strides and facts that stand elsewhere. A
//! replay assumes contiguous tensors, so their strides are filled in. Attributes of communications
//! are filled in from the inputs of their records.

use serde_json::{Value, json};

use super::comm_attrs::{RecordedGroups, complete_groups, fill};
use super::execution_draft::ExecutionDraft;
use super::extra_attrs::ExtraAttrs;
use crate::json::write_string;
use crate::strings::Strings;
use crate::trace::layout::LayoutSlot;
use crate::trace::node::NodeValues;
use crate::trace::tensor::element_types;

/// The newest schema, as `PyTorch` writes it.
const SCHEMA: &str = "\"1.1.1-chakra.0.0.4\"";

/// Attributes that every node has, with their types.
const ATTRS: [(&str, &str, LayoutSlot); 9] = [
    ("rf_id", "uint64", LayoutSlot::RecordId),
    ("fw_parent", "uint64", LayoutSlot::FwParent),
    ("seq_id", "int64", LayoutSlot::SeqNum),
    ("scope", "uint64", LayoutSlot::Scope),
    ("tid", "uint64", LayoutSlot::Thread),
    ("fw_tid", "uint64", LayoutSlot::FwThread),
    ("op_schema", "string", LayoutSlot::Schema),
    ("kernel_backend", "string", LayoutSlot::KernelBackend),
    ("kernel_file", "string", LayoutSlot::KernelFile),
];

/// An attribute that every node has and no column holds: least and greatest values of the inputs.
const TENSOR_RANGE: &str = "tensor_range";

/// Converts all nodes to the new layout, and records this in the header.
pub(super) fn upgrade(draft: &mut ExecutionDraft) {
    let schema = draft.strings.intern(SCHEMA);
    for (key, value) in &mut draft.header {
        if draft.strings.text(*key) == "schema" {
            *value = schema;
        }
    }
    let groups = RecordedGroups::of(&draft.strings, &draft.nodes);
    for node in &mut draft.nodes {
        let name = draft.strings.text(node.name).replace("|execution_graph|", "|execution_trace|");
        node.name = draft.strings.intern(&name);
        complete(&mut draft.strings, &mut node.inputs);
        complete(&mut draft.strings, &mut node.outputs);
        complete_groups(&mut draft.strings, node);
        let mut rest = ExtraAttrs::of(draft.strings.text(node.layout), draft.strings.text(node.rest));
        rest.add(TENSOR_RANGE, "string", &json!(""));
        fill(&draft.strings, &groups, node, &mut rest);
        node.layout = draft.strings.intern(&layout(&rest));
        node.rest = draft.strings.intern(&rest.object());
    }
}

/// Fills in unrecorded facts.
fn complete(strings: &mut Strings, values: &mut NodeValues) {
    for text in [&mut values.values, &mut values.shapes, &mut values.types] {
        if strings.text(*text).is_empty() {
            *text = strings.intern("[]");
        }
    }
    if strings.text(values.strides).is_empty() {
        let parse = |id| serde_json::from_str::<Value>(strings.text(id)).unwrap_or_default();
        let (shapes, types) = (parse(values.shapes), parse(values.types));
        let types: Vec<_> = types.as_array().into_iter().flatten().map(|name| name.as_str().unwrap_or("")).collect();
        let strides = strides_of_each(&shapes, &types).to_string();
        values.strides = strings.intern(&strides);
    }
}

fn strides_of_each(shapes: &Value, types: &[&str]) -> Value {
    let shapes = shapes.as_array().into_iter().flatten();
    shapes.zip(types.iter().chain(std::iter::repeat(&""))).map(|(shape, name)| strides(shape, name)).collect()
}

/// Strides of a contiguous tensor, of each in a list, and of nothing else.
fn strides(shape: &Value, type_name: &str) -> Value {
    if let Some(elements) = element_types(type_name) {
        return strides_of_each(shape, &elements);
    }
    let dims = shape.as_array().filter(|_| type_name.starts_with("Tensor("));
    let mut step = 1_i64;
    let mut strides: Vec<i64> = Vec::new();
    for dim in dims.into_iter().flatten().rev() {
        strides.push(step);
        step = step.saturating_mul(dim.as_i64().unwrap_or(1).max(1));
    }
    strides.reverse();
    json!(strides)
}

/// The newest layout, with whatever else the node has: attributes behind those of every node, keys
/// behind `attrs`.
fn layout(rest: &ExtraAttrs) -> String {
    let [id, name, parent] = [LayoutSlot::Id, LayoutSlot::Name, LayoutSlot::Parent].map(LayoutSlot::mark);
    let inputs = values(
        "inputs",
        [LayoutSlot::Inputs, LayoutSlot::InputShapes, LayoutSlot::InputTypes, LayoutSlot::InputStrides],
    );
    let outputs = values(
        "outputs",
        [LayoutSlot::Outputs, LayoutSlot::OutputShapes, LayoutSlot::OutputTypes, LayoutSlot::OutputStrides],
    );
    let known = ATTRS.iter().map(|(name, type_name, slot)| attr(name, type_name, *slot));
    let others = rest.attrs.iter().map(|other| attr(&other.key, &other.type_name, LayoutSlot::Rest));
    let attrs = known.chain(others).collect::<Vec<_>>().join(",");
    let keys = rest.keys.iter().map(|other| format!(",{}:{}", quoted(&other.key), LayoutSlot::Rest.mark()));
    let keys = keys.collect::<Vec<_>>().concat();
    format!("{{\"id\":{id},\"name\":{name},\"ctrl_deps\":{parent},{inputs},{outputs},\"attrs\":[{attrs}]{keys}}}")
}

fn values(key: &str, slots: [LayoutSlot; 4]) -> String {
    let [values, shapes, types, strides] = slots.map(LayoutSlot::mark);
    format!("\"{key}\":{{\"values\":{values},\"shapes\":{shapes},\"types\":{types},\"strides\":{strides}}}")
}

fn attr(name: &str, type_name: &str, slot: LayoutSlot) -> String {
    format!("{{\"name\":{},\"type\":{},\"value\":{}}}", quoted(name), quoted(type_name), slot.mark())
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(&mut out, text);
    out
}
