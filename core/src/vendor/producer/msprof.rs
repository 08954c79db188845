//! Huawei's `trace_view.json` of `torch_npu.profiler`, and `msprof_*.json` of `msprof`.
//!
//! Each layer is a process: `Python` (operators), `CANN` (calls), `Ascend Hardware` (tasks by
//! stream), `HCCL` or `Communication` (collectives and their steps), `Overlap Analysis` (sums that
//! the tool made itself). Only operators have categories. Arrows (`async_npu`, `HostToDevice…`)
//! lead from operators and calls to tasks.

use super::entry::{EventNames, Producer, TrackNames, TrackRole, last_number, number_after};
use crate::event_kind::EventKind;
use crate::vendor::ascend::ASCEND;
use crate::vendor::entry::NamePattern::Anywhere;

/// Starts of the names of databases. A rank follows the first.
pub const DATABASE_NAMES: [&str; 3] = ["ascend_pytorch_profiler_", "ascend_pytorch_profiler", "msprof_"];

pub(super) static MSPROF: Producer = Producer {
    title: "Huawei's profiler for Ascend (torch_npu or msprof)",
    records_pytorch: true,
    vendor: Some(&ASCEND),
    advice: "record the next trace with torch_npu.profiler; level 1 or higher has all tasks of the device",
    // Our reader of databases writes this key.
    header_keys: &["msprof"],
    processes: &[Anywhere(HARDWARE), Anywhere("Overlap Analysis"), Anywhere("AI Core Freq")],
    role,
    communicates: |names, lower| is_communication(names.process) || lower.starts_with("hcom"),
    ..Producer::EMPTY
};

const HARDWARE: &str = "Ascend Hardware";

/// Layers that are no device, beside those that tell the tool.
const LAYERS: [&str; 2] = ["CANN", "HCCL"];

pub(super) fn is_title(name: &str) -> bool {
    let is_row = |start: &str| number_after(name, start).is_some();
    LAYERS.contains(&name) || is_communication(name) || is_row("Stream ") || is_row("Plane ") || is_group(name)
}

/// The process of collectives; the tool's own sums have the same word in the names of threads.
fn is_communication(process: &str) -> bool {
    process.contains("HCCL") || process.contains("Communication")
}

/// A row with whole collectives: `Group 0 Communication`, `Communication OP`.
fn is_group(thread: &str) -> bool {
    let is_word = |word: &str| matches!(word, "Group" | "Communication" | "OP") || word.parse::<u32>().is_ok();
    thread.contains("Communication") && thread.split(' ').all(is_word)
}

fn role(names: &TrackNames<'_>) -> TrackRole {
    let device = last_number(names.labels);
    if names.process.contains(HARDWARE) {
        let stream = number_after(names.thread, "Stream ").or_else(|| names.number.parse().ok());
        return TrackRole::device(device, stream, task);
    }
    if names.process.contains("Overlap Analysis") {
        return TrackRole::HOST;
    }
    if is_communication(names.process) {
        // Steps of a collective are rows beside it: as work they would count twice.
        let kind = if names.thread.contains("Communication") { whole_collective } else { collective };
        return TrackRole::device(device, None, kind);
    }
    TrackRole::host(if names.process.contains("CANN") { call } else { host_event })
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn whole_collective(_: &EventNames<'_>) -> Option<EventKind> {
    Some(EventKind::Kernel)
}

fn collective(names: &EventNames<'_>) -> Option<EventKind> {
    let lower = names.name.to_ascii_lowercase();
    (lower.starts_with("hcom") || lower.starts_with("hccl")).then_some(EventKind::Kernel)
}

/// A task: `AI_CORE`, `AI_VECTOR_CORE`, `AI_CPU`, `EVENT_WAIT`, `NOTIFY_WAIT_SQE`, `SDMA_SQE`,
/// `MEMCPY_ASYNC`, `MODEL_EXECUTE`, `PLACE_HOLDER_SQE` and others.
#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn task(names: &EventNames<'_>) -> Option<EventKind> {
    let task = if names.task.is_empty() { names.name } else { names.task }.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| task.contains(word));
    Some(match () {
        () if task.starts_with("AI_") || task.starts_with("MIX_") => EventKind::Kernel,
        () if has(&["EVENT_", "NOTIFY_", "WAIT_SQE", "RECORD_SQE", "WRITE_VALUE"]) => EventKind::Sync,
        () if has(&["MEMSET"]) => EventKind::Fill,
        () if has(&["MEMCPY", "SDMA", "PCIE_DMA"]) => EventKind::Copy,
        () if task.starts_with("MODEL_") || has(&["PROFILING", "PLACE_HOLDER", "MAINTENANCE"]) => EventKind::Other,
        () => EventKind::Kernel,
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the role of a track takes such functions")]
fn call(_: &EventNames<'_>) -> Option<EventKind> {
    Some(EventKind::Launch)
}

/// An event of the program: an operator by its namespace, a step or range of the user.
fn host_event(names: &EventNames<'_>) -> Option<EventKind> {
    if !names.category.is_empty() {
        return None;
    }
    if names.name.starts_with("ProfilerStep#") || names.name.starts_with("Optimizer.") {
        return Some(EventKind::Annotation);
    }
    let is_operator = names.name.split_once("::").is_some_and(|(space, _)| {
        !space.is_empty() && space.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    (is_operator || names.name.starts_with("autograd::")).then_some(EventKind::Operator)
}
