//! Lists all analyses by name.

use super::analysis::Analysis;
#[cfg(feature = "kernel-counters")]
use super::counter;
use super::{
    annotation, breakdown, collective, copy_bandwidth, critical_path, finding, flame, heatmap, idle, kernel, launches,
    memory, module, operator, options, overlap, pipeline, queue, roofline, sequence, stacks, straggler, summary_table,
    verdict,
};
#[cfg(feature = "machines")]
use super::{expert, machine, topology};
use crate::error::Error;
use crate::table::is_same;

/// All analyses, by their names.
pub const ANALYSES: &[&Analysis] = &[
    &summary_table::SUMMARY,
    &verdict::PROBLEMS,
    &breakdown::BREAKDOWN,
    &overlap::OVERLAP,
    &operator::OPERATORS,
    &module::MODULES,
    &annotation::ANNOTATIONS,
    &stacks::STACKS,
    &flame::FLAMEGRAPH,
    &kernel::KERNELS,
    #[cfg(feature = "kernel-counters")]
    &counter::COUNTER_MEANS,
    &launches::LAUNCHES,
    &queue::QUEUE_LENGTH,
    &copy_bandwidth::COPY_BANDWIDTH,
    &idle::IDLE,
    &collective::COLLECTIVES,
    &straggler::STRAGGLERS,
    &heatmap::HEATMAP,
    #[cfg(feature = "machines")]
    &heatmap::grouped::GROUPED_HEATMAP,
    &pipeline::PIPELINE,
    #[cfg(feature = "machines")]
    &machine::MACHINES,
    #[cfg(feature = "machines")]
    &topology::TOPOLOGY,
    #[cfg(feature = "machines")]
    &expert::EXPERTS,
    &critical_path::CRITICAL_PATH,
    &critical_path::JOB_CRITICAL_PATH,
    &sequence::SEQUENCES,
    &memory::MEMORY,
    &finding::FINDINGS,
    &roofline::ROOFLINE,
];

/// The analysis of that name. An error lists the known names.
pub fn analysis(name: &str) -> Result<&'static Analysis, Error> {
    ANALYSES.iter().copied().find(|analysis| analysis.name == name).ok_or_else(|| {
        let names: Vec<_> = ANALYSES.iter().map(|analysis| analysis.name).collect();
        options::unexpected(&format!("one of the analyses {names:?}"), name)
    })
}

/// The analysis of that name. In a constant, a name that no analysis has does not compile.
pub(crate) const fn known_analysis(name: &str) -> &'static Analysis {
    let mut at = 0;
    while at + 1 < ANALYSES.len() && !is_same(ANALYSES[at].name, name) {
        at += 1;
    }
    assert!(is_same(ANALYSES[at].name, name), "no analysis has this name");
    ANALYSES[at]
}
