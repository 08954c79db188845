//! Analyzes the collectives of all ranks: participants, waits and bandwidth.

mod job_collective;
pub(super) mod skew;
pub(super) mod summary;

use super::analysis::{Analysis, CrossRank, Run};
use super::job::{ALIGN_CLOCKS, Job};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::link::Collective;
use crate::table::{PickedRows, RANK_COLLECTIVES};
pub(super) use job_collective::{AwaitedParticipant, ClockAlignment, JobCollective, Participant, job_collectives};

/// The collectives of a job.
pub(super) static COLLECTIVES: Analysis = Analysis {
    name: "collectives",
    doc: "collectives across ranks: each rank's part, arrivals and waits, and bandwidth by type and size",
    options: &[OptionDoc {
        name: ALIGN_CLOCKS,
        doc: "correct times by the estimated clock offsets between ranks",
        kind: OptionKind::Flag,
    }],
    run: Run::Ranks(CrossRank::of_collectives(answer)),
};

fn answer(job: &Job<'_>, _: &Options) -> AnalysisResult {
    let wanted = |member: usize, one: &Collective| holds(&job.parts[member], one);
    let skews: Vec<_> = job_collectives(&job.ranks, ClockAlignment::OfRanks, wanted).iter().map(skew::row).collect();
    let summary = summary::summary(&skews);
    let parts = parts(job);
    let reason = parts.is_empty().then_some("no communication was recorded");
    let parts = PickedRows::of(RANK_COLLECTIVES.of(&job.ranks), parts);
    AnalysisResult::with(parts, reason).and(&skew::TABLE, skews).and(&summary::TABLE, summary).drawn(Plot::points(
        "dur_ns",
        "bus_gbps",
        "collective",
    ))
}

/// Rows of the selected parts, among the rows of all members.
fn parts(job: &Job<'_>) -> Vec<u32> {
    let is_wanted = |row: &u32| {
        let (member, row) = job.ranks.place(*row as usize);
        holds(&job.parts[member], job.ranks.members[member].collective(row))
    };
    (0..job.ranks.num_rows() as u32).filter(is_wanted).collect()
}

/// Whether a collective is selected: when it was called in the range, or began there if its call is
/// not known; and ran on the stream. It is never cut. One of a rank alone never is.
pub(super) fn holds(selection: &Selection<'_>, one: &Collective) -> bool {
    let trace = &selection.linked.trace;
    let begins_inside = |event: u32| selection.begins_inside(event as usize);
    let is_inside = selection.part.is_none() || one.first_event().is_some_and(begins_inside);
    let stream = |row: &u32| trace.track(trace.events.track.at(*row as usize)).stream.and_then(|on| on.stream);
    !one.is_local
        && is_inside
        && selection.stream.is_none_or(|wanted| one.device_events.iter().any(|row| stream(row) == Some(wanted)))
}
