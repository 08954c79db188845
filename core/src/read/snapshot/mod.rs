//! Loads a snapshot (see [`write::snapshot`](crate::write::snapshot)) and checks all of it.

mod arguments;
mod decode;
mod section;
mod texts;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::input::Limits;
use crate::column::{Durs, Handles, Rising, Times};
use crate::error::{Error, ErrorKind, Position};
use crate::id::{StrId, TrackId};
use crate::strings::Strings;
use crate::threads::both;
use crate::time::{Dur, Ts};
use crate::trace::Trace;
use crate::trace::args::ArgsRef;
use crate::trace::event::EventTable;
use crate::trace::flow::{Counter, Flow, FlowId, Instant, Metadata};
use crate::trace::kind::{EventKind, category_kind, is_legacy_operator};
use crate::write::packed::{PackedNumbers, signed};
pub use crate::write::snapshot::MAGIC;
use crate::write::snapshot::{MetadataColumns, PointColumns, SavedWarning, SnapshotColumns, VERSION};
use arguments::LoadedArguments;
use decode::{column, cut, encoded, fault, handles, signed_numbers};
use section::SnapshotSection;
use texts::{expect, expect_texts};

/// The trace of a snapshot.
///
/// # Errors
/// When the bytes are no snapshot of this version, when they contradict themselves, or when a limit
/// is passed.
pub fn read_snapshot(bytes: &[u8], limits: Limits) -> Result<Trace, Error> {
    let body = bytes.strip_prefix(MAGIC).ok_or_else(|| fault("other data"))?;
    let (version, body) = body.split_first().ok_or_else(|| fault("the end of the file"))?;
    if *version != VERSION {
        return Err(fault(&format!("version {version} (write the snapshot again from its trace)")));
    }
    let (columns, body) = SnapshotSection::split(body)?;
    let (starts, body) = SnapshotSection::split(body)?;
    let (arguments, body) = SnapshotSection::split(body)?;
    let (durs, _) = SnapshotSection::split(body)?;
    let num_bytes =
        [columns, starts, arguments, durs].iter().fold(0_u64, |sum, section| sum.saturating_add(section.length));
    if num_bytes > limits.max_bytes {
        let unit = "bytes of decompressed snapshot (raise max_bytes to allow more)";
        return Err(ErrorKind::Limit { unit, limit: limits.max_bytes, position: Position::default() }.into());
    }
    let max_threads = if num_bytes < WORTH_A_THREAD { 1 } else { limits.max_threads };
    let numbers = || Ok::<_, Error>((LoadedArguments::from_section(arguments)?, load_durs(durs)?));
    let (trace, numbers) = both(max_threads, || load_columns(columns, starts), numbers);
    let (arguments, durs) = numbers?;
    complete(trace?, arguments, durs)
}

/// Smaller snapshots, in bytes, are loaded before a second thread would have begun.
const WORTH_A_THREAD: u64 = 1 << 17;

fn load_columns(columns: SnapshotSection<'_>, starts: SnapshotSection<'_>) -> Result<Trace, Error> {
    let (columns, starts) = (columns.text()?, starts.text()?);
    trace_of(encoded(&columns)?, &encoded(&starts)?)
}

fn load_durs(section: SnapshotSection<'_>) -> Result<Durs, Error> {
    let text = section.text()?;
    let durs: PackedNumbers<'_> = encoded(&text)?;
    let durs = durs.unpacked(|dur| Some(Dur(signed(dur).max(0)))).ok_or_else(cut)?;
    Ok(Durs::of(&durs))
}

/// A trace but for its arguments, which rows wait for, and its durations.
fn trace_of(mut columns: SnapshotColumns<'_>, starts: &PackedNumbers<'_>) -> Result<Trace, Error> {
    let mut trace = without_rows(&mut columns)?;
    let events = LoadedPoints::of(&columns.events, starts, &trace, PositionOrder::Strict)?;
    trace.instants = instants(&columns, &trace)?;
    trace.flows = flows(&mut columns, &trace)?;
    trace.counters = counters(&mut columns, &trace)?;
    trace.metadata = metadata(&columns.metadata, &trace)?;
    trace.events = event_table(&events, &trace);
    Ok(trace)
}

/// The trace with its arguments and durations.
fn complete(mut trace: Trace, arguments: LoadedArguments, durs: Durs) -> Result<Trace, Error> {
    let (args, [events, instants, flows, counters, metadata]) = arguments.into_args(&trace.strings)?;
    same_lengths(trace.events.len(), &[events.len(), durs.len()])?;
    same_lengths(trace.instants.len(), &[instants.len()])?;
    same_lengths(trace.flows.len(), &[flows.len()])?;
    same_lengths(trace.counters.len(), &[counters.len()])?;
    same_lengths(trace.metadata.len(), &[metadata.len()])?;
    trace.args = args;
    (trace.events.template, trace.events.values, trace.events.dur) =
        (Handles::of(&events.templates), Rising::of(&events.values), durs);
    trace.instants.iter_mut().zip(instants.iter()).for_each(|(row, args)| row.args = args);
    trace.flows.iter_mut().zip(flows.iter()).for_each(|(row, args)| row.args = args);
    trace.counters.iter_mut().zip(counters.iter()).for_each(|(row, args)| row.args = args);
    trace.metadata.iter_mut().zip(metadata.iter()).for_each(|(row, args)| row.args = args);
    trace.settle_foreign_rows();
    Ok(trace)
}

/// A trace with all that is no row.
fn without_rows(columns: &mut SnapshotColumns<'_>) -> Result<Trace, Error> {
    let mut strings = Strings::default();
    for (at, text) in std::mem::take(&mut columns.strings).iter().enumerate() {
        if strings.intern(text).index() != at {
            return Err(fault("a duplicate string"));
        }
    }
    let mut trace = Trace {
        strings,
        has_coarse_times: columns.has_coarse_times,
        base_ns: columns.base_ns,
        header: std::mem::take(&mut columns.header),
        execution_header: std::mem::take(&mut columns.execution_header),
        tracks: std::mem::take(&mut columns.tracks),
        processes: std::mem::take(&mut columns.processes),
        nodes: std::mem::take(&mut columns.nodes),
        ..Trace::default()
    };
    for SavedWarning { kind, count, file, byte, event } in std::mem::take(&mut columns.warnings) {
        let first = Position { file: file.map(Arc::from), byte, event, node: None };
        trace.warnings.push_many(kind, count, || first);
    }
    expect_texts(&trace)?;
    // A written file has times from this base.
    if trace.base_ns != 0 && trace.header_base_ns() != Some(trace.base_ns) {
        return Err(fault("a base time that the header lacks"));
    }
    Ok(trace)
}

fn check(trace: &Trace, id: StrId) -> Result<StrId, Error> {
    if id.index() < trace.strings.len() { Ok(id) } else { Err(fault("a missing string")) }
}

fn event_table(points: &LoadedPoints, trace: &Trace) -> EventTable {
    let strings = &trace.strings;
    let mut kinds: Vec<Option<EventKind>> = vec![None; strings.len()];
    let kind = |(category, track): (&StrId, &TrackId)| {
        if is_legacy_operator(strings, *category, trace.track(*track).process) {
            return EventKind::Operator;
        }
        *kinds[category.index()].get_or_insert_with(|| category_kind(strings.text(*category)).0)
    };
    EventTable {
        kind: points.categories.iter().zip(&points.tracks).map(kind).collect(),
        position: Rising::of(&points.positions),
        name: Handles::of(&points.names),
        category: Handles::of(&points.categories),
        track: Handles::of(&points.tracks),
        start: Times::of(&points.times),
        ..EventTable::default()
    }
}

fn instants(columns: &SnapshotColumns<'_>, trace: &Trace) -> Result<Vec<Instant>, Error> {
    let points = LoadedPoints::of(&columns.instants, &columns.instant_times, trace, PositionOrder::Strict)?;
    let args = ArgsRef::default();
    let instant =
        |LoadedPoint { position, name, category, track, time }| Instant { position, name, category, track, time, args };
    Ok(points.rows().map(instant).collect())
}

fn flows(columns: &mut SnapshotColumns<'_>, trace: &Trace) -> Result<Vec<Flow>, Error> {
    let points = LoadedPoints::of(&columns.flows, &columns.flow_times, trace, PositionOrder::Strict)?;
    let (phases, ids) = (std::mem::take(&mut columns.flow_phases), signed_numbers(&columns.flow_ids)?);
    same_lengths(points.len(), &[phases.len(), ids.len()])?;
    let names = std::mem::take(&mut columns.flow_names);
    for (row, name) in &names {
        expect("a flow", &[*name], &trace.strings)?;
        if *row as usize >= points.len() {
            return Err(fault("a missing flow id"));
        }
    }
    let names: FxHashMap<u32, StrId> = names.into_iter().collect();
    let (mut last, args) = (0_i64, ArgsRef::default());
    let flow = |(at, ((LoadedPoint { position, name, category, track, time }, phase), difference))| {
        last = last.wrapping_add(difference);
        let id = names.get(&(at as u32)).map_or(FlowId::Number(last as u64), |name| FlowId::Text(*name));
        Flow { position, name, category, track, time, phase, id, args }
    };
    Ok(points.rows().zip(phases).zip(ids).enumerate().map(flow).collect())
}

fn counters(columns: &mut SnapshotColumns<'_>, trace: &Trace) -> Result<Vec<Counter>, Error> {
    let points = LoadedPoints::of(&columns.counters, &columns.counter_times, trace, PositionOrder::Level)?;
    let series = std::mem::take(&mut columns.counter_series);
    same_lengths(points.len(), &[series.len()])?;
    let args = ArgsRef::default();
    let counter = |(LoadedPoint { position, name, track, time, .. }, (series, value))| {
        let series = check(trace, series)?;
        Ok(Counter { position, name, series, track, time, value, args })
    };
    points.rows().zip(series).map(counter).collect()
}

fn metadata(columns: &MetadataColumns<'_>, trace: &Trace) -> Result<Vec<Metadata>, Error> {
    let MetadataColumns { positions, names, places, times } = columns;
    let (positions, names) = (added_up(handles(positions)?, PositionOrder::Strict)?, column(names, StrId)?);
    same_lengths(names.len(), &[positions.len(), places.len(), times.len()])?;
    let row = |row: usize| {
        let (process, thread) = places[row];
        Ok(Metadata {
            position: positions[row],
            name: check(trace, names[row])?,
            process: check(trace, process)?,
            thread: check(trace, thread)?,
            time: times[row].map(Ts),
            args: ArgsRef::default(),
        })
    };
    (0..names.len()).map(row).collect()
}

/// Positions from the differences between them.
fn added_up(differences: Vec<u32>, ascent: PositionOrder) -> Result<Vec<u32>, Error> {
    let is_level = differences.iter().skip(1).any(|step| *step == 0);
    let last = differences.iter().map(|step| u64::from(*step)).sum::<u64>();
    if last > u64::from(u32::MAX) || is_level && ascent == PositionOrder::Strict {
        return Err(fault("unsorted positions"));
    }
    let mut position = 0;
    let add = |step| {
        position += step;
        position
    };
    Ok(differences.into_iter().map(add).collect())
}

/// How positions go from row to row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PositionOrder {
    /// Each is larger than the one before.
    Strict,
    /// Several rows may be of one element.
    Level,
}

fn same_lengths(length: usize, others: &[usize]) -> Result<(), Error> {
    let is_same = others.iter().all(|other| *other == length);
    if is_same { Ok(()) } else { Err(fault("columns of different lengths")) }
}

/// Columns of rows with a position and a time, as in the trace.
struct LoadedPoints {
    positions: Vec<u32>,
    names: Vec<StrId>,
    categories: Vec<StrId>,
    tracks: Vec<TrackId>,
    times: Vec<Ts>,
}

impl LoadedPoints {
    /// Columns with their differences added up and their handles checked.
    fn of(
        columns: &PointColumns<'_>,
        times: &PackedNumbers<'_>,
        trace: &Trace,
        ascent: PositionOrder,
    ) -> Result<Self, Error> {
        let positions = handles(&columns.positions)?;
        let (names, categories) = (column(&columns.names, StrId)?, column(&columns.categories, StrId)?);
        let (tracks, times) = (column(&columns.tracks, TrackId)?, signed_numbers(times)?);
        same_lengths(names.len(), &[positions.len(), categories.len(), tracks.len(), times.len()])?;
        names.iter().chain(&categories).max().map_or(Ok(StrId::EMPTY), |last| check(trace, *last))?;
        let mut last = vec![0_i64; trace.tracks.len()];
        if tracks.iter().any(|track| track.index() >= last.len()) {
            return Err(fault("a missing track"));
        }
        let add = |(difference, track): (i64, &TrackId)| {
            let time = &mut last[track.index()];
            *time = time.wrapping_add(difference);
            Ts(*time)
        };
        let times = times.into_iter().zip(&tracks).map(add).collect();
        Ok(Self { positions: added_up(positions, ascent)?, names, categories, tracks, times })
    }

    fn len(&self) -> usize {
        self.names.len()
    }

    fn rows(&self) -> impl Iterator<Item = LoadedPoint> {
        (0..self.len()).map(|row| LoadedPoint {
            position: self.positions[row],
            name: self.names[row],
            category: self.categories[row],
            track: self.tracks[row],
            time: self.times[row],
        })
    }
}

struct LoadedPoint {
    position: u32,
    name: StrId,
    category: StrId,
    track: TrackId,
    time: Ts,
}
