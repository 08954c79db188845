//! Finds compilation inside the loop.

use super::super::interval::union;
use super::super::number_text::plural;
use super::recompile_reason::RecompileReasons;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::time::TimeRange;
use crate::trace::kind::EventKind;

pub(super) static RECOMPILATION: Rule = Rule {
    name: "recompilation",
    doc: "torch.compile compiles inside the loop",
    cost: "host time of compilation",
    advice: "find the failing guard with TORCH_LOGS=recompiles; mark changing dimensions with \
             torch._dynamo.mark_dynamic, or compile before the loop",
    is_pattern: false,
    data: RuleData::Host,
    find: RuleScope::Trace(found),
};

const FIRST: &str = "compile before the loop: run a few iterations first, and record after them \
     (ks.profile(wait=1, warmup=1, active=3))";

/// The end of an event of Dynamo or Inductor around one of their phases.
const TIMED: &str = " (dynamo_timed)";

/// Names of such events without that end, some of older versions.
const EVENTS: [&str; 12] = [
    "entire_frame_compile",
    "entire_backward_compile",
    "_compile.compile_inner",
    "_compile.<locals>.compile_inner",
    "backend_compile",
    "inductor_compile",
    "compile_fx_inner",
    "fx_codegen_and_compile",
    "compile_fx.<locals>.fw_compiler_base",
    "compile_fx.<locals>.bw_compiler",
    "async_compile.wait",
    "Inductor code gen",
];

/// Functions that compile, by their file. Other functions of these files only look up or run
/// compiled code.
const FUNCTIONS: [(&str, &[&str]); 5] = [
    (
        "_dynamo/convert_frame.py",
        &[
            "_compile",
            "compile_inner",
            "_compile_inner",
            "compile_frame",
            "_convert_frame",
            "_convert_frame_assert",
            "transform",
            "trace_frame",
            "fullgraph_capture",
        ],
    ),
    ("_dynamo/output_graph.py", &["compile_subgraph", "compile_and_call_fx_graph", "call_user_compiler"]),
    (
        "_inductor/compile_fx.py",
        &[
            "compile_fx",
            "_compile_fx_main",
            "compile_fx_inner",
            "_compile_fx_inner",
            "compile_fx_forward",
            "compile_fx_backward",
            "fw_compiler_base",
            "fw_compiler_freezing",
            "bw_compiler",
            "fx_codegen_and_compile",
            "codegen_and_compile",
        ],
    ),
    ("_inductor/graph.py", &["compile_to_fn", "compile_to_module"]),
    ("_inductor/async_compile.py", &["wait"]),
];

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let rows: Vec<u32> = outermost(context).into_iter().filter(|row| context.is_in_loop(*row)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let costs = rows.into_iter().map(|row| (subject(context.name(row)), context.time(row).dur().0, row));
    let (ids, reasons) = (CompileIds::of(context), RecompileReasons::of(&context.linked.sources));
    let found = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let known: Vec<_> = costs.iter().flat_map(|(_, row)| ids.inside(context.time(*row))).collect();
        let is_first = !known.is_empty() && known.iter().all(|id| id.ends_with("/0"));
        let first = if is_first { ", each for the first time" } else { "" };
        let guards = reasons.words(known.into_iter());
        let detail = format!("compiled {}{first}{guards}", plural(costs.len(), "time"));
        let times = context.all_times(&costs);
        RuleMatch::of(subject, costs, 0.8).during(times).detailed(detail).advised(is_first.then_some(FIRST))
    };
    by_subject(costs).into_iter().map(found).collect()
}

/// When anything was compiled.
pub(super) fn times(context: &RuleContext<'_>) -> Vec<TimeRange> {
    union(outermost(context).into_iter().map(|row| context.time(row)).collect())
}

/// Rows of compilations; those inside of others are left out.
fn outermost(context: &RuleContext<'_>) -> Vec<u32> {
    let is_frame = |row: &u32| context.trace.events.kind[*row as usize] == EventKind::Python;
    let mut rows = context.named(is_compiling_function);
    rows.retain(is_frame);
    rows.extend(context.named(is_compiling_event).into_iter().filter(|row| !is_frame(row)));
    crate::sort::ascending(&mut rows);
    context.outermost(rows)
}

/// Whether an event is a phase of compilation. Graphs of CUDA are captured, not compiled.
fn is_compiling_event(name: &str) -> bool {
    let phase = name.strip_suffix(TIMED);
    EVENTS.contains(&name) || phase.is_some_and(|phase| !phase.to_ascii_lowercase().contains("cudagraph"))
}

/// Whether a frame is that of a function that compiles.
fn is_compiling_function(name: &str) -> bool {
    let Some((path, rest)) = name.split_once(".py(") else { return false };
    let Some((_, function)) = rest.split_once("): ") else { return false };
    let path = format!("{}.py", path.replace('\\', "/"));
    // Qualified names: `_compile.<locals>.compile_inner`.
    let function = function.rsplit('.').next().unwrap_or(function);
    FUNCTIONS.iter().any(|(file, functions)| path.ends_with(file) && functions.contains(&function))
}

fn subject(name: &str) -> String {
    name.strip_suffix(TIMED).unwrap_or(name).to_owned()
}

/// The ids of compilations: `0/1` is the second compilation of frame 0.
struct CompileIds<'a> {
    /// Sorted by time.
    ids: Vec<(TimeRange, &'a str)>,
}

impl<'a> CompileIds<'a> {
    /// Dynamo writes them into names: `inductor_compile_data: fn_name=…, compile_id=0/1`.
    fn of(context: &RuleContext<'a>) -> Self {
        const KEY: &str = "compile_id=";
        let id = |row: u32| {
            let (_, rest) = context.name(row).split_once(KEY)?;
            let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '/').unwrap_or(rest.len());
            Some((context.time(row), &rest[..end]))
        };
        let mut ids: Vec<_> = context.named(|name| name.contains(KEY)).into_iter().filter_map(id).collect();
        crate::sort::by_key(&mut ids, |(time, _)| time.start);
        Self { ids }
    }

    fn inside(&self, time: TimeRange) -> impl Iterator<Item = &'a str> {
        let first = self.ids.partition_point(|(id, _)| id.start < time.start);
        self.ids[first..].iter().take_while(move |(id, _)| id.start <= time.end).map(|(_, id)| *id)
    }
}
