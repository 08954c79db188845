//! Gives each row of a merged file to a rank.

use rustc_hash::{FxHashMap, FxHashSet};

use super::linked_trace::LinkedTrace;
use super::row_labels::LabelledRow;
use crate::id::{StrId, TrackId};
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// With more elements times ranks, metadata of several ranks is with the first.
const MAX_REPEATS: usize = 1 << 24;

/// No rank is known yet.
const UNKNOWN: u32 = u32::MAX;

/// The rows of each rank, by its index: ascending in each list.
#[derive(Debug, Clone, Default)]
pub struct RankRows {
    /// Events.
    pub events: Vec<Vec<u32>>,
    /// Points in time.
    pub instants: Vec<Vec<u32>>,
    /// Values over time.
    pub counters: Vec<Vec<u32>>,
    /// Ends of flows.
    pub flows: Vec<Vec<u32>>,
    /// Metadata elements; one may concern several ranks.
    pub metadata: Vec<Vec<u32>>,
    /// Positions of rows that no rank is known for: they are with the first.
    pub unplaced: Vec<u32>,
}

impl RankRows {
    /// Asks `of_row` for the rank of a row, which may be on a device. Where it does not know, the
    /// rank is that of the launch, of the place in the file, of the track, or of the process.
    pub(super) fn of(
        linked: &LinkedTrace,
        num_ranks: usize,
        of_row: &dyn Fn(LabelledRow, bool) -> Option<u32>,
    ) -> Self {
        let trace = &linked.trace;
        let mut events = direct(trace, of_row);
        follow_launches(linked, &mut events);
        let metadata: Vec<u32> = trace
            .metadata
            .iter()
            .map(|row| of_row((row.process, row.name, row.args), false).unwrap_or(UNKNOWN))
            .collect();
        let places = RankPlaces::of(trace, num_ranks, &events, &metadata);
        let mut rows = Self::default();
        let mut place = |known: u32, position: u32, track: TrackId| {
            let known = Some(known).filter(|rank| *rank != UNKNOWN);
            known.or_else(|| places.rank(trace, position, track)).unwrap_or_else(|| {
                rows.unplaced.push(position);
                0
            })
        };
        let lists = |ranks: &[u32]| by_rank(ranks, num_ranks);
        let known = |name, args, track: TrackId| {
            let Some(track) = trace.tracks.get(track.index()) else { return UNKNOWN };
            of_row((track.process, name, args), track.stream.is_some()).unwrap_or(UNKNOWN)
        };
        for (row, rank) in events.iter_mut().enumerate() {
            *rank = place(*rank, trace.events.position.at(row), trace.events.track.at(row));
        }
        let started = places.shared_starts(trace, &events);
        let instants: Vec<u32> = trace
            .instants
            .iter()
            .map(|row| place(known(row.name, row.args, row.track), row.position, row.track))
            .collect();
        let counters: Vec<u32> = trace
            .counters
            .iter()
            .map(|row| place(known(row.name, row.args, row.track), row.position, row.track))
            .collect();
        let flows: Vec<u32> = trace
            .flows
            .iter()
            .map(|row| {
                let started = started.get(&(row.track, row.time)).copied().unwrap_or(UNKNOWN);
                let known = known(row.name, row.args, row.track);
                place(if known == UNKNOWN { started } else { known }, row.position, row.track)
            })
            .collect();
        rows.events = lists(&events);
        rows.instants = lists(&instants);
        rows.counters = lists(&counters);
        rows.flows = lists(&flows);
        rows.metadata = places.metadata(trace, &metadata, num_ranks);
        sort::ascending(&mut rows.unplaced);
        rows
    }
}

/// The ranks that rows name themselves.
fn direct(trace: &Trace, of_row: &dyn Fn(LabelledRow, bool) -> Option<u32>) -> Vec<u32> {
    let events = &trace.events;
    let rank = |row: usize| {
        let track = trace.track(events.track.at(row));
        of_row((track.process, events.name.at(row), events.args(row)), track.stream.is_some()).unwrap_or(UNKNOWN)
    };
    (0..events.len()).map(rank).collect()
}

/// Gives device events the rank of the process that they state, or else of their launch.
fn follow_launches(linked: &LinkedTrace, ranks: &mut [u32]) {
    let trace = &linked.trace;
    let mut processes: FxHashMap<i64, u32> = FxHashMap::default();
    let mut last = None;
    for (row, rank) in ranks.iter().enumerate().filter(|(_, rank)| **rank != UNKNOWN) {
        let track = trace.events.track.at(row);
        if last.replace(track) != Some(track)
            && !trace.is_on_device(row)
            && let Ok(number) = trace.strings.text(trace.process_of(row)).parse()
        {
            processes.insert(number, *rank);
        }
    }
    for row in (0..ranks.len()).filter(|row| trace.is_on_device(*row)) {
        if ranks[row] != UNKNOWN {
            continue;
        }
        let stated = trace.args.integer(&trace.strings, trace.events.args(row), ArgKey::ProcessId);
        let stated = stated.and_then(|number| processes.get(&number).copied());
        let launch = || linked.links.launch.get(row).map(|launch| ranks[launch as usize]);
        ranks[row] = stated.or_else(launch).unwrap_or(UNKNOWN);
    }
}

/// The ranks of tracks, of processes, and of places in the file.
struct RankPlaces {
    /// By track: its ranks, sorted.
    of_track: Vec<Vec<u32>>,
    of_process: FxHashMap<StrId, Vec<u32>>,
    /// First positions of ranks that follow one another, sorted; empty if they are mixed.
    blocks: Vec<(u32, u32)>,
}

impl RankPlaces {
    fn of(trace: &Trace, num_ranks: usize, events: &[u32], metadata: &[u32]) -> Self {
        let mut of_track: Vec<Vec<u32>> = vec![Vec::new(); trace.tracks.len()];
        let mut seen: FxHashSet<(TrackId, u32)> = FxHashSet::default();
        for (track, rank) in trace.events.track.iter().zip(events).filter(|(_, rank)| **rank != UNKNOWN) {
            if of_track[track.index()].last() != Some(rank) && seen.insert((track, *rank)) {
                of_track[track.index()].push(*rank);
            }
        }
        let mut of_process: FxHashMap<StrId, Vec<u32>> = FxHashMap::default();
        for (track, ranks) in trace.tracks.iter().zip(&mut of_track) {
            sort::ascending(ranks);
            of_process.entry(track.process).or_default().extend(ranks.iter());
        }
        for ranks in of_process.values_mut() {
            sort::ascending(ranks);
            ranks.dedup();
        }
        Self { of_track, of_process, blocks: blocks(trace, num_ranks, events, metadata) }
    }

    fn rank(&self, trace: &Trace, position: u32, track: TrackId) -> Option<u32> {
        let of_block = self.of_block(position);
        let of_track = || self.of_track.get(track.index()).and_then(|ranks| only(ranks));
        let process = || trace.tracks.get(track.index()).and_then(|track| self.of_process.get(&track.process));
        of_block.or_else(of_track).or_else(|| only(process()?))
    }

    fn of_block(&self, position: u32) -> Option<u32> {
        let at = self.blocks.partition_point(|(start, _)| *start <= position);
        self.blocks.get(at.saturating_sub(1)).map(|(_, rank)| *rank)
    }

    /// The ranks of events on shared tracks, by their starts, for the flows that end there; unknown
    /// where events of two ranks start at once.
    fn shared_starts(&self, trace: &Trace, events: &[u32]) -> FxHashMap<(TrackId, Ts), u32> {
        let mut starts = FxHashMap::default();
        for (row, rank) in events.iter().enumerate() {
            let track = trace.events.track.at(row);
            if self.of_track[track.index()].len() > 1 {
                let known = starts.entry((track, trace.events.start.at(row))).or_insert(*rank);
                if known != rank {
                    *known = UNKNOWN;
                }
            }
        }
        starts
    }

    /// The metadata of each rank: its own, and that of its processes and threads.
    fn metadata(&self, trace: &Trace, known: &[u32], num_ranks: usize) -> Vec<Vec<u32>> {
        let mut of_thread: FxHashMap<(StrId, StrId), Vec<u32>> = FxHashMap::default();
        for (track, ranks) in trace.tracks.iter().zip(&self.of_track) {
            of_thread.entry((track.process, track.thread)).or_default().extend(ranks.iter());
        }
        let may_repeat = known.len().saturating_mul(num_ranks) <= MAX_REPEATS;
        let mut rows = vec![Vec::new(); num_ranks];
        for (row, known) in known.iter().enumerate() {
            let element = &trace.metadata[row];
            let of_thread = of_thread.get(&(element.process, element.thread)).filter(|ranks| !ranks.is_empty());
            let of_process = self.of_process.get(&element.process).filter(|ranks| !ranks.is_empty());
            let one = Some(*known).filter(|rank| *rank != UNKNOWN).or_else(|| self.of_block(element.position));
            let several = of_thread.or(of_process).map_or(&[0][..], Vec::as_slice);
            let ranks = match &one {
                Some(rank) => std::slice::from_ref(rank),
                None if may_repeat => several,
                None => &several[..1],
            };
            for rank in ranks {
                let list = &mut rows[*rank as usize];
                if list.last() != Some(&(row as u32)) {
                    list.push(row as u32);
                }
            }
        }
        rows
    }
}

fn only(ranks: &[u32]) -> Option<u32> {
    (ranks.len() == 1).then(|| ranks[0])
}

/// The first position of each rank, if the file holds one rank after the other.
fn blocks(trace: &Trace, num_ranks: usize, events: &[u32], metadata: &[u32]) -> Vec<(u32, u32)> {
    let events = trace.events.position.iter().zip(events);
    let metadata = trace.metadata.iter().map(|row| row.position).zip(metadata);
    let known = events.chain(metadata).filter(|(_, rank)| **rank != UNKNOWN);
    let mut known: Vec<(u32, u32)> = known.map(|(position, rank)| (position, *rank)).collect();
    sort::ascending(&mut known);
    known.dedup_by_key(|(_, rank)| *rank);
    if known.len() == num_ranks { known } else { Vec::new() }
}

fn by_rank(ranks: &[u32], num_ranks: usize) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); num_ranks];
    for (row, rank) in ranks.iter().enumerate() {
        rows[*rank as usize].push(row as u32);
    }
    rows
}
