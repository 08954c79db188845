//! The device waits for long while the host does something else than launching.

use super::super::idle::{Gap, Wait, host_during};
use super::super::interval::Cover;
use super::super::words::plural;
use super::found::{Found, by_subject};
use super::launch_bound::MAX_GAP_NS;
use super::scene::Scene;
use super::{Find, Rule, allocation, loader, start_up};
use crate::sort;

pub(super) static LONG_IDLE: Rule = Rule {
    name: "long_idle",
    doc: "the device has nothing to do for milliseconds, while the host does other work before it launches the next",
    cost: "idle time of the device in these gaps",
    advice: "look at what the host does meanwhile: move it out of the loop, to another thread or process, or let it run \
             while the device works",
    is_pattern: false,
    find: Find::Trace(found),
};

/// What the host did is looked up in the longest gaps.
const MOST: usize = 100;

/// What is told takes at least this share of the time looked at.
const MUCH: f64 = 0.02;

const UNRECORDED: &str = "nothing that was recorded";

fn found(scene: &Scene<'_>) -> Vec<Found> {
    let mut idle: Vec<Gap> = scene.gaps().iter().filter_map(|gap| of_device(scene, gap)).collect();
    sort::by_key(&mut idle, |gap| (std::cmp::Reverse(gap.time.dur()), gap.after_id));
    idle.truncate(MOST);
    let loading = Cover::of(scene.named(loader::is_loading).into_iter().map(|row| scene.time(row)).collect());
    let is_loading = |gap: &&Gap| loading.inside_ns(gap.time) * 2 >= gap.time.dur().0;
    let costs = idle.iter().filter(|gap| !is_loading(gap)).filter_map(|gap| {
        let after = scene.trace.events.row_at(gap.after_id)? as u32;
        Some((what_the_host_did(scene, gap)?, gap.time.dur().0, after))
    });
    let told = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let detail = plural(costs.len(), "gap");
        Found::of(subject, costs, 0.7).told(detail)
    };
    let found = by_subject(costs).into_iter().map(told);
    found.filter(|found| found.share(scene.span_ns) >= MUCH).collect()
}

/// The end of a stream's gap in which no other of the device's streams worked, where that is long and the host ended it.
fn of_device(scene: &Scene<'_>, gap: &Gap) -> Option<Gap> {
    let time = scene.busy.idle_before(gap.stream.device, gap.time);
    let launch = scene.trace.events.start[gap.launch? as usize];
    (gap.wait == Wait::Host && time.dur().0 >= MAX_GAP_NS && launch > time.start).then(|| Gap { time, ..gap.clone() })
}

/// What the host did for most of a gap; none where another rule tells of it, or where it waited for the device itself, whose work
/// was not recorded then.
fn what_the_host_did(scene: &Scene<'_>, gap: &Gap) -> Option<String> {
    let Some(host) = gap.launch.and_then(|launch| host_during(scene.selection.linked, launch, gap.time)) else {
        return Some(UNRECORDED.to_owned());
    };
    let row = scene.trace.events.row_at(host.id)?;
    let is_told = start_up::is_waiting(&host.name) || start_up::is_one(scene, row) || allocation::is_call(&host.name);
    // Of an iteration itself it is not known what it did.
    let name = if host.name.starts_with("ProfilerStep#") { UNRECORDED.to_owned() } else { host.name };
    (!is_told).then_some(name)
}
