//! The profile of ONNX Runtime (`onnxruntime_profile_*.json`), of one process and a few threads.
//!
//! Categories: `Session`, `Node` (a kernel on the host, or its launch), `Api` (a call of the
//! device's runtime), `Kernel` (work of the device, under the pid of the host).

use super::entry::{EventNames, Producer, TrackNames, TrackRole};
use crate::event_kind::EventKind;

pub(super) static ONNX_RUNTIME: Producer = Producer {
    title: "ONNX Runtime's profiler",
    advice: "`Node` events are operators; times of a node include waits for its inputs",
    categories: &["Session", "Node"],
    role,
    ..Producer::EMPTY
};

fn role(names: &TrackNames<'_>) -> TrackRole {
    // The pid of device work is that of the host: no number of a device.
    if names.is_stream { TrackRole::device(None, None, host_event) } else { TrackRole::host(host_event) }
}

fn host_event(names: &EventNames<'_>) -> Option<EventKind> {
    match names.category {
        "Node" => Some(EventKind::Operator),
        "Api" => Some(EventKind::Launch),
        "Session" => Some(EventKind::Annotation),
        _ => None,
    }
}
