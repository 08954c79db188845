//! Finds how a job divides its ranks, which of them wait for each other, and which lack a call.

pub(crate) mod group_row;
pub(crate) mod lacking;
pub(crate) mod pair_row;
pub(crate) mod place_row;

use super::analysis::{Analysis, CrossRank, Run};
use super::collective::{ClockAlignment, holds, job_collectives};
use super::job::Job;
use super::options::Options;
use super::plot::Plot;
use super::result::AnalysisResult;
use crate::link::Collective;

/// Machines, process groups, and waits between pairs of ranks.
pub(super) static TOPOLOGY: Analysis = Analysis {
    name: "topology",
    doc: "process groups of a job with their machines and waits, and the pairs of ranks with the longest waits",
    options: &[],
    run: Run::Ranks(CrossRank::of_collectives(answer)),
};

/// The place of each rank in each division.
const PLOT: Plot = Plot::Places { rank: "rank", division: "division", number: "number", name: "name" };

/// Time of each group, where no rank has a known place.
const TIMES: Plot = Plot::Bars { label: "group_name", parts: &["total_ns"] };

fn answer(job: &Job<'_>, _: &Options) -> AnalysisResult {
    let wanted = |member: usize, one: &Collective| holds(&job.parts[member], one);
    let meetings = job_collectives(&job.ranks, ClockAlignment::AlignedWhereKnown, wanted);
    let places = place_row::rows(&job.ranks);
    let has_places = !places.is_empty();
    let groups = group_row::rows(&job.ranks, &meetings);
    let answer = AnalysisResult::of(&group_row::TABLE, groups, "no communication was recorded")
        .and(&pair_row::TABLE, pair_row::rows(&meetings))
        .and(&place_row::TABLE, places)
        .and(&lacking::TABLE, lacking::lacking(&job.ranks, &meetings));
    if has_places { answer.drawn_from(place_row::TABLE.name, PLOT) } else { answer.drawn(TIMES) }
}
