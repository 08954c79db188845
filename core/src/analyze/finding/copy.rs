//! Finds copies between host and device that block the run.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::interval::RangeCover;
use super::super::number_text::{duration_text, plural, size_text};
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use super::{operator_trees, start_up};
use crate::id::TrackId;
use crate::time::{add_ns, sum_ns};
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

pub(super) static PAGEABLE: Rule = Rule {
    name: "pageable_copy",
    doc: "copies use pageable host memory, so the driver copies twice and the host waits",
    cost: "time of the copies without concurrent computation",
    advice: "pin the host memory (DataLoader(pin_memory=True), tensor.pin_memory()) and copy with non_blocking=True",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(|context| exposed(context, true)),
};

pub(super) static EXPOSED: Rule = Rule {
    name: "exposed_copy",
    doc: "copies between host and device without concurrent computation",
    cost: "time of the copies without concurrent computation",
    advice: "copy the next batch on a separate stream during computation; keep reused data on the device",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(|context| exposed(context, false)),
};

pub(super) static CREATED_ON_HOST: Rule = Rule {
    name: "created_on_host",
    doc: "a tensor is filled on the host and then moved to the device",
    cost: "device time of the copy and host time of the move, without one-time work",
    advice: "create the tensor on the device: torch.zeros(…, device=\"cuda\")",
    is_pattern: true,
    data: RuleData::Host,
    find: RuleScope::Trace(created),
};

fn exposed(context: &RuleContext<'_>, is_pageable: bool) -> Vec<RuleMatch> {
    let copies = context.selection.device_work().filter(|row| context.trace.events.kind[*row] == EventKind::Copy);
    let crosses = copies.map(|row| row as u32).filter(|row| is_with_host(context.name(*row)));
    let wanted =
        crosses.filter(|row| context.is_in_loop(*row) && context.name(*row).contains("Pageable") == is_pageable);
    let costs = wanted.map(|row| (context.name(row).to_owned(), context.exposed_ns(row), row));
    by_subject(costs).into_iter().map(|(subject, costs)| rule_match(context, subject, costs)).collect()
}

fn rule_match(context: &RuleContext<'_>, subject: String, costs: Vec<(i64, u32)>) -> RuleMatch {
    let (mut bytes, mut all_ns) = (0, 0);
    for (_, row) in &costs {
        let args = context.trace.events.args(*row as usize);
        add_ns(&mut bytes, context.trace.args.integer(&context.trace.strings, args, ArgKey::Bytes).unwrap_or(0));
        add_ns(&mut all_ns, context.time(*row).dur().0);
    }
    let detail = format!("{}, {} in {}", plural(costs.len(), "event"), size_text(bytes), duration_text(all_ns));
    let exposed = context.all_exposed(&costs);
    RuleMatch::of(subject, costs, 0.9).during(exposed).detailed(detail)
}

/// Whether a copy has the host on one side.
pub(super) fn is_with_host(name: &str) -> bool {
    ["HtoD", "DtoH", "HostToDevice", "DeviceToHost"].iter().any(|side| name.contains(side))
}

/// Calls that fill a tensor.
const FILLS: [&str; 5] = ["aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_", "aten::random_"];

fn created(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let moved = context.named(|name| name == "aten::to");
    if moved.is_empty() {
        return Vec::new();
    }
    let (tree, to_device, once) =
        (operator_trees::OperatorTrees::new(context), to_device(context, &moved), start_up::by_thread(context));
    let costs = moved.into_iter().filter_map(|row| {
        let is_moved = is_copy(context, &tree, row) && (!context.has_device() || to_device.contains(&row));
        let made = tree.before(row).filter(|_| is_moved)?;
        let is_filled = FILLS.contains(&context.operator(tree.last_leaf(made)));
        is_filled.then(|| (context.name(made).to_owned(), cost_of_moving(context, &once, row), row))
    });
    let found = |(subject, costs): (String, Vec<_>)| {
        let detail = format!("{} right after {subject}", plural(costs.len(), "move"));
        RuleMatch::of(subject, costs, 0.7).detailed(detail)
    };
    by_subject(costs).into_iter().map(found).collect()
}

/// Those of operators that a copy from the host to a device was launched in.
fn to_device(context: &RuleContext<'_>, moved: &[u32]) -> FxHashSet<u32> {
    let around = context.around(moved);
    let copies = context.selection.device_work().filter(|row| {
        let name = context.trace.event_name(*row);
        name.contains("HtoD") || name.contains("HostToDevice")
    });
    let launches = copies.filter_map(|row| context.links.launch.get(row));
    launches.filter_map(|launch| around.get(launch as usize)).collect()
}

/// Whether `aten::to` copies a tensor to one of the same type.
fn is_copy(context: &RuleContext<'_>, tree: &operator_trees::OperatorTrees<'_>, row: u32) -> bool {
    let Some(to_copy) = tree.last_child(row).filter(|row| context.operator(*row) == "aten::_to_copy") else {
        return false;
    };
    let Some(copy) = tree.last_child(to_copy).filter(|row| context.operator(*row) == "aten::copy_") else {
        return false;
    };
    let mut types = context.json_args(ArgKey::InputTypes);
    let types = types.of(copy);
    types.get(0).is_none() || types.get(0) == types.get(1)
}

fn cost_of_moving(context: &RuleContext<'_>, once: &FxHashMap<TrackId, RangeCover>, row: u32) -> i64 {
    let device_ns = if context.has_device() { context.linked.device_time().total_ns[row as usize] } else { 0 };
    let (time, once) = (context.time(row), once.get(&context.trace.events.track.at(row as usize)));
    sum_ns([device_ns, once.map_or(time.dur().0, |once| once.outside_ns(time))])
}
