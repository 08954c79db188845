//! Links kernels of CUDA and HIP graphs with the calls that captured them.
//!
//! The kernels of a graph share one launch, which has no operator of theirs. The capture has the
//! operators and their launches; these have no device work. A capture is in the same file, or in
//! another one.

mod capture;
mod name_search;
mod pairing;
mod replay;

use std::borrow::Cow;
use std::sync::Arc;

pub(super) use pairing::captured;
pub(crate) use replay::ReplayedGraph;

use super::launch::LaunchedEvents;
use super::link_method::LinkMethod;
use super::linked_trace::LinkedTrace;
use super::links::Links;
use super::nesting::Nesting;
use crate::id::OptionalColumn;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// A kernel, copy or fill of a graph with the call that captured it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapturedKernel {
    /// Its row.
    pub kernel: u32,
    /// Row of the call in the trace of the capture.
    pub launch: u32,
    /// How it was found.
    pub how: LinkMethod,
    /// How sure it is, from 0 to 1: less where several captures fit.
    pub confidence: f32,
}

impl CapturedKernel {
    /// The same where captures of other files fit as well.
    pub(crate) fn one_of_several(self) -> Self {
        Self { confidence: self.confidence * ALIKE, ..self }
    }

    /// Whether it is sure enough that the call had these inputs.
    pub fn has_inputs(&self) -> bool {
        self.confidence >= SURE
    }
}

/// How sure a link is that tells inputs.
const SURE: f32 = 0.85;

/// How sure one of several captures is with the same operators, whose inputs may differ.
const ALIKE: f32 = 0.8;

/// Whether the operator of work is that of a capture, in this file or another.
pub(super) fn is_captured(trace: &Trace, links: &Links, row: usize) -> bool {
    links.captured.binary_search_by_key(&(row as u32), |pair| pair.kernel).is_ok()
        || (trace.is_on_device(row) && trace.args.template(trace.events.args(row)).has(ArgKey::CapturedOperator))
}

impl LinkedTrace {
    /// The call of this file that captured the work of a graph.
    pub fn captured(&self, row: usize) -> Option<&CapturedKernel> {
        let at = self.links.captured.binary_search_by_key(&(row as u32), |pair| pair.kernel).ok()?;
        self.links.captured.get(at)
    }

    /// Whether a graph was captured in this file.
    pub(crate) fn has_captures(&self) -> bool {
        !capture::captures(LaunchView::of(self)).is_empty()
    }

    /// The graphs that were launched, in the order of their first launch.
    pub(crate) fn replayed_graphs(&self) -> Vec<ReplayedGraph> {
        replay::replays(LaunchView::of(self))
    }

    /// The name of the operator that captured the work of a graph, in this file or another.
    pub fn captured_operator(&self, row: usize) -> Option<Cow<'_, str>> {
        if self.captured(row).is_some() {
            let operator = self.links.operator.get(row)? as usize;
            let is_operator = self.trace.events.kind[operator] == EventKind::Operator;
            return is_operator.then(|| Cow::Borrowed(self.trace.event_name(operator)));
        }
        self.trace.stated_operator(row).map(Cow::Owned)
    }
}

/// What is read of a trace with its launches.
#[derive(Clone, Copy)]
pub(super) struct LaunchView<'a> {
    pub trace: &'a Trace,
    pub nesting: &'a Nesting,
    pub launched: &'a LaunchedEvents,
    /// The operator of each event.
    pub operator: &'a OptionalColumn,
}

impl<'a> LaunchView<'a> {
    fn of(linked: &'a LinkedTrace) -> Self {
        let links = &linked.links;
        Self { trace: &linked.trace, nesting: &links.nesting, launched: &links.launched, operator: &links.operator }
    }
}

/// The graphs in a trace, with the trace of their capture.
#[derive(Debug, Clone)]
pub struct CapturedGraphs {
    /// Where the graphs ran.
    pub trace: Arc<LinkedTrace>,
    /// Where they were captured.
    pub capture: Arc<LinkedTrace>,
    /// All kernels, copies and fills with a known call, by row.
    pub kernels: Vec<CapturedKernel>,
}

impl CapturedGraphs {
    /// Finds the calls that captured the work of each graph. A graph of which not all are found has
    /// none. In this order:
    ///
    /// 1. Calls of one thread, one after another, that name the same kernels.
    /// 2. Calls of one capture with the same kinds of work, in the order of `graph node id`.
    /// 3. The same in the order of time, where the graph ran on one stream.
    pub fn new(trace: Arc<LinkedTrace>, capture: Arc<LinkedTrace>) -> Self {
        let kernels = captured(LaunchView::of(&trace), LaunchView::of(&capture));
        Self { trace, capture, kernels }
    }
}
