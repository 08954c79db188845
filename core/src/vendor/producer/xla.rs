//! XLA's profiler (`XProf`), which JAX, TensorFlow and `PyTorch/XLA` use.
//!
//! A device is a process: `/device:GPU:0`, `/device:TPU:0`. Its threads are streams
//! (`Stream #20(Compute)`), or lines that the tool derives from them (`XLA Ops`, `XLA Modules`,
//! `Steps`). A TPU has only such lines; there, `XLA Ops` is the work. Its sparse cores have
//! processes of their own, `/device:TPU:0 SparseCore 1`, with `Sparse Core Ops`.

use super::entry::{EventNames, Producer, TrackNames, TrackRole, last_number, number_after};
use crate::event_kind::EventKind;
use crate::vendor::entry::NamePattern::Start;
use crate::vendor::{cuda::CUDA, rocm::ROCM};

pub(super) static XLA: Producer = Producer {
    title: "XLA's profiler (JAX, TensorFlow or PyTorch/XLA)",
    advice: "times of rows and work are right; XProf shows the graphs of XLA",
    // Our reader of profiles in protobuf writes this key.
    header_keys: &["xspace"],
    processes: &[Start("/device:"), Start("/host:")],
    role,
    communicates: |_, lower| COLLECTIVES.iter().any(|word| lower.contains(word)),
    ..Producer::EMPTY
};

/// Operations of XLA that exchange data: `all-reduce.1`, `all-gather-start`.
const COLLECTIVES: [&str; 6] =
    ["all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute", "collective-broadcast"];

/// Lines of a device that repeat its work under other names.
const LINES: [&str; 18] = [
    "XLA Modules",
    "XLA Ops",
    "Async XLA Ops",
    "XLA TraceMe",
    "Steps",
    "Framework Ops",
    "Framework Name Scope",
    "TensorFlow Ops",
    "TensorFlow Name Scope",
    "Source code",
    "Sparse Core Modules",
    "Sparse Core Ops",
    "Sparse Core Steps",
    // Statistics of launches, operations of the host, and waits of the cores for each other.
    "Launch Stats",
    "Host Offload Ops",
    "Tensor Core Sync Flag",
    "Sparse Core Syncs",
    "_counters_",
];

/// Lines that are the work of a device without streams.
const WORK: [&str; 2] = ["XLA Ops", "Sparse Core Ops"];

pub(super) fn is_title(name: &str) -> bool {
    LINES.contains(&name) || number_after(name, "Stream #").is_some()
}

fn role(names: &TrackNames<'_>) -> TrackRole {
    if !is_accelerator(names.process) {
        return TrackRole::host(host_event);
    }
    // `/device:GPU:0`, `/device:TPU:0 (pid 3)`.
    let device = last_number(names.process.split(' ').next().unwrap_or_default());
    if let Some(stream) = number_after(names.thread, "Stream #") {
        return TrackRole::device(device, Some(stream), work);
    }
    if WORK.contains(&names.thread) && !names.has_streams {
        return TrackRole { nests: true, ..TrackRole::device(device, None, operation) };
    }
    let is_line = LINES.contains(&names.thread) || names.has_streams;
    TrackRole::device(device, None, if is_line { line } else { work })
}

/// `/device:CPU:0` is the host itself.
fn is_accelerator(process: &str) -> bool {
    process.starts_with("/device:")
        && !process.starts_with("/device:CPU")
        && !process.starts_with("/device:CUSTOM:Task")
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn work(names: &EventNames<'_>) -> Option<EventKind> {
    let lower = names.name.to_ascii_lowercase();
    Some(match () {
        () if lower.starts_with("memcpy") => EventKind::Copy,
        () if lower.starts_with("memset") => EventKind::Fill,
        () => EventKind::Kernel,
    })
}

/// An operation: `fusion.3`, `copy-start.1`, `all-reduce-done`.
#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn operation(names: &EventNames<'_>) -> Option<EventKind> {
    let word = names.name.trim_start_matches('%').split(['.', ' ', '=']).next().unwrap_or_default();
    let is_copy = matches!(word, "copy" | "copy-start" | "copy-done" | "infeed" | "outfeed");
    Some(if is_copy { EventKind::Copy } else { EventKind::Kernel })
}

/// A line repeats work, so it only names it.
#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn line(_: &EventNames<'_>) -> Option<EventKind> {
    Some(EventKind::Annotation)
}

/// An event of the host: a Python frame (`$file.py:12 f`), a call of the driver, or a compiled
/// function.
fn host_event(names: &EventNames<'_>) -> Option<EventKind> {
    match names.name {
        name if name.starts_with('$') => Some(EventKind::Python),
        name if CUDA.has_call(name) || ROCM.has_call(name) => Some(EventKind::Launch),
        name if name.starts_with("PjitFunction(") => Some(EventKind::Operator),
        _ => None,
    }
}
