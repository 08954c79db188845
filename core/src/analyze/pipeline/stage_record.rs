//! Lists what a stage of a pipeline did in each iteration: messages and runs of work, in the order
//! of the host's calls.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::analyze::class::{WorkClass, classes};
use crate::analyze::interval::{total_ns, union};
use crate::analyze::options::Options;
use crate::analyze::query::RankQuery;
use crate::analyze::selection::Selection;
use crate::event_kind::EventKind;
use crate::link::{Collective, ENGINE_PREFIX, LinkedTrace};
use crate::sort;
use crate::strings::TextCache;
use crate::time::{TimeRange, Ts};
use crate::trace::collective::CollectivePattern;
use crate::trace::pipeline_action::{PipelineAction, PipelinePass};

/// Annotations of optimizers, whose work is of no micro-batch.
const OPTIMIZER: &str = "Optimizer.";

/// Asks a rank what it did as a stage.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StageRecordQuery;

/// Events of a rank by the number of the iteration; `None` for work outside of iterations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StageRecord {
    pub(super) iterations: Vec<(Option<i64>, Vec<StageEvent>)>,
    /// Whether the file has device work; else operators of the host count.
    pub(super) has_device: bool,
    /// Whether devices worked without a record.
    pub(super) has_lost_work: bool,
}

impl StageRecord {
    /// The same without work outside of iterations.
    pub(super) fn numbered(&self) -> Self {
        let is_numbered = |one: &&(Option<i64>, Vec<StageEvent>)| one.0.is_some();
        Self { iterations: self.iterations.iter().filter(is_numbered).cloned().collect(), ..*self }
    }
}

/// A message, or work between messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StageEvent {
    /// A message to or from another rank.
    Message { is_send: bool, peer: i64 },
    /// Work of one direction.
    Run(StageRun),
}

/// Work of one direction, which no message interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StageRun {
    /// The action that a range around it names.
    pub(super) action: Option<PipelineAction>,
    /// Whether autograd's engine called it.
    pub(super) is_backward: bool,
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    /// Time with such work running.
    pub(super) busy_ns: i64,
}

impl RankQuery for StageRecordQuery {
    const NAME: &'static str = "stage_record";

    type Reply = StageRecord;

    fn respond(self, selection: &Selection<'_>, _: &Options) -> StageRecord {
        StageRecord::of(selection)
    }
}

/// A piece of work: when the host called it, and when it ran.
#[derive(Debug, Clone, Copy)]
struct StageWorkItem {
    called: Ts,
    time: TimeRange,
    is_backward: bool,
    iteration: Option<i64>,
}

/// A range of the host with the name of actions.
#[derive(Debug, Clone)]
struct ActionRange {
    time: TimeRange,
    actions: Vec<PipelineAction>,
}

impl ActionRange {
    fn has_backward(&self) -> bool {
        self.actions.iter().any(|action| action.pass != PipelinePass::Forward)
    }
}

/// A run that grows; runs of one range belong together.
#[derive(Debug)]
struct OpenRun {
    run: StageRun,
    range: Option<usize>,
    times: Vec<TimeRange>,
}

impl StageRecord {
    pub(super) fn of(part: &Selection<'_>) -> Self {
        let mut messages = messages(part);
        if messages.is_empty() {
            return Self::default();
        }
        let mut items = items(part);
        let mut ranges = action_ranges(part);
        if items.iter().any(|item| item.is_backward) && !ranges.iter().any(ActionRange::has_backward) {
            ranges.clear(); // a range of the user's that is named like a forward pass
        }
        sort::by_key(&mut items, |item| item.called);
        sort::by_key(&mut messages, |(called, ..)| *called);
        let mut open: BTreeMap<Option<i64>, StageTimeline> = BTreeMap::new();
        let mut messages = messages.into_iter().peekable();
        for item in items {
            while let Some((_, iteration, message)) = messages.next_if(|(called, ..)| *called <= item.called) {
                open.entry(iteration).or_default().add_message(message);
            }
            let range = ranges.partition_point(|range| range.time.start <= item.called).checked_sub(1);
            let range = range.filter(|at| item.called < ranges[*at].time.end);
            let action = range.and_then(|at| of_direction(&ranges[at].actions, item.is_backward));
            if ranges.is_empty() || action.is_some() {
                open.entry(item.iteration).or_default().add_work(&item, range, action);
            }
        }
        for (_, iteration, message) in messages {
            open.entry(iteration).or_default().add_message(message);
        }
        Self {
            iterations: open.into_iter().map(|(number, timeline)| (number, timeline.finished())).collect(),
            has_device: part.device_work().next().is_some(),
            has_lost_work: part.has_lost_work(),
        }
    }
}

/// The events of one iteration so far.
#[derive(Debug, Default)]
struct StageTimeline {
    events: Vec<StageEvent>,
    open: Option<OpenRun>,
}

impl StageTimeline {
    fn add_message(&mut self, message: StageEvent) {
        // A range that names its action may send between two parts of its work.
        if self.open.as_ref().is_some_and(|open| open.range.is_none()) {
            self.close();
        }
        self.events.push(message);
    }

    fn add_work(&mut self, item: &StageWorkItem, range: Option<usize>, action: Option<PipelineAction>) {
        let is_same = |open: &OpenRun| {
            let is_named = range.is_some() && open.run.action == action;
            open.range == range && (is_named || open.run.is_backward == item.is_backward)
        };
        match self.open.as_mut().filter(|open| is_same(open)) {
            Some(open) => open.times.push(item.time),
            None => {
                self.close();
                let run = StageRun { action, is_backward: item.is_backward, start_ns: 0, end_ns: 0, busy_ns: 0 };
                self.open = Some(OpenRun { run, range, times: vec![item.time] });
            }
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let times = union(open.times);
        let (Some(first), Some(last)) = (times.first(), times.last()) else { return };
        self.events.push(StageEvent::Run(StageRun {
            start_ns: first.start.0,
            end_ns: last.end.0,
            busy_ns: total_ns(&times),
            ..open.run
        }));
    }

    fn finished(mut self) -> Vec<StageEvent> {
        self.close();
        self.events
    }
}

/// The action that work of a direction belongs to: the only one, or that of two in its direction.
/// A forward pass has no work of autograd's engine; a backward pass may compute forward again.
fn of_direction(actions: &[PipelineAction], is_backward: bool) -> Option<PipelineAction> {
    match actions {
        [action] => Some(*action).filter(|action| action.pass != PipelinePass::Forward || !is_backward),
        several => several.iter().find(|action| (action.pass != PipelinePass::Forward) == is_backward).copied(),
    }
}

/// Messages with the times of their calls.
fn messages(part: &Selection<'_>) -> Vec<(Ts, Option<i64>, StageEvent)> {
    let events = &part.linked.trace.events;
    let rows = part.linked.collectives().rows.iter();
    let of_row = |row: &Collective| {
        let is_send = row.pattern == Some(CollectivePattern::Send);
        let event = row.first_event()? as usize;
        let peer = if is_send { row.dst_rank } else { row.src_rank };
        let called = events.start.at(event);
        Some((called, part.linked.iteration_number(event), StageEvent::Message { is_send, peer: peer? }))
    };
    let is_wanted = |row: &&Collective| {
        let is_inside = row.first_event().is_some_and(|event| part.begins_inside(event as usize));
        row.pattern.is_some_and(CollectivePattern::is_p2p) && (part.parts().is_none() || is_inside)
    };
    rows.filter(is_wanted).filter_map(of_row).collect()
}

/// Ranges of the host that name actions, by start. One inside another is left out.
fn action_ranges(part: &Selection<'_>) -> Vec<ActionRange> {
    let trace = &part.linked.trace;
    let is_range = |row: &usize| trace.events.kind[*row] == EventKind::Annotation && !trace.is_on_device(*row);
    let of_row = |row: usize| {
        let actions = PipelineAction::all_of(trace.event_name(row));
        let time = TimeRange { start: trace.events.start.at(row), end: trace.events.end(row) };
        (!actions.is_empty()).then_some(ActionRange { time, actions })
    };
    let mut ranges: Vec<ActionRange> = part.rows().filter(is_range).filter_map(of_row).collect();
    sort::by_key(&mut ranges, |range| (range.time.start, std::cmp::Reverse(range.time.end)));
    let mut end = Ts(i64::MIN);
    ranges.retain(|range| {
        let is_after = range.time.start >= end;
        end = end.max(range.time.end);
        is_after
    });
    ranges
}

/// Work of the devices without communication; operators of the host where no device worked. None
/// where all work of the devices is lost.
fn items(part: &Selection<'_>) -> Vec<StageWorkItem> {
    let (linked, trace) = (part.linked, &part.linked.trace);
    let nesting = &linked.links.nesting;
    let mut of_engine = TextCache::new(&trace.strings, |name| name.starts_with(ENGINE_PREFIX));
    let is_engine: Vec<bool> = trace.events.name.iter().map(|name| of_engine.of(name)).collect();
    let engine = nesting.innermost(|row| is_engine[row]);
    let mut of_optimizer = TextCache::new(&trace.strings, |name| name.starts_with(OPTIMIZER));
    let is_optimizer: Vec<bool> = trace.events.name.iter().map(|name| of_optimizer.of(name)).collect();
    let optimizer = nesting.innermost(|row| is_optimizer[row]);
    let item = |row: usize, called: usize| StageWorkItem {
        called: trace.events.start.at(called),
        time: part.time(row),
        is_backward: is_engine[called] || engine.get(called).is_some(),
        iteration: linked.iteration_number(row),
    };
    let is_of_batch = |called: usize| optimizer.get(called).is_none();
    if part.device_work().next().is_some() {
        let classes = classes(linked);
        let launched = |row: usize| Some((row, linked.links.launch.get(row)? as usize));
        let works = part.device_work().filter(|row| classes[*row] != WorkClass::Communication);
        let works = works.filter_map(launched).filter(|(_, called)| is_of_batch(*called));
        return works.map(|(row, called)| item(row, called)).collect();
    }
    if part.has_lost_work() {
        return Vec::new();
    }
    let is_operator = |row: usize| trace.events.kind[row] == EventKind::Operator;
    let around = nesting.innermost(is_operator);
    let calls = calls(linked, &is_operator);
    let rows = part.rows().filter(|row| is_operator(*row) && around.get(*row).is_none() && !calls.contains(row));
    rows.filter(|row| is_of_batch(*row)).map(|row| item(row, row)).collect()
}

/// The outermost operators of calls that communicate or wait.
fn calls(linked: &LinkedTrace, is_operator: &dyn Fn(usize) -> bool) -> FxHashSet<usize> {
    let found = linked.collectives();
    let calls = found.rows.iter().chain(found.waits.iter().map(|wait| &wait.call));
    let events = calls.flat_map(|call| call.event.into_iter().chain(call.runs()));
    let parent = &linked.links.nesting.parent;
    let outermost = |event: u32| {
        let around = std::iter::successors(Some(event), |row| parent.get(*row as usize));
        around.filter(|row| is_operator(*row as usize)).last().map(|row| row as usize)
    };
    events.filter_map(outermost).collect()
}
