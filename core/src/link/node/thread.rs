//! Pairs the threads of both files, with their calls in order.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::call::calls;
use super::name_ids::NameIds;
use crate::sort;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::trace::node::NodeKind;

/// The calls of one thread in one file.
#[derive(Debug, Default, Clone)]
pub(super) struct CallSequence {
    /// Their rows: of events, or of nodes.
    pub(super) rows: Vec<u32>,
    /// Their names, equal in both files for the same call.
    pub(super) names: Vec<u32>,
    is_annotation: Vec<bool>,
    /// For each call, how many that should be found in the other file come before it.
    expected: Vec<u32>,
    /// How many calls should be found in the other file.
    pub(super) num_expected: u32,
}

/// A thread in both files.
#[derive(Debug)]
pub(super) struct ThreadPair {
    pub(super) nodes: CallSequence,
    pub(super) events: CallSequence,
}

/// Maximum number of threads per file; those with the most calls are used.
const MAX_THREADS: usize = 64;

/// How many calls of one start are compared with the next.
const MAX_TWINS: usize = 16;

impl CallSequence {
    fn push(&mut self, row: u32, name: u32, is_annotation: bool) {
        self.rows.push(row);
        self.names.push(name);
        self.is_annotation.push(is_annotation);
    }

    /// How many calls should be found in the other file, from the first place to the last.
    pub(super) fn num_expected_between(&self, first: usize, last: usize) -> u32 {
        self.expected[last] - self.expected[first] + 1
    }

    /// Only the calls whose names the other file has. Operators that it lacks still count as
    /// expected.
    fn shared_with(&self, other: &FxHashSet<u32>) -> Self {
        let mut shared = Self::default();
        for (at, name) in self.names.iter().enumerate() {
            let is_shared = other.contains(name);
            if is_shared {
                shared.push(self.rows[at], *name, self.is_annotation[at]);
                shared.expected.push(shared.num_expected);
            }
            shared.num_expected += u32::from(is_shared || !self.is_annotation[at]);
        }
        shared
    }
}

/// The threads that both files have: those with the most calls in common first.
pub(super) fn threads(trace: &Trace) -> Vec<ThreadPair> {
    let mut names = NameIds::new(&trace.strings);
    let nodes = of_nodes(trace, &mut names);
    let events = of_events(trace, &mut names);
    let thread = |(node, event): (usize, usize)| {
        let [in_nodes, in_events] = [&nodes[node], &events[event]].map(|side| side.names.iter().copied().collect());
        ThreadPair { nodes: nodes[node].shared_with(&in_events), events: events[event].shared_with(&in_nodes) }
    };
    matched(&nodes, &events).into_iter().map(thread).collect()
}

/// Nodes by thread, in order of their ids, which ascend as nodes are entered.
fn of_nodes(trace: &Trace, names: &mut NameIds<'_>) -> Vec<CallSequence> {
    let mut rows: Vec<_> = (0..trace.nodes.len() as u32).collect();
    sort::by_key(&mut rows, |row| {
        let node = &trace.nodes[*row as usize];
        (node.record_id, node.id)
    });
    let mut threads: FxHashMap<Option<u64>, usize> = FxHashMap::default();
    let mut sequences: Vec<CallSequence> = Vec::new();
    for row in rows {
        let node = &trace.nodes[row as usize];
        let kind = node.kind(trace.strings.text(node.name));
        if matches!(kind, NodeKind::Root | NodeKind::ProcessGroup) {
            continue;
        }
        let at = *threads.entry(node.thread).or_insert(sequences.len());
        if at == sequences.len() {
            sequences.push(CallSequence::default());
        }
        sequences[at].push(row, names.name(node.name), kind == NodeKind::Annotation);
    }
    longest(sequences)
}

/// Calls by track; within a track by start. Where times are whole microseconds, `External id` tells
/// the order.
pub(super) fn of_events(trace: &Trace, names: &mut NameIds<'_>) -> Vec<CallSequence> {
    let events = &trace.events;
    let mut tracks: Vec<Vec<u32>> = vec![Vec::new(); trace.tracks.len()];
    for row in calls(trace) {
        tracks[events.track.at(row).index()].push(row as u32);
    }
    // Found once for each row: a sort asks for it many times.
    let place = |row: u32| {
        let at = row as usize;
        let external = trace.args.identifier(&trace.strings, events.args(at), ArgKey::ExternalId);
        (events.start.at(at), external, Reverse(events.dur.at(at)), row)
    };
    let mut sequences = Vec::new();
    for rows in tracks {
        let mut places: Vec<_> = rows.into_iter().map(place).collect();
        sort::ascending(&mut places);
        let mut sequence = CallSequence::default();
        for row in places.into_iter().map(|(.., row)| row as usize) {
            let (name, is_annotation) = (names.name(events.name.at(row)), events.kind[row] == EventKind::Annotation);
            // Some files have a range twice: as an annotation and as an operator, or as two
            // annotations.
            let is_twin = |at: &usize| {
                let twin = sequence.rows[*at] as usize;
                (is_annotation || sequence.is_annotation[*at])
                    && (sequence.names[*at], events.dur.at(twin)) == (name, events.dur.at(row))
            };
            let starts_here = |at: &usize| events.start.at(sequence.rows[*at] as usize) == events.start.at(row);
            if !(0..sequence.rows.len()).rev().take(MAX_TWINS).take_while(starts_here).any(|at| is_twin(&at)) {
                sequence.push(row as u32, name, is_annotation);
            }
        }
        sequences.push(sequence);
    }
    sort::by_key(&mut sequences, |sequence| sequence.rows.first().map(|row| events.start.at(*row as usize)));
    longest(sequences)
}

/// The longest sequences, in the order they were in.
fn longest(sequences: Vec<CallSequence>) -> Vec<CallSequence> {
    let mut sizes: Vec<_> = sequences.iter().map(|sequence| sequence.rows.len()).collect();
    sort::by_key(&mut sizes, |size| Reverse(*size));
    let least = sizes.get(MAX_THREADS - 1).copied().unwrap_or(0).max(1);
    sequences.into_iter().filter(|sequence| sequence.rows.len() >= least).take(MAX_THREADS).collect()
}

/// Pairs of sequences that have the most names in common, each in one pair at most.
fn matched(nodes: &[CallSequence], events: &[CallSequence]) -> Vec<(usize, usize)> {
    let [node_counts, event_counts] = [nodes, events].map(|side| side.iter().map(counts).collect::<Vec<_>>());
    let mut pairs = Vec::new();
    for (node, of_node) in node_counts.iter().enumerate() {
        for (event, of_event) in event_counts.iter().enumerate() {
            let (few, many) = if of_node.len() < of_event.len() { (of_node, of_event) } else { (of_event, of_node) };
            let common: u32 = few.iter().map(|(name, count)| *many.get(name).unwrap_or(&0).min(count)).sum();
            let difference = nodes[node].rows.len().abs_diff(events[event].rows.len());
            // Threads that nothing tells apart are taken in the order in which they began.
            pairs.push((Reverse(common), difference, node, event));
        }
    }
    pairs.retain(|(Reverse(common), ..)| *common > 0);
    sort::ascending(&mut pairs);
    let (mut taken_nodes, mut taken_events) = (FxHashSet::default(), FxHashSet::default());
    let mut chosen = Vec::new();
    for (.., node, event) in pairs {
        if !taken_nodes.contains(&node) && !taken_events.contains(&event) {
            taken_nodes.insert(node);
            taken_events.insert(event);
            chosen.push((node, event));
        }
    }
    chosen
}

fn counts(sequence: &CallSequence) -> FxHashMap<u32, u32> {
    let mut counts = FxHashMap::default();
    for name in &sequence.names {
        *counts.entry(*name).or_insert(0) += 1;
    }
    counts
}
