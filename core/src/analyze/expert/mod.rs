//! Measures the exchanges of a mixture of experts: rows that each rank sends and receives.

mod exchange;
mod rank_row;
mod role;
mod row;
mod splits;

use super::analysis::{Analysis, CrossRank, Run};
use super::collective::{ClockAlignment, holds, job_collectives};
use super::job::Job;
use super::options::Options;
use super::result::AnalysisResult;
use exchange::{Exchange, has_parts};

/// The exchanges of a mixture of experts.
pub(super) static EXPERTS: Analysis = Analysis {
    name: "experts",
    doc: "mixture of experts: rows and bytes of uneven all-to-alls on each rank, and their imbalance",
    options: &[],
    run: Run::Ranks(CrossRank::of_collectives(answer)),
};

fn answer(job: &Job<'_>, _: &Options) -> AnalysisResult {
    let meetings = job_collectives(&job.ranks, ClockAlignment::AlignedWhereKnown, |_, one| has_parts(one));
    let mut exchanges: Vec<_> = meetings.into_iter().map(Exchange::of).collect();
    // The selection must not move positions.
    role::set(&mut exchanges);
    exchanges.retain(|exchange| {
        exchange.meeting.first().is_some_and(|part| holds(&job.parts[part.member as usize], part.one))
    });
    let layers = row::layers(&exchanges);
    let ranks = layers.iter().flat_map(rank_row::rows).collect();
    let rows = layers.into_iter().map(row::ExpertLayer::into_row).collect();
    AnalysisResult::of(&row::TABLE, rows, "no uneven all-to-all with recorded splits").and(&rank_row::TABLE, ranks)
}
