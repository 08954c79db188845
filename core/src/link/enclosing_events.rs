//! Finds the Python frame, module and annotation around each event.

use super::forward_backward::ForwardBackward;
use super::links::Links;
use crate::id::OptionalColumn;
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
    /// The innermost module call around it, likewise. Backward operators and their children belong
    /// to the module of their forward operator.
    pub module: OptionalColumn,
    /// The innermost annotation around it, or around its launch; of a device event without one, the
    /// annotation around it on its stream (`gpu_user_annotation`).
    pub annotation: OptionalColumn,
}

/// Finds the events around all others; `pairs` are the forward operators with their backward
/// operators.
pub(super) fn find_frames(trace: &Trace, links: &Links, pairs: &[ForwardBackward]) -> EnclosingEvents {
    let kind = |row: usize| trace.events.kind[row];
    let is_module = |row: usize| kind(row) == EventKind::Python && trace.event_name(row).starts_with(MODULE_PREFIX);
    let mut frames = EnclosingEvents {
        frame: links.nesting.innermost(|row| kind(row) == EventKind::Python),
        module: links.nesting.innermost(is_module),
        annotation: links.nesting.annotations(trace),
    };
    carry_back(trace, links, pairs, &mut frames.module);
    for column in [&mut frames.frame, &mut frames.module, &mut frames.annotation] {
        carry_to_device(trace, links, column);
    }
    frames
}

/// Device events take the values of their launch, or else of the operator that owns them.
fn carry_to_device(trace: &Trace, links: &Links, column: &mut OptionalColumn) {
    for row in (0..trace.events.len()).filter(|row| trace.is_on_device(*row)) {
        let mut hosts = [links.launch.get(row), links.operator.get(row)].into_iter().flatten();
        if let Some(value) = hosts.find_map(|host| column.get(host as usize)) {
            column.set(row, value);
        }
    }
}

/// Modules of backward operators, of the engine's operators around them, and of all inside.
fn carry_back(trace: &Trace, links: &Links, pairs: &[ForwardBackward], module: &mut OptionalColumn) {
    let number = |row: u32| trace.args.integer(&trace.strings, trace.events.args(row as usize), ArgKey::SeqNum);
    let mut carried = OptionalColumn::empty(trace.events.len());
    for ForwardBackward { forward, backward, .. } in pairs {
        let Some(value) = module.get(*forward as usize) else { continue };
        carried.set(*backward as usize, value);
        let engine = links.nesting.parent.get(*backward as usize);
        if let Some(engine) = engine.filter(|engine| number(*engine).is_some() && number(*engine) == number(*backward))
        {
            carried.set(engine as usize, value);
        }
    }
    if pairs.is_empty() {
        return;
    }
    // Parents come before their children in this order.
    for row in links.nesting.order.iter().map(|row| *row as usize) {
        let inherited = || links.nesting.parent.get(row).and_then(|parent| carried.get(parent as usize));
        if let Some(value) = carried.get(row).or_else(inherited) {
            carried.set(row, value);
            module.set(row, value);
        }
    }
}
