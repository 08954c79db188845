//! Calls of operators, each with the time that the roofline counts.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::outcome::{CostOutcome, CostOutcomes};
use crate::analyze::selection::Selection;
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::sort;
use crate::time::add_ns;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::args::plain_text;
use crate::trace::kind::EventKind;

/// The name of an operator: that of an event, or one that the work of a graph states as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum OperatorName {
    #[default]
    None,
    OfEvent(StrId),
    Stated(StrId),
}

impl OperatorName {
    pub(super) fn text(self, trace: &Trace) -> Cow<'_, str> {
        match self {
            Self::None => Cow::Borrowed(""),
            Self::OfEvent(name) => Cow::Borrowed(trace.strings.text(name)),
            Self::Stated(json) => Cow::Owned(plain_text(trace.strings.text(json))),
        }
    }
}

/// A call and its time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimedCall {
    /// Row of the event that has its inputs.
    pub row: u32,
    pub name: OperatorName,
    /// Row of an event in its iteration.
    pub at: u32,
    pub ns: i64,
    /// Whether one of its kernels rounds float32 to tf32.
    pub is_tf32: bool,
    /// Whether it copies from or to the host, so that device memory is not the limit.
    pub is_to_host: bool,
}

/// All counted calls in file order, and unlinked work.
#[derive(Debug, Default)]
pub(super) struct RooflineWork {
    pub calls: Vec<TimedCall>,
    /// Device work that belongs to no operator, with its duration.
    pub unlinked: Vec<(u32, i64)>,
}

/// Facts in the name of a kernel or copy.
#[derive(Debug, Clone, Copy)]
struct KernelNameFacts {
    is_tf32: bool,
    is_to_host: bool,
}

/// The call that work counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum WorkCall {
    /// An operator or annotation.
    Owner(u32),
    /// A generated kernel itself, of which only the source is known.
    Kernel(u32),
    /// An operator that captured a graph, for one replay of it.
    Captured { operator: u32, launch: Option<u32> },
    /// The same by the number of an operator of another file.
    Stated { operator: u64, launch: Option<u32> },
}

impl WorkCall {
    fn of(linked: &LinkedTrace, row: usize, outcomes: &CostOutcomes) -> Option<Self> {
        let (trace, launch) = (&linked.trace, linked.links.launch.get(row));
        if let Some(operator) = stated_id(linked, row) {
            return Some(Self::Stated { operator, launch });
        }
        let operator = linked.links.operator.get(row);
        let is_of_own =
            operator.is_some_and(|operator| trace.events.name.at(operator as usize) == trace.events.name.at(row));
        if !is_of_own && linked.captured(row).is_none() && outcomes.has_source(trace.event_name(row)) {
            return Some(Self::Kernel(row as u32));
        }
        let operator = operator?;
        let is_operator = trace.events.kind[operator as usize] == EventKind::Operator;
        Some(match linked.captured(row) {
            // Other inputs may have been captured: without a call, there is no cost.
            Some(captured) if is_operator && captured.has_inputs() => Self::Captured { operator, launch },
            Some(_) => Self::Stated { operator: u64::from(operator), launch },
            None => Self::Owner(operator),
        })
    }

    /// The call, with its first work.
    fn timed(self, linked: &LinkedTrace, work: u32) -> TimedCall {
        let (trace, names) = (&linked.trace, &linked.trace.events.name);
        let (row, at, name) = match self {
            Self::Owner(row) | Self::Kernel(row) => (row, row, OperatorName::OfEvent(names.at(row as usize))),
            Self::Captured { operator, .. } => (operator, work, OperatorName::OfEvent(names.at(operator as usize))),
            Self::Stated { .. } => {
                let stated = trace.args.json_id(trace.events.args(work as usize), ArgKey::CapturedOperator);
                let owner = || linked.links.operator.get(work as usize).map(|row| names.at(row as usize));
                let name = stated.map(OperatorName::Stated).or_else(|| owner().map(OperatorName::OfEvent));
                (work, work, name.unwrap_or_default())
            }
        };
        TimedCall { row, name, at, ..TimedCall::default() }
    }
}

fn stated_id(linked: &LinkedTrace, row: usize) -> Option<u64> {
    let trace = &linked.trace;
    trace.args.identifier(&trace.strings, trace.events.args(row), ArgKey::CapturedOperatorId)
}

impl RooflineWork {
    /// Operators and annotations that own device work, with its durations.
    pub(super) fn of_device(selection: &Selection<'_>, outcomes: &CostOutcomes) -> Self {
        let (linked, events) = (selection.linked, &selection.linked.trace.events);
        let mut said: FxHashMap<StrId, KernelNameFacts> = FxHashMap::default();
        let mut places: FxHashMap<WorkCall, usize> = FxHashMap::default();
        let mut work = Self::default();
        for row in selection.device_work() {
            let ns = events.dur.at(row).0;
            let Some(key) = WorkCall::of(linked, row, outcomes) else {
                work.unlinked.push((row as u32, ns));
                continue;
            };
            let said = *said.entry(events.name.at(row)).or_insert_with(|| {
                let name = linked.trace.event_name(row);
                KernelNameFacts { is_tf32: is_tf32(name), is_to_host: name.contains("HtoD") || name.contains("DtoH") }
            });
            let place = *places.entry(key).or_insert(work.calls.len());
            if place == work.calls.len() {
                work.calls.push(key.timed(linked, row as u32));
            }
            let call = &mut work.calls[place];
            add_ns(&mut call.ns, ns);
            call.is_tf32 |= said.is_tf32;
            call.is_to_host |= said.is_to_host;
        }
        sort::by_key(&mut work.calls, |call| call.row);
        work
    }

    /// Operators on the host: of those with a model the outermost, with all their time; of the
    /// others their own.
    pub(super) fn of_host(selection: &Selection<'_>, outcomes: &mut CostOutcomes) -> Self {
        let (linked, nesting) = (selection.linked, &selection.linked.links.nesting);
        let (events, children_ns) = (&linked.trace.events, linked.children_ns());
        let is_operator = |row: usize| events.kind[row] == EventKind::Operator && !linked.trace.is_on_device(row);
        let mut is_covered = vec![false; events.len()];
        let mut calls = Vec::new();
        for row in nesting.order.iter().map(|row| *row as usize) {
            let parent = nesting.parent.get(row);
            is_covered[row] = parent.is_some_and(|parent| is_covered[parent as usize]);
            if is_covered[row] || !is_operator(row) || !selection.contains(row) {
                continue;
            }
            let (name, at) = (OperatorName::OfEvent(events.name.at(row)), row as u32);
            let mut call = TimedCall { row: at, name, at, ns: events.dur.at(row).0, ..TimedCall::default() };
            is_covered[row] = matches!(outcomes.of(linked, &call), CostOutcome::Modelled(..));
            if !is_covered[row] {
                call.ns = call.ns.saturating_sub(children_ns[row]).max(0);
            }
            calls.push(call);
        }
        sort::by_key(&mut calls, |call| call.row);
        Self { calls, ..Self::default() }
    }
}

/// The name of the device that the first work ran on.
pub(super) fn device_name(selection: &Selection<'_>) -> Option<String> {
    let trace = &selection.linked.trace;
    let mut names = trace.device_names();
    let number = selection.device_work().next().and_then(|row| trace.device(row)).unwrap_or(0);
    let at = usize::try_from(number).ok().filter(|at| *at < names.len()).unwrap_or(0);
    (at < names.len()).then(|| names.swap_remove(at))
}

/// Whether a kernel computes float32 with units for matrices that round it to tf32.
pub(super) fn is_tf32(kernel: &str) -> bool {
    ["tf32", "xf32", "tensorop_s1688gemm", "tensorop_s1688fprop"].iter().any(|part| kernel.contains(part))
}
