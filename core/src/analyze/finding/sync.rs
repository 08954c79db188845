//! The host waits for the device, which then has nothing to do.

use rustc_hash::FxHashMap;

use super::super::words::{plural, told_ns};
use super::found::{Found, by_subject};
use super::scene::Scene;
use super::{Find, Rule};
use crate::link::EdgeKind;
use crate::time::TimeRange;
use crate::trace::kind::EventKind;

pub(super) static SYNC: Rule = Rule {
    name: "host_device_sync",
    doc: "a call inside the loop waits until the device is done, so that the device has nothing to do afterwards",
    cost: "device idle time from the start of the wait to the next device work, at most as long as the wait",
    advice: "leave the result on the device, copy with non_blocking=True to pinned memory, or wait for an event later; \
             torch.cuda.set_sync_debug_mode(\"warn\") names the lines",
    is_pattern: false,
    find: Find::Trace(|scene| found(scene, false)),
};

pub(super) static ITEM: Rule = Rule {
    name: "item_in_loop",
    doc: ".item(), float() or a condition on a tensor inside the loop: a copy of one number that the host waits for",
    cost: "device idle time from the start of the wait to the next device work, at most as long as the wait",
    advice: "keep numbers such as the loss as tensors (loss.detach()), add them up on the device, and read them every \
             so many iterations",
    is_pattern: true,
    find: Find::Trace(|scene| found(scene, true)),
};

/// What reads one number of a tensor.
const ITEMS: [&str; 3] = ["aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"];

fn found(scene: &Scene<'_>, is_item: bool) -> Vec<Found> {
    let items = scene.named(|name| ITEMS.contains(&name));
    let around_item = scene.around(&items);
    let is_operator = |row: usize| scene.trace.events.kind[row] == EventKind::Operator;
    let operators = outermost_operators(scene, is_operator);
    let waits = waits(scene).into_iter().filter(|call| around_item.get(*call as usize).is_some() == is_item);
    let costs = waits.map(|call| {
        let subject = operators(call).unwrap_or(call);
        (scene.name(subject).to_owned(), cost_ns(scene, call), call)
    });
    by_subject(costs).into_iter().map(|(subject, costs)| told(scene, subject, costs)).collect()
}

/// The outermost operator around an event.
fn outermost_operators<'a>(
    scene: &'a Scene<'_>,
    is_operator: impl Fn(usize) -> bool + 'a,
) -> impl Fn(u32) -> Option<u32> + 'a {
    let around = scene.links.nesting.innermost(&is_operator);
    move |row| std::iter::successors(around.get(row as usize), |row| around.get(*row as usize)).last()
}

/// Rows of calls on the host inside the loop that waited for device work; of those for the same work the one that took
/// longest: a copy may be waited for by its own call and by one after it.
fn waits(scene: &Scene<'_>) -> Vec<u32> {
    let is_looked_at = |call: u32| {
        let row = call as usize;
        !scene.trace.is_on_device(row) && scene.selection.contains(row) && scene.is_in_loop(call)
    };
    let dur = |call: u32| scene.trace.events.dur[call as usize];
    let mut longest: FxHashMap<u32, u32> = FxHashMap::default();
    for edge in scene.linked.sync_edges() {
        if edge.kind == EdgeKind::Sync && is_looked_at(edge.target) {
            let known = longest.entry(edge.source).or_insert(edge.target);
            if dur(edge.target) > dur(*known) {
                *known = edge.target;
            }
        }
    }
    let mut calls: Vec<u32> = longest.into_values().collect();
    crate::sort::ascending(&mut calls);
    calls.dedup();
    calls
}

fn cost_ns(scene: &Scene<'_>, call: u32) -> i64 {
    scene.lost_ns(until_next(scene, call)).min(scene.time(call).dur().0)
}

/// From the start of a wait to the next device work.
fn until_next(scene: &Scene<'_>, call: u32) -> TimeRange {
    let wait = scene.time(call);
    TimeRange { start: wait.start, end: scene.busy.any.next_start(wait.end).unwrap_or(wait.end) }
}

fn told(scene: &Scene<'_>, subject: String, costs: Vec<(i64, u32)>) -> Found {
    let waited = crate::time::sum_ns(costs.iter().map(|(_, call)| scene.time(*call).dur().0));
    let detail = format!("{} for {}", plural(costs.len(), "wait"), told_ns(waited));
    let is_costly = costs.iter().any(|(ns, _)| *ns > 0);
    let lost_ns = scene.all_lost_ns(costs.iter().map(|(_, call)| until_next(scene, *call)));
    Found::of(subject, costs, if is_costly { 0.9 } else { 0.4 }).at_most(lost_ns).told(detail)
}
