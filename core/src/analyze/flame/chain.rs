//! Finds the frame around each event: the Python frame, module or operator that it is inside of.

use crate::column::OptionalColumn;
use crate::link::{FrameOrigin, LinkedTrace, MODULE_PREFIX};
use crate::strings::TextCache;
use crate::trace::kind::EventKind;

/// The events that are frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlameFrames {
    /// Modules, operators, calls of the runtime, and device work.
    Chain,
    /// Python frames.
    Stack,
    /// Modules.
    Module,
    /// Operators.
    Operator,
}

impl FlameFrames {
    /// The names used in requests.
    pub(super) const NAMES: &'static [&'static str] = &["chain", "stack", "module", "operator"];

    pub(super) fn of(name: &str) -> Self {
        match name {
            "stack" => Self::Stack,
            "module" => Self::Module,
            "operator" => Self::Operator,
            _ => Self::Chain,
        }
    }

    /// The name of the frame for all that is in no other.
    pub(super) fn name_of_none(self) -> &'static str {
        match self {
            Self::Chain => "(no module or operator)",
            Self::Stack => "(no Python frame)",
            Self::Module => "(no module)",
            Self::Operator => "(no operator)",
        }
    }
}

/// The frame around each event, and the events that are frames.
pub(super) struct FrameChains<'a> {
    linked: &'a LinkedTrace,
    pub(super) frames: FlameFrames,
    /// The next event on the way to the outermost frame.
    outer: OptionalColumn,
    is_frame: Vec<bool>,
    /// Whether kernels of graphs may name their module or operator themselves.
    has_marks: bool,
}

/// A frame that no event of the trace stands for.
pub(super) struct UnrecordedFrame {
    pub(super) name: String,
    pub(super) kind: &'static str,
}

impl<'a> FrameChains<'a> {
    /// `is_program_only` leaves out Python frames of installed packages.
    pub(super) fn of(linked: &'a LinkedTrace, frames: FlameFrames, is_program_only: bool) -> Self {
        let outer = match frames {
            FlameFrames::Stack => stack_frames(linked),
            FlameFrames::Module => linked.frames().module.clone(),
            FlameFrames::Operator => callers(linked, &OptionalColumn::empty(linked.trace.events.len())),
            FlameFrames::Chain => callers(linked, &carried_modules(linked)),
        };
        let is_frame = frame_rows(linked, frames, is_program_only);
        Self { linked, frames, outer, is_frame, has_marks: linked.trace.has_marks() }
    }

    /// The next event on the way to the outermost frame.
    pub(super) fn outer(&self, row: usize) -> Option<u32> {
        if self.is_stated(row) { None } else { self.outer.get(row) }
    }

    /// Whether an event is a frame.
    pub(super) fn is_frame(&self, row: usize) -> bool {
        self.is_frame[row]
    }

    /// The kind of an event that is a frame.
    pub(super) fn kind(&self, row: usize) -> &'static str {
        let (kind, name) = (self.linked.trace.events.kind[row], self.linked.trace.event_name(row));
        if kind == EventKind::Python && name.starts_with(MODULE_PREFIX) { "module" } else { kind.name() }
    }

    /// Frames between the next outer event and an event, the outermost first.
    pub(super) fn unrecorded(&self, row: usize) -> Vec<UnrecordedFrame> {
        if self.frames == FlameFrames::Stack {
            let is_backward = self.outer.get(row).is_some() && self.linked.frames().frame.get(row).is_none();
            let backward = is_backward.then(|| UnrecordedFrame { name: String::from(BACKWARD), kind: "backward" });
            return backward.into_iter().collect();
        }
        if !self.is_stated(row) {
            return Vec::new();
        }
        let (mut found, trace) = (Vec::new(), &self.linked.trace);
        if self.frames != FlameFrames::Operator {
            let path = trace.stated_module(row).unwrap_or_default();
            let parts = path.split('.').take(MAX_PATH).filter(|part| !part.is_empty());
            found.extend(parts.map(|part| UnrecordedFrame { name: part.to_owned(), kind: "module" }));
        }
        if self.frames != FlameFrames::Module {
            let operator = self.linked.captured_operator(row);
            found.extend(operator.map(|name| UnrecordedFrame { name: name.into_owned(), kind: "operator" }));
        }
        found
    }

    /// Whether a kernel of a graph names its module or operator itself.
    fn is_stated(&self, row: usize) -> bool {
        let trace = &self.linked.trace;
        let says_module = || self.frames != FlameFrames::Operator && trace.stated_module(row).is_some();
        let says_operator = || self.frames != FlameFrames::Module && trace.stated_operator(row).is_some();
        let is_of_graph = self.has_marks && self.frames != FlameFrames::Stack && trace.is_on_device(row);
        is_of_graph && (says_module() || says_operator())
    }
}

/// The frame of work of the backward pass inside the Python frame of its forward operator.
const BACKWARD: &str = "(backward)";

/// Parts of a path of modules that are looked at.
const MAX_PATH: usize = 64;

/// The Python frame around each event; of the backward pass, around the forward operator.
fn stack_frames(linked: &LinkedTrace) -> OptionalColumn {
    let (frames, mut found) = (linked.frames(), linked.frames().frame.clone());
    for row in 0..linked.trace.events.len() {
        if let Some(frame) = frames.forward_frame.get(row).filter(|_| frames.frame.get(row).is_none()) {
            found.set(row, frame);
        }
    }
    found
}

/// The event around each host event, or its module if `modules` has one; of device work, the host
/// event that it is for.
fn callers(linked: &LinkedTrace, modules: &OptionalColumn) -> OptionalColumn {
    let (trace, links) = (&linked.trace, &linked.links);
    let mut found = OptionalColumn::empty(trace.events.len());
    for row in 0..trace.events.len() {
        let outer = if trace.is_on_device(row) {
            let captured = || linked.captured(row).map(|pair| pair.launch);
            links.operator.get(row).or_else(captured).or_else(|| links.launch.get(row))
        } else {
            modules.get(row).or_else(|| links.nesting.parent.get(row))
        };
        if let Some(outer) = outer {
            found.set(row, outer);
        }
    }
    found
}

/// The module of the forward operator, of the outermost event of each backward operator.
fn carried_modules(linked: &LinkedTrace) -> OptionalColumn {
    let (nesting, module) = (&linked.links.nesting, &linked.frames().module);
    let is_module = frame_rows(linked, FlameFrames::Module, false);
    let nested = nesting.innermost(|row| is_module[row]);
    let mut found = OptionalColumn::empty(is_module.len());
    for row in 0..is_module.len() {
        let around = nesting.parent.get(row).and_then(|parent| module.get(parent as usize));
        let carried = module.get(row).filter(|own| Some(*own) != nested.get(row) && Some(*own) != around);
        if let Some(carried) = carried {
            found.set(row, carried);
        }
    }
    found
}

/// Whether each event is a frame.
fn frame_rows(linked: &LinkedTrace, frames: FlameFrames, is_program_only: bool) -> Vec<bool> {
    let trace = &linked.trace;
    let mut is_module = TextCache::new(&trace.strings, |name| name.starts_with(MODULE_PREFIX));
    let mut is_program = TextCache::new(&trace.strings, |name| FrameOrigin::of(name) == Some(FrameOrigin::Program));
    let mut is_frame = |row: usize| {
        let (kind, name) = (trace.events.kind[row], trace.events.name.at(row));
        let is_of_module = |is_module: &mut TextCache<'_, bool>| kind == EventKind::Python && is_module.of(name);
        match frames {
            FlameFrames::Stack => kind == EventKind::Python && (!is_program_only || is_program.of(name)),
            FlameFrames::Module => is_of_module(&mut is_module),
            FlameFrames::Operator => kind == EventKind::Operator && !trace.is_on_device(row),
            FlameFrames::Chain => {
                matches!(kind, EventKind::Operator | EventKind::Launch)
                    || kind.is_device_work()
                    || is_of_module(&mut is_module)
            }
        }
    };
    (0..trace.events.len()).map(&mut is_frame).collect()
}
