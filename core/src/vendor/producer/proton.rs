//! Chrome traces of Triton's profiler Proton (`data="trace"`).
//!
//! Kernels have the category `kernel`, and scopes of the program `scope` or `metric`. Triton 3.6
//! gives them no process; a later one puts all into the process 0, `Trace`, with the threads
//! `CPU Thread 1`, `Graph: Stream 7` and `GPU Stream 7`. All have the path of their scopes as an
//! argument, from the root on.

use super::entry::{EventNames, Producer, TrackNames, TrackRole};
use crate::event_kind::EventKind;

pub(super) static PROTON: Producer = Producer {
    title: "Triton's profiler Proton",
    advice: "times of kernels and scopes are right; such files have no operators and few numbers of devices",
    arguments: &[("call_stack", "[\"ROOT\"")],
    role,
    ..Producer::EMPTY
};

fn role(names: &TrackNames<'_>) -> TrackRole {
    if let Some((device, stream)) = place(names.thread) {
        return TrackRole::device(device, Some(stream), scope);
    }
    // No process of such a file is a device.
    if names.is_stream { TrackRole::device(None, names.number.parse().ok(), scope) } else { TrackRole::host(scope) }
}

/// The device and the stream of `GPU Stream 7`, `GPU 0 Stream 7` and `Graph: Stream 7`.
fn place(thread: &str) -> Option<(Option<i64>, i64)> {
    let (device, stream) = thread.split_once("Stream ")?;
    let device = match device.trim_end() {
        "GPU" | "Graph:" => None,
        device => Some(device.strip_prefix("GPU ")?.parse().ok()?),
    };
    Some((device, stream.parse().ok()?))
}

fn scope(names: &EventNames<'_>) -> Option<EventKind> {
    matches!(names.category, "scope" | "metric").then_some(EventKind::Annotation)
}
