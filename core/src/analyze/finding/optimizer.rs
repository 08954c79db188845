//! Finds optimizers that update parameters one by one, and gradients filled with zeros.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::number_text::plural;
use super::optimizer_update::UpdateTimes;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};

pub(super) static UNFUSED: Rule = Rule {
    name: "unfused_optimizer",
    doc: "an optimizer updates parameters one by one, with a few small kernels each",
    cost: "time of its updates without device work (all of it without a device), without closures",
    advice: "pass fused=True or foreach=True to the optimizer",
    is_pattern: true,
    data: RuleData::Host,
    find: RuleScope::Trace(unfused),
};

pub(super) static ZEROED: Rule = Rule {
    name: "gradients_zeroed",
    doc: "zero_grad fills gradients with zeros",
    cost: "device time of the fills, or host time of the calls if that is longer",
    advice: "use zero_grad(set_to_none=True), the default since PyTorch 2.0, which writes gradients instead of adding \
             them to zeros",
    is_pattern: true,
    data: RuleData::Host,
    find: RuleScope::Trace(zeroed),
};

/// How the profiler names a step of an optimizer.
const STEP: &str = "Optimizer.step#";

/// Operators that an unfused step runs per parameter; many calls mean many parameters.
const UPDATES: [&str; 8] = [
    "aten::add_",
    "aten::mul_",
    "aten::addcmul_",
    "aten::addcdiv_",
    "aten::lerp_",
    "aten::sub_",
    "aten::div_",
    "aten::sqrt",
];

/// Fewer updates than this in a step are not worth a fused kernel.
const MANY: usize = 8;

fn unfused(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let is_step = |name: &str| name.starts_with(STEP) && !name.to_ascii_lowercase().contains("fused");
    let steps = context.named(|name| is_step(name) || is_single_tensor(name));
    let around = context.around(&steps);
    let in_step = |row: u32| Some((row, around.get(row as usize)?));
    let updates: Vec<_> = context.named(|name| UPDATES.contains(&name)).into_iter().filter_map(in_step).collect();
    let times = UpdateTimes::of(context, &steps, &updates);
    let mut num_updates: FxHashMap<u32, usize> = FxHashMap::default();
    for (update, step) in updates {
        if times.is_update(context, update, step) {
            *num_updates.entry(step).or_default() += 1;
        }
    }
    let fused = context.named(is_fused).into_iter().filter_map(in_step);
    let fused = fused.filter(|(row, step)| times.is_update(context, *row, *step));
    let fused: FxHashSet<u32> = fused.map(|(_, step)| step).collect();
    let is_one_by_one = |step: &u32| {
        let many = num_updates.get(step).is_some_and(|num| *num >= MANY);
        is_single_tensor(context.name(*step)) || (many && !fused.contains(step))
    };
    let rows = context.outermost(steps.iter().copied().filter(is_one_by_one).collect());
    let costs =
        rows.into_iter().map(|row| (subject(context.name(row)), context.lost_ns(times.time(context, row)), row));
    let found = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let has_closure = costs.iter().any(|(_, row)| times.has_closure(*row));
        let closure = if has_closure { ", without the passes in their closures" } else { "" };
        let detail = format!("{} without _foreach_ or _fused_ operators{closure}", plural(costs.len(), "step"));
        let lost = context.all_lost(costs.iter().map(|(_, row)| times.time(context, *row)));
        RuleMatch::of(subject, costs, 0.9).during(lost).detailed(detail)
    };
    by_subject(costs).into_iter().map(found).collect()
}

/// Whether an operator updates several parameters at once. Clipping and scaling of gradients come
/// before the update.
fn is_fused(name: &str) -> bool {
    let is_of_gradients = ["_foreach_norm", "_foreach_mul_", "_amp_foreach_"].iter().any(|part| name.contains(part));
    !is_of_gradients && (name.contains("_foreach_") || name.contains("_fused_"))
}

/// Whether a frame is that of an update of one parameter after another.
fn is_single_tensor(name: &str) -> bool {
    name.rsplit(": ").next().is_some_and(|function| function.starts_with("_single_tensor_"))
}

/// `Adam` of `Optimizer.step#Adam.step`, `_single_tensor_adam` of a frame.
fn subject(name: &str) -> String {
    let step = name.strip_prefix(STEP).map(|rest| rest.trim_end_matches(".step"));
    step.or_else(|| name.rsplit(": ").next()).unwrap_or(name).to_owned()
}

fn zeroed(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let calls = context.named(|name| name.ends_with(": zero_grad") || name.starts_with("Optimizer.zero_grad#"));
    let around = context.around(&calls);
    let fills = context.named(|name| matches!(name, "aten::zero_" | "aten::_foreach_zero_"));
    let is_of_gradient = |row: &u32| {
        let parent = context.links.nesting.parent.get(*row as usize);
        around.get(*row as usize).is_some() && parent.is_none_or(|parent| context.operator(parent) != "aten::zeros")
    };
    let rows = context.outermost(fills.into_iter().filter(is_of_gradient).collect());
    let cost = |row: &u32| (context.time_of(*row).max(context.time(*row).dur().0), *row);
    let costs: Vec<_> = rows.iter().map(cost).collect();
    if costs.is_empty() {
        return Vec::new();
    }
    let detail = plural(costs.len(), "fill");
    vec![RuleMatch::of("zero_grad", costs, 0.95).detailed(detail)]
}
