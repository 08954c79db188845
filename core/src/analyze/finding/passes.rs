//! Recognizes the backward pass by its events.

use super::rule_context::RuleContext;
use crate::trace::kind::EventKind;

/// Whether a host event is one of autograd's engine.
pub(super) fn is_backward_event(name: &str) -> bool {
    let name = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    name.starts_with("autograd::engine::") || name.ends_with("Backward") || name.ends_with("AccumulateGrad")
}

/// Whether a kernel is one of a backward pass.
fn is_backward_kernel(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["backward", "_bwd", "bwd_", "wgrad", "dgrad", "multi_tensor_apply"].iter().any(|part| lower.contains(part))
}

/// Whether the recording shows a backward pass or an update of parameters.
pub(super) fn has_backward(context: &RuleContext<'_>) -> bool {
    let is_training =
        |name: &str| is_backward_event(name) || name.starts_with("Optimizer.step#") || name.ends_with(": run_backward");
    if !context.named(is_training).is_empty() {
        return true;
    }
    let mut known = rustc_hash::FxHashSet::default();
    let kernels = context.selection.device_work().filter(|row| context.trace.events.kind[*row] == EventKind::Kernel);
    let names = kernels.map(|row| context.trace.events.name.at(row)).filter(|name| known.insert(*name));
    let mut names = names.map(|name| context.trace.strings.text(name));
    names.any(is_backward_kernel)
}
