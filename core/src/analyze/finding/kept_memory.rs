//! Finds the memory that iterations keep, by origin.

use std::cmp::Reverse;

use super::super::memory::{Allocation, MemoryChange, MemoryDevice, MemoryLine, changes, device_name, lives};
use super::super::number_text::{plural, size_text};
use super::super::selection::Selection;
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::label::without_addresses;
use crate::link::{Iteration, MODULE_PREFIX, StepState};
use crate::sort;
use crate::time::{Ts, sum_ns};

/// Iterations that must keep memory. The first of a trace does not count: it fills caches. Nor does
/// the last: the next one may release its memory.
const MIN_ITERATIONS: usize = 2;
/// Leaks that take longer to add as much as the peak are not told.
const MAX_ITERATIONS_TO_PEAK: i64 = 1_000;
/// Origins of a device that are told.
const MAX_ORIGINS: usize = 10;
/// The total of a host is a sum of the same records: if threads that are not recorded release
/// memory, it is too high.
const OF_HOST: f64 = 0.8;

/// An allocation that is not known to be released.
struct KeptAllocation {
    device: MemoryDevice,
    /// The line of Python; without one, the operator.
    origin: Option<MemoryLine>,
    /// The place of its iteration among those that count; none where its release has no record.
    at: Option<usize>,
    bytes: i64,
    /// Row of its operator.
    row: Option<u32>,
}

/// A match for each origin of which all iterations that count keep memory.
pub(super) fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let iterations = counted(context);
    if iterations.len() < MIN_ITERATIONS {
        return Vec::new();
    }
    // A release after the selected part is a release.
    let changes = changes(&Selection::all(context.selection.linked));
    let is_kept = |life: Allocation| kept(context, &iterations, &changes, life);
    let mut all: Vec<KeptAllocation> = lives(&[], &changes).into_iter().filter_map(is_kept).collect();
    sort::by_key(&mut all, |kept| (kept.device, kept.origin));
    let devices = all.chunk_by(|a, b| a.device == b.device);
    devices.flat_map(|all| of_device(context, &iterations, &changes, all)).collect()
}

/// The iterations that may show a leak, of the selected ones.
fn counted(context: &RuleContext<'_>) -> Vec<Iteration> {
    let all = &context.links.iterations;
    let inner = all.get(1..all.len().saturating_sub(1)).unwrap_or_default().iter();
    let is_steady = |state| state == StepState::Steady;
    inner.filter(|it| it.state.is_none_or(is_steady) && context.selection.has(it.start)).copied().collect()
}

fn kept(
    context: &RuleContext<'_>,
    iterations: &[Iteration],
    changes: &[MemoryChange],
    life: Allocation,
) -> Option<KeptAllocation> {
    // Memory that was allocated again was released, without a record.
    let is_lost = life.last.is_some_and(|last| changes[last].bytes >= 0);
    let at = Iteration::at(iterations, life.made.time).filter(|_| !is_lost);
    if !is_lost && (life.last.is_some() || at.is_none()) {
        return None;
    }
    let made = &life.made;
    let row = made.operator.or(made.around);
    let operator = row.map(|row| MemoryLine::Event(context.trace.events.name.at(row as usize)));
    Some(KeptAllocation { device: made.device, origin: made.line.or(operator), at, bytes: made.bytes, row })
}

/// Whether each iteration keeps memory of an origin, all of whose releases are recorded. Takes
/// allocations in the order of time.
fn is_leak(kept: &[KeptAllocation], num_iterations: usize) -> bool {
    kept.iter().all(|kept| kept.at.is_some()) && kept.chunk_by(|a, b| a.at == b.at).count() == num_iterations
}

fn sum(kept: &[KeptAllocation]) -> i64 {
    sum_ns(kept.iter().map(|kept| kept.bytes))
}

fn of_device(
    context: &RuleContext<'_>,
    iterations: &[Iteration],
    changes: &[MemoryChange],
    all: &[KeptAllocation],
) -> Vec<RuleMatch> {
    let (device, count) = (all[0].device, iterations.len());
    let of_device = || changes.iter().filter(|change| change.device == device);
    let peak = of_device().map(|change| change.allocated_bytes).max().unwrap_or(0);
    let per_iteration = |kept: &[KeptAllocation]| sum(kept) / count as i64;
    let is_large = |kept: &[KeptAllocation]| per_iteration(kept).saturating_mul(MAX_ITERATIONS_TO_PEAK) >= peak.max(1);
    let mut leaks: Vec<&[KeptAllocation]> = all.chunk_by(|a, b| a.origin == b.origin).collect();
    leaks.retain(|kept| is_leak(kept, count) && is_large(kept));
    sort::by_key(&mut leaks, |kept| Reverse(sum(kept)));
    let total = sum_ns(leaks.iter().map(|kept| sum(kept)));
    // The allocator's own total must grow as well; without one, nothing is known.
    let level = |time: Ts| {
        let last = of_device().take_while(|change| change.time < time).last()?;
        last.reserved_bytes.map(|_| last.allocated_bytes)
    };
    let grown = level(iterations[count - 1].range().end).zip(level(iterations[0].start));
    if grown.is_none_or(|(after, before)| after.saturating_sub(before) < total / 2) {
        return Vec::new();
    }
    let device = device_name(device);
    let confidence = count as f64 / (count + 2) as f64 * if device == "cpu" { OF_HOST } else { 1.0 };
    let of_origin = |kept: &[KeptAllocation]| {
        let nowhere = || String::from("outside of all events");
        let subject = kept[0].origin.map_or_else(nowhere, |line| line.text(context.trace));
        let evidence = kept.iter().filter_map(|kept| Some((kept.bytes, kept.row?))).collect();
        let found = RuleMatch::of(without_addresses(&subject), evidence, confidence).at_most(0);
        let detail = format!(
            "{} per iteration on {device}, in {}{}; all origins keep {}",
            size_text(per_iteration(kept)),
            plural(count, "iteration"),
            found.evidence.first().map_or_else(String::new, |row| owner(context, *row)),
            size_text(total / count as i64),
        );
        RuleMatch { count: kept.len() as u64, is_failure: true, ..found.detailed(detail) }
    };
    leaks.into_iter().take(MAX_ORIGINS).map(of_origin).collect()
}

/// The operator and the module of the largest allocation.
fn owner(context: &RuleContext<'_>, row: u32) -> String {
    let module = context.linked.frames().module.get(row as usize).map_or("", |module| context.name(module));
    let module = module.strip_prefix(MODULE_PREFIX).unwrap_or(module);
    let within = if module.is_empty() { "" } else { " in " };
    format!(", mostly by {}{within}{module}", context.operator(row))
}
