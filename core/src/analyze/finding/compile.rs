//! Compilation while the loop runs.

use super::super::words::plural;
use super::found::{Found, by_subject};
use super::scene::Scene;
use super::{Find, Rule};

pub(super) static RECOMPILATION: Rule = Rule {
    name: "recompilation",
    doc: "torch.compile compiles while the loop runs",
    cost: "host time of compiling",
    advice: "TORCH_LOGS=recompiles names the guard that failed; mark changing dimensions with \
             torch._dynamo.mark_dynamic, or compile before the loop",
    is_pattern: false,
    find: Find::Trace(found),
};

/// What the compiler calls its own work, in annotations (`dynamo_timed`) and in frames.
const NAMES: [&str; 7] = [
    "_compile.compile_inner",
    "backend_compile",
    "compile_fx_inner",
    "convert_frame.py",
    "compile_fx.py",
    "async_compile.wait",
    "Inductor code gen",
];

/// Frames of these files that only call what was compiled before, or look for it.
const NO_COMPILING: [&str; 2] = ["catch_errors", "_wrapped_call"];

fn found(scene: &Scene<'_>) -> Vec<Found> {
    let is_compiling = |name: &str| {
        NAMES.iter().any(|part| name.contains(part)) && !NO_COMPILING.iter().any(|part| name.contains(part))
    };
    let rows = scene.outermost(scene.named(is_compiling)).into_iter().filter(|row| scene.is_in_loop(*row));
    let costs = rows.map(|row| (scene.name(row).to_owned(), scene.time(row).dur().0, row));
    let found = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let detail = format!("compiled {}", plural(costs.len(), "time"));
        let all_ns = scene.all_ns(&costs);
        Found::of(subject, costs, 0.8).at_most(all_ns).told(detail)
    };
    by_subject(costs).into_iter().map(found).collect()
}
