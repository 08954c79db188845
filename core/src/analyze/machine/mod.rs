//! Finds the machines of a job's ranks, and compares communication inside and between machines.

mod device_order;
pub(crate) mod division;
mod host;
pub(super) mod placement;
mod rank_row;
mod row;

use super::analysis::{Analysis, CrossRank, Run};
use super::collective::{ClockAlignment, holds, job_collectives};
use super::job::Job;
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use crate::link::Collective;
use placement::Placement;

/// The machines of a job.
pub(super) static MACHINES: Analysis = Analysis {
    name: "machines",
    doc: "ranks that share a machine, and communication inside and between machines",
    options: &[OptionDoc {
        name: "ranks_per_machine",
        doc: "number of consecutive ranks on each machine; 0 takes it from the traces",
        kind: OptionKind::Count(0),
    }],
    run: Run::Ranks(CrossRank::of_collectives(answer)),
};

fn answer(job: &Job<'_>, options: &Options) -> AnalysisResult {
    let placement = Placement::of(&job.ranks, options.count("ranks_per_machine"));
    let wanted = |member: usize, one: &Collective| holds(&job.parts[member], one);
    let meetings = job_collectives(&job.ranks, ClockAlignment::AlignedWhereKnown, wanted);
    let rows = row::rows(&meetings, &placement);
    AnalysisResult::of(&row::TABLE, rows, "no communication was recorded")
        .and(&rank_row::TABLE, rank_row::rows(placement))
        .drawn(Plot::Bars { label: "collective", parts: &["total_ns"] })
}
