//! Device work that the backward pass launched on its own thread, by the thread that waited for it.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::LinkedTrace;
use crate::id::{OptionalColumn, StrId, TrackId};
use crate::sort;
use crate::time::{Ts, add_ns};
use crate::trace::kind::EventKind;

/// From how many threads to the one that waited: a backward pass may begin another on a thread of its own.
const MAX_STEPS: usize = 8;

/// Among how many annotated threads of a process one is looked for.
const MAX_WAITING: usize = 64;

/// Device work of each thread that waited.
///
/// A thread works for the one on which those operators ran whose backward operators it runs: for a launch, that of the
/// innermost of another thread around it; for one around which is none, that of the last that had begun, as long as that
/// thread runs nothing itself. If that one is in no annotation, it is another backward thread, which works for a third; or
/// a replica, and then who waits is the one thread of the process that is in an annotation and runs nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct BackwardWork(FxHashMap<TrackId, Work>);

impl BackwardWork {
    pub(super) fn of(linked: &LinkedTrace) -> Self {
        let events = &linked.trace.events;
        let threads = Threads::of(linked);
        let mut launches: FxHashMap<TrackId, Vec<(Ts, u32)>> = FxHashMap::default();
        for row in (0..events.len()).filter(|row| events.kind[*row].is_device_work()) {
            let Some(launch) = linked.links.launch.get(row).map(|launch| launch as usize) else { continue };
            let at = events.start[launch];
            if let Some(waiting) = threads.waiting_for(linked, launch) {
                launches.entry(waiting).or_default().push((at, row as u32));
            }
        }
        Self(launches.into_iter().map(|(track, launches)| (track, Work::of(linked, launches))).collect())
    }

    /// Rows of the work that was launched for a thread while an event lasted on it.
    pub(super) fn during(&self, linked: &LinkedTrace, row: usize) -> &[u32] {
        self.range(linked, row).map_or(&[], |(work, range)| &work.rows[range])
    }

    /// How long that work took, summed, in nanoseconds.
    pub(super) fn during_ns(&self, linked: &LinkedTrace, row: usize) -> i64 {
        let ns =
            |(work, range): (&Work, Range<usize>)| work.until_ns[range.end].saturating_sub(work.until_ns[range.start]);
        self.range(linked, row).map_or(0, ns)
    }

    fn range(&self, linked: &LinkedTrace, row: usize) -> Option<(&Work, Range<usize>)> {
        let events = &linked.trace.events;
        let work = self.0.get(&events.track[row])?;
        let until = |time: Ts| work.at.partition_point(|at| *at < time);
        let start = until(events.start[row]);
        Some((work, start..until(events.end(row)).max(start)))
    }
}

/// Work in the order of its launches.
#[derive(Debug, Clone, Default)]
struct Work {
    at: Vec<Ts>,
    rows: Vec<u32>,
    /// How long all work before each took.
    until_ns: Vec<i64>,
}

impl Work {
    fn of(linked: &LinkedTrace, mut launches: Vec<(Ts, u32)>) -> Self {
        sort::ascending(&mut launches);
        let mut work = Self { until_ns: vec![0], ..Self::default() };
        let mut sum_ns = 0;
        for (at, row) in launches {
            add_ns(&mut sum_ns, linked.trace.events.dur[row as usize].0);
            work.at.push(at);
            work.rows.push(row);
            work.until_ns.push(sum_ns);
        }
        work
    }
}

/// Who works for whom, and when.
#[derive(Default)]
struct Threads {
    /// When each thread began backward operators, and on which thread their forward operators ran.
    served: FxHashMap<TrackId, Vec<(Ts, TrackId)>>,
    /// The threads of the forward operators of backward operators that ran on another.
    forward: FxHashMap<u32, TrackId>,
    /// The innermost of these around each event.
    around: OptionalColumn,
    annotated: FxHashMap<TrackId, Times>,
    running: FxHashMap<TrackId, Times>,
    /// Threads with annotations, by process.
    of_process: FxHashMap<StrId, Vec<TrackId>>,
}

impl Threads {
    fn of(linked: &LinkedTrace) -> Self {
        let served = served(linked);
        if served.is_empty() {
            return Self::default();
        }
        let tracks = &linked.trace.events.track;
        let pairs = linked.forward_backward().iter().map(|pair| (pair.backward, tracks[pair.forward as usize]));
        let forward: FxHashMap<_, _> = pairs.filter(|(row, forward)| tracks[*row as usize] != *forward).collect();
        let around = linked.links.nesting.innermost(|row| forward.contains_key(&(row as u32)));
        let annotated = times(linked, |kind| kind == EventKind::Annotation);
        let running = times(linked, |kind| matches!(kind, EventKind::Operator | EventKind::Launch));
        let mut of_process: FxHashMap<StrId, Vec<TrackId>> = FxHashMap::default();
        for track in annotated.keys() {
            of_process.entry(linked.trace.track(*track).process).or_default().push(*track);
        }
        Self { served, forward, around, annotated, running, of_process }
    }

    /// Who waited for what a call launched.
    fn waiting_for(&self, linked: &LinkedTrace, launch: usize) -> Option<TrackId> {
        let events = &linked.trace.events;
        let (thread, at) = (events.track[launch], events.start[launch]);
        if let Some(around) = self.around.get(launch) {
            return self.waiting(linked, thread, self.forward[&around], at);
        }
        let served = self.served_at(thread, at)?;
        let waiting = self.waiting(linked, thread, served, at)?;
        Some(waiting).filter(|waiting| !self.is_running(*waiting, at))
    }

    /// Who waited for what a thread did for another at a time.
    fn waiting(&self, linked: &LinkedTrace, thread: TrackId, served: TrackId, at: Ts) -> Option<TrackId> {
        let mut on = served;
        for _ in 0..MAX_STEPS {
            if self.is_annotated(on, at) {
                return Some(on).filter(|on| *on != thread);
            }
            let Some(next) = self.served_at(on, at) else { break };
            on = next;
        }
        self.only_idle(linked, thread, at)
    }

    /// For whom a thread works at a time; none for itself.
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

    /// The one other thread of the process that is in an annotation and runs nothing.
    fn only_idle(&self, linked: &LinkedTrace, thread: TrackId, at: Ts) -> Option<TrackId> {
        let all = self.of_process.get(&linked.trace.track(thread).process)?;
        let is_idle =
            |other: &TrackId| *other != thread && self.is_annotated(*other, at) && !self.is_running(*other, at);
        let mut idle = all.iter().copied().filter(is_idle);
        let first = idle.next().filter(|_| all.len() <= MAX_WAITING)?;
        idle.next().is_none().then_some(first)
    }
}

fn served(linked: &LinkedTrace) -> FxHashMap<TrackId, Vec<(Ts, TrackId)>> {
    let events = &linked.trace.events;
    let mut served: FxHashMap<TrackId, Vec<(Ts, TrackId)>> = FxHashMap::default();
    for pair in linked.forward_backward() {
        let [forward, backward] = [pair.forward, pair.backward].map(|row| events.track[row as usize]);
        served.entry(backward).or_default().push((events.start[pair.backward as usize], forward));
    }
    served.retain(|thread, served| served.iter().any(|(_, forward)| forward != thread));
    served.values_mut().for_each(|served| sort::ascending(served));
    served
}

/// Times of a thread that do not touch, by their starts.
#[derive(Default)]
struct Times(Vec<(Ts, Ts)>);

impl Times {
    fn contain(&self, at: Ts) -> bool {
        let num_begun = self.0.partition_point(|(start, _)| *start <= at);
        num_begun.checked_sub(1).is_some_and(|last| at < self.0[last].1)
    }
}

/// When each thread was in events of some kinds.
fn times(linked: &LinkedTrace, is_it: impl Fn(EventKind) -> bool) -> FxHashMap<TrackId, Times> {
    let (events, nesting) = (&linked.trace.events, &linked.links.nesting);
    let mut times: FxHashMap<TrackId, Times> = FxHashMap::default();
    // By track, and in each by the starts.
    for row in nesting.order.iter().map(|row| *row as usize) {
        if !is_it(events.kind[row]) || linked.trace.is_on_device(row) {
            continue;
        }
        let (start, end) = (events.start[row], events.end(row));
        let Times(of_track) = times.entry(events.track[row]).or_default();
        match of_track.last_mut().filter(|(_, until)| start <= *until) {
            Some((_, until)) => *until = (*until).max(end),
            None => of_track.push((start, end)),
        }
    }
    times
}
