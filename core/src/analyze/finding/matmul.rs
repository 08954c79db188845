//! Finds matrix multiplications without tensor cores.

use serde_json::Value;

use super::super::number_text::plural;
use super::super::tensor_core::uses_tensor_cores;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::{JsonArgs, RuleContext};
use super::rule_match::{RuleMatch, by_subject};
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::vendor;

pub(super) static FP32: Rule = Rule {
    name: "fp32_matmul",
    doc: "matrix multiplications use full 32-bit precision on a device with TF32 and 16-bit matrix units",
    cost: "half the device time of these kernels, as TF32 is at least twice as fast on all devices that support it",
    advice: "call torch.set_float32_matmul_precision(\"high\"), or autocast to bfloat16",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(fp32),
};

pub(super) static UNALIGNED: Rule = Rule {
    name: "unaligned_matmul",
    doc: "16-bit matrix multiplications have a dimension that is not a multiple of 8",
    cost: "estimate: a quarter of their device time, if more than the number of rows is unaligned",
    advice: "pad the dimension (vocabulary, classes, hidden size) to a multiple of 8, or better of 64",
    is_pattern: true,
    data: RuleData::Device,
    find: RuleScope::Trace(unaligned),
};

/// The operators that multiply matrices themselves.
const MATMULS: [&str; 5] = ["aten::mm", "aten::bmm", "aten::addmm", "aten::baddbmm", "aten::_addmm_activation"];

/// The first compute capability with TF32.
const FIRST_WITH_TF32: i64 = 8;

fn fp32(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let devices = context.trace.device_properties();
    let major = |device: &Value| device.get("computeMajor").and_then(Value::as_i64);
    let majors: Vec<_> = devices.iter().filter_map(major).collect();
    // The numbers of generations of other vendors mean other things.
    let is_other = |name: &String| vendor::of_device(name).is_some_and(|vendor| !vendor.has_compute_capability);
    if context.trace.device_names().iter().any(is_other)
        || majors.is_empty()
        || majors.iter().any(|major| *major < FIRST_WITH_TF32)
    {
        return Vec::new();
    }
    let mut types = context.json_args(ArgKey::InputTypes);
    let kernels = context.selection.device_work().filter(|row| context.trace.events.kind[*row] == EventKind::Kernel);
    let costs = kernels.filter_map(|kernel| {
        let operator = context.links.operator.get(kernel)?;
        let name = context.operator(operator);
        let is_full = MATMULS.contains(&name) && is_plain_gemm(context.name(kernel as u32));
        let is_float = types.of(operator).get(0).and_then(Value::as_str).is_none_or(|dtype| dtype == "float");
        (is_full && is_float).then(|| (name.to_owned(), context.time(kernel as u32).dur().0 / 2, kernel as u32))
    });
    let found = |(subject, costs): (String, Vec<_>)| {
        let detail = format!("{} in 32-bit precision", plural(costs.len(), "kernel"));
        RuleMatch::of(subject, costs, 0.8).detailed(detail)
    };
    let costs: Vec<_> = costs.collect();
    by_subject(costs.into_iter()).into_iter().map(found).collect()
}

/// Whether a kernel multiplies 32-bit floats without matrix units. By a vector it waits for memory:
/// units make it no faster.
fn is_plain_gemm(kernel: &str) -> bool {
    let lower = kernel.to_ascii_lowercase();
    let is_gemm = ["sgemm", "f32f32_f32f32"].iter().any(|part| lower.contains(part));
    is_gemm && !uses_tensor_cores(&lower) && !vendor::is_kernel_of(&lower, |kernels| kernels.rounded_float32)
}

fn unaligned(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let (mut types, mut shapes) = (context.json_args(ArgKey::InputTypes), context.json_args(ArgKey::InputShapes));
    let rows = context.named(|name| MATMULS.contains(&name));
    let costs = rows.into_iter().filter_map(|row| {
        let dtype = types.of(row).get(0)?.as_str()?;
        let is_half = ["Half", "BFloat16"].iter().any(|half| dtype.ends_with(half));
        let shapes = shapes.of(row);
        if !is_half || !has_unaligned(shapes, 2) {
            return None;
        }
        // Rows can have any number; the contiguous dimension decides.
        let quarter = if has_unaligned(shapes, 1) { device_ns(context, row) / 4 } else { 0 };
        Some((context.name(row).to_owned(), quarter, row))
    });
    let groups = by_subject(costs);
    groups.into_iter().map(|(subject, costs)| rule_match(&mut shapes, subject, costs)).collect()
}

/// Calls of one operator, with the shapes of the costliest.
fn rule_match(shapes: &mut JsonArgs<'_>, subject: String, costs: Vec<(i64, u32)>) -> RuleMatch {
    let num_calls = costs.len();
    let is_costly = costs.iter().any(|(ns, _)| *ns > 0);
    let found = RuleMatch::of(subject, costs, if is_costly { 0.6 } else { 0.3 });
    let worst = found.evidence.first().map(|row| shapes.of(*row).to_string()).unwrap_or_default();
    let detail = format!("{}, such as {worst}", plural(num_calls, "call"));
    found.detailed(detail)
}

/// Whether one of the last dimensions of any tensor is no multiple of 8.
fn has_unaligned(shapes: &Value, num_last: usize) -> bool {
    let tensors = shapes.as_array().into_iter().flatten().filter_map(Value::as_array);
    tensors.flat_map(|dims| dims.iter().rev().take(num_last)).filter_map(Value::as_i64).any(|dim| dim % 8 != 0)
}

fn device_ns(context: &RuleContext<'_>, row: u32) -> i64 {
    context.linked.device_time().total_ns[row as usize]
}
