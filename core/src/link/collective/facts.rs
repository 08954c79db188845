//! The facts that one record states about a collective; all others are `None`.

use serde_json::Value;

use crate::operator_name::base_name;
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::collective::dtype;
use crate::trace::group::GroupRanks;
use crate::trace::node::Node;
use crate::trace::tensor::{TensorUse, tensor_uses};

/// The facts of a node or an event. Texts keep their spelling.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CollectiveFacts {
    /// `collective_name`, `Collective name`, or the name in the record's inputs.
    pub name: Option<String>,
    /// `pg_name`, `Process Group Name`.
    pub group_name: Option<String>,
    /// `pg_desc`, `Process Group Description`.
    pub group_desc: Option<String>,
    /// The number by which files before `PyTorch` 2.4 know a process group (`Process Group ID`).
    pub group_id: Option<i64>,
    /// `pg_size`, `Group size`.
    pub group_size: Option<i64>,
    /// `Process Group Ranks`, where the list is whole.
    pub ranks: Option<GroupRanks>,
    /// `Global rank start` and `Global rank stride`: the ranks, where they are evenly spaced.
    pub rank_steps: Option<(i64, i64)>,
    /// `Seq`, and whether it counts collectives of two ranks only.
    pub seq: Option<i64>,
    /// `Comms Id`: the number that all ranks give a communication.
    pub comms_id: Option<u64>,
    /// Whether `seq` counts collectives of two ranks only.
    pub is_p2p: Option<bool>,
    /// `Rank`, or an operator's argument: an index in the group, of the root, of the peer, or of
    /// this rank.
    pub rank: Option<i64>,
    /// `Src Rank`.
    pub src_rank: Option<i64>,
    /// `Dst Rank`.
    pub dst_rank: Option<i64>,
    /// Type of the elements, by its one name.
    pub dtype: Option<String>,
    /// `in_msg_nelems`, `In msg nelems`.
    pub in_elems: Option<i64>,
    /// `out_msg_nelems`, `Out msg nelems`.
    pub out_elems: Option<i64>,
    /// Bytes of an element.
    pub elem_bytes: Option<i64>,
    /// `in_split_size`, `In split size`: a JSON list, cut short where Kineto cut it.
    pub in_split: Option<String>,
    /// `out_split_size`, `Out split size`.
    pub out_split: Option<String>,
    /// `is_asynchronized_op`, `Is asynchronized op`.
    pub is_async: Option<bool>,
}

impl CollectiveFacts {
    /// These facts, and those of `other` where these say nothing.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            name: self.name.or(other.name),
            group_name: self.group_name.or(other.group_name),
            group_desc: self.group_desc.or(other.group_desc),
            group_id: self.group_id.or(other.group_id),
            group_size: self.group_size.or(other.group_size),
            ranks: self.ranks.or(other.ranks),
            rank_steps: self.rank_steps.or(other.rank_steps),
            seq: self.seq.or(other.seq),
            comms_id: self.comms_id.or(other.comms_id),
            is_p2p: self.is_p2p.or(other.is_p2p),
            rank: self.rank.or(other.rank),
            src_rank: self.src_rank.or(other.src_rank),
            dst_rank: self.dst_rank.or(other.dst_rank),
            dtype: self.dtype.or(other.dtype),
            in_elems: self.in_elems.or(other.in_elems),
            out_elems: self.out_elems.or(other.out_elems),
            elem_bytes: self.elem_bytes.or(other.elem_bytes),
            in_split: self.in_split.or(other.in_split),
            out_split: self.out_split.or(other.out_split),
            is_async: self.is_async.or(other.is_async),
        }
    }

    /// Facts in an event's arguments; keys as in Kineto.
    pub(super) fn of_event(trace: &Trace, row: usize) -> Self {
        let mut facts = Self::default();
        let [mut rank_start, mut rank_stride] = [None; 2];
        for (key, json) in trace.args.pairs(&trace.strings, trace.events.args(row)) {
            let value = || serde_json::from_str::<Value>(&json).unwrap_or_default();
            match key {
                "Global rank start" => rank_start = integer(&value()),
                "Global rank stride" => rank_stride = integer(&value()),
                "Collective name" => facts.name = text(&value()),
                "Process Group Name" => facts.group_name = text(&value()),
                "Process Group Description" => facts.group_desc = text(&value()),
                "Process Group ID" => facts.group_id = integer(&value()),
                "Process Group Ranks" => facts.ranks = integers(&value()).map(GroupRanks::from),
                "Group size" => facts.group_size = integer(&value()),
                "Seq" => facts.seq = integer(&value()),
                "Comms Id" => facts.comms_id = identifier(&value()),
                "Rank" => facts.rank = integer(&value()).filter(|rank| *rank >= 0),
                "Src Rank" => facts.src_rank = integer(&value()),
                "Dst Rank" => facts.dst_rank = integer(&value()),
                "dtype" => facts.set_dtype(text(&value())),
                "In msg nelems" => facts.in_elems = integer(&value()),
                "Out msg nelems" => facts.out_elems = integer(&value()),
                "In split size" => facts.in_split = text(&value()),
                "Out split size" => facts.out_split = text(&value()),
                "Is asynchronized op" => facts.is_async = boolean(&value()),
                _ => {}
            }
        }
        facts.rank_steps = rank_start.zip(rank_stride);
        facts
    }

    /// Facts in an annotation's inputs, which are only tensors.
    pub(super) fn of_annotation(trace: &Trace, row: usize) -> Self {
        let mut facts = Self::default();
        let (mut dims, mut types) = (Value::Null, Value::Null);
        for (key, json) in trace.args.pairs(&trace.strings, trace.events.args(row)) {
            match key {
                "Input Dims" => dims = serde_json::from_str(&json).unwrap_or_default(),
                "Input type" => types = serde_json::from_str(&json).unwrap_or_default(),
                _ => {}
            }
        }
        let types: Vec<_> = types.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let one_type = types.first().filter(|first| !first.is_empty() && types.iter().all(|other| other == *first));
        let (_, elem_bytes) = one_type.map_or_else(Default::default, |first| dtype(first));
        if elem_bytes.is_some() {
            facts.set_dtype(one_type.map(|first| (*first).to_owned()));
            facts.in_elems = dims.as_array().and_then(|dims| sum(dims.iter().map(num_elems)));
        }
        facts
    }

    /// Facts in an operator's arguments.
    pub(super) fn of_operator(trace: &Trace, row: usize) -> Self {
        let arguments = || {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::ConcreteInputs, &mut text);
            text
        };
        let name = trace.event_name(row);
        Self { rank: end(name, arguments), ..Self::of_splits(name, arguments) }
    }

    /// Facts in the arguments of an operator's node.
    pub(super) fn of_operator_node(trace: &Trace, node: &Node) -> Self {
        let arguments = || trace.strings.text(node.inputs.values).to_owned();
        let name = trace.strings.text(node.name);
        Self { rank: end(name, arguments), ..Self::of_splits(name, arguments) }
    }

    /// Facts in a node's attributes and in the inputs of its record.
    pub(super) fn of_node(trace: &Trace, row: usize) -> Self {
        let node = &trace.nodes[row];
        let attrs: Value = serde_json::from_str(trace.strings.text(node.rest)).unwrap_or_default();
        let get = |key| attrs.get(key).unwrap_or(&Value::Null);
        let mut facts = Self {
            name: text(get("collective_name")),
            group_name: text(get("pg_name")),
            group_desc: text(get("pg_desc")),
            group_size: integer(get("pg_size")),
            rank_steps: integer(get("global_rank_start")).zip(integer(get("global_rank_stride"))),
            in_elems: integer(get("in_msg_nelems")),
            out_elems: integer(get("out_msg_nelems")),
            in_split: text(get("in_split_size")),
            out_split: text(get("out_split_size")),
            is_async: boolean(get("is_asynchronized_op")),
            ..Self::default()
        };
        facts.set_dtype(text(get("dtype")));
        facts.or(Self::of_record(&trace.strings, node))
    }

    /// Facts in the inputs of a record, and of the tensors that it takes and gives.
    pub(crate) fn of_record(strings: &Strings, node: &Node) -> Self {
        Self::of_inputs(strings, node).or(Self::of_tensors(strings, node))
    }

    /// Facts by position in a record's inputs: `[tensors,] sequence, group, rank, name, splits …`,
    /// and the group's size at the end since 1.0.2.
    fn of_inputs(strings: &Strings, node: &Node) -> Self {
        let parse = |id| serde_json::from_str::<Value>(strings.text(id)).unwrap_or_default();
        let (values, types) = (parse(node.inputs.values), parse(node.inputs.types));
        let at = |place: usize| values.get(place).unwrap_or(&Value::Null);
        let is_text = |place: &usize| types.get(*place).and_then(Value::as_str) == Some("String");
        // Tensors come first, where there are any.
        let Some(name) = [3, 4].into_iter().find(is_text) else { return Self::default() };
        let (seq, group) = (at(name - 3), at(name - 2));
        Self {
            name: text(at(name)),
            seq: integer(seq).or_else(|| integer(seq.get(0)?)),
            is_p2p: seq.get(1).and_then(boolean),
            group_name: group.get(0).and_then(text),
            group_desc: group.get(1).and_then(text),
            group_id: integer(group).filter(|id| *id != 0),
            rank: integer(at(name - 1)).filter(|rank| *rank >= 0),
            in_split: list(at(name + 1)),
            out_split: list(at(name + 2)),
            group_size: integer(at(name + 5)).or_else(|| integer(at(name + 3))),
            rank_steps: integer(at(name + 5)).and_then(|_| integer(at(name + 3)).zip(integer(at(name + 4)))),
            ..Self::default()
        }
    }

    /// Sizes of the tensors that a record takes and gives.
    pub(super) fn of_tensors(strings: &Strings, node: &Node) -> Self {
        let uses = tensor_uses(std::slice::from_ref(node), strings);
        let elems = |is_output: bool| {
            let mut those = uses.iter().filter(|tensor| tensor.is_output == is_output).peekable();
            those.peek()?;
            sum(those.map(|tensor| Some(tensor.num_elems)))
        };
        let same = |get: fn(&TensorUse) -> String| {
            let first = uses.first().map(get)?;
            uses.iter().all(|tensor| get(tensor) == first).then_some(first)
        };
        let mut facts = Self { in_elems: elems(false), out_elems: elems(true), ..Self::default() };
        facts.set_dtype(same(|tensor| tensor.dtype.clone()));
        facts.elem_bytes = same(|tensor| tensor.elem_bytes.to_string()).and_then(|bytes| bytes.parse().ok());
        facts
    }

    pub(super) fn set_dtype(&mut self, spelling: Option<String>) {
        let found = spelling.map(|spelling| dtype(&spelling));
        self.elem_bytes = found.as_ref().and_then(|(_, bytes)| *bytes);
        self.dtype = found.map(|(name, _)| name);
    }
}

/// The group index of the root or peer among an operator's arguments (`c10d`, as a JSON list):
/// after tensors, group and reduction.
fn end(name: &str, arguments: impl FnOnce() -> String) -> Option<i64> {
    let argument = match base_name(name).strip_prefix("c10d::")?.trim_end_matches('_') {
        "send" | "recv" | "broadcast" => 2,
        "reduce" | "gather" | "scatter" => 3,
        _ => return None,
    };
    let arguments: Value = serde_json::from_str(&arguments()).ok()?;
    integer(arguments.get(argument)?).filter(|place| *place >= 0)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Array(_) => Some(value.to_string()),
        _ => None,
    }
}

fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// A number that may be larger than `i64::MAX`; 0 names nothing.
fn identifier(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).filter(|id| *id != 0)
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => Some(number.as_i64()? != 0),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn list(value: &Value) -> Option<String> {
    value.is_array().then(|| value.to_string())
}

/// The integers of a list, which Kineto writes as a text and cuts after thirty: a cut one is none,
/// and so is an empty one, which says nothing.
pub(super) fn integers(value: &Value) -> Option<Vec<i64>> {
    let parsed = value.as_str().map(|text| serde_json::from_str::<Value>(text).unwrap_or_default());
    let items = parsed.as_ref().unwrap_or(value).as_array()?;
    let items: Option<Vec<_>> = items.iter().map(Value::as_i64).collect();
    items.filter(|items| !items.is_empty())
}

/// The number of elements of a shape.
pub(super) fn num_elems(shape: &Value) -> Option<i64> {
    shape.as_array()?.iter().try_fold(1_i64, |product, side| product.checked_mul(side.as_i64()?))
}

pub(super) fn sum(mut values: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    values.try_fold(0_i64, |total, value| total.checked_add(value?))
}
