//! Calls of operators, each with the time that the roofline counts.

use rustc_hash::FxHashMap;

use super::outcome::{CostOutcome, CostOutcomes};
use crate::analyze::selection::Selection;
use crate::id::StrId;
use crate::sort;
use crate::time::add_ns;
use crate::trace::kind::EventKind;

/// A call and its time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimedCall {
    pub row: u32,
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

impl RooflineWork {
    /// Operators and annotations that own device work, with its durations.
    pub(super) fn of_device(selection: &Selection<'_>) -> Self {
        let (linked, events) = (selection.linked, &selection.linked.trace.events);
        let mut said: FxHashMap<StrId, KernelNameFacts> = FxHashMap::default();
        let mut places: FxHashMap<u32, usize> = FxHashMap::default();
        let mut work = Self::default();
        for row in selection.device_work() {
            let ns = events.dur[row].0;
            let Some(owner) = linked.links.operator.get(row) else {
                work.unlinked.push((row as u32, ns));
                continue;
            };
            let said = *said.entry(events.name[row]).or_insert_with(|| {
                let name = linked.trace.event_name(row);
                KernelNameFacts { is_tf32: is_tf32(name), is_to_host: name.contains("HtoD") || name.contains("DtoH") }
            });
            let place = *places.entry(owner).or_insert(work.calls.len());
            if place == work.calls.len() {
                work.calls.push(TimedCall { row: owner, ..TimedCall::default() });
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
            let mut call = TimedCall { row: row as u32, ns: events.dur[row].0, ..TimedCall::default() };
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
