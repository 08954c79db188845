//! The table of graph kernels with the calls that captured them.

use super::column::{Table, float, int, put, put_name, text};
use crate::link::{CapturedGraphs, CapturedKernel, MODULE_PREFIX};

/// One row per graph kernel with a known call.
pub static CAPTURED: Table<CapturedGraphs> = Table {
    name: "captured",
    doc: "a kernel of a graph, with the call that captured it in another trace",
    num_rows: |graphs| graphs.kernels.len(),
    columns: &[
        int("id", |graphs, row| Some(super::event::id(&graphs.trace, captured(graphs, row).kernel))),
        int("captured_launch_id", |graphs, row| Some(super::event::id(&graphs.capture, captured(graphs, row).launch))),
        int("captured_operator_id", |graphs, row| {
            operator(graphs, row).map(|operator| super::event::id(&graphs.capture, operator))
        }),
        text("operator_name", |graphs, row, out| {
            let name = |operator: u32| graphs.capture.trace.event_name(operator as usize);
            operator(graphs, row).is_some_and(|operator| put_name(out, name(operator)))
        }),
        text("captured_by", |graphs, row, out| put(out, captured(graphs, row).how.name())),
        float("capture_confidence", |graphs, row| Some(super::event::rounded(captured(graphs, row).confidence))),
        text("module", |graphs, row, out| {
            let module = graphs.capture.frames().module.get(captured(graphs, row).launch as usize);
            let name = module.map(|module| graphs.capture.trace.event_name(module as usize));
            name.is_some_and(|name| put(out, name.strip_prefix(MODULE_PREFIX).unwrap_or(name)))
        }),
    ],
};

fn captured(graphs: &CapturedGraphs, row: usize) -> CapturedKernel {
    graphs.kernels[row]
}

fn operator(graphs: &CapturedGraphs, row: usize) -> Option<u32> {
    graphs.capture.links.operator.get(captured(graphs, row).launch as usize)
}
