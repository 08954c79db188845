//! The table of events.

use super::column::{Column, Table, float, int, json, put, put_name, text, uint};
use crate::link::{FrameOrigin, LinkedTrace};
use crate::trace::arg_key::ArgKey;

/// One row an event that has a duration.
pub(crate) static EVENTS: Table = Table {
    name: "events",
    doc: "an event that has a duration (`X`, or a pair of `B` and `E`)",
    num_rows: |linked| linked.trace.events.len(),
    columns: COLUMNS,
};

const COLUMNS: &[Column] = &[
    int("id", |linked, row| Some(id(linked, row as u32))),
    text("name", |linked, row, out| put_name(out, linked.trace.event_name(row))),
    text("category", |linked, row, out| put(out, linked.trace.strings.text(linked.trace.events.category.at(row)))),
    text("kind", |linked, row, out| put(out, linked.trace.events.kind[row].name())),
    text("process", |linked, row, out| put(out, linked.trace.strings.text(track(linked, row).process))),
    text("thread", |linked, row, out| put(out, linked.trace.strings.text(track(linked, row).thread))),
    int("device", |linked, row| {
        let stream = track(linked, row).stream?;
        integer(linked, row, ArgKey::Device).or(stream.device)
    }),
    int("stream", |linked, row| {
        let stream = track(linked, row).stream?;
        let own = integer(linked, row, ArgKey::OriginalStream).or_else(|| integer(linked, row, ArgKey::Stream));
        own.or(stream.stream)
    }),
    int("start_ns", |linked, row| Some(linked.trace.events.start.at(row).0)),
    int("dur_ns", |linked, row| Some(linked.trace.events.dur.at(row).0)),
    int("self_ns", |linked, row| Some(linked.self_ns(row))),
    int("device_ns", |linked, row| linked.known_device_ns(row).and_then(|ns| host_only(linked, row, ns))),
    int("depth", |linked, row| Some(i64::from(linked.depths()[row]))),
    int("parent_id", |linked, row| linked.links.nesting.parent.get(row).map(|parent| id(linked, parent))),
    int("iteration", LinkedTrace::iteration_number),
    uint("correlation_id", |linked, row| identifier(linked, row, ArgKey::Correlation)),
    uint("external_id", |linked, row| identifier(linked, row, ArgKey::ExternalId)),
    uint("record_id", |linked, row| identifier(linked, row, ArgKey::RecordId)),
    int("seq_num", |linked, row| integer(linked, row, ArgKey::SeqNum)),
    int("launch_id", |linked, row| linked.links.launch.get(row).map(|launch| id(linked, launch))),
    int("operator_id", |linked, row| linked.links.operator.get(row).map(|operator| id(linked, operator))),
    uint("node_id", |linked, row| linked.links.nodes.find(row).map(|(node, _)| linked.trace.nodes[node as usize].id)),
    int("python_frame_id", |linked, row| linked.frames().frame.get(row).map(|frame| id(linked, frame))),
    text("python_line", |linked, row, out| {
        if let Some(line) = linked.trace.stated_line(row) {
            return put_name(out, &line);
        }
        let line = linked.frames().line.get(row);
        line.is_some_and(|line| put_name(out, linked.trace.event_name(line as usize)))
    }),
    text("python_line_origin", |linked, row, out| {
        let origin = match linked.trace.stated_line(row) {
            Some(line) => FrameOrigin::of(&line),
            None => {
                let line = linked.frames().line.get(row);
                line.and_then(|line| FrameOrigin::of(linked.trace.event_name(line as usize)))
            }
        };
        origin.is_some_and(|origin| put(out, origin.name()))
    }),
    text("module", |linked, row, out| linked.module_name(row).is_some_and(|name| put(out, &name))),
    text("annotation", |linked, row, out| linked.annotation_name(row).is_some_and(|name| put_name(out, &name))),
    json("input_shapes", |linked, row, out| arg_text(linked, row, ArgKey::InputShapes, out)),
    json("input_types", |linked, row, out| arg_text(linked, row, ArgKey::InputTypes, out)),
    json("input_strides", |linked, row, out| arg_text(linked, row, ArgKey::InputStrides, out)),
    json("concrete_inputs", |linked, row, out| arg_text(linked, row, ArgKey::ConcreteInputs, out)),
    int("bytes", |linked, row| integer(linked, row, ArgKey::Bytes)),
    float("bandwidth_gbps", |linked, row| number(linked, row, ArgKey::Bandwidth)),
    json("grid", |linked, row, out| arg_text(linked, row, ArgKey::Grid, out)),
    json("block", |linked, row, out| arg_text(linked, row, ArgKey::Block, out)),
    json("cluster", |linked, row, out| arg_text(linked, row, ArgKey::Cluster, out)),
    int("registers", |linked, row| integer(linked, row, ArgKey::Registers)),
    int("shared_memory_bytes", |linked, row| integer(linked, row, ArgKey::SharedMemory)),
    float("occupancy", |linked, row| number(linked, row, ArgKey::Occupancy)),
    text("collective", |linked, row, out| arg_text(linked, row, ArgKey::Collective, out)),
    text("dtype", |linked, row, out| arg_text(linked, row, ArgKey::Dtype, out)),
    int("in_elems", |linked, row| integer(linked, row, ArgKey::InElems)),
    int("out_elems", |linked, row| integer(linked, row, ArgKey::OutElems)),
    int("group_size", |linked, row| integer(linked, row, ArgKey::GroupSize)),
    text("group_name", |linked, row, out| arg_text(linked, row, ArgKey::GroupName, out)),
    uint("graph_id", |linked, row| linked.trace.graph_id(row)),
    uint("graph_node_id", |linked, row| linked.trace.graph_node_id(row)),
    int("hardware_queue", hardware_queue),
    int("annotated_stream", |linked, row| linked.trace.annotated_stream(row)),
    text("captured_operator", |linked, row, out| {
        linked.captured_operator(row).is_some_and(|name| put_name(out, &name))
    }),
    text("captured_by", |linked, row, out| match linked.captured(row) {
        Some(captured) => put(out, captured.how.name()),
        None => arg_text(linked, row, ArgKey::CapturedBy, out),
    }),
    float("capture_confidence", |linked, row| {
        let own = linked.captured(row).map(|captured| rounded(captured.confidence));
        own.or_else(|| number(linked, row, ArgKey::CaptureConfidence))
    }),
    int("recorded_dur_ns", |linked, row| linked.trace.events.impossible_dur(row).map(|dur| dur.0)),
    json("args", |linked, row, out| {
        let start = out.len();
        linked.trace.args.rest_json(&linked.trace.strings, linked.trace.events.args(row), out);
        out.len() > start
    }),
];

/// The queue of the hardware that ran a device event. A channel of type 0 is not a channel.
fn hardware_queue(linked: &LinkedTrace, row: usize) -> Option<i64> {
    track(linked, row).stream?;
    integer(linked, row, ArgKey::Queue).or_else(|| {
        let channel = integer(linked, row, ArgKey::Channel)?;
        (channel != 0 || integer(linked, row, ArgKey::ChannelType)? > 0).then_some(channel)
    })
}

/// A share as a decimal of two digits.
pub(super) fn rounded(share: f32) -> f64 {
    f64::from((share * 100.0).round()) / 100.0
}

/// The public id of an event.
pub(super) fn id(linked: &LinkedTrace, row: u32) -> i64 {
    i64::from(linked.trace.events.position.at(row as usize))
}

fn track(linked: &LinkedTrace, row: usize) -> &crate::trace::track::Track {
    linked.trace.track(linked.trace.events.track.at(row))
}

fn host_only(linked: &LinkedTrace, row: usize, value: i64) -> Option<i64> {
    (!linked.trace.is_on_device(row)).then_some(value)
}

fn identifier(linked: &LinkedTrace, row: usize, key: ArgKey) -> Option<u64> {
    linked.trace.args.identifier(&linked.trace.strings, linked.trace.events.args(row), key)
}

fn integer(linked: &LinkedTrace, row: usize, key: ArgKey) -> Option<i64> {
    linked.trace.args.integer(&linked.trace.strings, linked.trace.events.args(row), key)
}

fn number(linked: &LinkedTrace, row: usize, key: ArgKey) -> Option<f64> {
    linked.trace.args.float(&linked.trace.strings, linked.trace.events.args(row), key)
}

fn arg_text(linked: &LinkedTrace, row: usize, key: ArgKey, out: &mut String) -> bool {
    linked.trace.args.write_text(&linked.trace.strings, linked.trace.events.args(row), key, out)
}
