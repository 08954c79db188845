//! Adds host threads to the graph: their order of events, and waits between threads.

use super::graph::{NodePriority, PathEdge, PathGraphBuilder, PathKind, PathNode};
use super::wait::WorkWaits;
use crate::analyze::breakdown::is_loader;
use crate::analyze::selection::Selection;
use crate::column::OptionalColumn;
use crate::id::TrackId;
use crate::sort;
use crate::time::Ts;
use crate::trace::kind::EventKind;

/// The nodes of events, by their rows.
#[derive(Debug)]
pub(super) struct EventNodes {
    pub(super) starts: OptionalColumn,
    pub(super) ends: OptionalColumn,
}

impl EventNodes {
    pub(super) fn new(num_events: usize) -> Self {
        Self { starts: OptionalColumn::empty(num_events), ends: OptionalColumn::empty(num_events) }
    }
}

/// Whether a thread's time counts for an event: operators, runtime calls, and data loaders.
pub(super) fn is_host_work(selection: &Selection<'_>, row: usize) -> bool {
    let trace = &selection.linked.trace;
    let is_work = match trace.events.kind[row] {
        EventKind::Operator | EventKind::Launch => true,
        EventKind::Annotation => is_loader(trace.event_name(row)),
        _ => false,
    };
    is_work && !trace.is_on_device(row)
}

/// Adds all threads.
pub(super) fn add_host(
    selection: &Selection<'_>,
    waits: &WorkWaits,
    builder: &mut PathGraphBuilder,
    places: &mut EventNodes,
) {
    let linked = selection.linked;
    let around = linked.links.nesting.innermost(|row| is_host_work(selection, row));
    let mut outermost = vec![Vec::new(); linked.trace.tracks.len()];
    for (at, track) in linked.trace.tracks.iter().enumerate() {
        if track.stream.is_none() {
            let thread =
                HostThread { selection, waits, around: &around, builder, places, last: None, open: Vec::new() };
            outermost[at] = thread.add(TrackId::from(at));
        }
    }
    join(selection, &outermost, builder, places);
}

/// A thread on its way into the graph.
struct HostThread<'a, 'b> {
    selection: &'a Selection<'b>,
    waits: &'a WorkWaits,
    around: &'a OptionalColumn,
    builder: &'a mut PathGraphBuilder,
    places: &'a mut EventNodes,
    /// The node before the next.
    last: Option<u32>,
    /// Events that have begun and not ended, outermost first.
    open: Vec<u32>,
}

/// First and last node of an event that is in no other.
type OutermostNodes = (u32, u32);

impl HostThread<'_, '_> {
    /// Adds its events, and gives those that are in no other.
    fn add(mut self, track: TrackId) -> Vec<OutermostNodes> {
        let mut outermost = Vec::new();
        let selection = self.selection;
        for row in selection.linked.links.nesting.track_rows(track) {
            if is_host_work(selection, *row as usize) && selection.contains(*row as usize) {
                let around = self.around.get(*row as usize);
                while self.open.last().copied() != around && !self.open.is_empty() {
                    self.close(&mut outermost);
                }
                self.begin(*row);
            }
        }
        while !self.open.is_empty() {
            self.close(&mut outermost);
        }
        outermost
    }

    fn begin(&mut self, row: u32) {
        let node = self.node(row, true, self.selection.time(row as usize).start);
        self.places.starts.set(row as usize, node);
        if let Some(last) = self.last.replace(node) {
            match self.open.last() {
                Some(around) => self.spend(last, node, *around, self.builder.gap_ns(last, node)),
                None => self.builder.order(last, node),
            }
        }
        self.open.push(row);
    }

    fn close(&mut self, outermost: &mut Vec<OutermostNodes>) {
        let Some(row) = self.open.pop() else { return };
        let node = self.node(row, false, self.selection.time(row as usize).end);
        self.places.ends.set(row as usize, node);
        if let Some(last) = self.last.replace(node) {
            // The time in which a call waited is the device's.
            let awake = self.waits.until(row).map_or(i64::MAX, |until| self.builder.time(node).since(until).0.max(0));
            self.spend(last, node, row, self.builder.gap_ns(last, node).min(awake));
        }
        if let (true, Some(start)) = (self.open.is_empty(), self.places.starts.get(row as usize)) {
            outermost.push((start, node));
        }
    }

    fn spend(&mut self, source: u32, target: u32, event: u32, weight_ns: i64) {
        self.builder.edge(PathEdge { source, target, weight_ns, kind: PathKind::Operator, event });
    }

    /// A node no earlier than the previous one; partly overlapping events follow each other.
    fn node(&mut self, event: u32, is_start: bool, time: Ts) -> u32 {
        let time = self.last.map_or(time, |last| time.max(self.builder.time(last)));
        self.builder.node(PathNode { event, is_start, time }, NodePriority::Host)
    }
}

/// Maximum number of thread pairs to search for waits.
const MAX_PAIRS: usize = 64;

/// Backward operators follow their forward operators; and a thread that did nothing until another
/// one, which does the other pass, had done something waited for that.
fn join(
    selection: &Selection<'_>,
    outermost: &[Vec<OutermostNodes>],
    builder: &mut PathGraphBuilder,
    places: &EventNodes,
) {
    let tracks = &selection.linked.trace.events.track;
    let mut pairs = Vec::new();
    for pair in selection.linked.forward_backward() {
        let (forward, backward) = (pair.forward as usize, pair.backward as usize);
        if let (Some(end), Some(start)) = (places.ends.get(forward), places.starts.get(backward)) {
            builder.order(end, start);
        }
        let (forward, backward) = (tracks.at(forward), tracks.at(backward));
        if forward != backward {
            pairs.extend([(forward, backward), (backward, forward)]);
        }
    }
    sort::ascending(&mut pairs);
    pairs.dedup();
    for (waiting, working) in pairs.into_iter().take(MAX_PAIRS) {
        join_pair(&outermost[waiting.index()], &outermost[working.index()], builder);
    }
}

fn join_pair(waiting: &[OutermostNodes], working: &[OutermostNodes], builder: &mut PathGraphBuilder) {
    let mut done = 0;
    let mut idle_since = None;
    for (start, end) in waiting {
        let now = builder.time(*start);
        while working.get(done).is_some_and(|(_, end)| builder.time(*end) <= now) {
            done += 1;
        }
        let last = done.checked_sub(1).map(|at| working[at].1);
        if let Some(last) = last.filter(|last| idle_since.is_none_or(|since| builder.time(*last) > since)) {
            builder.order(last, *start);
        }
        idle_since = Some(builder.time(*end));
    }
}
