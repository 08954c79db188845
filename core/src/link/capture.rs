//! Links kernels of a CUDA graph with the calls that captured them in another trace.
//!
//! The kernels of a graph share one launch and have no operator. A trace of the capture has the
//! operators and their launches. These launches have no device events, but each names its kernel
//! (`kernel`). Both traces list the names in the same order.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::linked_trace::LinkedTrace;
use crate::sort;
use crate::trace::Trace;
use crate::trace::args::plain_text;
use crate::trace::kind::EventKind;

/// A kernel of a graph with the call that captured it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CapturedKernel {
    /// Row of the kernel.
    pub kernel: u32,
    /// Row of the call in the trace of the capture.
    pub launch: u32,
}

/// The graphs in a trace, with the trace of their capture.
#[derive(Debug, Clone)]
pub struct CapturedGraphs {
    /// Where the graphs ran.
    pub trace: Arc<LinkedTrace>,
    /// Where they were captured.
    pub capture: Arc<LinkedTrace>,
    /// All kernels with a known call, by row.
    pub kernels: Vec<CapturedKernel>,
}

impl CapturedGraphs {
    /// Finds the calls that captured the kernels of each graph: those of one thread, one after
    /// another, of the same names. A graph of which not all are found has none.
    pub fn new(trace: Arc<LinkedTrace>, capture: Arc<LinkedTrace>) -> Self {
        let mut names = KernelNameIds::default();
        let threads = captured_calls(&capture, &mut names);
        let graphs = graphs(&trace, &mut names);
        // A graph is launched many times.
        let mut known: FxHashMap<Vec<usize>, &[KernelCall]> = FxHashMap::default();
        let mut kernels = Vec::new();
        for graph in &graphs {
            let search = || threads.iter().find_map(|calls| Some(&calls[find(calls, graph)?..])).unwrap_or_default();
            let names = graph.iter().map(|(_, name)| *name).collect();
            let found = known.entry(names).or_insert_with(search);
            let pairs = graph.iter().zip(*found);
            kernels.extend(pairs.map(|((kernel, _), (launch, _))| CapturedKernel { kernel: *kernel, launch: *launch }));
        }
        sort::ascending(&mut kernels);
        Self { trace, capture, kernels }
    }
}

/// A row with the number of the kernel's name.
type KernelCall = (u32, usize);

/// Numbers for the names of kernels.
#[derive(Debug, Default)]
struct KernelNameIds(FxHashMap<String, usize>);

impl KernelNameIds {
    fn number(&mut self, name: String) -> usize {
        let next = self.0.len();
        *self.0.entry(name).or_insert(next)
    }
}

/// Launches of each thread that name a kernel and have no device event, in the order of time.
fn captured_calls(linked: &LinkedTrace, names: &mut KernelNameIds) -> Vec<Vec<KernelCall>> {
    let (trace, links) = (&linked.trace, &linked.links);
    let mut threads = vec![Vec::<KernelCall>::new(); trace.tracks.len()];
    for row in &links.nesting.order {
        let is_alone =
            trace.events.kind[*row as usize] == EventKind::Launch && links.launched.of(*row as usize).len() == 0;
        if let Some(name) = is_alone.then(|| kernel_name(trace, *row as usize)).flatten() {
            threads[trace.events.track[*row as usize].index()].push((*row, names.number(name)));
        }
    }
    threads
}

fn kernel_name(trace: &Trace, row: usize) -> Option<String> {
    let mut pairs = trace.args.pairs(&trace.strings, trace.events.args(row));
    pairs.find(|(key, _)| *key == "kernel").map(|(_, json)| plain_text(&json))
}

/// The kernels of each launch that has several, in the order of time.
fn graphs(linked: &LinkedTrace, names: &mut KernelNameIds) -> Vec<Vec<KernelCall>> {
    let (events, launched) = (&linked.trace.events, &linked.links.launched);
    let mut graphs = Vec::new();
    for launch in (0..events.len()).filter(|row| launched.of(*row).len() > 1) {
        let mut rows: Vec<_> = launched.of(launch).filter(|row| events.kind[*row] == EventKind::Kernel).collect();
        sort::by_key(&mut rows, |row| events.start[*row]);
        let number = |row: usize| (row as u32, names.number(linked.trace.event_name(row).to_owned()));
        graphs.push(rows.into_iter().map(number).collect());
    }
    graphs
}

/// Where the names of `graph` first come one after another in `calls`, in time that grows with the
/// sum of both.
fn find(calls: &[KernelCall], graph: &[KernelCall]) -> Option<usize> {
    let name = |at: usize| graph[at].1;
    // How much of the graph's beginning matches again before each of its places.
    let mut borders = vec![0_usize; graph.len()];
    let mut matched = 0;
    for at in 1..graph.len() {
        while matched > 0 && name(at) != name(matched) {
            matched = borders[matched - 1];
        }
        matched += usize::from(name(at) == name(matched));
        borders[at] = matched;
    }
    matched = 0;
    for (at, (_, call)) in calls.iter().enumerate() {
        while matched > 0 && *call != name(matched) {
            matched = borders[matched - 1];
        }
        matched += usize::from(!graph.is_empty() && *call == name(matched));
        if matched == graph.len() && matched > 0 {
            return Some(at + 1 - matched);
        }
    }
    None
}
