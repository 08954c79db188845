//! Fills in the attributes that the newest layout has for communications, from a record's inputs.

use serde_json::{Value, json};

use super::extra_attrs::ExtraAttrs;
use crate::link::CollectiveFacts;
use crate::strings::Strings;
use crate::trace::collective::{CollectivePattern, known, scalar_type};
use crate::trace::group::{ProcessGroup, groups_of_config};
use crate::trace::node::{Node, NodeKind};
use crate::trace::tensor::tensor_uses;

/// The node of a communication.
const RECORD: &str = "record_param_comms";

/// The type of elements that `PyTorch` writes for a record without tensors.
const NO_TENSORS: &str = "Byte";

/// The process groups of a file, and their number by which old files name them.
pub(super) struct RecordedGroups(Vec<ProcessGroup>);

impl RecordedGroups {
    pub(super) fn of(strings: &Strings, nodes: &[Node]) -> Self {
        let is_config = |node: &&Node| node.kind(strings.text(node.name)) == NodeKind::ProcessGroup;
        let config = |node: &Node| config(strings, node).map(|config| groups_of_config(&config));
        Self(nodes.iter().filter(is_config).find_map(config).unwrap_or_default())
    }

    /// The group of a record: of its name, or of its number, or the only one.
    fn find(&self, facts: &CollectiveFacts) -> Option<&ProcessGroup> {
        let name = facts.group_name.as_deref();
        let named = self.0.iter().find(|group| name == Some(group.name.as_str()));
        let numbered = || self.0.iter().find(|group| group.id.is_some() && group.id == facts.group_id);
        let only = || self.0.first().filter(|_| self.0.len() == 1 && name.is_none());
        named.or_else(numbered).or_else(only)
    }
}

/// Adds the attributes that a record lacks, where its inputs and the groups of the file tell them.
pub(super) fn fill(strings: &Strings, groups: &RecordedGroups, node: &Node, extra: &mut ExtraAttrs) {
    if strings.text(node.name) != RECORD {
        return;
    }
    let facts = CollectiveFacts::of_record(strings, node);
    let Some(name) = facts.name.clone() else { return };
    let pattern = known(&name).map(|(_, pattern)| pattern);
    // The group in a wait's record is unreliable.
    let group = groups.find(&facts).filter(|_| pattern != Some(CollectivePattern::Wait));
    let has_tensors = facts.in_elems.is_some() || facts.out_elems.is_some();
    let none = || (!has_tensors).then_some(0);
    let keeps_size = pattern.is_some_and(CollectivePattern::keeps_size);
    let out_elems = facts.out_elems.or(facts.in_elems.filter(|_| keeps_size)).or_else(none);
    let dtype = facts.dtype.or_else(|| first_type(strings, node));
    let dtype = dtype.map(|name| scalar_type(&name).to_owned()).or_else(|| none().map(|_| NO_TENSORS.to_owned()));
    let text = |value: Option<String>| value.map(Value::String);
    let number = |value: Option<i64>| value.filter(|value| *value >= 0).map(|value| json!(value));
    let split = |list: Option<String>| list.or_else(|| Some(String::from("[]")));
    let [rank_start, rank_stride] = rank_range(strings, node);
    let pg_name = facts.group_name.filter(|name| !name.is_empty()).or_else(|| Some(group?.name.clone()));
    let pg_desc = facts.group_desc.or_else(|| Some(group?.desc.clone())).filter(|_| pg_name.is_some());
    let size = facts.group_size.or_else(|| group?.size);
    for (key, type_name, value) in [
        ("collective_name", "string", text(Some(exchange(name, strings, node)))),
        ("dtype", "string", text(dtype)),
        ("in_msg_nelems", "uint64", number(facts.in_elems.or_else(none))),
        ("out_msg_nelems", "uint64", number(out_elems)),
        ("in_split_size", "string", text(split(facts.in_split))),
        ("out_split_size", "string", text(split(facts.out_split))),
        ("global_rank_start", "uint64", number(rank_start)),
        ("global_rank_stride", "uint64", number(rank_stride)),
        ("pg_name", "string", text(pg_name)),
        ("pg_desc", "string", text(pg_desc)),
        ("pg_size", "uint64", number(size)),
    ] {
        if let Some(value) = value {
            extra.add(key, type_name, &value);
        }
    }
}

/// The name of an exchange within one tensor; readers take `all_to_all` for one between lists.
fn exchange(name: String, strings: &Strings, node: &Node) -> String {
    let types: Value = serde_json::from_str(strings.text(node.inputs.types)).unwrap_or_default();
    let is_tensor = types.get(0).and_then(Value::as_str).is_some_and(|name| name.starts_with("Tensor("));
    let is_exchange = known(&name).is_some_and(|(name, _)| name == "all_to_all");
    if is_exchange && is_tensor { String::from("all_to_allv") } else { name }
}

/// The type of the first tensor, where those that go in and come out differ.
fn first_type(strings: &Strings, node: &Node) -> Option<String> {
    tensor_uses(std::slice::from_ref(node), strings).into_iter().next().map(|tensor| tensor.dtype)
}

/// First rank of the group in the job, and the step to the next: before the size, since 1.0.3.
fn rank_range(strings: &Strings, node: &Node) -> [Option<i64>; 2] {
    let values: Vec<Value> = serde_json::from_str(strings.text(node.inputs.values)).unwrap_or_default();
    match values.as_slice() {
        [.., Value::Array(_), start, stride, size] if size.is_i64() => [start.as_i64(), stride.as_i64()],
        _ => [None, None],
    }
}

/// The configuration of the process groups, as the node has it.
fn config(strings: &Strings, node: &Node) -> Option<String> {
    let inputs: Value = serde_json::from_str(strings.text(node.inputs.values)).ok()?;
    Some(inputs.get(0)?.as_str()?.to_owned())
}

/// Adds the keys to a node of process groups that readers of the newest layout expect.
pub(super) fn complete_groups(strings: &mut Strings, node: &mut Node) {
    if node.kind(strings.text(node.name)) != NodeKind::ProcessGroup {
        return;
    }
    let groups = config(strings, node).and_then(|config| serde_json::from_str::<Value>(&config).ok());
    let Some(Value::Array(mut groups)) = groups else { return };
    let num_groups = groups.len();
    let mut is_complete = true;
    for group in groups.iter_mut().filter_map(Value::as_object_mut) {
        let ranks = group.get("ranks").and_then(Value::as_array).map(Vec::len).filter(|len| *len > 0);
        let size = group.get("pg_size").cloned().or_else(|| ranks.map(|len| json!(len)));
        let missing = [("pg_desc", Some(json!(""))), ("group_size", size), ("group_count", Some(json!(num_groups)))];
        for (key, value) in missing {
            if let Some(value) = value.filter(|_| !group.contains_key(key)) {
                group.insert(key.to_owned(), value);
                is_complete = false;
            }
        }
    }
    if !is_complete {
        let values = json!([Value::Array(groups).to_string()]).to_string();
        node.inputs.values = strings.intern(&values);
    }
}
