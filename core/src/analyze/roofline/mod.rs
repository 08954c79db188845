//! How far operators are from what the device can do: operations and bytes by shapes, against time and peaks.

mod attention;
mod call;
mod convolution;
mod dtype;
mod elementwise;
mod gather;
mod iteration;
mod loss;
mod mask;
mod matmul;
mod model;
mod normalisation;
mod optimizer;
mod outcome;
mod pooling;
mod reduction;
mod row;
mod scatter;
mod variable_attention;
mod work;

pub(super) use dtype::Precision;

use super::analysis::{Analysis, Answer, Ceiling, Plot, Run};
use super::device::{DEVICE, DeviceRow, Peaks};
use super::options::{OptionDoc, OptionKind, Options};
use super::selection::Selection;
use outcome::Outcomes;
use row::Rows;
use work::Work;

/// Operators against the peaks of the device.
pub(super) static ROOFLINE: Analysis = Analysis {
    name: "roofline",
    doc: "operations and bytes of operators by their shapes, and how near to the device's peaks they come",
    options: &[
        OptionDoc {
            name: "device",
            doc: "the device whose peaks count, such as \"H100 SXM\"; else the one that the file names",
            kind: OptionKind::Text,
        },
        OptionDoc {
            name: "on",
            doc: "whose time counts: that of device work, or that of the outermost operators on the host",
            kind: OptionKind::Choice(&["device", "host"]),
        },
    ],
    run: Run::Trace(run),
};

fn run(selection: &Selection<'_>, options: &Options) -> Answer {
    // A part of a kernel has no operations of its own.
    let selection = Selection { is_whole: true, ..*selection };
    let is_on_host = options.choice("on") == "host";
    let asked = options.text("device").map(str::to_owned);
    let recorded = if is_on_host { None } else { work::device_name(&selection) };
    let name = asked.or(recorded);
    let peaks = name.as_deref().and_then(Peaks::of);
    let mut outcomes = Outcomes::default();
    let work = if is_on_host { Work::of_host(&selection, &mut outcomes) } else { Work::of_device(&selection) };
    let mut rows = Rows::default();
    for call in &work.calls {
        rows.add(selection.linked, *call, outcomes.of(selection.linked, call));
    }
    rows.add_unlinked(work.num_unlinked, work.unlinked_ns);
    let iterations = iteration::rows(selection.linked, &rows, peaks.as_ref());
    let (modelled, unmodelled) = rows.into_tables(peaks.as_ref());
    let reason = if unmodelled.is_empty() { NO_WORK } else { NO_MODEL };
    Answer::of(&row::TABLE, modelled, reason)
        .and(&row::UNMODELLED, unmodelled)
        .and(&iteration::TABLE, iterations)
        .and(&DEVICE, vec![DeviceRow::new(name, peaks)])
        .drawn(Plot::Points { x: "intensity", y: "tflops", label: "name", ceiling: Some(CEILING) })
}

const CEILING: Ceiling = Ceiling { height: "roof_tflops", level: "peak_tflops", label: "dtype" };
const NO_WORK: &str = "no operator has work on a device (on=\"host\" takes the host's time)";
const NO_MODEL: &str = "no operator with a model says its shapes (record_shapes=True records them)";

/// Whether a kernel computes float32 with units for matrices that round it to tf32.
fn is_tf32(kernel: &str) -> bool {
    ["tf32", "xf32", "tensorop_s1688gemm", "tensorop_s1688fprop"].iter().any(|part| kernel.contains(part))
}
