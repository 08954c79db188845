//! Compares two traces by part of the step, operator, kernel, module, shape and call tree.

#[cfg(feature = "gates")]
mod budget;
mod call_tree;
mod change;
mod changed_name;
mod device_parts;
mod device_work;
#[cfg(feature = "gates")]
mod gate;
mod iterations;
mod name_keys;
#[cfg(feature = "python-reports")]
mod nodes;
mod parts;
mod recorded;
mod samples;
mod side;
mod significance;
mod step_times;
mod structure;

/// Tables of a comparison, by their names.
#[cfg(feature = "python-reports")]
pub(crate) mod tables {
    pub(crate) use super::change::{KERNELS, MODULES, OPERATORS};
    pub(crate) use super::device_work::TABLE as DEVICE_WORK;
    pub(crate) use super::iterations::TABLE as ITERATIONS;
    pub(crate) use super::parts::TABLE as PARTS;
    pub(crate) use super::recorded::TABLE as RECORDED;
    pub(crate) use super::structure::TABLE as STRUCTURE;
}

use std::sync::Arc;

use super::analysis::{parse_request, stacked_by_phase};
use super::job::{RankedTrace, common_ranks};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use super::selection_request::SelectionRequest;
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::table::ordered_by_size;
use crate::threads::each;
#[cfg(feature = "gates")]
pub use budget::check;
pub use changed_name::{ChangedName, changed};
use device_parts::{DeviceParts, device_parts};
#[cfg(feature = "gates")]
pub use gate::gate;
#[cfg(feature = "python-reports")]
pub use nodes::node_changes;
use side::DiffSide;

/// Compares two traces; `request` is a JSON object with the selection for both.
///
/// Iterations are compared as samples: `before_ns` and `after_ns` are means over them, `p_value` is
/// that of Welch's test of whether these differ by more than the iterations of each trace do among
/// themselves. Only kinds that both traces recorded are compared. Device work counts for the step
/// that launched it, however late it ran. Tables:
///
/// * `diff`: the step and its parts, which add up to it
/// * `diff_recorded`: kinds of data, and whether they are compared
/// * `diff_device_work`: device work by class; `diff_kernels` adds up to it
/// * `diff_iterations`, `diff_operators`, `diff_shapes`, `diff_kernels`, `diff_modules`
/// * `diff_structure`: calls and kernels that were added, removed or replaced
/// * `diff_nodes`: operators of two Execution Traces whose number of calls differs
///
/// # Errors
/// When the part is in neither trace or the request asks for something else.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::diff;
/// use kinetoscope::table::ColumnValues;
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let trace = |dur| {
///     let json = format!(r#"[{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 0, "dur": {dur}}}]"#);
///     Ok::<_, kinetoscope::Error>(Arc::new(LinkedTrace::new(read([Input::new(json.as_bytes())], Limits::default())?)))
/// };
/// let answer = diff(&trace(10)?, &trace(14)?, "{}")?;
/// assert_eq!(answer.tables[0].values(3, 0..2), ColumnValues::Int([Some(4_000), Some(4_000)].into_iter().collect())); // the step, computation
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn diff(before: &Arc<LinkedTrace>, after: &Arc<LinkedTrace>, request: &str) -> Result<AnalysisResult, Error> {
    let (wanted, _) = parse_request(&[], request)?;
    let both = |wanted: &SelectionRequest| Ok(answer(&[Selection::of(before, wanted)?, Selection::of(after, wanted)?]));
    if wanted.by_phase {
        return stacked_by_phase(&wanted.of_phases(&[before, after])?, both);
    }
    let found = both(&wanted)?;
    #[cfg(feature = "python-reports")]
    if nodes::have_nodes(before, after) {
        return Ok(nodes::with_nodes(found, before, after));
    }
    Ok(found)
}

/// Compares two parts of one trace, or of two: see [`diff`].
///
/// # Errors
/// When a trace does not have its part.
pub fn diff_parts(
    (before, from): (&Arc<LinkedTrace>, &SelectionRequest),
    (after, to): (&Arc<LinkedTrace>, &SelectionRequest),
) -> Result<AnalysisResult, Error> {
    Ok(answer(&[Selection::of(before, from)?, Selection::of(after, to)?]))
}

/// Compares two jobs, rank by rank: tables get the columns `rank` and `window` before the others.
///
/// # Errors
/// When they have no rank in common, or as [`diff`].
pub fn diff_jobs(
    before: &[RankedTrace],
    after: &[RankedTrace],
    request: &str,
    max_threads: usize,
) -> Result<AnalysisResult, Error> {
    let (wanted, _) = parse_request(&[], request)?;
    let pairs = common_ranks(before, after)?;
    let ranks: Vec<_> = pairs.iter().map(|(at, _)| before[*at].0).collect();
    let all = |wanted: &SelectionRequest| {
        let both = |(at, to): &(usize, usize)| {
            Ok([Selection::of(&before[*at].1, wanted)?, Selection::of(&after[*to].1, wanted)?])
        };
        let selections: Vec<_> = pairs.iter().map(both).collect::<Result<_, Error>>()?;
        Ok::<_, Error>(each(max_threads, selections.len(), |at| answer(&selections[at])))
    };
    if !wanted.by_phase {
        let answers = all(&wanted)?;
        #[cfg(feature = "python-reports")]
        let answers = {
            let traces = || pairs.iter().map(|(at, to)| (&*before[*at].1, &*after[*to].1));
            let has_nodes = traces().any(|(one, other)| nodes::have_nodes(one, other));
            let with_nodes = |(found, (one, other))| nodes::with_nodes(found, one, other);
            if has_nodes { answers.into_iter().zip(traces()).map(with_nodes).collect() } else { answers }
        };
        return Ok(across(&ranks, &answers));
    }
    let traces: Vec<&LinkedTrace> = before.iter().chain(after).map(|(_, linked)| &**linked).collect();
    stacked_by_phase(&wanted.of_phases(&traces)?, |wanted| Ok(across(&ranks, &all(wanted)?)))
}

/// Answers on the ranks of a job as one. The largest change of a name comes first, on whatever rank
/// it is.
fn across(ranks: &[Option<i64>], answers: &[AnalysisResult]) -> AnalysisResult {
    const SORTED: [&str; 5] = [
        change::OPERATORS.name,
        change::SHAPES.name,
        change::KERNELS.name,
        change::MODULES.name,
        structure::TABLE.name,
    ];
    let mut answer = AnalysisResult::stacked(ranks, answers);
    for table in answer.tables.iter_mut().filter(|table| SORTED.contains(&table.name())) {
        *table = ordered_by_size(table, "change_ns");
    }
    answer
}

fn answer(selections: &[Selection<'_>; 2]) -> AnalysisResult {
    let (sides, keys) = DiffSide::both(selections.each_ref());
    let kinds = recorded::recorded(&sides);
    let device = if sides[0].compared.device { device_parts(&sides) } else { DeviceParts::default() };
    let work = device_work::device_work(&sides, &device.exposed);
    AnalysisResult::of(&parts::TABLE, parts::parts(&sides, &keys, device, &kinds), parts::reason(&sides))
        .and(&recorded::TABLE, kinds)
        .and(&device_work::TABLE, work)
        .and(&iterations::TABLE, iterations::iterations(&sides))
        .and(&change::OPERATORS, samples::operators_and_rest(&sides, &keys))
        .and(&change::SHAPES, samples::shapes(&sides, &keys))
        .and(&change::KERNELS, samples::kernels(&sides, &keys))
        .and(&change::MODULES, samples::modules(&sides, &keys))
        .and(&structure::TABLE, structure::structure(&sides, &keys))
        .drawn(Plot::Change { label: "part", before: "before_ns", after: "after_ns" })
}
