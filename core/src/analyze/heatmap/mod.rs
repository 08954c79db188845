//! Measures each iteration of each rank, for a map of a whole job.

pub(crate) mod cell;
#[cfg(feature = "machines")]
pub(crate) mod division;
mod iteration_time;

use super::analysis::{Analysis, CrossRank, Run};
use super::job::Job;
use super::options::Options;
#[cfg(feature = "machines")]
use super::options::{OptionDoc, OptionKind};
use super::plot::Plot;
use super::query::{Query, QueryKind};
use super::result::AnalysisResult;
use crate::error::Error;
use cell::TABLE;
use iteration_time::{HeatTimeQuery, iteration_times};

/// Iterations of all ranks, beside each other.
pub(super) static HEATMAP: Analysis = Analysis {
    name: "heatmap",
    doc: "time, device time, exposed communication and waits of each iteration of each rank",
    options: &[
        #[cfg(feature = "machines")]
        OptionDoc {
            name: division::BY,
            doc: "lines: `rank`, `machine`, or process groups by description",
            kind: OptionKind::Text,
        },
    ],
    run: Run::Ranks(CrossRank { compare: heatmap, plan, queries: &[QueryKind::of::<HeatTimeQuery>()] }),
};

/// The map.
const PLOT: Plot = Plot::Heat {
    row: "rank",
    name: None,
    column: "iteration",
    values: &["caused_wait_ns", "dur_ns", "exposed_communication_ns", "device_busy_ns"],
};

#[cfg_attr(not(feature = "machines"), expect(unused_variables, reason = "the only option needs the feature"))]
fn heatmap(job: &Job<'_>, options: &Options) -> AnalysisResult {
    let times = job.replies_or::<HeatTimeQuery>(iteration_times);
    let cells = cell::cells(job, &times);
    #[cfg(feature = "machines")]
    if let Some(by) = options.text(division::BY).filter(|by| *by != division::RANK) {
        return division::divided(job, &cells, by);
    }
    AnalysisResult::of(&TABLE, cells, "the job has no events").drawn(PLOT)
}

fn plan(job: &Job<'_>, _: &Options) -> Result<Vec<Vec<Query>>, Error> {
    if job.has_replies() {
        return Ok(Vec::new());
    }
    job.parts.iter().map(|_| Ok(vec![Query::of(&HeatTimeQuery)?])).collect()
}
