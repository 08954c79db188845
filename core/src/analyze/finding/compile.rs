//! Finds compilation inside the loop.

use super::super::number_text::plural;
use super::rule::{Rule, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};

pub(super) static RECOMPILATION: Rule = Rule {
    name: "recompilation",
    doc: "torch.compile compiles inside the loop",
    cost: "host time of compilation",
    advice: "find the failing guard with TORCH_LOGS=recompiles; mark changing dimensions with \
             torch._dynamo.mark_dynamic, or compile before the loop",
    is_pattern: false,
    find: RuleScope::Trace(found),
};

/// Names of compiler work in annotations (`dynamo_timed`) and frames.
const NAMES: [&str; 7] = [
    "_compile.compile_inner",
    "backend_compile",
    "compile_fx_inner",
    "convert_frame.py",
    "compile_fx.py",
    "async_compile.wait",
    "Inductor code gen",
];

/// Frames of these files only look up or call compiled code.
const NO_COMPILING: [&str; 2] = ["catch_errors", "_wrapped_call"];

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let is_compiling = |name: &str| {
        NAMES.iter().any(|part| name.contains(part)) && !NO_COMPILING.iter().any(|part| name.contains(part))
    };
    let rows = context.outermost(context.named(is_compiling)).into_iter().filter(|row| context.is_in_loop(*row));
    let costs = rows.map(|row| (context.name(row).to_owned(), context.time(row).dur().0, row));
    let found = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let detail = format!("compiled {}", plural(costs.len(), "time"));
        let all_ns = context.all_ns(&costs);
        RuleMatch::of(subject, costs, 0.8).at_most(all_ns).detailed(detail)
    };
    by_subject(costs).into_iter().map(found).collect()
}
