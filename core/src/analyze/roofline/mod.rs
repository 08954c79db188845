//! Compares operators with the device's roofline: operations and bytes from shapes, against time
//! and peaks.

mod attention;
mod call;
mod convolution;
mod cost;
mod dtype;
mod elementwise;
mod gather;
mod generated;
pub(super) mod iteration;
mod loss;
mod mask;
mod matmul;
pub(super) mod module;
mod normalisation;
mod operation_sum;
mod optimizer;
mod outcome;
mod pooling;
mod reduction;
mod registry;
pub(super) mod row;
mod scatter;
mod serving;
mod variable_attention;
mod work;

use super::analysis::{Analysis, Run};
use super::device::{DEVICE, DevicePeaksRow, Peaks};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::{Ceiling, Plot};
use super::result::AnalysisResult;
use super::selection::Selection;
use outcome::{CostOutcome, CostOutcomes};
use row::RooflineRows;
use work::RooflineWork;

/// Operators against the peaks of the device.
pub(super) static ROOFLINE: Analysis = Analysis {
    name: "roofline",
    doc: "operations and bytes of operators, estimated from shapes and compared with the device peaks",
    options: &[
        OptionDoc {
            name: "device",
            doc: "name of the device whose peaks apply, such as \"H100 SXM\"; default: the device in the file",
            kind: OptionKind::Text,
        },
        OptionDoc {
            name: "on",
            doc: "time to use: time of device work, or of the outermost operators on the host",
            kind: OptionKind::Choice(&["device", "host"]),
        },
    ],
    run: Run::Trace(run),
};

/// Whether generated code could do the work of an operator within another kernel: one operation on
/// each element, or a copy.
pub(super) fn is_fusible(operator: &str) -> bool {
    elementwise::is_known(operator) || gather::is_copy(operator)
}

/// The operations of each call that has a model, by the row of the call; and how many calls have
/// none.
pub(super) fn flops(selection: &Selection<'_>) -> (Vec<(u32, i64)>, i64) {
    let selection = Selection { is_unclipped: true, ..selection.clone() };
    let mut outcomes = CostOutcomes::new(selection.linked);
    let has_device = selection.device_work().next().is_some();
    let work = if has_device {
        RooflineWork::of_device(&selection, &outcomes)
    } else {
        RooflineWork::of_host(&selection, &mut outcomes)
    };
    let (mut found, mut num_unknown) = (Vec::new(), work.unlinked.len() as i64);
    for call in &work.calls {
        match outcomes.of(selection.linked, call) {
            CostOutcome::Modelled(_, cost, _) if cost.flops > 0 => found.push((call.row, cost.flops)),
            CostOutcome::Modelled(..) => {}
            CostOutcome::Unmodelled(_) => num_unknown += 1,
        }
    }
    (found, num_unknown)
}

fn run(selection: &Selection<'_>, options: &Options) -> AnalysisResult {
    // A part of a kernel has no operations of its own.
    let selection = Selection { is_unclipped: true, ..selection.clone() };
    let is_on_host = options.choice("on") == "host";
    let asked = options.text("device").map(str::to_owned);
    let recorded = if is_on_host { None } else { work::device_name(&selection) };
    let name = asked.or(recorded);
    let peaks = name.as_deref().and_then(Peaks::of);
    let mut outcomes = CostOutcomes::new(selection.linked);
    let work = if is_on_host {
        RooflineWork::of_host(&selection, &mut outcomes)
    } else {
        RooflineWork::of_device(&selection, &outcomes)
    };
    let mut rows = RooflineRows::default();
    for call in &work.calls {
        rows.add(selection.linked, *call, outcomes.of(selection.linked, call));
    }
    rows.add_unlinked(selection.linked, &work.unlinked);
    let iterations = iteration::rows(&selection, &rows, peaks.as_ref());
    let modules = module::rows(selection.linked, &rows, peaks.as_ref());
    let (modelled, unmodelled) = rows.into_tables(peaks.as_ref());
    let reason = if unmodelled.is_empty() { NO_WORK } else { NO_MODEL };
    AnalysisResult::of(&row::TABLE, modelled, reason)
        .and(&row::UNMODELLED, unmodelled)
        .and(&iteration::TABLE, iterations)
        .and(&DEVICE, vec![DevicePeaksRow::new(name, peaks)])
        .and(&module::TABLE, modules)
        .drawn(Plot::Points { x: "intensity", y: "tflops", label: "name", ceiling: Some(CEILING) })
}

const CEILING: Ceiling = Ceiling { height: "roof_tflops", level: "peak_tflops", label: "dtype" };
const NO_WORK: &str = "no operator has device work (on=\"host\" uses host time)";
const NO_MODEL: &str = "no operator with a cost model has recorded shapes (record_shapes=True records them)";
