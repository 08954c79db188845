//! Measures how much a rank worked in each iteration, to compare the stages of a pipeline.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::activity::{Activity, DelayCause};
use crate::analyze::class::{WorkClass, classes};
use crate::analyze::interval::{difference, total_ns, union};
use crate::analyze::options::Options;
use crate::analyze::query::RankQuery;
use crate::analyze::selection::Selection;
use crate::event_kind::EventKind;
use crate::link::{Collective, LinkedTrace};
use crate::time::{TimeRange, Ts};
use crate::trace::collective::CollectivePattern;

/// Asks a rank how much it worked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::analyze) struct StageWorkQuery;

/// The work of a rank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::analyze) struct StageWork {
    /// Whether it has device work; else operators of the host count.
    pub(super) has_device: bool,
    /// Whether devices worked without a record.
    pub(super) has_lost_work: bool,
    /// Iterations by number; those without work are left out.
    pub(super) iterations: Vec<IterationWork>,
}

/// The work of a rank in an iteration, in nanoseconds of its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IterationWork {
    /// The number; `None` for work outside of iterations.
    pub(super) number: Option<i64>,
    /// The first start of work other than messages between two ranks.
    pub(super) start_ns: i64,
    /// The last end of it.
    pub(super) end_ns: i64,
    /// Time with such work running.
    pub(super) busy_ns: i64,
    /// Time with computation or copies running.
    pub(super) compute_ns: i64,
    /// Time since the start of the iteration in which the devices had nothing to do until the host
    /// launched it.
    pub(super) host_ns: i64,
}

impl RankQuery for StageWorkQuery {
    const NAME: &'static str = "stage_work";

    type Reply = StageWork;

    fn respond(self, selection: &Selection<'_>, _: &Options) -> StageWork {
        StageWork::of(selection)
    }
}

/// Times of work: of any but messages between two ranks, and of computation.
#[derive(Default)]
struct WorkTimes {
    any: Vec<TimeRange>,
    compute: Vec<TimeRange>,
}

impl StageWork {
    pub(super) fn of(part: &Selection<'_>) -> Self {
        let on_device = device_times(part);
        let has_device = !on_device.is_empty();
        let times = if has_device { on_device } else { host_times(part) };
        let activity = if has_device { Activity::of(part) } else { Activity::default() };
        let messages = message_times(part);
        let mut before = None;
        let iterations = times.into_iter().filter_map(|(number, times)| {
            let (any, compute) = (union(times.any), union(times.compute));
            let span = TimeRange { start: any.first()?.start, end: any.last()?.end };
            // A slow start of an iteration is no work of the one before, which may still run.
            let start = start_of(part.linked, number).map(|start| start.max(before.unwrap_or(start)));
            let own = TimeRange { start: start.unwrap_or(span.start).min(span.start), end: span.end };
            before = Some(span.end);
            Some(IterationWork {
                number,
                start_ns: span.start.0,
                end_ns: span.end.0,
                busy_ns: total_ns(&any),
                compute_ns: total_ns(&compute),
                host_ns: total_ns(&difference(&activity.ranges(DelayCause::Host, own), &messages)),
            })
        });
        Self { has_device, has_lost_work: part.has_lost_work(), iterations: iterations.collect() }
    }
}

/// When an iteration began.
fn start_of(linked: &LinkedTrace, number: Option<i64>) -> Option<Ts> {
    let iterations = &linked.links.iterations;
    Some(iterations.iter().find(|iteration| Some(iteration.number) == number)?.start)
}

/// Times of messages: a host that waits for one on a backend's thread does not delay its device.
fn message_times(part: &Selection<'_>) -> Vec<TimeRange> {
    let messages = part.linked.collectives().rows.iter().filter(|row| is_message(row));
    union(messages.filter_map(|row| row.time(&part.linked.trace)).collect())
}

fn is_message(row: &Collective) -> bool {
    row.pattern.is_some_and(CollectivePattern::is_p2p)
}

fn device_times(part: &Selection<'_>) -> BTreeMap<Option<i64>, WorkTimes> {
    let linked = part.linked;
    let messages = linked.collectives().rows.iter().filter(|row| is_message(row));
    let messages: FxHashSet<u32> = messages.flat_map(|row| row.device_events.iter().copied()).collect();
    let classes = classes(linked);
    let mut found: BTreeMap<Option<i64>, WorkTimes> = BTreeMap::new();
    for row in part.device_work().filter(|row| !messages.contains(&(*row as u32))) {
        let times = found.entry(linked.iteration_number(row)).or_default();
        times.any.push(part.time(row));
        if classes[row] != WorkClass::Communication {
            times.compute.push(part.time(row));
        }
    }
    found
}

/// Operators of the host, without the calls that communicate or wait.
fn host_times(part: &Selection<'_>) -> BTreeMap<Option<i64>, WorkTimes> {
    let linked = part.linked;
    let found = linked.collectives();
    let calls = || found.rows.iter().chain(found.waits.iter().map(|wait| &wait.call));
    let runs: FxHashSet<u32> = calls().flat_map(Collective::runs).collect();
    let called = union(calls().filter_map(|row| row.event).map(|row| part.time(row as usize)).collect());
    let kinds = &linked.trace.events.kind;
    let mut times: BTreeMap<Option<i64>, WorkTimes> = BTreeMap::new();
    for row in part.rows().filter(|row| kinds[*row] == EventKind::Operator && !runs.contains(&(*row as u32))) {
        times.entry(linked.iteration_number(row)).or_default().compute.push(part.time(row));
    }
    for times in times.values_mut() {
        times.compute = difference(&union(std::mem::take(&mut times.compute)), &called);
        times.any.clone_from(&times.compute);
    }
    times.retain(|_, times| times.any.iter().any(|time| time.start < time.end));
    times
}

impl IterationWork {
    /// Its time on a clock that is `ahead_ns` behind its own.
    pub(super) fn span(&self, ahead_ns: i64) -> TimeRange {
        let moved = |ns: i64| Ts(ns.saturating_sub(ahead_ns));
        TimeRange { start: moved(self.start_ns), end: moved(self.end_ns) }
    }
}
