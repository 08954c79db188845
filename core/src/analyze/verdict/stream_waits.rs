//! Checks the waits that a device reports: each names a recorded event, which came before.

use rustc_hash::FxHashMap;

use super::problem::{Problem, VerdictState};
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::strings::TextCache;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::args::plain_text;
use crate::trace::kind::EventKind;
use crate::vendor::{self, DeviceWait};

const LATE: &str = "the clocks of host and device differ, or records were assigned wrongly: do not trust waits";

pub(super) fn problems(linked: &LinkedTrace) -> Vec<Problem> {
    let trace = &linked.trace;
    let waits: Vec<(u32, DeviceWait)> = (0..trace.events.len())
        .filter(|row| trace.events.kind[*row] == EventKind::Sync)
        .filter_map(|row| Some((row as u32, wait(trace, row)?)))
        .collect();
    if waits.is_empty() {
        return Vec::new();
    }
    let records = records(trace);
    let is_for_event = |wait: DeviceWait| matches!(wait, DeviceWait::Event | DeviceWait::StreamForEvent);
    let recorded_by = |row: u32| integer(trace, row as usize, ArgKey::RecordedBy).filter(|id| *id >= 0);
    let for_events: Vec<u32> = waits.iter().filter(|(_, wait)| is_for_event(*wait)).map(|(row, _)| *row).collect();
    let of_streams = waits.iter().filter(|(_, wait)| *wait == DeviceWait::StreamForEvent).map(|(row, _)| *row);
    let (mut unnamed, mut unknown, mut future) = (Vec::new(), Vec::new(), Vec::new());
    unnamed.extend(for_events.iter().copied().filter(|row| recorded_by(*row).is_none()));
    for row in of_streams {
        let Some(id) = recorded_by(row) else { continue };
        match records.get(&id) {
            None => unknown.push(row),
            Some(start) if *start > trace.events.start.at(row as usize) => future.push(row),
            Some(_) => {}
        }
    }
    let of_stream = waits.iter().filter(|(_, wait)| *wait == DeviceWait::Stream).map(|(row, _)| *row);
    let kernels = kernels_by_track(linked);
    let running: Vec<u32> = of_stream.filter(|row| runs(trace, &kernels, *row as usize)).collect();
    let problem = |name, state, rows: &[u32], message: &str, advice| {
        let problem = Problem::new(name, state, rows.len(), message).of_rows(trace, rows).of(waits.len());
        (!rows.is_empty()).then(|| problem.advised(advice))
    };
    [
        problem(
            "work_after_sync",
            VerdictState::Inconsistent,
            &running,
            "kernels still run when a wait for their stream is over",
            LATE,
        ),
        problem(
            "wait_for_later_record",
            VerdictState::Inconsistent,
            &future,
            "waits of a stream name an event that is recorded later",
            LATE,
        ),
        problem(
            "wait_without_record_id",
            VerdictState::Complete,
            &unnamed,
            "waits for an event do not say which call recorded it (wait_on_cuda_event_record_corr_id)",
            "",
        ),
        problem(
            "wait_for_unknown_record",
            VerdictState::Complete,
            &unknown,
            "waits of a stream name a call that is not in the file, as before its start",
            "",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The wait that a sync event reports.
fn wait(trace: &Trace, row: usize) -> Option<DeviceWait> {
    let mut pairs = trace.args.pairs(&trace.strings, trace.events.args(row));
    match pairs.find(|(key, _)| vendor::is_wait_kind(key)) {
        Some((_, json)) => vendor::device_wait(&plain_text(&json)),
        None => vendor::device_wait(trace.event_name(row)),
    }
}

/// When each event was first recorded, by the correlation and the external id of the call.
fn records(trace: &Trace) -> FxHashMap<i64, Ts> {
    let mut is_record = TextCache::new(&trace.strings, vendor::records_event);
    let mut records: FxHashMap<i64, Ts> = FxHashMap::default();
    let calls = trace.events.rows_of(|kind| kind == EventKind::Launch);
    for row in calls.filter(|row| is_record.of(trace.events.name.at(*row))) {
        for id in [ArgKey::Correlation, ArgKey::ExternalId].into_iter().filter_map(|key| integer(trace, row, key)) {
            let first = records.entry(id).or_insert(trace.events.start.at(row));
            *first = trace.events.start.at(row).min(*first);
        }
    }
    records
}

fn integer(trace: &Trace, row: usize, key: ArgKey) -> Option<i64> {
    trace.args.integer(&trace.strings, trace.events.args(row), key)
}

/// The kernels of each track in the order of their starts.
fn kernels_by_track(linked: &LinkedTrace) -> FxHashMap<TrackId, Vec<u32>> {
    let events = &linked.trace.events;
    let mut kernels: FxHashMap<TrackId, Vec<u32>> = FxHashMap::default();
    for row in linked.links.nesting.order.iter().filter(|row| events.kind[**row as usize] == EventKind::Kernel) {
        kernels.entry(events.track.at(*row as usize)).or_default().push(*row);
    }
    kernels
}

/// Whether a kernel of the stream of a wait runs when that begins. The device reports a wait when
/// it is over.
fn runs(trace: &Trace, kernels: &FxHashMap<TrackId, Vec<u32>>, row: usize) -> bool {
    let (events, start) = (&trace.events, trace.events.start.at(row));
    let kernels = kernels.get(&events.track.at(row)).map_or(&[][..], Vec::as_slice);
    let before = kernels.partition_point(|kernel| events.start.at(*kernel as usize) < start);
    // In-order work: of the last kernels, at least one ends last.
    kernels[..before].iter().rev().take(MAX_BEFORE).any(|kernel| events.end(*kernel as usize) > start)
}

/// Kernels before a wait that are looked at.
const MAX_BEFORE: usize = 16;
