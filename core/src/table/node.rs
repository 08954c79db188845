//! Tables of the Execution Trace: its nodes and their tensors.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::column::{Column, Table, int, json, put, put_json, put_name, text, uint};
use crate::id::StrId;
use crate::link::{DataDependency, LinkedTrace};
use crate::time::ns_from_micros;
use crate::trace::kind::category_kind;
use crate::trace::node::Node;
use crate::trace::tensor::TensorUse;

/// One row a node.
pub(super) static NODES: Table = Table {
    name: "nodes",
    doc: "a node of the Execution Trace",
    num_rows: |linked| linked.trace.nodes.len(),
    columns: NODE_COLUMNS,
};

const NODE_COLUMNS: &[Column] = &[
    uint("node_id", |linked, row| Some(linked.trace.nodes[row].id)),
    uint("parent_id", |linked, row| linked.trace.nodes[row].parent),
    text("name", |linked, row, out| put_name(out, linked.trace.strings.text(linked.trace.nodes[row].name))),
    text("kind", |linked, row, out| {
        let node = &linked.trace.nodes[row];
        put(out, device_kind(linked, row).unwrap_or_else(|| node.kind(linked.trace.strings.text(node.name)).name()))
    }),
    uint("record_id", |linked, row| Some(linked.trace.nodes[row].record_id).filter(|id| *id != 0)),
    int("seq_num", |linked, row| Some(linked.trace.nodes[row].seq_num).filter(|number| *number >= 0)),
    uint("fw_parent_id", |linked, row| linked.trace.nodes[row].fw_parent.filter(|id| *id != 0)),
    uint("scope", |linked, row| linked.trace.nodes[row].scope),
    uint("thread", |linked, row| linked.trace.nodes[row].thread),
    uint("fw_thread", |linked, row| linked.trace.nodes[row].fw_thread.filter(|id| *id != 0)),
    text("schema", |linked, row, out| field(linked, row, out, |node| node.schema)),
    json("inputs", |linked, row, out| field(linked, row, out, |node| node.inputs.values)),
    json("input_shapes", |linked, row, out| field(linked, row, out, |node| node.inputs.shapes)),
    json("input_types", |linked, row, out| field(linked, row, out, |node| node.inputs.types)),
    json("input_strides", |linked, row, out| field(linked, row, out, |node| node.inputs.strides)),
    json("outputs", |linked, row, out| field(linked, row, out, |node| node.outputs.values)),
    json("output_shapes", |linked, row, out| field(linked, row, out, |node| node.outputs.shapes)),
    json("output_types", |linked, row, out| field(linked, row, out, |node| node.outputs.types)),
    json("output_strides", |linked, row, out| field(linked, row, out, |node| node.outputs.strides)),
    text("kernel_backend", |linked, row, out| field(linked, row, out, |node| node.kernel_backend)),
    text("kernel_file", |linked, row, out| field(linked, row, out, |node| node.kernel_file)),
    text("collective", |linked, row, out| attr_text(linked, row, "collective_name", out)),
    text("dtype", |linked, row, out| attr_text(linked, row, "dtype", out)),
    int("in_elems", |linked, row| attr_int(linked, row, "in_msg_nelems")),
    int("out_elems", |linked, row| attr_int(linked, row, "out_msg_nelems")),
    text("in_split", |linked, row, out| attr_text(linked, row, "in_split_size", out)),
    text("out_split", |linked, row, out| attr_text(linked, row, "out_split_size", out)),
    text("group_name", |linked, row, out| attr_text(linked, row, "pg_name", out)),
    int("group_size", |linked, row| attr_int(linked, row, "pg_size")),
    int("event_id", |linked, row| event(linked, row).map(|event| super::event::id(linked, event))),
    int("start_ns", |linked, row| match event(linked, row) {
        Some(event) => Some(linked.trace.events.start.at(event as usize).0),
        None => own_time(linked, row, "ts"),
    }),
    int("dur_ns", |linked, row| match event(linked, row) {
        Some(event) => Some(linked.trace.events.dur.at(event as usize).0),
        None => own_time(linked, row, "dur"),
    }),
    int("device_ns", |linked, row| linked.node_device_ns()[row]),
    int("device_self_ns", |linked, row| event(linked, row).map(|event| linked.device_time().self_ns[event as usize])),
    json("attrs", |linked, row, out| field(linked, row, out, |node| node.rest)),
];

fn field(linked: &LinkedTrace, row: usize, out: &mut String, get: fn(&Node) -> StrId) -> bool {
    put(out, linked.trace.strings.text(get(&linked.trace.nodes[row])))
}

fn attr_text(linked: &LinkedTrace, row: usize, key: &str, out: &mut String) -> bool {
    linked.node_attr(row, key).is_some_and(|value| put_json(out, value))
}

fn attr_int(linked: &LinkedTrace, row: usize, key: &str) -> Option<i64> {
    linked.node_attr(row, key)?.as_i64()
}

/// The category of a device event among the nodes, as in traces linked before (ET+).
fn device_kind(linked: &LinkedTrace, row: usize) -> Option<&'static str> {
    let (kind, is_on_device) = category_kind(linked.node_attr(row, "cat")?.as_str()?);
    is_on_device.then(|| kind.name())
}

/// A time that the node itself has (ET+), from microseconds: every digit counts, so it is not read
/// as a float.
fn own_time(linked: &LinkedTrace, row: usize, key: &str) -> Option<i64> {
    linked.node_attr(row, key)?;
    let rest = linked.trace.strings.text(linked.trace.nodes[row].rest);
    let attrs: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(rest).ok()?;
    ns_from_micros(attrs.get(key)?.get().trim_matches('"').as_bytes())
}

fn event(linked: &LinkedTrace, row: usize) -> Option<u32> {
    linked.links.nodes.event_of_node.get(row)
}

/// One row a use of a tensor.
pub(super) static TENSORS: Table = Table {
    name: "tensors",
    doc: "a use of a tensor by a node of the Execution Trace",
    num_rows: |linked| linked.tensors().len(),
    columns: &[
        uint("node_id", |linked, row| Some(linked.trace.nodes[linked.tensors()[row].node as usize].id)),
        text("role", |linked, row, out| put(out, if linked.tensors()[row].is_output { "output" } else { "input" })),
        int("index", |linked, row| Some(i64::from(linked.tensors()[row].index))),
        uint("tensor_id", |linked, row| Some(linked.tensors()[row].tensor_id)),
        uint("storage_id", |linked, row| Some(linked.tensors()[row].storage_id)),
        int("offset", |linked, row| Some(linked.tensors()[row].offset)),
        int("num_elems", |linked, row| Some(linked.tensors()[row].num_elems)),
        int("elem_bytes", |linked, row| Some(linked.tensors()[row].elem_bytes)),
        text("device", |linked, row, out| put(out, &linked.tensors()[row].device)),
        text("dtype", |linked, row, out| put(out, &linked.tensors()[row].dtype)),
        json("shape", |linked, row, out| put(out, &linked.tensors()[row].shape)),
        json("stride", |linked, row, out| put(out, &linked.tensors()[row].stride)),
    ],
};

/// One row a data dependency.
pub(super) static DEPENDENCIES: Table = Table {
    name: "dependencies",
    doc: "a data dependency: a node of the Execution Trace reads a tensor that another node wrote",
    num_rows: |linked| linked.data_dependencies().edges.len(),
    columns: &[
        uint("producer", |linked, row| Some(linked.trace.nodes[dependency(linked, row).producer as usize].id)),
        uint("consumer", |linked, row| Some(linked.trace.nodes[dependency(linked, row).consumer as usize].id)),
        int("index", |linked, row| Some(i64::from(read(linked, row).index))),
        uint("tensor_id", |linked, row| Some(read(linked, row).tensor_id)),
        uint("storage_id", |linked, row| Some(read(linked, row).storage_id)),
        int("bytes", |linked, row| {
            let tensor = read(linked, row);
            tensor.num_elems.checked_mul(tensor.elem_bytes)
        }),
    ],
};

fn dependency(linked: &LinkedTrace, row: usize) -> DataDependency {
    linked.data_dependencies().edges[row]
}

/// The use of a tensor by which the consumer reads.
fn read(linked: &LinkedTrace, row: usize) -> &TensorUse {
    &linked.tensors()[dependency(linked, row).tensor as usize]
}

/// One row a process group, of each file that names it.
pub(super) static PROCESS_GROUPS: Table = Table {
    name: "process_groups",
    doc: "a process group, from either file",
    num_rows: |linked| linked.process_groups().len(),
    columns: &[
        text("source", |linked, row, out| put(out, linked.process_groups()[row].source)),
        text("group_name", |linked, row, out| put_name(out, &linked.process_groups()[row].name)),
        text("group_desc", |linked, row, out| put(out, &linked.process_groups()[row].desc)),
        text("backend", |linked, row, out| put(out, &linked.process_groups()[row].backend)),
        json("ranks", |linked, row, out| put(out, &linked.process_groups()[row].ranks)),
        int("group_size", |linked, row| linked.process_groups()[row].size),
        int("group_count", |linked, row| linked.process_groups()[row].count),
    ],
};
