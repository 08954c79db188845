//! Finds the Python frame, module and annotation around each event.

use rustc_hash::FxHashMap;

use super::forward_backward::ForwardBackward;
use super::frame_origin::FrameOrigin;
use super::links::Links;
use crate::column::OptionalColumn;
use crate::id::{StrId, TrackId};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// How the profiler names the call of a module (`with_stack=True`, or `with_modules=True`).
pub const MODULE_PREFIX: &str = "nn.Module: ";

/// Rows of events that others are for; a row an event.
#[derive(Debug, Clone, Default)]
pub struct EnclosingEvents {
    /// The innermost Python frame (`python_function`) around an event, or around its launch.
    pub frame: OptionalColumn,
    /// Of operators of the backward pass, their children and their device work, the innermost
    /// Python frame around the forward operator.
    pub forward_frame: OptionalColumn,
    /// The line of Python around an event, or around its launch: of the frames with a line, the
    /// innermost of the program; else of a package, else of a framework. A frame has itself where
    /// it is such a line. Backward operators without frames have the line of their forward
    /// operator.
    pub line: OptionalColumn,
    /// The innermost module call around it, likewise. Backward operators and their children belong
    /// to the module of their forward operator.
    pub module: OptionalColumn,
    /// The innermost annotation around it, or around its launch; of a device event without one, the
    /// annotation around it on its stream (`gpu_user_annotation`).
    pub annotation: OptionalColumn,
    /// Of operators of the backward pass, their children and their device work, the innermost
    /// annotation around the forward operator.
    pub forward_annotation: OptionalColumn,
}

/// Finds the events around all others; `pairs` are the forward operators with their backward
/// operators.
pub(super) fn find_frames(trace: &Trace, links: &Links, pairs: &[ForwardBackward]) -> EnclosingEvents {
    let kind = |row: usize| trace.events.kind[row];
    let is_module = |row: usize| kind(row) == EventKind::Python && trace.event_name(row).starts_with(MODULE_PREFIX);
    let frame = links.nesting.innermost(|row| kind(row) == EventKind::Python);
    let mut frames = EnclosingEvents {
        line: lines(trace, links, &frame),
        frame,
        module: links.nesting.innermost(is_module),
        annotation: links.nesting.annotations(trace),
        forward_annotation: OptionalColumn::default(),
        forward_frame: OptionalColumn::default(),
    };
    carry_back(trace, links, pairs, &mut frames.module, |_| true);
    frames.forward_annotation = carried_back(trace, links, pairs, &frames.annotation);
    frames.forward_frame = carried_back(trace, links, pairs, &frames.frame);
    let own = frames.line.clone();
    carry_back(trace, links, pairs, &mut frames.line, |row| own.get(row).is_none());
    let is_on_device = |(_, track): &(usize, TrackId)| trace.track(*track).stream.is_some();
    let devices: Vec<usize> = trace.events.track.iter().enumerate().filter(is_on_device).map(|(row, _)| row).collect();
    for column in [&mut frames.forward_annotation, &mut frames.forward_frame] {
        carry_to_device(links, &devices, column, true);
    }
    // An annotation is around the launch of a graph: it tells when the work ran, not its origin.
    carry_to_device(links, &devices, &mut frames.annotation, false);
    for column in [&mut frames.frame, &mut frames.line, &mut frames.module] {
        carry_to_device(links, &devices, column, true);
    }
    frames
}

/// The line of each host event; see [`EnclosingEvents::line`].
fn lines(trace: &Trace, links: &Links, frame: &OptionalColumn) -> OptionalColumn {
    let mut line = OptionalColumn::empty(trace.events.len());
    let mut known: FxHashMap<StrId, Option<FrameOrigin>> = FxHashMap::default();
    let mut origin =
        |row: usize| *known.entry(trace.events.name.at(row)).or_insert_with(|| FrameOrigin::of(trace.event_name(row)));
    // Parents come before their children in this order.
    for row in links.nesting.order.iter().map(|row| *row as usize) {
        let outer = frame.get(row).and_then(|frame| line.get(frame as usize));
        let own = if trace.events.kind[row] == EventKind::Python { origin(row) } else { None };
        let is_own = own.is_some() && own >= outer.and_then(|outer| origin(outer as usize));
        if let Some(value) = if is_own { Some(row as u32) } else { outer } {
            line.set(row, value);
        }
    }
    line
}

/// Device events take the values of the call that captured them, of their launch, or else of the
/// operator that owns them.
fn carry_to_device(links: &Links, devices: &[usize], column: &mut OptionalColumn, is_of_capture: bool) {
    for row in devices.iter().copied() {
        let captured = links.captured_by(row).filter(|_| is_of_capture).map(|pair| pair.launch);
        let mut hosts = [captured, links.launch.get(row), links.operator.get(row)].into_iter().flatten();
        if let Some(value) = hosts.find_map(|host| column.get(host as usize)) {
            column.set(row, value);
        }
    }
}

/// Values of backward operators, of the engine's operators around them, and of all inside, if they
/// may change.
fn carry_back(
    trace: &Trace,
    links: &Links,
    pairs: &[ForwardBackward],
    column: &mut OptionalColumn,
    may_change: impl Fn(usize) -> bool,
) {
    if pairs.is_empty() {
        return;
    }
    let carried = carried_back(trace, links, pairs, column);
    for row in 0..trace.events.len() {
        if let Some(value) = carried.get(row).filter(|_| may_change(row)) {
            column.set(row, value);
        }
    }
}

/// The values of forward operators for their backward operators, the engine's operators around
/// those, and all inside.
fn carried_back(trace: &Trace, links: &Links, pairs: &[ForwardBackward], column: &OptionalColumn) -> OptionalColumn {
    let number = |row: u32| trace.args.integer(&trace.strings, trace.events.args(row as usize), ArgKey::SeqNum);
    let mut carried = OptionalColumn::empty(trace.events.len());
    for ForwardBackward { forward, backward, .. } in pairs {
        let Some(value) = column.get(*forward as usize) else { continue };
        carried.set(*backward as usize, value);
        let engine = links.nesting.parent.get(*backward as usize);
        if let Some(engine) = engine.filter(|engine| number(*engine).is_some() && number(*engine) == number(*backward))
        {
            carried.set(engine as usize, value);
        }
    }
    if pairs.is_empty() {
        return carried;
    }
    // Parents come before their children in this order.
    for row in links.nesting.order.iter().map(|row| *row as usize) {
        let inherited = || links.nesting.parent.get(row).and_then(|parent| carried.get(parent as usize));
        if let Some(value) = carried.get(row).or_else(inherited) {
            carried.set(row, value);
        }
    }
    carried
}
