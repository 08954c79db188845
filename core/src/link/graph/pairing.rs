//! Pairs the work of replayed graphs with captured calls.

use rustc_hash::FxHashMap;

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
    let mut named = KernelNameCalls::of(&captures);
    let candidates = CaptureCandidates::of(&captures, &graphs, replay, capture);
    let mut kernels = Vec::new();
    for graph in &graphs {
        let found = named.captured(replay, graph).or_else(|| candidates.captured(graph));
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

/// Calls of each capture or thread that name their kernels.
struct KernelNameCalls<'a> {
    /// The calls, each with the number of its kernel's name.
    lists: Vec<(Vec<&'a CapturedCall>, Vec<u32>)>,
    numbers: FxHashMap<&'a str, u32>,
    /// How many more comparisons are made: a hostile file may have any number of graphs and calls.
    left: usize,
}

/// A graph of 1,000 kernels is found among a million calls.
const MAX_COMPARISONS: usize = 1_000_000_000;

impl<'a> KernelNameCalls<'a> {
    fn of(captures: &'a [GraphCapture]) -> Self {
        let mut numbers: FxHashMap<&'a str, u32> = FxHashMap::default();
        let mut lists = Vec::new();
        for capture in captures {
            let calls: Vec<_> = capture.calls.iter().filter(|call| call.kernel.is_some()).collect();
            if calls.is_empty() {
                continue;
            }
            let kernels = calls.iter().filter_map(|call| call.kernel.as_deref());
            let names = kernels.map(|name| {
                let next = numbers.len() as u32;
                *numbers.entry(name).or_insert(next)
            });
            let names = names.collect();
            lists.push((calls, names));
        }
        Self { lists, numbers, left: MAX_COMPARISONS }
    }

    /// Calls one after another that name the kernels of the graph. Copies and fills have no names.
    fn captured(&mut self, view: LaunchView<'_>, graph: &ReplayedGraph) -> Option<CapturedBy<'a>> {
        let is_kernel = |kind: EventKind| kind == EventKind::Kernel;
        let kernels = graph.work.iter().filter(|(kind, _)| is_kernel(*kind));
        let names = kernels.map(|(_, name)| self.numbers.get(view.trace.strings.text(*name)).copied());
        let names: Vec<u32> = names.collect::<Option<_>>()?;
        let mut found = None;
        for (calls, known) in &self.lists {
            self.left = self.left.checked_sub(known.len())?;
            if let Some(start) = find(known, &names) {
                found = Some(calls[start..start + names.len()].iter().copied());
                break;
            }
        }
        let mut found = found?;
        let calls = graph.work.iter().map(|(kind, _)| if is_kernel(*kind) { found.next() } else { None }).collect();
        Some(CapturedBy { calls, how: LinkMethod::KernelName, confidence: LinkMethod::KernelName.confidence() })
    }
}

/// Captures by the kinds of their work, and graphs likewise.
struct CaptureCandidates<'a, 'b> {
    captures: FxHashMap<Vec<EventKind>, Vec<&'a GraphCapture>>,
    /// Numbers of the graphs, ascending.
    ids: FxHashMap<Vec<EventKind>, Vec<u64>>,
    replay: LaunchView<'b>,
    view: LaunchView<'b>,
    is_same: bool,
}

impl<'a, 'b> CaptureCandidates<'a, 'b> {
    fn of(
        captures: &'a [GraphCapture],
        graphs: &[ReplayedGraph],
        replay: LaunchView<'b>,
        view: LaunchView<'b>,
    ) -> Self {
        let mut by_kinds: FxHashMap<Vec<EventKind>, Vec<&'a GraphCapture>> = FxHashMap::default();
        for capture in captures.iter().filter(|capture| capture.end.is_some()) {
            let kinds = capture.calls.iter().map(|call| call.work).collect();
            by_kinds.entry(kinds).or_default().push(capture);
        }
        let mut ids: FxHashMap<Vec<EventKind>, Vec<u64>> = FxHashMap::default();
        for graph in graphs {
            ids.entry(kinds(graph)).or_default().extend(graph.id);
        }
        for numbers in ids.values_mut() {
            sort::ascending(numbers);
            numbers.dedup();
        }
        Self { captures: by_kinds, ids, replay, view, is_same: std::ptr::eq(replay.trace, view.trace) }
    }

    /// A capture with the same kinds of work in the same order. Where several fit, graphs with
    /// numbers were captured in the order of these.
    fn captured(&self, graph: &ReplayedGraph) -> Option<CapturedBy<'a>> {
        if !graph.is_in_order {
            return None;
        }
        let how = if graph.has_nodes { LinkMethod::GraphNode } else { LinkMethod::CaptureOrder };
        let own = kinds(graph);
        let found = self.fitting(graph, &own);
        let of = |capture: &'a GraphCapture, confidence| {
            Some(CapturedBy { calls: capture.calls.iter().map(Some).collect(), how, confidence })
        };
        if let [capture] = found[..] {
            return of(capture, how.confidence());
        }
        let ids = self.ids.get(&own).map_or(&[][..], Vec::as_slice);
        let place = graph.id.and_then(|id| ids.binary_search(&id).ok()).filter(|_| ids.len() == found.len());
        if let Some(capture) = place.and_then(|place| found.get(place)) {
            return of(capture, how.confidence() * SEVERAL);
        }
        let confidence = if self.are_alike(&found) { how.confidence() * ALIKE } else { UNSURE };
        of(found.first()?, confidence)
    }

    /// Captures that may be those of a graph; at most so many. Where a call tells its kernel, by
    /// its name or by that of a Triton kernel's operator, it is the same.
    fn fitting(&self, graph: &ReplayedGraph, own: &[EventKind]) -> Vec<&'a GraphCapture> {
        let name = |place: usize| self.replay.trace.strings.text(graph.work[place].1);
        let is_it = |capture: &&&GraphCapture| {
            let is_before = !self.is_same || capture.end.is_some_and(|end| end <= graph.first);
            is_before && (0..).zip(&capture.calls).all(|(place, call)| self.may_be(call, name(place)))
        };
        let captures = self.captures.get(own).map_or(&[][..], Vec::as_slice);
        captures.iter().take(MAX_CAPTURES).filter(is_it).copied().collect()
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
            self.view.operator.get(call.row as usize).map(|operator| self.view.trace.events.name.at(operator as usize))
        };
        let is_like = |pair: &[&GraphCapture]| pair[0].calls.iter().map(name).eq(pair[1].calls.iter().map(name));
        captures.windows(2).all(is_like)
    }
}

fn kinds(graph: &ReplayedGraph) -> Vec<EventKind> {
    graph.work.iter().map(|(kind, _)| *kind).collect()
}

/// How operators of Triton's kernels begin.
const TRITON: &str = "triton_";

/// Captures of the same kinds of work that are looked at: engines capture a graph for each of some
/// hundred batch sizes.
const MAX_CAPTURES: usize = 4_096;

/// How sure a capture is that others could be in the place of.
const SEVERAL: f32 = 0.9;

/// How sure one of several is that differ in their operators.
const UNSURE: f32 = 0.3;
