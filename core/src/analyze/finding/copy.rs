//! Copies between host and device that the run waits for.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::interval::Cover;
use super::super::words::{plural, told_bytes, told_ns};
use super::found::{Found, by_subject};
use super::scene::Scene;
use super::sibling;
use super::start_up;
use super::{Find, Rule};
use crate::id::TrackId;
use crate::time::{add_ns, sum_ns};
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

pub(super) static PAGEABLE: Rule = Rule {
    name: "pageable_copy",
    doc: "copies from or to pageable host memory: the driver copies twice, and the host waits",
    cost: "time of the copies without computation beside them",
    advice: "pin the host's memory (DataLoader(pin_memory=True), tensor.pin_memory()) and copy with non_blocking=True",
    is_pattern: false,
    find: Find::Trace(|scene| exposed(scene, true)),
};

pub(super) static EXPOSED: Rule = Rule {
    name: "exposed_copy",
    doc: "copies between host and device that no computation runs beside",
    cost: "time of the copies without computation beside them",
    advice: "copy the next batch on a stream of its own while this one is computed; keep on the device what is used again",
    is_pattern: false,
    find: Find::Trace(|scene| exposed(scene, false)),
};

pub(super) static CREATED_ON_HOST: Rule = Rule {
    name: "created_on_host",
    doc: "a tensor is filled on the host and at once moved to the device",
    cost: "device time of the copy and host time of moving, without what is done once",
    advice: "create it where it is needed: torch.zeros(…, device=\"cuda\")",
    is_pattern: true,
    find: Find::Trace(created),
};

fn exposed(scene: &Scene<'_>, is_pageable: bool) -> Vec<Found> {
    let copies = scene.selection.device_work().filter(|row| scene.trace.events.kind[*row] == EventKind::Copy);
    let crosses = copies.map(|row| row as u32).filter(|row| is_with_host(scene.name(*row)));
    let wanted = crosses.filter(|row| scene.is_in_loop(*row) && scene.name(*row).contains("Pageable") == is_pageable);
    let costs = wanted.map(|row| (scene.name(row).to_owned(), scene.exposed_ns(row), row));
    by_subject(costs).into_iter().map(|(subject, costs)| told(scene, subject, costs)).collect()
}

fn told(scene: &Scene<'_>, subject: String, costs: Vec<(i64, u32)>) -> Found {
    let (mut bytes, mut all_ns) = (0, 0);
    for (_, row) in &costs {
        let args = scene.trace.events.args(*row as usize);
        add_ns(&mut bytes, scene.trace.args.integer(&scene.trace.strings, args, ArgKey::Bytes).unwrap_or(0));
        add_ns(&mut all_ns, scene.time(*row).dur().0);
    }
    let detail = format!("{}, {} in {}", plural(costs.len(), "event"), told_bytes(bytes), told_ns(all_ns));
    let exposed_ns = scene.all_exposed_ns(&costs);
    Found::of(subject, costs, 0.9).at_most(exposed_ns).told(detail)
}

/// Whether a copy has the host on one side.
fn is_with_host(name: &str) -> bool {
    ["HtoD", "DtoH", "HostToDevice", "DeviceToHost"].iter().any(|side| name.contains(side))
}

/// What fills a tensor.
const FILLS: [&str; 5] = ["aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_", "aten::random_"];

fn created(scene: &Scene<'_>) -> Vec<Found> {
    let moved = scene.named(|name| name == "aten::to");
    if moved.is_empty() {
        return Vec::new();
    }
    let (tree, to_device, once) =
        (sibling::Operators::new(scene), to_device(scene, &moved), start_up::by_thread(scene));
    let costs = moved.into_iter().filter_map(|row| {
        let is_moved = is_copy(scene, &tree, row) && (!scene.has_device() || to_device.contains(&row));
        let made = tree.before(row).filter(|_| is_moved)?;
        let is_filled = FILLS.contains(&scene.name(tree.last_leaf(made)));
        is_filled.then(|| (scene.name(made).to_owned(), cost_of_moving(scene, &once, row), row))
    });
    let found = |(subject, costs): (String, Vec<_>)| {
        let detail = format!("{} right after {subject}", plural(costs.len(), "move"));
        Found::of(subject, costs, 0.7).told(detail)
    };
    by_subject(costs).into_iter().map(found).collect()
}

/// Those of operators that a copy from the host to a device was launched in.
fn to_device(scene: &Scene<'_>, moved: &[u32]) -> FxHashSet<u32> {
    let around = scene.around(moved);
    let copies = scene.selection.device_work().filter(|row| {
        let name = scene.trace.event_name(*row);
        name.contains("HtoD") || name.contains("HostToDevice")
    });
    let launches = copies.filter_map(|row| scene.links.launch.get(row));
    launches.filter_map(|launch| around.get(launch as usize)).collect()
}

/// Whether `aten::to` copies a tensor to one of the same type.
fn is_copy(scene: &Scene<'_>, tree: &sibling::Operators<'_>, row: u32) -> bool {
    let Some(to_copy) = tree.last_child(row).filter(|row| scene.name(*row) == "aten::_to_copy") else { return false };
    let Some(copy) = tree.last_child(to_copy).filter(|row| scene.name(*row) == "aten::copy_") else { return false };
    let mut types = scene.json_args(ArgKey::InputTypes);
    let types = types.of(copy);
    types.get(0).is_none() || types.get(0) == types.get(1)
}

fn cost_of_moving(scene: &Scene<'_>, once: &FxHashMap<TrackId, Cover>, row: u32) -> i64 {
    let device_ns = if scene.has_device() { scene.linked.device_time().total_ns[row as usize] } else { 0 };
    let (time, once) = (scene.time(row), once.get(&scene.trace.events.track[row as usize]));
    sum_ns([device_ns, once.map_or(time.dur().0, |once| once.outside_ns(time))])
}
