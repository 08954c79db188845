//! The rows that an edit keeps.

use super::rebuild::compact;
use crate::id::TrackId;
use crate::sort;
use crate::trace::Trace;

/// The kept rows: one flag for each row of each table.
#[derive(Debug, Clone)]
pub(super) struct KeptRows {
    pub(super) events: Vec<bool>,
    pub(super) instants: Vec<bool>,
    pub(super) counters: Vec<bool>,
    pub(super) flows: Vec<bool>,
    pub(super) nodes: Vec<bool>,
}

impl KeptRows {
    /// Every row.
    pub(super) fn all(trace: &Trace) -> Self {
        Self {
            events: vec![true; trace.events.len()],
            instants: vec![true; trace.instants.len()],
            counters: vec![true; trace.counters.len()],
            flows: vec![true; trace.flows.len()],
            nodes: vec![true; trace.nodes.len()],
        }
    }

    /// The trace with these rows, the whole header and all tracks; ids stay.
    pub(super) fn of(&self, trace: &Trace) -> Trace {
        compact(self.rows_of(trace))
    }

    /// The same, with all texts that the trace had.
    pub(super) fn rows_of(&self, trace: &Trace) -> Trace {
        Trace {
            strings: trace.strings.clone(),
            args: trace.args.clone(),
            header: trace.header.clone(),
            execution_header: trace.execution_header.clone(),
            tracks: trace.tracks.clone(),
            processes: trace.processes.clone(),
            events: trace.events.picked((0..self.events.len()).filter(|row| self.events[*row])),
            instants: kept(&trace.instants, &self.instants),
            counters: kept(&trace.counters, &self.counters),
            flows: kept(&trace.flows, &self.flows),
            metadata: trace.metadata.clone(),
            nodes: kept(&trace.nodes, &self.nodes),
            base_ns: trace.base_ns,
            has_coarse_times: trace.has_coarse_times,
            warnings: trace.warnings.clone(),
        }
    }
}

fn kept<T: Clone>(rows: &[T], flags: &[bool]) -> Vec<T> {
    rows.iter().zip(flags).filter(|(_, is_kept)| **is_kept).map(|(row, _)| row.clone()).collect()
}

/// How many rows stay.
pub(super) fn count(flags: &[bool]) -> usize {
    flags.iter().filter(|flag| **flag).count()
}

/// Numbers all elements anew, in their order, as a file of them alone would; the ids that they had,
/// by those that they have.
pub(super) fn renumber(trace: &mut Trace) -> Vec<u32> {
    let mut ids: Vec<u32> = trace.events.position.iter().collect();
    ids.extend(point_positions(trace).map(|position| *position));
    ids.sort_unstable();
    ids.dedup();
    // Every position is among them.
    let place = |position: u32| ids.partition_point(|id| *id < position) as u32;
    trace.events.position = trace.events.position.iter().map(place).collect();
    point_positions(trace).for_each(|position| *position = place(*position));
    ids
}

/// The positions of all rows but events.
fn point_positions(trace: &mut Trace) -> impl Iterator<Item = &mut u32> {
    let instants = trace.instants.iter_mut().map(|row| &mut row.position);
    let counters = trace.counters.iter_mut().map(|row| &mut row.position);
    let flows = trace.flows.iter_mut().map(|row| &mut row.position);
    let metadata = trace.metadata.iter_mut().map(|row| &mut row.position);
    instants.chain(counters).chain(flows).chain(metadata)
}

/// Leaves out tracks that nothing is on, and puts the others in the order of first sight, as a file
/// of these rows would.
pub(super) fn sort_tracks(trace: &mut Trace) {
    let mut first: Vec<Option<u32>> = vec![None; trace.tracks.len()];
    let mut see = |track: TrackId, position: u32| {
        let place = &mut first[track.index()];
        *place = Some(place.map_or(position, |first| first.min(position)));
    };
    trace.events.track.iter().zip(trace.events.position.iter()).for_each(|(track, position)| see(track, position));
    trace.instants.iter().for_each(|row| see(row.track, row.position));
    trace.counters.iter().for_each(|row| see(row.track, row.position));
    // Tracks of flows alone are found when all else was read.
    let after = u32::MAX / 2;
    trace.flows.iter().for_each(|row| see(row.track, after.saturating_add(row.position)));
    let mut order: Vec<(u32, usize)> =
        first.iter().enumerate().filter_map(|(at, first)| Some(((*first)?, at))).collect();
    sort::ascending(&mut order);
    let mut places = vec![TrackId(0); trace.tracks.len()];
    for (place, (_, at)) in order.iter().enumerate() {
        places[*at] = TrackId::from(place);
    }
    trace.tracks = order.iter().map(|(_, at)| trace.tracks[*at].clone()).collect();
    trace.events.track.map(|track| places[track.index()]);
    trace.instants.iter_mut().for_each(|row| row.track = places[row.track.index()]);
    trace.counters.iter_mut().for_each(|row| row.track = places[row.track.index()]);
    trace.flows.iter_mut().for_each(|row| row.track = places[row.track.index()]);
}
