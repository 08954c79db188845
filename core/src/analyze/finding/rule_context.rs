//! Shares the inputs of all rules, computed once.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::super::class::{WorkClass, classes};
use super::super::idle::{IdleCause, IdleGap, KERNEL_WAIT_NS, gaps};
use super::super::interval::{clip, difference, union, within};
use super::super::number_text::plural;
use super::super::selection::Selection;
use super::devices::DeviceBusyTimes;
use super::rule_match::{RuleMatch, by_subject};
use crate::column::OptionalColumn;
use crate::id::{StrId, TemplateId};
use crate::link::{LinkedTrace, Links};
use crate::operator_name::base_name;
use crate::sort;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// The selected part of the trace.
pub(super) struct RuleContext<'a> {
    pub(super) selection: &'a Selection<'a>,
    pub(super) linked: &'a LinkedTrace,
    pub(super) trace: &'a Trace,
    pub(super) links: &'a Links,
    pub(super) span: TimeRange,
    pub(super) span_ns: i64,
    pub(super) classes: Vec<WorkClass>,
    /// When devices did any work, or may have run lost work: no finding rests on such times.
    pub(super) busy: DeviceBusyTimes,
    /// When devices computed.
    pub(super) computing: DeviceBusyTimes,
    /// Rows of host events, by name.
    rows: FxHashMap<StrId, Vec<u32>>,
    /// When the first event of each name began, in the whole trace.
    firsts: FxHashMap<StrId, Ts>,
    /// When the first device work began, in the whole trace.
    first_work: Option<Ts>,
    gaps: OnceCell<Vec<IdleGap>>,
}

impl<'a> RuleContext<'a> {
    pub(super) fn new(selection: &'a Selection<'a>) -> Self {
        let linked = selection.linked;
        let classes = classes(linked);
        let time = |row: usize| (linked.trace.device(row), selection.time(row));
        let work: Vec<usize> = selection.work_beside().collect();
        let computing = work.iter().copied().filter(|row| classes[*row] == WorkClass::Computation).map(time);
        let span = selection.span();
        let lost = linked
            .lost_work()
            .devices()
            .flat_map(|(device, ranges)| within(ranges, span).into_iter().map(move |range| (device, range)));
        let outside = outside(selection);
        let rows = rows_by_name(selection);
        Self {
            firsts: firsts(&linked.trace),
            first_work: first_work(&linked.trace),
            gaps: OnceCell::new(),
            busy: DeviceBusyTimes::of(work.iter().copied().map(time).chain(lost).chain(outside)),
            computing: DeviceBusyTimes::of(computing),
            rows,
            selection,
            linked,
            trace: &linked.trace,
            links: &linked.links,
            span,
            span_ns: selection.len_ns(),
            classes,
        }
    }

    /// Rows of the host events with a matching name, ascending. Names of operators come without
    /// their overloads.
    pub(super) fn named(&self, is_it: impl Fn(&str) -> bool) -> Vec<u32> {
        let names = self.rows.iter().filter(|(name, _)| is_it(base_name(self.trace.strings.text(**name))));
        let mut rows: Vec<u32> = names.flat_map(|(_, rows)| rows.iter().copied()).collect();
        sort::ascending(&mut rows);
        rows
    }

    /// Those of rows that are inside of no other of them.
    pub(super) fn outermost(&self, rows: Vec<u32>) -> Vec<u32> {
        if rows.is_empty() {
            return rows;
        }
        let around = self.around(&rows);
        rows.into_iter().filter(|row| around.get(*row as usize).is_none()).collect()
    }

    /// The innermost of the rows, which ascend, around each event.
    pub(super) fn around(&self, rows: &[u32]) -> OptionalColumn {
        self.links.nesting.innermost(|row| rows.binary_search(&(row as u32)).is_ok())
    }

    /// Name of an event.
    pub(super) fn name(&self, row: u32) -> &'a str {
        self.trace.event_name(row as usize)
    }

    /// The line of Python of a frame; the name of any other event.
    pub(super) fn subject(&self, row: usize) -> &'a str {
        let is_frame = self.trace.events.kind[row] == EventKind::Python;
        let line = self.linked.frames().line.get(row).filter(|_| is_frame);
        self.name(line.unwrap_or(row as u32))
    }

    /// Name of an operator without its overload.
    pub(super) fn operator(&self, row: u32) -> &'a str {
        base_name(self.name(row))
    }

    /// The time of an event, clipped to the selection.
    pub(super) fn time(&self, row: u32) -> TimeRange {
        self.selection.time(row as usize)
    }

    /// Whether there is any device work.
    pub(super) fn has_device(&self) -> bool {
        !self.busy.any.ranges().is_empty()
    }

    /// All gaps between the work of each stream.
    pub(super) fn gaps(&self) -> &[IdleGap] {
        self.gaps.get_or_init(|| gaps(self.selection, KERNEL_WAIT_NS))
    }

    /// Launches that came late, each with the time that a stream waited for it inside an iteration.
    /// Time between two iterations is left out, as a rule of its own looks at it.
    pub(super) fn late_launches(&self) -> impl Iterator<Item = (u32, TimeRange)> + '_ {
        self.gaps().iter().filter(|gap| gap.wait == IdleCause::Host).filter_map(|gap| {
            let launch = gap.launch?;
            let iteration = self.links.iteration.get(launch as usize);
            let is_inside = iteration.is_none_or(|at| gap.time.start >= self.links.iterations[at as usize].start);
            is_inside.then_some((launch, gap.time))
        })
    }

    /// The parts of a range with no device work.
    pub(super) fn idle_parts(&self, range: TimeRange) -> Vec<TimeRange> {
        difference(&[range], &within(self.busy.any.ranges(), range))
    }

    /// The time in a range with no device work; all of it where there is no device.
    pub(super) fn lost_ns(&self, range: TimeRange) -> i64 {
        self.busy.any.outside_ns(clip(range, self.span))
    }

    /// The parts of the ranges with no device work.
    pub(super) fn all_lost(&self, ranges: impl Iterator<Item = TimeRange>) -> Vec<TimeRange> {
        difference(&within(&union(ranges.collect()), self.span), self.busy.any.ranges())
    }

    /// The time of a device event without computation on its device.
    pub(super) fn exposed_ns(&self, row: u32) -> i64 {
        self.computing.outside_ns(self.trace.device(row as usize), self.time(row))
    }

    /// When any of the device events ran without computation on its device.
    pub(super) fn all_exposed(&self, costs: &[(i64, u32)]) -> Vec<TimeRange> {
        let times = costs.iter().map(|(_, row)| (self.trace.device(*row as usize), self.time(*row)));
        self.computing.outside(times)
    }

    /// When any of the events ran.
    pub(super) fn all_times(&self, costs: &[(i64, u32)]) -> Vec<TimeRange> {
        union(costs.iter().map(|(_, row)| self.time(*row)).collect())
    }

    /// A match for each subject of device work, which costs the time of the work.
    pub(super) fn matches_of_work(&self, works: Vec<(String, u32)>, noun: &str, confidence: f64) -> Vec<RuleMatch> {
        let costs = works.into_iter().map(|(subject, row)| (subject, self.time(row).dur().0, row));
        let of_subject = |(subject, costs): (String, Vec<(i64, u32)>)| {
            let (during, detail) = (self.all_times(&costs), plural(costs.len(), noun));
            RuleMatch::of(subject, costs, confidence).during(during).detailed(detail)
        };
        by_subject(costs).into_iter().map(of_subject).collect()
    }

    /// Whether a call precedes the first device work, or is in the first call of an operator or the
    /// first launch of a kernel. Such calls may do one-time work.
    pub(super) fn is_start_up(&self, row: u32) -> bool {
        self.first_work.is_some_and(|first| self.trace.events.start.at(row as usize) < first)
            || self.links.operator.get(row as usize).is_some_and(|operator| self.is_first(operator))
            || self.links.launched.of(row as usize).next().is_some_and(|kernel| self.is_first(kernel as u32))
    }

    /// Whether no event of this name began before.
    fn is_first(&self, row: u32) -> bool {
        let events = &self.trace.events;
        self.firsts.get(&events.name.at(row as usize)).is_none_or(|first| events.start.at(row as usize) <= *first)
    }

    /// Whether an event belongs to repeated work: to an iteration, where there are any.
    pub(super) fn is_in_loop(&self, row: u32) -> bool {
        self.links.iterations.is_empty() || self.links.iteration.get(row as usize).is_some()
    }

    /// Rows of device work of a class.
    pub(super) fn work_of(&self, class: WorkClass) -> impl Iterator<Item = u32> + '_ {
        self.selection.device_work().filter(move |row| self.classes[*row] == class).map(|row| row as u32)
    }

    /// Device time of an event and all inside it; host time where there is no device.
    pub(super) fn time_of(&self, row: u32) -> i64 {
        if self.has_device() { self.linked.device_time().total_ns[row as usize] } else { self.time(row).dur().0 }
    }

    /// A JSON argument of events, read once for all that share it.
    pub(super) fn json_args(&self, key: ArgKey) -> JsonArgs<'a> {
        JsonArgs { trace: self.trace, key, known: FxHashMap::default() }
    }
}

/// An argument that is JSON, by template.
pub(super) struct JsonArgs<'a> {
    trace: &'a Trace,
    key: ArgKey,
    known: FxHashMap<TemplateId, Value>,
}

impl JsonArgs<'_> {
    /// Of an event; null where it has none.
    pub(super) fn of(&mut self, row: u32) -> &Value {
        let (trace, key) = (self.trace, self.key);
        self.known.entry(trace.events.template.at(row as usize)).or_insert_with(|| {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row as usize), key, &mut text);
            serde_json::from_str(&text).unwrap_or_default()
        })
    }
}

fn first_work(trace: &Trace) -> Option<Ts> {
    trace.events.device_work().map(|row| trace.events.start.at(row)).min()
}

fn firsts(trace: &Trace) -> FxHashMap<StrId, Ts> {
    let events = &trace.events;
    let mut firsts: FxHashMap<StrId, Ts> = FxHashMap::default();
    for row in 0..events.len() {
        let start = events.start.at(row);
        let first = firsts.entry(events.name.at(row)).or_insert(start);
        *first = start.min(*first);
    }
    firsts
}

fn rows_by_name(selection: &Selection<'_>) -> FxHashMap<StrId, Vec<u32>> {
    let trace = &selection.linked.trace;
    let mut rows: FxHashMap<StrId, Vec<u32>> = FxHashMap::default();
    let calls = trace.events.rows_of(|kind| kind != EventKind::Overhead);
    for row in calls.filter(|row| !trace.is_on_device(*row) && selection.contains(*row)) {
        rows.entry(trace.events.name.at(row)).or_default().push(row as u32);
    }
    rows
}

/// Times between the parts of the selection, on each device that works: no finding rests on them.
fn outside(selection: &Selection<'_>) -> Vec<(Option<i64>, TimeRange)> {
    let Some(part) = selection.parts() else { return Vec::new() };
    let rest = difference(&[selection.span()], part.all_times().ranges());
    selection.devices().flat_map(|device| rest.iter().map(move |range| (device, *range))).collect()
}
