//! Links forward operators with their backward operators: by `fwdbwd` flows, or by autograd's
//! sequence numbers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::{FlowTargets, flows};
use super::link_method::LinkMethod;
use super::nesting::Nesting;
use crate::id::{StrId, TrackId};
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::flow::FlowPhase;
use crate::trace::kind::EventKind;

/// A forward operator and a backward operator, as rows of the event table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForwardBackward {
    /// The forward operator.
    pub forward: u32,
    /// The backward operator.
    pub backward: u32,
    /// How it was found: a flow, or the sequence number.
    pub how: LinkMethod,
}

/// All of them, sorted.
pub(super) fn link_forward_backward(trace: &Trace, nesting: &Nesting) -> Vec<ForwardBackward> {
    let mut links = by_flow(trace);
    let known: FxHashSet<u32> = links.iter().map(|link| link.backward).collect();
    let numbered = NumberedOperators::new(trace, nesting);
    links.extend(numbered.links(trace).filter(|link| !known.contains(&link.backward)));
    sort::ascending(&mut links);
    links.dedup();
    links
}

fn by_flow(trace: &Trace) -> Vec<ForwardBackward> {
    let events = &trace.events;
    let operators = events.rows_of(|kind| kind == EventKind::Operator);
    let operators = FlowTargets::new(trace, operators);
    let operator = |end| operators.at(end, |_| true);
    let mut links = Vec::new();
    for ends in flows(trace, |flow| trace.strings.text(flow.category) == "fwdbwd") {
        let of = |phase| ends.iter().filter(move |end| end.phase == phase).filter_map(|end| operator(end));
        // An id that comes again is that of another pair; whose it is is said last.
        let Some(forward) = of(FlowPhase::Start).next_back() else { continue };
        links.extend(of(FlowPhase::Finish).map(|backward| ForwardBackward {
            forward,
            backward,
            how: LinkMethod::Flow,
        }));
    }
    links
}

/// The number of a forward operator on its thread, and where it is.
type ForwardOperator = (i64, TrackId, Ts, u32);

/// A forward thread as `PyTorch` numbers it, anew in each process.
type ForwardThread = (StrId, i64);

/// A backward operator: the forward thread and the number on it, its start and row.
#[derive(Debug, Clone, Copy)]
struct BackwardOperator {
    thread: ForwardThread,
    number: i64,
    start: Ts,
    row: u32,
}

/// Among how many tracks the forward threads are looked for; a hostile file may have one for each
/// event.
const MAX_TRACKS: usize = 256;

/// Operators with a `Sequence number`: backward ones name their forward thread (`Fwd thread id`),
/// by a number of `PyTorch`'s own, which is not the system's. Negative numbers stand for threads
/// that no file names.
#[derive(Debug, Default)]
struct NumberedOperators {
    forward: Vec<ForwardOperator>,
    backward: Vec<BackwardOperator>,
}

/// How autograd's engine names the operator around a backward operator.
pub(crate) const ENGINE_PREFIX: &str = "autograd::engine::evaluate_function: ";

/// Whether an operator is autograd's: `MmBackward0`, `autograd::engine::evaluate_function: …`.
fn is_backward(name: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    name.starts_with(ENGINE_PREFIX) || name.trim_end_matches(is_digit).ends_with("Backward")
}

impl NumberedOperators {
    fn new(trace: &Trace, nesting: &Nesting) -> Self {
        let events = &trace.events;
        let integer = |row, key| trace.args.integer(&trace.strings, events.args(row), key);
        // Ranges of Nsight Systems name no forward thread: then the name tells backward operators,
        // and one thread's backward operators are of one forward thread.
        let has_threads = (0..events.len()).any(|row| integer(row, ArgKey::ForwardThread).is_some());
        let thread = |row: usize| match integer(row, ArgKey::ForwardThread) {
            None if !has_threads && is_backward(trace.event_name(row)) => -1 - i64::from(events.track.at(row).0),
            thread => thread.unwrap_or(0),
        };
        let numbers = |row: usize| {
            let number = integer(row, ArgKey::SeqNum).filter(|number| *number >= 0)?;
            Some((number, thread(row)))
        };
        let is_operator = |row: &usize| events.kind[*row] == EventKind::Operator;
        let mut numbered = Self::default();
        // The engine's own operator around a backward operator has the same numbers.
        let mut engine: FxHashSet<u32> = FxHashSet::default();
        for row in (0..events.len()).filter(is_operator) {
            let Some((number, thread)) = numbers(row) else { continue };
            let (start, at) = (events.start.at(row), row as u32);
            if thread == 0 {
                numbered.forward.push((number, events.track.at(row), start, at));
                continue;
            }
            let process = trace.process_of(row);
            numbered.backward.push(BackwardOperator { thread: (process, thread), number, start, row: at });
            let around = nesting.parent.get(row).filter(|around| numbers(*around as usize) == Some((number, thread)));
            engine.extend(around);
        }
        numbered.backward.retain(|backward| !engine.contains(&backward.row));
        sort::ascending(&mut numbered.forward);
        numbered
    }

    fn links(&self, trace: &Trace) -> impl Iterator<Item = ForwardBackward> + '_ {
        let tracks = self.tracks(trace);
        self.backward.iter().filter_map(move |backward| {
            let forward = self.forward_of(*backward, *tracks.get(&backward.thread)?)?;
            Some(ForwardBackward { forward, backward: backward.row, how: LinkMethod::SequenceNumber })
        })
    }

    /// The last operator with a backward operator's number on a track before it: the one that made
    /// its node.
    fn forward_of(&self, backward: BackwardOperator, track: TrackId) -> Option<u32> {
        let BackwardOperator { number, start, .. } = backward;
        let end = self.forward.partition_point(|other| *other < (number, track, start, 0));
        let last = self.forward[..end].last()?;
        ((last.0, last.1) == (number, track)).then_some(last.3)
    }

    /// Maps each forward thread to the track with most of its recorded numbers.
    fn tracks(&self, trace: &Trace) -> FxHashMap<ForwardThread, TrackId> {
        let mut known: Vec<TrackId> = self.forward.iter().map(|(_, track, ..)| *track).collect();
        sort::ascending(&mut known);
        known.dedup();
        let mut candidates: FxHashMap<StrId, Vec<TrackId>> = FxHashMap::default();
        for track in known.into_iter().take(MAX_TRACKS) {
            candidates.entry(trace.track(track).process).or_default().push(track);
        }
        let mut votes: FxHashMap<ForwardThread, Vec<u32>> = FxHashMap::default();
        for backward in &self.backward {
            let Some(candidates) = candidates.get(&backward.thread.0) else { continue };
            let votes = votes.entry(backward.thread).or_insert_with(|| vec![0; candidates.len()]);
            for (place, track) in candidates.iter().enumerate() {
                votes[place] += u32::from(self.forward_of(*backward, *track).is_some());
            }
        }
        let best = |votes: &Vec<u32>| (0..votes.len()).rev().max_by_key(|place| votes[*place]);
        votes.iter().filter_map(|(thread, votes)| Some((*thread, candidates[&thread.0][best(votes)?]))).collect()
    }
}
