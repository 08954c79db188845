//! Splits a merged file into the recordings of its ranks, or keeps their devices apart.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use super::edit_log::note;
use super::kept_rows::{renumber, sort_tracks};
use super::rebuild::compact_from;
use super::unknown_rank::disown;
use crate::error::Position;
use crate::id::{StrId, TrackId};
use crate::link::{LinkedTrace, MergedRank, MergedRanks, name_without_rank};
use crate::sort;
use crate::trace::Trace;
use crate::trace::args::plain_text;
use crate::trace::group::{DISTRIBUTED, DISTRIBUTED_OF_RANKS};
use crate::trace::kept_defects;
use crate::trace::track::Process;
use crate::warning::{WarningKind, Warnings};

/// The header with the devices of a file.
const DEVICES: &str = "deviceProperties";
/// Keys of the first that are the same for all ranks of a job.
const SHARED_KEYS: [&str; 2] = ["backend", "world_size"];
/// Names of the edits in the header.
const SPLIT: &str = "split";
const SEPARATE_DEVICES: &str = "separate_devices";

/// A rank of a merged file, as a recording of its own.
#[derive(Debug, Clone)]
pub struct RankTrace {
    /// The rank.
    pub rank: MergedRank,
    /// Its recording. An id in it is the position in the file that `write_chrome` makes of it.
    pub trace: Trace,
    /// The id that each element has in the merged file, by the one that it has now; ascending.
    pub ids: Vec<u32>,
}

/// The recordings of the ranks of a merged file, each with its own rank in its header. Every row of
/// the file is in one of them, and metadata in each that it concerns.
///
/// ```
/// use kinetoscope::edit::split;
/// use kinetoscope::link::MergedRanks;
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "cpu_op", "name": "a", "pid": "[TP00] 7", "tid": 1, "ts": 1, "dur": 2},
///     {"ph": "X", "cat": "cpu_op", "name": "b", "pid": "[TP01] 7", "tid": 1, "ts": 1, "dur": 2}]"#;
/// let linked = LinkedTrace::new(read([Input::new(json)], Limits::default())?);
/// let parts = split(&linked, &MergedRanks::of(&linked).unwrap());
/// assert_eq!((parts[1].trace.rank(), parts[1].trace.event_name(0)), (Some(1), "b"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn split(linked: &LinkedTrace, merged: &MergedRanks) -> Vec<RankTrace> {
    let owner = owner_of_nodes(linked, merged);
    (0..merged.ranks.len()).map(|at| part(linked, merged, at, owner == at)).collect()
}

/// The merged file as one trace in which no two ranks have a device of one number: if they do, all
/// devices are numbered anew, from 0, in the order of ranks. `None` if no number is shared.
pub fn separate_devices(linked: &LinkedTrace, merged: &MergedRanks) -> Option<Trace> {
    let trace = &linked.trace;
    let mut numbers: Vec<(usize, Option<i64>)> = Vec::new();
    for (rank, rows) in merged.rows.events.iter().enumerate() {
        let on_device = rows.iter().filter(|row| trace.is_on_device(**row as usize));
        let devices: FxHashSet<_> = on_device.map(|row| (rank, trace.device(*row as usize))).collect();
        numbers.extend(devices);
    }
    sort::ascending(&mut numbers);
    let distinct: FxHashSet<_> = numbers.iter().map(|(_, device)| *device).collect();
    if distinct.len() == numbers.len() {
        return None;
    }
    let mut out = trace.clone();
    out.events.restore_durs();
    let mut places: FxHashMap<(TrackId, usize), TrackId> = FxHashMap::default();
    let mut taken: FxHashSet<TrackId> = FxHashSet::default();
    for (rank, rows) in merged.rows.events.iter().enumerate() {
        for row in rows.iter().map(|row| *row as usize).filter(|row| trace.is_on_device(*row)) {
            let old = trace.events.track.at(row);
            let new = *places.entry((old, rank)).or_insert_with(|| {
                let mut track = trace.track(old).clone();
                if let Some(stream) = &mut track.stream {
                    let number = numbers.binary_search(&(rank, stream.device)).ok();
                    stream.device = number.map(|number| number as i64);
                }
                // The first rank keeps the place of the track, others share its names.
                let is_first = taken.insert(old);
                if is_first {
                    out.tracks[old.index()] = track;
                    return old;
                }
                out.tracks.push(track);
                TrackId::from(out.tracks.len() - 1)
            });
            out.events.track.set(row, new);
        }
    }
    move_flows(trace, merged, &places, &mut out);
    let renumbered = numbers.iter().enumerate();
    let renumbered: Vec<Value> = renumbered
        .map(|(number, (rank, device))| json!({"rank": merged.ranks[*rank].rank, "device": device, "number": number}))
        .collect();
    note(&mut out, &json!({"edit": SEPARATE_DEVICES, "devices": renumbered}));
    out.warnings.push_many(WarningKind::SharedDeviceNumber, numbers.len() as u64, Position::default);
    Some(out)
}

/// Flows and points of a rank go where its events went.
fn move_flows(trace: &Trace, merged: &MergedRanks, places: &FxHashMap<(TrackId, usize), TrackId>, out: &mut Trace) {
    for rank in 0..merged.ranks.len() {
        let place = |track: TrackId| places.get(&(track, rank)).copied().unwrap_or(track);
        let rows = &merged.rows;
        rows.flows[rank].iter().for_each(|row| {
            out.flows[*row as usize].track = place(trace.flows[*row as usize].track);
        });
        rows.instants[rank].iter().for_each(|row| {
            out.instants[*row as usize].track = place(trace.instants[*row as usize].track);
        });
        rows.counters[rank].iter().for_each(|row| {
            out.counters[*row as usize].track = place(trace.counters[*row as usize].track);
        });
    }
}

/// The index of the rank with most of the Execution Trace's events; the first if there are none.
fn owner_of_nodes(linked: &LinkedTrace, merged: &MergedRanks) -> usize {
    let nodes = &linked.links.nodes;
    let mut has_node = vec![false; linked.trace.events.len()];
    for row in (0..linked.trace.nodes.len()).filter_map(|node| nodes.event_of_node.get(node)) {
        has_node[row as usize] = true;
    }
    let count = |rows: &Vec<u32>| rows.iter().filter(|row| has_node[**row as usize]).count();
    let counts: Vec<usize> = merged.rows.events.iter().map(count).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|count| *count == most).unwrap_or(0)
}

fn part(linked: &LinkedTrace, merged: &MergedRanks, at: usize, has_nodes: bool) -> RankTrace {
    let (trace, rows, rank) = (&linked.trace, &merged.rows, &merged.ranks[at]);
    let metadata = picked(&trace.metadata, &rows.metadata[at]);
    let mut processes: FxHashSet<StrId> = metadata.iter().map(|row| row.process).collect();
    let events = trace.events.picked(rows.events[at].iter().map(|row| *row as usize));
    processes.extend(events.track.iter().map(|track| trace.track(track).process));
    let rows = Trace {
        header: trace.header.clone(),
        execution_header: if has_nodes { trace.execution_header.clone() } else { Vec::new() },
        processes: trace.processes.iter().filter(|row| processes.contains(&row.process)).cloned().collect(),
        events,
        instants: picked(&trace.instants, &rows.instants[at]),
        counters: picked(&trace.counters, &rows.counters[at]),
        flows: picked(&trace.flows, &rows.flows[at]),
        metadata,
        nodes: if has_nodes { trace.nodes.clone() } else { Vec::new() },
        base_ns: trace.base_ns,
        has_coarse_times: trace.has_coarse_times,
        ..Trace::default()
    };
    let mut part = compact_from(with_own_tracks(rows, trace), &trace.strings, &trace.args);
    let ids = renumber(&mut part);
    if merged.has_labelled_names {
        restore_names(&mut part);
    }
    if at == 0 {
        disown(&mut part, &unplaced_work(linked, merged));
    }
    sort_tracks(&mut part);
    set_header(&mut part, merged, rank);
    part.warnings = warnings(trace, merged, at, &ids);
    kept_defects::take_of_rank(&mut part, rank.rank);
    RankTrace { rank: rank.clone(), trace: part, ids }
}

/// Rows of device work of an unknown rank among the events of the first rank.
fn unplaced_work(linked: &LinkedTrace, merged: &MergedRanks) -> Vec<usize> {
    let trace = &linked.trace;
    let is_unknown = |row: usize| {
        trace.is_on_device(row)
            && linked.links.launch.get(row).is_none()
            && merged.rows.unplaced.binary_search(&trace.events.position.at(row)).is_ok()
    };
    let of_first = merged.rows.events[0].iter().enumerate();
    of_first.filter(|(_, row)| is_unknown(**row as usize)).map(|(at, _)| at).collect()
}

/// Gives rows the tracks that they use, and no others.
fn with_own_tracks(mut rows: Trace, trace: &Trace) -> Trace {
    let mut places: FxHashMap<TrackId, TrackId> = FxHashMap::default();
    let mut tracks = Vec::new();
    let mut place = |track: &mut TrackId| {
        *track = *places.entry(*track).or_insert_with(|| {
            tracks.push(trace.track(*track).clone());
            TrackId::from(tracks.len() - 1)
        });
    };
    rows.events.track.map(|mut track| {
        place(&mut track);
        track
    });
    rows.instants.iter_mut().for_each(|row| place(&mut row.track));
    rows.counters.iter_mut().for_each(|row| place(&mut row.track));
    rows.flows.iter_mut().for_each(|row| place(&mut row.track));
    rows.tracks = tracks;
    rows
}

fn picked<T: Clone>(column: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|row| column[*row as usize].clone()).collect()
}

/// Takes the labels from names, and gives processes and threads the names that metadata has then.
fn restore_names(part: &mut Trace) {
    let mut known: FxHashMap<StrId, StrId> = FxHashMap::default();
    let strings = &mut part.strings;
    let mut restore = |name: &mut StrId| {
        *name = *known.entry(*name).or_insert_with(|| {
            let plain = name_without_rank(strings.text(*name)).map(str::to_owned);
            plain.map_or(*name, |plain| strings.intern(&plain))
        });
    };
    part.events.name.map(|mut name| {
        restore(&mut name);
        name
    });
    part.instants.iter_mut().for_each(|row| restore(&mut row.name));
    part.counters.iter_mut().for_each(|row| restore(&mut row.name));
    part.flows.iter_mut().for_each(|row| restore(&mut row.name));
    part.metadata.iter_mut().for_each(|row| restore(&mut row.name));
    let mut tracks: FxHashMap<(StrId, StrId), Vec<usize>> = FxHashMap::default();
    for (at, track) in part.tracks.iter().enumerate() {
        tracks.entry((track.process, track.thread)).or_default().push(at);
    }
    let mut processes: FxHashMap<StrId, usize> = FxHashMap::default();
    for (at, process) in part.processes.iter().enumerate() {
        processes.entry(process.process).or_insert(at);
    }
    // The last name of a thread counts.
    let mut thread_names: FxHashMap<(StrId, StrId), StrId> = FxHashMap::default();
    for at in 0..part.metadata.len() {
        let row = part.metadata[at];
        let value = part.args.pairs(&part.strings, row.args).next().map(|(_, value)| plain_text(&value));
        let Some(value) = value.map(|value| part.strings.intern(&value)) else { continue };
        match part.strings.text(row.name) {
            "thread_name" => {
                thread_names.insert((row.process, row.thread), value);
            }
            name @ ("process_name" | "process_labels") => {
                let is_name = name == "process_name";
                let at = *processes.entry(row.process).or_insert_with(|| {
                    part.processes.push(Process {
                        process: row.process,
                        name: StrId::EMPTY,
                        labels: StrId::EMPTY,
                        sort_index: None,
                    });
                    part.processes.len() - 1
                });
                let process = &mut part.processes[at];
                if is_name {
                    process.name = value;
                } else {
                    process.labels = value;
                }
            }
            _ => {}
        }
    }
    for (thread, name) in thread_names {
        for at in tracks.get(&thread).into_iter().flatten() {
            part.tracks[*at].name = name;
        }
    }
}

/// Puts the rank into the header. Facts that it has of one rank stay with that rank alone.
fn set_header(part: &mut Trace, merged: &MergedRanks, rank: &MergedRank) {
    let own =
        part.header_value(DISTRIBUTED_OF_RANKS).and_then(|mut all| all.get_mut(rank.rank.to_string()).map(Value::take));
    let recorded = match own.or_else(|| part.header_value(DISTRIBUTED)) {
        Some(Value::Object(recorded)) => recorded,
        _ => Map::new(),
    };
    let strings = &part.strings;
    part.header.retain(|(key, _)| strings.text(*key) != DISTRIBUTED_OF_RANKS);
    let is_own = recorded.get("rank").and_then(Value::as_i64) == Some(rank.rank);
    let mut distributed: Map<String, Value> =
        recorded.into_iter().filter(|(key, _)| is_own || SHARED_KEYS.contains(&key.as_str())).collect();
    distributed.insert("rank".to_owned(), rank.rank.into());
    set(part, DISTRIBUTED, &Value::Object(distributed));
    if let Some(Value::Array(mut devices)) = part.header_value(DEVICES) {
        // Mergers append the devices of every rank.
        let mut seen: FxHashSet<String> = FxHashSet::default();
        devices.retain(|device| seen.insert(device.to_string()));
        set(part, DEVICES, &Value::Array(devices));
    }
    let (number, label, origin) = (rank.rank, &rank.label, rank.origin.name());
    let words = json!({
        "edit": SPLIT, "rank": number, "label": label, "rank_from": origin, "num_ranks": merged.ranks.len(),
    });
    note(part, &words);
}

fn set(part: &mut Trace, key: &str, value: &Value) {
    let (key, value) = (part.strings.intern(key), part.strings.intern(&value.to_string()));
    match part.header.iter_mut().find(|(other, _)| *other == key) {
        Some(entry) => entry.1 = value,
        None => part.header.push((key, value)),
    }
}

/// Defects at an event are the rank's that has it; others concern the file, and so each rank.
fn warnings(trace: &Trace, merged: &MergedRanks, at: usize, ids: &[u32]) -> Warnings {
    let mut all = Warnings::default();
    for warning in &trace.warnings {
        let Some(event) = warning.first.event else {
            all.push_many(warning.kind, warning.count, || warning.first.clone());
            continue;
        };
        if let Ok(id) = ids.binary_search(&(event as u32)) {
            let event = Some(id as u64);
            all.push_many(warning.kind, warning.count, || Position { event, ..warning.first.clone() });
        }
    }
    if at == 0 {
        let unplaced = &merged.rows.unplaced;
        let first = unplaced.first().and_then(|position| ids.binary_search(position).ok()).map(|id| id as u64);
        let place = || Position { event: first, ..Position::default() };
        all.push_many(WarningKind::WithoutRank, unplaced.len() as u64, place);
    }
    all
}
