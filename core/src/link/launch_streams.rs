//! Tells which streams a launch without device events can have enqueued its work on.
//!
//! The file does not say it. But calls of one kind go where others of that kind went: the same
//! operator's, else the thread's. Communication has streams of its own, so other work of the thread
//! tells nothing about its.

use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::enqueued_work::EnqueuedWork;
use super::links::Links;
use crate::id::{StrId, TrackId};
use crate::strings::TextCache;
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// Streams on which lost work can have run.
#[derive(Debug, Clone, Copy)]
pub(super) struct PossibleStreams<'a> {
    pub tracks: &'a BTreeSet<TrackId>,
    /// Whether it cannot have run on another one.
    pub are_all: bool,
}

type StreamsBy<K> = FxHashMap<K, BTreeSet<TrackId>>;

/// The streams of recorded work, by the calls that launched it.
pub(super) struct LaunchStreams<'a> {
    trace: &'a Trace,
    links: &'a Links,
    work: TextCache<'a, Option<EnqueuedWork>>,
    communicates: TextCache<'a, bool>,
    of_owners: StreamsBy<(TrackId, StrId, Option<EnqueuedWork>)>,
    of_named: StreamsBy<(StrId, StrId, Option<EnqueuedWork>)>,
    /// Without communication.
    of_threads: StreamsBy<(TrackId, Option<EnqueuedWork>)>,
    of_whole_threads: StreamsBy<TrackId>,
    of_processes: StreamsBy<StrId>,
    /// Of processes of which no work is known: the streams of the file, if no process launched
    /// their work.
    of_others: BTreeSet<TrackId>,
}

impl<'a> LaunchStreams<'a> {
    /// `communicates` tells names of communications.
    pub(super) fn of(trace: &'a Trace, links: &'a Links, communicates: fn(&str) -> bool) -> Self {
        let strings = &trace.strings;
        let (work, communicates) = (TextCache::new(strings, EnqueuedWork::of), TextCache::new(strings, communicates));
        let mut streams = Self {
            trace,
            links,
            work,
            communicates,
            of_owners: FxHashMap::default(),
            of_named: FxHashMap::default(),
            of_threads: FxHashMap::default(),
            of_whole_threads: FxHashMap::default(),
            of_processes: FxHashMap::default(),
            of_others: BTreeSet::new(),
        };
        for (launch, device) in links.launched.pairs() {
            if trace.events.kind[*device as usize].is_device_work() {
                streams.add(*launch as usize, trace.events.track.at(*device as usize));
            }
        }
        let is_work = |row: &usize| trace.events.kind[*row].is_device_work() && trace.is_on_device(*row);
        if streams.of_processes.is_empty() {
            streams.of_others = (0..trace.events.len()).filter(is_work).map(|row| trace.events.track.at(row)).collect();
        }
        streams
    }

    fn add(&mut self, launch: usize, stream: TrackId) {
        let (thread, process) = (self.trace.events.track.at(launch), self.trace.process_of(launch));
        let work = self.work.of(self.trace.events.name.at(launch));
        let owner = self.owner(launch);
        if let Some((name, _)) = owner {
            insert(&mut self.of_owners, (thread, name, work), stream);
            insert(&mut self.of_named, (process, name, work), stream);
        }
        if !owner.is_some_and(|(_, communicates)| communicates) {
            insert(&mut self.of_threads, (thread, work), stream);
        }
        insert(&mut self.of_whole_threads, thread, stream);
        insert(&mut self.of_processes, process, stream);
    }

    /// The name of the operator or of the communication around a launch, and whether it is the
    /// latter.
    fn owner(&mut self, launch: usize) -> Option<(StrId, bool)> {
        let owner = self.links.operator.get(launch)? as usize;
        let name = self.trace.events.name.at(owner);
        let communicates = self.communicates.of(name);
        (communicates || self.trace.events.kind[owner] == EventKind::Operator).then_some((name, communicates))
    }

    /// Streams on which the work of a launch can have run.
    pub(super) fn possible(&mut self, launch: usize) -> PossibleStreams<'_> {
        let (thread, process) = (self.trace.events.track.at(launch), self.trace.process_of(launch));
        let work = self.work.of(self.trace.events.name.at(launch));
        let owner = self.owner(launch);
        let of_owner = owner.and_then(|(name, _)| {
            let of_thread = self.of_owners.get(&(thread, name, work));
            of_thread.or_else(|| self.of_named.get(&(process, name, work)).filter(|_| self.knows(thread)))
        });
        let communicates = owner.is_some_and(|(_, communicates)| communicates);
        let of_thread = || self.of_threads.get(&(thread, work)).filter(|_| !communicates);
        if let Some(tracks) = of_owner.or_else(of_thread) {
            return PossibleStreams { tracks, are_all: true };
        }
        match self.of_whole_threads.get(&thread) {
            Some(tracks) => PossibleStreams { tracks, are_all: tracks.len() == 1 && !communicates },
            None => {
                let tracks = self.of_processes.get(&process).unwrap_or(&self.of_others);
                PossibleStreams { tracks, are_all: false }
            }
        }
    }

    /// Whether work of a thread is recorded. Another thread may drive another device.
    pub(super) fn knows(&self, thread: TrackId) -> bool {
        self.of_whole_threads.contains_key(&thread)
    }
}

fn insert<K: Hash + Eq>(streams: &mut StreamsBy<K>, key: K, stream: TrackId) {
    streams.entry(key).or_default().insert(stream);
}
