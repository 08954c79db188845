//! Reports device work that starts before its launch, with the clock offset that repairs it.

use std::collections::BTreeMap;

use super::problem::{Problem, VerdictState};
use crate::analyze::number_text::duration_text;
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::sort;
use crate::strings::TextCache;
use crate::time::{Dur, Ts};
use crate::trace::kind::EventKind;
use crate::trace::track::Stream;
use crate::vendor;
use crate::warning::WarningKind;

/// The recording is compared in so many parts.
const NUM_PARTS: usize = 4;

/// Offsets of the parts of a recording differ by less without a drift, in nanoseconds.
const STEADY_NS: i64 = 50_000;

/// Offsets of the parts differ by at most this share of the largest without a drift.
const STEADY_SHARE: f64 = 0.1;

/// A stream that was silent for so long had to wait for the launch. Otherwise work waited in the
/// queue, and its start tells nothing about the clocks.
const PAUSE: Dur = Dur(5_000);

/// Device work with its launch.
#[derive(Debug, Clone, Copy)]
struct TimedWork {
    launch: u32,
    device: u32,
    /// From the start of the work to the start of the launch; negative where it comes later.
    lead: i64,
    is_paused: bool,
}

/// A problem for each device, with the smallest offset of its times with which no work starts
/// before its launch, if it can be the same all over the recording.
pub(super) fn problems(linked: &LinkedTrace) -> Vec<Problem> {
    if linked.links.warnings.count(WarningKind::WorkBeforeLaunch) == 0 {
        return Vec::new();
    }
    let mut devices: BTreeMap<Option<i64>, Vec<TimedWork>> = BTreeMap::new();
    for work in timed_work(linked) {
        let track = linked.trace.events.track.at(work.device as usize);
        let device = linked.trace.track(track).stream.and_then(|stream| stream.device);
        devices.entry(device).or_default().push(work);
    }
    let has_several = devices.len() > 1;
    devices.into_iter().filter_map(|(device, work)| problem(linked, device.filter(|_| has_several), &work)).collect()
}

/// In the order of the launches.
fn timed_work(linked: &LinkedTrace) -> Vec<TimedWork> {
    let events = &linked.trace.events;
    let pairs = linked.links.launched.pairs().iter();
    let pairs = pairs.filter(|(_, device)| events.kind[*device as usize].is_device_work());
    let mut by_start: Vec<_> = pairs.copied().collect();
    sort::by_key(&mut by_start, |(_, device)| (events.start.at(*device as usize), *device));
    let mut ends: BTreeMap<TrackId, Ts> = BTreeMap::new();
    let mut all = Vec::with_capacity(by_start.len());
    for (launch, device) in by_start {
        let start = events.start.at(device as usize);
        let end = ends.entry(events.track.at(device as usize)).or_insert(Ts(i64::MIN));
        let is_paused = end.0 == i64::MIN || end.after(PAUSE) <= start;
        *end = events.end(device as usize).max(*end);
        all.push(TimedWork { launch, device, lead: events.start.at(launch as usize).since(start).0, is_paused });
    }
    sort::by_key(&mut all, |work| (events.start.at(work.launch as usize), work.device));
    all
}

fn problem(linked: &LinkedTrace, device: Option<i64>, work: &[TimedWork]) -> Option<Problem> {
    let early = work.iter().filter(|work| linked.lead(work.launch, work.device).is_some());
    let rows: Vec<u32> = early.map(|work| work.device).collect();
    let most = work.iter().map(|work| work.lead).max().filter(|_| !rows.is_empty())?;
    let parts = work.chunks(work.len().div_ceil(NUM_PARTS));
    let of_part = |part: &[TimedWork]| part.iter().filter(|work| work.is_paused).map(|work| work.lead).max();
    let least = parts.filter_map(of_part).min().unwrap_or(most).min(most);
    let is_steady = most - least <= STEADY_NS.min(most) || ((most - least) as f64) <= STEADY_SHARE * most as f64;
    // Of several devices, a wait does not say which one it waits for.
    let bound = if is_steady && device.is_none() { latest_offset(linked, work) } else { None };
    let repair = match (device, bound.filter(|bound| *bound < most)) {
        (None, None) if is_steady => {
            format!("device times plus {} repair it: launches(clock_offset_ns={most})", duration_text(most))
        }
        (Some(device), None) if is_steady => {
            let repair = duration_text(most);
            format!(
                "times of device {device} plus {repair} repair it: launches(clock_device={device}, clock_offset_ns={most})"
            )
        }
        (_, bound) => {
            let [least, most] = [bound.unwrap_or(least).max(0), most].map(duration_text);
            format!("the offset changes from {least} to {most}, so no single one repairs it")
        }
    };
    let message = format!("kernels, copies or fills start before their launch: their delays are unknown ({repair})");
    let problem = Problem::new("work_before_launch", VerdictState::Inconsistent, rows.len(), message);
    let advice = "the clocks of host and device differ: do not compare host with device times more closely than this";
    let stream = device.map(|device| Stream { device: Some(device), stream: None });
    Some(problem.of_rows(&linked.trace, &rows).of(work.len()).on(stream).advised(advice))
}

/// The largest offset with which all work launched before a wait for the device ends before the
/// wait does.
fn latest_offset(linked: &LinkedTrace, work: &[TimedWork]) -> Option<i64> {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let mut is_wait = TextCache::new(&trace.strings, vendor::synchronizes_device);
    let mut waits = Vec::new();
    for row in (0..events.len()).filter(|row| events.kind[*row] == EventKind::Launch && !trace.is_on_device(*row)) {
        if is_wait.of(events.name.at(row)) {
            waits.push((events.start.at(row), events.end(row), trace.process_of(row)));
        }
    }
    sort::ascending(&mut waits);
    let (mut next, mut last, mut offset) = (0, None, None);
    for (start, end, process) in waits {
        while let Some(work) = work.get(next).filter(|work| events.start.at(work.launch as usize) < start) {
            if trace.process_of(work.launch as usize) == process {
                last = last.max(Some(events.end(work.device as usize)));
            }
            next += 1;
        }
        let slack = last.map(|last| end.since(last).0);
        offset = offset.into_iter().chain(slack).min();
    }
    offset
}
