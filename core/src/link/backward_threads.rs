//! Finds the device work that annotations enclose, and which thread waited for each backward
//! thread.

use std::ops::RangeInclusive;

use rustc_hash::{FxHashMap, FxHashSet};

use super::annotated_work::AnnotatedWork;
use super::forward_backward::ENGINE_PREFIX;
use super::linked_trace::LinkedTrace;
use crate::column::OptionalColumn;
use crate::id::{StrId, TrackId};
use crate::sort;
use crate::time::Ts;
use crate::trace::kind::EventKind;

impl LinkedTrace {
    /// Device time of the work launched inside of an event, in nanoseconds. An annotation encloses
    /// launches by time on its thread, and those of the backward pass that its thread waited for.
    pub fn device_ns(&self, row: usize) -> i64 {
        let annotated_ns = self.annotated_work(row).map(|work| work.during_ns(&self.trace.events, row));
        annotated_ns.unwrap_or_else(|| self.device_time().total_ns[row])
    }

    /// Rows of the device work that an annotation on the host encloses, in order of launches.
    /// `None` for other events.
    pub fn enclosed_work(&self, row: usize) -> Option<&[u32]> {
        self.annotated_work(row).map(|work| work.during(&self.trace.events, row))
    }

    /// Whether an annotation may enclose work that another thread's may enclose as well.
    pub(super) fn has_unclear_work(&self, row: usize) -> bool {
        self.annotated_work(row).is_some_and(|work| work.is_unclear(&self.trace.events, row))
    }

    /// The work by thread, for annotations on the host; computed on first use.
    fn annotated_work(&self, row: usize) -> Option<&AnnotatedWork> {
        let is_annotation = self.trace.events.kind[row] == EventKind::Annotation && !self.trace.is_on_device(row);
        is_annotation.then(|| self.annotated_work.get_or_init(|| annotated_work(self)))
    }
}

fn annotated_work(linked: &LinkedTrace) -> AnnotatedWork {
    let (events, links) = (&linked.trace.events, &linked.links);
    let threads = BackwardThreads::of(linked);
    let mut launches: FxHashMap<TrackId, Vec<(Ts, u32)>> = FxHashMap::default();
    let mut unclear: FxHashMap<TrackId, Vec<Ts>> = FxHashMap::default();
    for row in events.device_work() {
        let Some(host) = links.launch.get(row).or_else(|| links.operator.get(row)) else { continue };
        let host = host as usize;
        let mut waiting = threads.waiting_for(linked, host);
        if waiting.len() > 1 {
            waiting.drain(..).for_each(|thread| unclear.entry(thread).or_default().push(events.start.at(host)));
        }
        for thread in waiting.into_iter().chain([events.track.at(host)]) {
            launches.entry(thread).or_default().push((events.start.at(host), row as u32));
        }
    }
    AnnotatedWork::of(events, launches, unclear)
}

/// From how many threads to the one that waited: a backward pass may begin another on a thread of
/// its own.
const MAX_STEPS: usize = 8;

/// Maximum number of annotated threads of a process to search.
const MAX_WAITING: usize = 64;

/// Which thread works for which, and when.
#[derive(Default)]
struct BackwardThreads {
    /// When each thread began backward operators, and on which thread their forward operators ran.
    served: FxHashMap<TrackId, Vec<(Ts, TrackId)>>,
    /// The threads of the forward operators of backward operators that ran on another.
    forward: FxHashMap<u32, TrackId>,
    /// The innermost of these around each event.
    around: OptionalColumn,
    /// The innermost operator of autograd's engine around each event: its forward operator may have
    /// run before the recording began.
    engine: OptionalColumn,
    annotated: FxHashMap<TrackId, ThreadTimes>,
    running: FxHashMap<TrackId, ThreadTimes>,
    /// Iterations of each thread.
    steps: FxHashMap<TrackId, ThreadTimes>,
    /// Threads with annotations, by process.
    of_process: FxHashMap<StrId, Vec<TrackId>>,
}

impl BackwardThreads {
    fn of(linked: &LinkedTrace) -> Self {
        let (served, engine) = (served(linked), engine_operators(linked));
        if served.is_empty() && engine.is_empty() {
            return Self::default();
        }
        let engine = linked.links.nesting.innermost(|row| engine.contains(&linked.trace.events.name.at(row)));
        let tracks = &linked.trace.events.track;
        let pairs = linked.forward_backward().iter().map(|pair| (pair.backward, tracks.at(pair.forward as usize)));
        let forward: FxHashMap<_, _> = pairs.filter(|(row, forward)| tracks.at(*row as usize) != *forward).collect();
        let around = linked.links.nesting.innermost(|row| forward.contains_key(&(row as u32)));
        let kinds = &linked.trace.events.kind;
        let annotated = times(linked, |row| kinds[row] == EventKind::Annotation);
        let running = times(linked, |row| matches!(kinds[row], EventKind::Operator | EventKind::Launch));
        let iterations: FxHashSet<_> =
            linked.links.iterations.iter().map(|iteration| iteration.event as usize).collect();
        let steps = times(linked, |row| iterations.contains(&row));
        let mut of_process: FxHashMap<StrId, Vec<TrackId>> = FxHashMap::default();
        for track in annotated.keys() {
            of_process.entry(linked.trace.track(*track).process).or_default().push(*track);
        }
        Self { served, forward, around, engine, annotated, running, steps, of_process }
    }

    /// The thread that waited for the work of a launch, or several that may have.
    fn waiting_for(&self, linked: &LinkedTrace, launch: usize) -> Vec<TrackId> {
        let events = &linked.trace.events;
        let (thread, at) = (events.track.at(launch), events.start.at(launch));
        let engine = self.engine.get(launch).map(|row| row as usize);
        let time = engine.map_or(at, |row| events.start.at(row))..=engine.map_or(at, |row| events.end(row));
        if let Some(around) = self.around.get(launch) {
            return self.waiting(linked, thread, self.forward[&around], (at, time));
        }
        if let Some(served) = self.served_at(thread, at) {
            let mut waiting = self.waiting(linked, thread, served, (at, time));
            waiting.retain(|waiting| !self.is_running(*waiting, at));
            return waiting;
        }
        let is_alone = engine.is_some() && !self.is_annotated(thread, at);
        if is_alone { self.idle(linked, thread, (at, time)) } else { Vec::new() }
    }

    /// The thread that waited for the work of one thread for another: at the time of a launch, in
    /// that of the operator around it.
    fn waiting(
        &self,
        linked: &LinkedTrace,
        thread: TrackId,
        served: TrackId,
        (at, time): (Ts, RangeInclusive<Ts>),
    ) -> Vec<TrackId> {
        let mut on = served;
        for _ in 0..MAX_STEPS {
            if self.is_annotated(on, at) {
                return Some(on).filter(|on| *on != thread).into_iter().collect();
            }
            let Some(next) = self.served_at(on, at) else { break };
            on = next;
        }
        self.idle(linked, thread, (at, time))
    }

    /// The thread that another thread works for at a time; none for itself.
    fn served_at(&self, thread: TrackId, at: Ts) -> Option<TrackId> {
        let served = self.served.get(&thread)?;
        let last = served.partition_point(|(begun, _)| *begun <= at).checked_sub(1)?;
        Some(served[last].1).filter(|other| *other != thread)
    }

    fn is_running(&self, thread: TrackId, at: Ts) -> bool {
        self.running.get(&thread).is_some_and(|times| times.contain(at))
    }

    fn is_annotated(&self, thread: TrackId, at: Ts) -> bool {
        self.annotated.get(&thread).is_some_and(|times| times.contain(at))
    }

    /// The other threads of the process that run nothing, and are in one annotation all the time.
    /// Those in an iteration go first.
    fn idle(&self, linked: &LinkedTrace, thread: TrackId, (at, time): (Ts, RangeInclusive<Ts>)) -> Vec<TrackId> {
        let all = self.of_process.get(&linked.trace.track(thread).process).map_or(&[][..], Vec::as_slice);
        if all.len() > MAX_WAITING {
            return Vec::new();
        }
        let is_idle = |other: &TrackId| {
            *other != thread
                && self.annotated.get(other).is_some_and(|times| times.contain_all(&time))
                && !self.is_running(*other, at)
        };
        let mut idle: Vec<_> = all.iter().copied().filter(is_idle).collect();
        if idle.len() > 1 {
            let steps = |track: &TrackId| self.steps.get(track).is_some_and(|times| times.contain(at));
            let stepping: Vec<_> = idle.iter().copied().filter(steps).collect();
            idle = if stepping.is_empty() { idle } else { stepping };
        }
        idle
    }
}

/// Names of the operators that autograd's engine runs around each backward operator.
fn engine_operators(linked: &LinkedTrace) -> FxHashSet<StrId> {
    let (trace, mut names) = (&linked.trace, FxHashSet::default());
    let operators = trace.events.rows_of(|kind| kind == EventKind::Operator);
    for row in operators {
        // Few names, and many calls of each: the text is looked at once.
        names.insert(trace.events.name.at(row));
    }
    names.retain(|name| trace.strings.text(*name).starts_with(ENGINE_PREFIX));
    names
}

fn served(linked: &LinkedTrace) -> FxHashMap<TrackId, Vec<(Ts, TrackId)>> {
    let events = &linked.trace.events;
    let mut served: FxHashMap<TrackId, Vec<(Ts, TrackId)>> = FxHashMap::default();
    for pair in linked.forward_backward() {
        let [forward, backward] = [pair.forward, pair.backward].map(|row| events.track.at(row as usize));
        served.entry(backward).or_default().push((events.start.at(pair.backward as usize), forward));
    }
    served.retain(|thread, served| served.iter().any(|(_, forward)| forward != thread));
    served.values_mut().for_each(|served| sort::ascending(served));
    served
}

/// Times of a thread that do not touch, by their starts.
#[derive(Default)]
struct ThreadTimes(Vec<(Ts, Ts)>);

impl ThreadTimes {
    fn contain(&self, at: Ts) -> bool {
        let num_begun = self.0.partition_point(|(start, _)| *start <= at);
        num_begun.checked_sub(1).is_some_and(|last| at < self.0[last].1)
    }

    fn contain_all(&self, time: &RangeInclusive<Ts>) -> bool {
        let num_begun = self.0.partition_point(|(start, _)| start <= time.start());
        num_begun.checked_sub(1).is_some_and(|last| *time.end() <= self.0[last].1)
    }
}

/// When each thread was in some events.
fn times(linked: &LinkedTrace, is_it: impl Fn(usize) -> bool) -> FxHashMap<TrackId, ThreadTimes> {
    let (events, nesting) = (&linked.trace.events, &linked.links.nesting);
    let mut times: FxHashMap<TrackId, ThreadTimes> = FxHashMap::default();
    // By track, and in each by the starts.
    for row in nesting.order.iter().map(|row| *row as usize) {
        if !is_it(row) || linked.trace.is_on_device(row) {
            continue;
        }
        let (start, end) = (events.start.at(row), events.end(row));
        let ThreadTimes(of_track) = times.entry(events.track.at(row)).or_default();
        match of_track.last_mut().filter(|(_, until)| start <= *until) {
            Some((_, until)) => *until = (*until).max(end),
            None => of_track.push((start, end)),
        }
    }
    times
}
