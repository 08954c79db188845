//! Links events with the operators that own them.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::arrow::Arrows;
use super::graph::CapturedKernel;
use super::link_method::LinkMethod;
use super::nesting::Nesting;
use crate::column::OptionalColumn;
use crate::sort;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// A device event whose operator is not around its launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedOwner {
    /// Row of the device event.
    pub device: u32,
    /// Row of the operator or annotation.
    pub operator: u32,
    /// By which id, or by an arrow of the file.
    pub how: LinkMethod,
}

/// The innermost operator or annotation around each event, or around its launch, or the one that it
/// names; and which do no more than name it.
pub(super) fn own(
    trace: &Trace,
    nesting: &Nesting,
    launch: &OptionalColumn,
    arrows: &Arrows,
) -> (OptionalColumn, Vec<NamedOwner>) {
    let kinds = &trace.events.kind;
    let mut owner = hosts_owners(trace, nesting);
    let mut alone = Vec::new();
    for (row, kind) in kinds.iter().enumerate() {
        if !trace.is_on_device(row) || *kind == EventKind::Annotation {
            continue;
        }
        // An operator may be all that is known of a launch.
        let of_launch = |launch: u32| if is_owner(trace, launch) { Some(launch) } else { owner.get(launch as usize) };
        match launch.get(row).and_then(of_launch) {
            Some(operator) => owner.set(row, operator),
            None => owner.clear(row),
        }
        if kind.is_device_work() && launch.get(row).is_none() {
            alone.push(row);
        }
    }
    let mut named = named(trace, launch, &alone);
    named.extend(drawn(trace, &owner, arrows));
    sort::by_key(&mut named, |named| named.device);
    for NamedOwner { device, operator, .. } in &named {
        owner.set(*device as usize, *operator);
    }
    (owner, named)
}

/// Gives the work of graphs to the operators of the calls that captured it.
pub(super) fn own_captured(
    trace: &Trace,
    captured: &[CapturedKernel],
    owner: &mut OptionalColumn,
    named: &mut Vec<NamedOwner>,
) {
    let is_operator = |row: &u32| trace.events.kind[*row as usize] == EventKind::Operator;
    for CapturedKernel { kernel, launch, how, .. } in captured {
        if let Some(operator) = owner.get(*launch as usize).filter(is_operator) {
            owner.set(*kernel as usize, operator);
            named.push(NamedOwner { device: *kernel, operator, how: *how });
        }
    }
    sort::by_key(named, |named| named.device);
}

fn is_owner(trace: &Trace, row: u32) -> bool {
    matches!(trace.events.kind[row as usize], EventKind::Operator | EventKind::Annotation)
}

/// Operators from which arrows lead to device events whose launch has none, directly or through a
/// queue.
fn drawn(trace: &Trace, owner: &OptionalColumn, arrows: &Arrows) -> Vec<NamedOwner> {
    let mut found: FxHashMap<u32, u32> = FxHashMap::default();
    for (device, host) in arrows.others.iter().chain(&arrows.calls) {
        if owner.get(*device as usize).is_some() || found.contains_key(device) {
            continue;
        }
        let of_host = |row: u32| if is_owner(trace, row) { Some(row) } else { owner.get(row as usize) };
        if let Some(operator) = arrows.before(*host).find_map(of_host) {
            found.insert(*device, operator);
        }
    }
    let named = |(device, operator)| NamedOwner { device, operator, how: LinkMethod::Flow };
    found.into_iter().map(named).collect()
}

/// The innermost operator or annotation around each event: of both, the one that begins later.
fn hosts_owners(trace: &Trace, nesting: &Nesting) -> OptionalColumn {
    let events = &trace.events;
    let mut owner = nesting.innermost(|row| events.kind[row] == EventKind::Operator);
    let annotations = nesting.annotations(trace);
    let extent = |row: u32| (events.start.at(row as usize), Reverse(events.dur.at(row as usize)));
    for row in 0..events.len() {
        let Some(annotation) = annotations.get(row) else { continue };
        if owner.get(row).is_none_or(|operator| extent(annotation) > extent(operator)) {
            owner.set(row, annotation);
        }
    }
    owner
}

/// The operators that device events without a launch name: by the record id that newest `PyTorch`
/// gives them, else by the external id.
fn named(trace: &Trace, launch: &OptionalColumn, alone: &[usize]) -> Vec<NamedOwner> {
    let by_record = OperatorIds::of(trace, ArgKey::RecordId, alone);
    let by_external = OperatorIds::of(trace, ArgKey::ExternalId, alone).filter(|ids| ids.agree(trace, launch));
    let find = |device: &usize| {
        // Work begins after the operator that launches it: an id of an earlier one was used again.
        let is_before = |call: &u32| trace.events.start.at(*call as usize) <= trace.events.start.at(*device);
        let of = |ids: &Option<OperatorIds>| ids.as_ref().and_then(|ids| ids.call(trace, *device)).filter(is_before);
        let record = of(&by_record).map(|operator| (operator, LinkMethod::RecordId));
        let (operator, how) = record.or_else(|| Some((of(&by_external)?, LinkMethod::ExternalId)))?;
        Some(NamedOwner { device: *device as u32, operator, how })
    };
    alone.iter().filter_map(find).collect()
}

/// Operators and annotations on the host by an id.
struct OperatorIds {
    key: ArgKey,
    calls: FxHashMap<u64, u32>,
}

impl OperatorIds {
    /// None where no device event that needs it has one.
    fn of(trace: &Trace, key: ArgKey, alone: &[usize]) -> Option<Self> {
        if !alone.iter().any(|row| id(trace, key, *row).is_some()) {
            return None;
        }
        let is_call = |row: &usize| {
            matches!(trace.events.kind[*row], EventKind::Operator | EventKind::Annotation) && !trace.is_on_device(*row)
        };
        let mut calls = FxHashMap::default();
        for row in (0..trace.events.len()).filter(is_call) {
            if let Some(id) = id(trace, key, row) {
                calls.entry(id).or_insert(row as u32);
            }
        }
        Some(Self { key, calls })
    }

    fn call(&self, trace: &Trace, device: usize) -> Option<u32> {
        self.calls.get(&id(trace, self.key, device)?).copied()
    }

    /// Whether the calls that the ids name are those around the launches, where those are known:
    /// before `PyTorch` 2.4 most writers counted something else by the same key.
    fn agree(&self, trace: &Trace, launch: &OptionalColumn) -> bool {
        let events = &trace.events;
        let (mut num_named, mut num_agreeing) = (0_usize, 0_usize);
        for row in events.device_work() {
            let (Some(launch), Some(call)) = (launch.get(row), self.call(trace, row)) else { continue };
            let (launch, call) = (launch as usize, call as usize);
            let is_around = events.track.at(call) == events.track.at(launch)
                && (events.start.at(call)..=events.end(call)).contains(&events.start.at(launch));
            num_named += 1;
            num_agreeing += usize::from(is_around);
        }
        num_agreeing * 4 >= num_named * 3
    }
}

/// An id; 0 is none, and so is an external id that repeats the `correlation`.
fn id(trace: &Trace, key: ArgKey, row: usize) -> Option<u64> {
    let of = |key| trace.args.identifier(&trace.strings, trace.events.args(row), key);
    let id = of(key).filter(|id| *id != 0)?;
    let is_correlation = key == ArgKey::ExternalId && of(ArgKey::Correlation) == Some(id);
    (!is_correlation).then_some(id)
}
