//! Timelines of TensorFlow 1 (`tf.python.client.timeline`).
//!
//! Processes, each with ` Compute` or ` Tensors` behind its name:
//!
//! - `/job:localhost/replica:0/task:0/device:GPU:0`: operators, as the host starts them
//! - `/device:GPU:0/stream:14`: kernels of a stream
//! - `/device:GPU:0/stream:15<MemcpyH2D>`: copies of a stream
//! - `/device:GPU:0/stream:all`: the kernels of all streams, again
//! - `/device:GPU:0/memcpy`: the copies of all streams, again
//! - `/device:GPU:0/stream:`: other records, among them fills
//! - `/device:GPU:0/sync`: waits of the host

use super::entry::{EventNames, Producer, TrackNames, TrackRole, number_after};
use crate::event_kind::EventKind;
use crate::vendor::entry::NamePattern::{Anywhere, Start};

pub(super) static TENSORFLOW: Producer = Producer {
    title: "TensorFlow's timeline",
    advice: "operators and device work are right; such files have no links between them",
    processes: &[
        Start("/job:"),
        Start("/gpu:"),
        Start("/cpu:"),
        Start("/host:CPU Compute"),
        Anywhere("/stream:"),
        Anywhere("/memcpy"),
    ],
    role,
    ..Producer::EMPTY
};

fn role(names: &TrackNames<'_>) -> TrackRole {
    let lower = names.process.to_ascii_lowercase();
    if lower.ends_with(" tensors") {
        return TrackRole::HOST;
    }
    let Some((device, rows)) = lower.split_once("gpu:").and_then(|(_, place)| place.split_once('/')) else {
        return TrackRole::host(operator);
    };
    let device = number_after(device, "");
    let Some(stream) = rows.strip_prefix("stream:") else {
        return match rows.split(' ').next() {
            Some("memcpy") => TrackRole { repeats: 1, ..TrackRole::device(device, None, copy) },
            Some("sync") => TrackRole::host(call),
            _ => TrackRole::host(operator),
        };
    };
    if stream.starts_with("all") {
        return TrackRole { repeats: 2, ..TrackRole::device(device, None, work) };
    }
    let number = number_after(stream, "");
    let kind = match stream.split_once('<') {
        Some((_, sort)) if sort.starts_with("memcpy") => copy,
        // Allocations, and what later versions may add.
        Some(_) => record,
        None if number.is_none() => record,
        None => work,
    };
    TrackRole::device(device, number, kind)
}

fn work(names: &EventNames<'_>) -> Option<EventKind> {
    copy_or_fill(names.name).or(Some(EventKind::Kernel))
}

/// A record that is work only if its name says so.
fn record(names: &EventNames<'_>) -> Option<EventKind> {
    copy_or_fill(names.name).or(Some(EventKind::Annotation))
}

fn copy_or_fill(name: &str) -> Option<EventKind> {
    let lower = name.to_ascii_lowercase();
    match () {
        () if lower.starts_with("memcpy") => Some(EventKind::Copy),
        () if lower.starts_with("memset") => Some(EventKind::Fill),
        () => None,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn copy(_: &EventNames<'_>) -> Option<EventKind> {
    Some(EventKind::Copy)
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn call(_: &EventNames<'_>) -> Option<EventKind> {
    Some(EventKind::Launch)
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn operator(_: &EventNames<'_>) -> Option<EventKind> {
    Some(EventKind::Operator)
}
