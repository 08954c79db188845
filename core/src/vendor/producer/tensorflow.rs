//! Timelines of TensorFlow 1 (`tf.python.client.timeline`).
//!
//! Processes: `/job:localhost/replica:0/task:0/device:GPU:0 Compute` (operators, as the host starts
//! them), `/device:GPU:0/stream:all Compute` (work), `/device:GPU:0/stream:7 Compute` (the same
//! work again), `… Tensors`.

use super::entry::{EventNames, Producer, TrackNames, TrackRole, number_after};
use crate::event_kind::EventKind;
use crate::vendor::entry::NamePattern::{Anywhere, Start};

pub(super) static TENSORFLOW: Producer = Producer {
    title: "TensorFlow's timeline",
    advice: "operators and device work are right; such files have no links between them",
    processes: &[Start("/job:"), Start("/gpu:"), Start("/cpu:"), Anywhere("/stream:")],
    role,
    ..Producer::EMPTY
};

fn role(names: &TrackNames<'_>) -> TrackRole {
    let lower = names.process.to_ascii_lowercase();
    if lower.ends_with(" tensors") {
        return TrackRole::HOST;
    }
    let Some((_, device)) = lower.split_once("gpu:").filter(|(_, device)| device.contains("stream:")) else {
        return TrackRole::host(operator);
    };
    let kind = if device.contains("stream:all") { work } else { line };
    TrackRole::device(number_after(device, ""), None, kind)
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn line(_: &EventNames<'_>) -> Option<EventKind> {
    Some(EventKind::Annotation)
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn work(names: &EventNames<'_>) -> Option<EventKind> {
    let is_copy = names.name.to_ascii_lowercase().starts_with("memcpy");
    Some(if is_copy { EventKind::Copy } else { EventKind::Kernel })
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn operator(_: &EventNames<'_>) -> Option<EventKind> {
    Some(EventKind::Operator)
}
