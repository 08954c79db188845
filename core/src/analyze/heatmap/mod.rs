//! Measures each iteration of each rank, for a map of a whole job.

pub(crate) mod cell;
#[cfg(feature = "machines")]
pub(super) mod grouped;
mod iteration_time;

use super::analysis::{Analysis, CrossRank, Run};
use super::job::Job;
use super::options::Options;
use super::plot::Plot;
use super::query::{Query, QueryKind};
use super::result::AnalysisResult;
use crate::error::Error;
use cell::{HeatCell, TABLE};
use iteration_time::{HeatTimeQuery, iteration_times};

/// Iterations of all ranks, beside each other.
pub(super) static HEATMAP: Analysis = Analysis {
    name: "heatmap",
    doc: "time, device time, exposed communication and waits of each iteration of each rank",
    options: &[],
    run: Run::Ranks(CrossRank { compare: heatmap, plan, queries: QUERIES }),
};

const QUERIES: &[QueryKind] = &[QueryKind::of::<HeatTimeQuery>()];

/// The map.
const PLOT: Plot = Plot::Heat {
    row: "rank",
    name: None,
    column: "iteration",
    values: &["caused_wait_ns", "dur_ns", "exposed_communication_ns", "device_busy_ns"],
};

fn heatmap(job: &Job<'_>, _: &Options) -> AnalysisResult {
    AnalysisResult::of(&TABLE, measured(job), "the job has no events").drawn(PLOT)
}

/// The iterations of all ranks, with their waits.
fn measured(job: &Job<'_>) -> Vec<HeatCell> {
    cell::cells(job, &job.replies_or::<HeatTimeQuery>(iteration_times))
}

fn plan(job: &Job<'_>, _: &Options) -> Result<Vec<Vec<Query>>, Error> {
    if job.has_replies() {
        return Ok(Vec::new());
    }
    job.parts.iter().map(|_| Ok(vec![Query::of(&HeatTimeQuery)?])).collect()
}
