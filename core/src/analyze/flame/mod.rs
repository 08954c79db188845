//! Builds flame graphs: what calls what, and how much of a quantity each call and all inside it
//! have.

mod chain;
mod change;
mod coverage;
mod focus;
mod order;
mod row;
mod tree;
mod walk;
mod weight;

use std::sync::Arc;

use super::analysis::{Analysis, Run, parse_request};
use super::frame_names::{FrameNames, ModuleNames};
use super::job::{RankedTrace, common_ranks};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::threads::each;
use chain::{FlameFrames, FrameChains};
use order::FlameOrder;
pub use row::FlameRow;
use tree::FlameTree;
use weight::FlameWeight;

/// Calls inside of calls, with their weights.
pub(crate) static FLAMEGRAPH: Analysis = Analysis {
    name: "flamegraph",
    doc: "tree of Python frames, modules, operators or all of them, each with the weight of all calls inside it",
    options: &[
        OptionDoc {
            name: "by",
            doc: "frames of the tree: chain (module, operator, kernel), stack (Python frames), module or operator",
            kind: OptionKind::Choice(FlameFrames::NAMES),
        },
        OptionDoc {
            name: "weight",
            doc: "width of a frame; default: device_ns where the trace has device work, else host_ns",
            kind: OptionKind::Choice(FlameWeight::NAMES),
        },
        OptionDoc {
            name: "order",
            doc: "merged (frames of one name together, the widest first) or time (single calls in order of start)",
            kind: OptionKind::Choice(FlameOrder::NAMES),
        },
        OptionDoc {
            name: "focus",
            doc: "name of frames that the graph begins with, instead of the outermost ones",
            kind: OptionKind::Text,
        },
        OptionDoc {
            name: "direction",
            doc: "frames inside of the focus (callees), or around it (callers)",
            kind: OptionKind::Choice(&["callees", "callers"]),
        },
        OptionDoc {
            name: "classes",
            doc: "merges the modules of a class, such as Linear_0 and Linear_1 into Linear",
            kind: OptionKind::Flag,
        },
        OptionDoc {
            name: "program_only",
            doc: "leaves out Python frames of PyTorch, Python itself and installed packages",
            kind: OptionKind::Flag,
        },
    ],
    run: Run::Trace(run),
};

/// Compares the flame graphs of two traces or parts; `request` has the options of `flamegraph` and
/// a selection for both. Weights are those of an iteration, where both sides have iterations.
///
/// # Errors
/// When an option is unknown, or a trace does not have the part.
pub fn flame_changes(
    before: &Arc<LinkedTrace>,
    after: &Arc<LinkedTrace>,
    request: &str,
) -> Result<AnalysisResult, Error> {
    let (wanted, options) = parse_request(FLAMEGRAPH.options, request)?;
    Ok(changes([&Selection::of(before, &wanted)?, &Selection::of(after, &wanted)?], &options))
}

/// Compares the flame graphs of two jobs, rank by rank: see [`flame_changes`].
///
/// # Errors
/// When they have no rank in common, or as [`flame_changes`].
pub fn flame_changes_of_jobs(
    before: &[RankedTrace],
    after: &[RankedTrace],
    request: &str,
    max_threads: usize,
) -> Result<AnalysisResult, Error> {
    let pairs = common_ranks(before, after)?;
    let ranks: Vec<_> = pairs.iter().map(|(at, _)| before[*at].0).collect();
    let answer = |at: usize| flame_changes(&before[pairs[at].0].1, &after[pairs[at].1].1, request);
    let answers = each(max_threads, pairs.len(), answer).into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(AnalysisResult::stacked(&ranks, &answers))
}

/// The name of the weight by which two selections are compared.
pub(crate) fn changed_weight(selections: [&Selection<'_>; 2], options: &Options) -> &'static str {
    common_weight(selections, options).name()
}

fn common_weight(selections: [&Selection<'_>; 2], options: &Options) -> FlameWeight {
    let [before, after] = selections.map(|selection| FlameWeight::of(options.choice("weight"), selection));
    // Without a device on both sides, the host is compared.
    if before == after { before } else { FlameWeight::HostNs }
}

/// Compares the flame graphs of two selections.
pub(crate) fn changes(selections: [&Selection<'_>; 2], options: &Options) -> AnalysisResult {
    let weight = common_weight(selections, options);
    let trees = selections.map(|selection| {
        let (chains, names) = frames_of(selection, options);
        FlameTree::of(selection, &chains, FlameOrder::Merged, (&weight.rows(selection), names))
    });
    let reason = weight.why_empty(selections[0]);
    AnalysisResult::of(&change::TABLE, change::rows(selections, trees), reason)
        .drawn(plot(weight, Some("change_weight")))
}

/// How the frames are drawn: as wide as their weight, and coloured by `change` where there is one.
const fn plot(weight: FlameWeight, change: Option<&'static str>) -> Plot {
    Plot::Flame {
        name: "name",
        depth: "depth",
        start: "start_weight",
        weight: "total_weight",
        kind: "kind",
        change,
        unit: weight.unit(),
    }
}

/// The frames of events, and their names.
fn frames_of<'a>(selection: &Selection<'a>, options: &Options) -> (FrameChains<'a>, FrameNames) {
    let frames = FlameFrames::of(options.choice("by"));
    let modules = if options.flag("classes") { ModuleNames::Class } else { ModuleNames::Bare };
    (FrameChains::of(selection.linked, frames, options.flag("program_only")), FrameNames::new(modules))
}

fn run(selection: &Selection<'_>, options: &Options) -> AnalysisResult {
    let weight = FlameWeight::of(options.choice("weight"), selection);
    let focus = options.text("focus");
    // Calls of the focus are one frame, whenever they happen.
    let order = if focus.is_some() { FlameOrder::Merged } else { FlameOrder::of(options.choice("order")) };
    let weighted = weight.rows(selection);
    let (chains, names) = frames_of(selection, options);
    let whole = FlameTree::of(selection, &chains, order, (&weighted, names));
    let coverage = coverage::row(weight, &whole, &weighted);
    let is_empty = whole.total_weight() == 0;
    let tree = match (focus, options.choice("direction")) {
        (Some(name), "callers") => focus::callers(&whole, name),
        (Some(name), _) => focus::callees(&whole, name),
        (None, _) => whole,
    };
    let reason = if is_empty { weight.why_empty(selection) } else { "no frame has this name" };
    AnalysisResult::of(&row::TABLE, row::rows(selection, tree, order), reason)
        .and(&coverage::TABLE, vec![coverage])
        .drawn(plot(weight, None))
}

/// The flame graph of a selection: rows in the order of a walk that visits a frame before the
/// frames inside it.
///
/// `total_weight = self_weight + Σ total_weight` of the frames right inside; the sum over all
/// frames that are in no other is the weight of the selection.
pub fn flamegraph(selection: &Selection<'_>, by: &str, weight: &str) -> Vec<FlameRow> {
    let weighted = FlameWeight::of(weight, selection).rows(selection);
    let chains = FrameChains::of(selection.linked, FlameFrames::of(by), false);
    let tree = FlameTree::of(selection, &chains, FlameOrder::Merged, (&weighted, FrameNames::new(ModuleNames::Bare)));
    row::rows(selection, tree, FlameOrder::Merged)
}
