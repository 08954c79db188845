//! The profile of ONNX Runtime (`onnxruntime_profile_*.json`), of one process and a few threads.
//!
//! Categories: `Session`, `Node` (a kernel on the host, or its launch), `Api` (a call of the
//! device's runtime), `Kernel` (work of the device, under the pid of the host or -1). Copies are
//! kernels with the name of their direction: `MemcpyHostToDevice`.

use super::entry::{EventNames, Producer, TrackNames, TrackRole};
use crate::event_kind::EventKind;

pub(super) static ONNX_RUNTIME: Producer = Producer {
    title: "ONNX Runtime's profiler",
    advice: "`Node` events are operators; times of a node include waits for its inputs",
    categories: &["Session", "Node"],
    split_lists: &[("grid", ["grid_x", "grid_y", "grid_z"]), ("block", ["block_x", "block_y", "block_z"])],
    role,
    ..Producer::EMPTY
};

fn role(names: &TrackNames<'_>) -> TrackRole {
    // The pid of device work is that of the host: no number of a device.
    if !names.is_stream {
        return TrackRole::host(host_event);
    }
    TrackRole { narrower: copy, ..TrackRole::device(None, None, host_event) }
}

fn host_event(names: &EventNames<'_>) -> Option<EventKind> {
    match names.category {
        "Node" => Some(EventKind::Operator),
        "Api" => Some(EventKind::Launch),
        "Session" => Some(EventKind::Annotation),
        _ => None,
    }
}

/// A copy is named after its direction. No function of C++ in a library has such a name.
fn copy(names: &EventNames<'_>) -> Option<EventKind> {
    let direction = names.name.strip_prefix("Memcpy")?;
    direction.starts_with(['H', 'D']).then_some(EventKind::Copy)
}
