//! Assigns the time of devices to kernels, operators, modules, iterations or events.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::interval::intersection;
use super::super::selection::Selection;
use crate::column::OptionalColumn;
use crate::id::StrId;
use crate::link::{LinkedTrace, MODULE_PREFIX};
use crate::time::{TimeRange, add_ns};
use crate::trace::counter_place::CounterPlace;
use crate::trace::kind::EventKind;
use crate::vendor::measures_counters;

/// The owner of time that counters are averaged over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CounterOwner {
    Kernel,
    Operator,
    Module,
    Iteration,
    Device,
    Event,
}

impl CounterOwner {
    /// Their names, in this order.
    pub(super) const NAMES: [&str; 6] = ["kernel", "operator", "module", "iteration", "device", "event"];

    /// The one of that name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "operator" => Self::Operator,
            "module" => Self::Module,
            "iteration" => Self::Iteration,
            "device" => Self::Device,
            "event" => Self::Event,
            _ => Self::Kernel,
        }
    }
}

/// Time of one owner.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnedTime {
    pub(super) time: TimeRange,
    pub(super) group: u32,
}

/// The time of one owner on one device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnerTotal {
    pub(super) count: u64,
    pub(super) total_ns: i64,
}

/// The times on one device, with totals by the number of the owner.
#[derive(Debug, Default)]
pub(super) struct DeviceTimes {
    pub(super) times: Vec<OwnedTime>,
    pub(super) totals: FxHashMap<u32, OwnerTotal>,
}

/// Owners and their times.
#[derive(Debug, Default)]
pub(super) struct CounterGroups {
    /// The name of each owner.
    pub(super) names: Vec<Arc<str>>,
    /// The event of each owner, where it is one.
    pub(super) ids: Vec<Option<u32>>,
    /// The owner of each event of a device.
    pub(super) of_row: OptionalColumn,
    by_device: BTreeMap<Option<i64>, DeviceTimes>,
    /// Times that are of no device alone.
    everywhere: Option<DeviceTimes>,
}

impl CounterGroups {
    pub(super) fn of(selection: &Selection<'_>, owner: CounterOwner) -> Self {
        let num_events = selection.linked.trace.events.len();
        let mut groups = Self { of_row: OptionalColumn::empty(num_events), ..Self::default() };
        match owner {
            CounterOwner::Iteration => groups.add_iterations(selection),
            CounterOwner::Device => groups.add_selection(selection),
            _ => groups.add_work(selection, owner),
        }
        groups
    }

    /// The device of a counter with the times on it; `None` where it has none.
    pub(super) fn times(&self, place: CounterPlace) -> Option<(Option<i64>, &DeviceTimes)> {
        let only = || match self.by_device.first_key_value() {
            Some((device, times)) if self.by_device.len() == 1 => Some((*device, times)),
            _ => None,
        };
        let found = match place {
            CounterPlace::Host => None,
            CounterPlace::SomeDevice => only(),
            // Of a file that gives its device no number, a counter may.
            CounterPlace::Device(number) => self
                .by_device
                .get(&Some(number))
                .map(|times| (Some(number), times))
                .or_else(|| only().filter(|(device, _)| device.is_none())),
        };
        let everywhere = self.everywhere.as_ref().map(|times| {
            let own = if let CounterPlace::Device(number) = place { Some(number) } else { None };
            (own.or(found.and_then(|(device, _)| device)), times)
        });
        everywhere.or(found)
    }

    /// The time of an owner on a device; `None` of owners whose time is of no device.
    pub(super) fn total(&self, device: Option<i64>, group: u32) -> Option<OwnerTotal> {
        self.by_device.get(&device)?.totals.get(&group).copied()
    }

    fn add_work(&mut self, selection: &Selection<'_>, owner: CounterOwner) {
        let linked = selection.linked;
        let trace = &linked.trace;
        self.know_devices(selection);
        let mut names = OwnerNames::new(linked, owner);
        let mut ranges: FxHashMap<StrId, bool> = FxHashMap::default();
        for row in selection.rows().filter(|row| trace.is_on_device(*row)) {
            let category = trace.events.category.at(row);
            let mut is_range =
                || *ranges.entry(category).or_insert_with(|| measures_counters(trace.strings.text(category)));
            let is_measured = trace.events.kind[row].is_device_work() || is_range();
            let Some(group) = is_measured.then(|| names.group(row, self)).flatten() else { continue };
            self.of_row.set(row, group);
            self.add(trace.device(row), group, &pieces(selection, row));
        }
    }

    fn add(&mut self, device: Option<i64>, group: u32, times: &[TimeRange]) {
        self.by_device.entry(device).or_default().add(group, times);
    }

    fn add_iterations(&mut self, selection: &Selection<'_>) {
        let trace = &selection.linked.trace;
        self.know_devices(selection);
        let links = &selection.linked.links;
        let windows = windows(selection);
        let mut numbers: FxHashMap<StrId, u32> = FxHashMap::default();
        let mut of_iteration = OptionalColumn::empty(links.iterations.len());
        let mut everywhere = DeviceTimes::default();
        for (place, iteration) in links.iterations.iter().enumerate() {
            if selection.has_iteration(iteration) {
                let name = trace.events.name.at(iteration.event as usize);
                let group =
                    *numbers.entry(name).or_insert_with(|| self.new_group(trace.strings.text(name).into(), None));
                of_iteration.set(place, group);
                everywhere.add(group, &intersection(&[iteration.range()], &windows));
            }
        }
        self.everywhere = Some(everywhere);
        for row in selection.rows().filter(|row| trace.is_on_device(*row)) {
            let place = links.iteration.get(row);
            if let Some(group) = place.and_then(|place| of_iteration.get(place as usize)) {
                self.of_row.set(row, group);
            }
        }
    }

    fn add_selection(&mut self, selection: &Selection<'_>) {
        let trace = &selection.linked.trace;
        self.know_devices(selection);
        let mut everywhere = DeviceTimes::default();
        let group = self.new_group("all".into(), None);
        everywhere.add(group, &windows(selection));
        self.everywhere = Some(everywhere);
        selection.rows().filter(|row| trace.is_on_device(*row)).for_each(|row| self.of_row.set(row, group));
    }

    /// Remembers which devices work, so that a counter of some device finds the only one.
    fn know_devices(&mut self, selection: &Selection<'_>) {
        for device in selection.anytime().devices() {
            self.by_device.entry(device).or_default();
        }
    }

    fn new_group(&mut self, name: Arc<str>, id: Option<u32>) -> u32 {
        self.names.push(name);
        self.ids.push(id);
        self.names.len() as u32 - 1
    }
}

impl DeviceTimes {
    fn add(&mut self, group: u32, times: &[TimeRange]) {
        let total = self.totals.entry(group).or_default();
        total.count += 1;
        for time in times {
            add_ns(&mut total.total_ns, time.dur().0);
            self.times.push(OwnedTime { time: *time, group });
        }
    }
}

/// The selected times: disjoint, ascending.
fn windows(selection: &Selection<'_>) -> Vec<TimeRange> {
    selection.part.as_ref().map_or_else(|| vec![selection.span()], |part| part.times().to_vec())
}

/// The selected parts of an event's time.
fn pieces(selection: &Selection<'_>, row: usize) -> Vec<TimeRange> {
    let time = selection.time(row);
    match selection.parts().filter(|part| part.calls.is_none() && !selection.is_unclipped) {
        Some(part) => intersection(&[time], part.times()),
        None => vec![time],
    }
}

/// Finds the owner of an event, by its name.
struct OwnerNames<'a> {
    linked: &'a LinkedTrace,
    owner: CounterOwner,
    by_id: FxHashMap<StrId, u32>,
    by_text: FxHashMap<Arc<str>, u32>,
    /// Names of events.
    of_event: FxHashMap<StrId, Arc<str>>,
}

impl<'a> OwnerNames<'a> {
    fn new(linked: &'a LinkedTrace, owner: CounterOwner) -> Self {
        let (by_id, by_text, of_event) = <_>::default();
        Self { linked, owner, by_id, by_text, of_event }
    }

    /// The number of the owner; `None` of an event without one.
    fn group(&mut self, row: usize, groups: &mut CounterGroups) -> Option<u32> {
        let trace = &self.linked.trace;
        let name = |row: u32| trace.events.name.at(row as usize);
        let own = match self.owner {
            CounterOwner::Event => {
                let new = || Arc::from(trace.event_name(row));
                let name = self.of_event.entry(trace.events.name.at(row)).or_insert_with(new);
                return Some(groups.new_group(Arc::clone(name), Some(trace.events.position.at(row))));
            }
            CounterOwner::Operator => {
                if let Some(operator) = self.linked.captured_operator(row) {
                    return Some(self.of_text(&operator, groups));
                }
                let operator = self.linked.links.operator.get(row);
                name(operator.filter(|operator| trace.events.kind[*operator as usize] == EventKind::Operator)?)
            }
            CounterOwner::Module => {
                if let Some(module) = trace.has_marks().then(|| trace.stated_module(row)).flatten() {
                    return Some(self.of_text(&module, groups));
                }
                name(self.linked.frames().module.get(row)?)
            }
            _ => trace.events.name.at(row),
        };
        if let Some(group) = self.by_id.get(&own) {
            return Some(*group);
        }
        let text = trace.strings.text(own);
        let text =
            if self.owner == CounterOwner::Module { text.strip_prefix(MODULE_PREFIX).unwrap_or(text) } else { text };
        let group = self.of_text(text, groups);
        self.by_id.insert(own, group);
        Some(group)
    }

    fn of_text(&mut self, text: &str, groups: &mut CounterGroups) -> u32 {
        if let Some(group) = self.by_text.get(text) {
            return *group;
        }
        let text: Arc<str> = text.into();
        let group = groups.new_group(Arc::clone(&text), None);
        self.by_text.insert(text, group);
        group
    }
}
