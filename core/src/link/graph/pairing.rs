//! Pairs the work of replayed graphs with captured calls.

use super::capture::{CapturedCall, GraphCapture, captures};
use super::launch_view::LaunchView;
use super::name_search::find;
use super::replay::{ReplayedGraph, replays};
use super::{ALIKE, CapturedKernel};
use crate::link::link_method::LinkMethod;
use crate::sort;
use crate::trace::kind::EventKind;

/// Calls that captured a graph, in the order of its work.
struct CapturedBy<'a> {
    calls: Vec<Option<&'a CapturedCall>>,
    how: LinkMethod,
    confidence: f32,
}

/// All work of graphs with a known call, by row. Both views may be of one trace: then a capture
/// precedes the launches of its graph.
pub(in crate::link) fn captured(replay: LaunchView<'_>, capture: LaunchView<'_>) -> Vec<CapturedKernel> {
    let graphs = replays(replay);
    if graphs.is_empty() {
        return Vec::new();
    }
    let captures = captures(capture);
    let is_same = std::ptr::eq(replay.trace, capture.trace);
    let mut kernels = Vec::new();
    for graph in &graphs {
        let found = by_names(replay, graph, &captures).or_else(|| {
            by_order(replay, graph, &graphs, &CaptureCandidates { captures: &captures, view: capture, is_same })
        });
        let Some(CapturedBy { calls, how, confidence }) = found else { continue };
        for rows in &graph.launches {
            let pairs = rows.iter().zip(&calls).filter_map(|(kernel, call)| Some((kernel, (*call)?)));
            let pair = |(kernel, call): (&u32, &CapturedCall)| CapturedKernel {
                kernel: *kernel,
                launch: call.row,
                how,
                confidence,
            };
            kernels.extend(pairs.map(pair));
        }
    }
    sort::by_key(&mut kernels, |pair| pair.kernel);
    kernels
}

/// Calls one after another that name the kernels of the graph. Copies and fills have no names.
fn by_names<'a>(view: LaunchView<'_>, graph: &ReplayedGraph, captures: &'a [GraphCapture]) -> Option<CapturedBy<'a>> {
    let is_kernel = |kind: EventKind| kind == EventKind::Kernel;
    let kernels = graph.work.iter().filter(|(kind, _)| is_kernel(*kind));
    let names: Vec<Option<&str>> = kernels.map(|(_, name)| Some(view.trace.strings.text(*name))).collect();
    let of_capture = |capture: &'a GraphCapture| {
        let named = capture.calls.iter().filter(|call| call.kernel.is_some());
        let calls: Vec<&CapturedCall> = named.collect();
        let texts: Vec<Option<&str>> = calls.iter().map(|call| call.kernel.as_deref()).collect();
        let start = find(&texts, &names)?;
        Some(calls[start..start + names.len()].to_vec())
    };
    let mut found = captures.iter().find_map(of_capture)?.into_iter();
    let calls = graph.work.iter().map(|(kind, _)| if is_kernel(*kind) { found.next() } else { None }).collect();
    Some(CapturedBy { calls, how: LinkMethod::KernelName, confidence: LinkMethod::KernelName.confidence() })
}

/// Captures that may be those of a graph.
struct CaptureCandidates<'a, 'b> {
    captures: &'a [GraphCapture],
    view: LaunchView<'b>,
    is_same: bool,
}

impl<'a> CaptureCandidates<'a, '_> {
    /// Those with the same kinds of work. Where a call tells its kernel, by its name or by that of
    /// a Triton kernel's operator, it is the same.
    fn of(&self, replay: LaunchView<'_>, graph: &ReplayedGraph) -> Vec<&'a GraphCapture> {
        let is_it = |capture: &&GraphCapture| {
            let Some(end) = capture.end else { return false };
            let is_before = !self.is_same || end <= graph.first;
            let is_alike = |(call, (kind, name)): (&CapturedCall, &(_, _))| {
                call.work == *kind && self.may_be(call, replay.trace.strings.text(*name))
            };
            is_before && capture.calls.len() == graph.work.len() && capture.calls.iter().zip(&graph.work).all(is_alike)
        };
        self.captures.iter().filter(is_it).collect()
    }

    fn may_be(&self, call: &CapturedCall, kernel: &str) -> bool {
        if let Some(name) = &call.kernel {
            return name == kernel;
        }
        let operator = self.view.operator.get(call.row as usize);
        let name = operator.map_or("", |operator| self.view.trace.event_name(operator as usize));
        !name.starts_with(TRITON) || name.starts_with(kernel) || kernel.starts_with(name)
    }

    /// Whether captures have the same operators at each place.
    fn are_alike(&self, captures: &[&GraphCapture]) -> bool {
        let name = |call: &CapturedCall| {
            self.view.operator.get(call.row as usize).map(|operator| self.view.trace.events.name[operator as usize])
        };
        let is_like = |pair: &[&GraphCapture]| pair[0].calls.iter().map(name).eq(pair[1].calls.iter().map(name));
        captures.windows(2).all(is_like)
    }
}

/// How operators of Triton's kernels begin.
const TRITON: &str = "triton_";

/// A capture with the same kinds of work in the same order. Where several fit, graphs with numbers
/// were captured in the order of these.
fn by_order<'a>(
    replay: LaunchView<'_>,
    graph: &ReplayedGraph,
    graphs: &[ReplayedGraph],
    candidates: &CaptureCandidates<'a, '_>,
) -> Option<CapturedBy<'a>> {
    if !graph.is_in_order {
        return None;
    }
    let how = if graph.has_nodes { LinkMethod::GraphNode } else { LinkMethod::CaptureOrder };
    let found = candidates.of(replay, graph);
    let of = |capture: &'a GraphCapture, confidence| {
        Some(CapturedBy { calls: capture.calls.iter().map(Some).collect(), how, confidence })
    };
    if let [capture] = found[..] {
        return of(capture, how.confidence());
    }
    let kinds = |graph: &ReplayedGraph| graph.work.iter().map(|(kind, _)| *kind).collect::<Vec<_>>();
    let own = kinds(graph);
    let mut ids: Vec<u64> = graphs.iter().filter(|other| kinds(other) == own).filter_map(|other| other.id).collect();
    sort::ascending(&mut ids);
    ids.dedup();
    let place = graph.id.and_then(|id| ids.binary_search(&id).ok()).filter(|_| ids.len() == found.len());
    if let Some(capture) = place.and_then(|place| found.get(place)) {
        return of(capture, how.confidence() * SEVERAL);
    }
    let confidence = if candidates.are_alike(&found) { how.confidence() * ALIKE } else { UNSURE };
    of(found.first()?, confidence)
}

/// How sure a capture is that others could be in the place of.
const SEVERAL: f32 = 0.9;

/// How sure one of several is that differ in their operators.
const UNSURE: f32 = 0.3;
