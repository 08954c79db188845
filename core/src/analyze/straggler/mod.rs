//! Finds stragglers: ranks that others wait for, with costs and causes.

mod activity;
mod activity_names;
mod culprit;
mod interval_activity;
pub(super) mod late_collective;
mod pipeline;
pub(super) mod row;
mod stage_work;

use super::analysis::{Analysis, CrossRank, Run};
use super::collective::{ClockAlignment, JobCollective, holds, job_collectives};
use super::job::Job;
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::query::{Query, QueryKind};
use super::result::AnalysisResult;
use crate::error::Error;
use crate::sort;
pub(super) use interval_activity::ActivityQuery;
use interval_activity::ArrivalInterval;
use interval_activity::RankActivities;
use late_collective::{LateArrival, LateCollective};
use pipeline::Pipelines;
pub(super) use row::StragglerRow;
pub(super) use stage_work::StageWorkQuery;

/// The ranks that others wait for.
pub(super) static STRAGGLERS: Analysis = Analysis {
    name: "stragglers",
    doc: "ranks that delay the others: late arrivals at collectives, the wait time they cause, and the reason",
    options: &[OptionDoc {
        name: "longest",
        doc: "number of late arrivals to list, those with the longest waits first",
        kind: OptionKind::Count(20),
    }],
    run: Run::Ranks(CrossRank {
        compare: stragglers,
        plan,
        queries: &[QueryKind::of::<ActivityQuery>(), QueryKind::of::<StageWorkQuery>()],
    }),
};

/// Ranks that others wait for, those waited for the longest first.
pub(super) fn waited_for(job: &Job<'_>) -> Vec<StragglerRow> {
    measured(job, 0).0
}

/// The bubble of each member that is a stage of a pipeline, and the whole time of the pipeline.
pub(super) fn bubbles(job: &Job<'_>) -> Vec<Option<(i64, i64)>> {
    let mut bubbles = vec![None; job.parts.len()];
    for row in waited_for(job) {
        bubbles[row.member] = row.bubble;
    }
    bubbles
}

fn stragglers(job: &Job<'_>, options: &Options) -> AnalysisResult {
    let (rows, late) = measured(job, options.count("longest") as usize);
    let is_cut = job.parts.iter().any(|part| part.linked.lost_work().is_cut());
    let reason = if is_cut {
        "the file of a rank ends early, so collectives without sequence numbers cannot be matched"
    } else {
        "no two ranks share a collective"
    };
    AnalysisResult::of(&row::TABLE, rows, reason)
        .and(&late_collective::TABLE, late)
        .drawn(Plot::Bars { label: "rank", parts: &["caused_wait_ns"] })
}

fn measured(job: &Job<'_>, longest: usize) -> (Vec<StragglerRow>, Vec<LateArrival>) {
    let did = RankActivities::of(job);
    let all = job_collectives(&job.ranks, ClockAlignment::AlignedWhereKnown, |_, _| true);
    let wanted = wanted(job, &all);
    let pipelines = Pipelines::of(job, &all);
    let mut late = late_ones(&all, &wanted, &did, &pipelines);
    let arrivals: Vec<LateArrival> = late.iter().map(|late| late.arrival.clone()).collect();
    let met: Vec<_> = wanted.iter().map(|at| &all[*at]).collect();
    let rows = row::rows(&job.ranks, &met, &arrivals, &pipelines);
    sort_by_cost(&mut late);
    late.truncate(longest);
    (rows, late.into_iter().map(|late| late.named(&did)).collect())
}

/// Asks each rank for its activity before the collectives that it came to last, and each stage of a
/// pipeline for its work.
fn plan(job: &Job<'_>, options: &Options) -> Result<Vec<Vec<Query>>, Error> {
    if job.has_replies() {
        return Ok(Vec::new());
    }
    queries(job, options.count("longest") as usize)
}

/// The queries to each member whose replies explain late arrivals; those of the `longest` waits
/// with names.
pub(super) fn queries(job: &Job<'_>, longest: usize) -> Result<Vec<Vec<Query>>, Error> {
    let mut intervals: Vec<Vec<ArrivalInterval>> = vec![Vec::new(); job.parts.len()];
    let all = job_collectives(&job.ranks, ClockAlignment::AlignedWhereKnown, |_, _| true);
    let pipelines = Pipelines::planned(job, &all);
    let mut late = late_ones(&all, &wanted(job, &all), &RankActivities::Replied(Vec::new()), &pipelines);
    sort_by_cost(&mut late);
    let (messages, late): (Vec<_>, Vec<_>) = late.into_iter().partition(LateCollective::is_message);
    let of_messages = messages.iter().flat_map(|late| late.intervals(false));
    let named = late.iter().enumerate().flat_map(|(at, late)| late.intervals(at < longest));
    for (member, interval) in named.chain(of_messages) {
        intervals[member as usize].push(interval);
    }
    let queries = |(member, intervals): (usize, Vec<ArrivalInterval>)| {
        let mut queries = Vec::new();
        if !intervals.is_empty() {
            queries.push(Query::of(&ActivityQuery(intervals))?);
        }
        if pipelines.has(member) {
            queries.push(Query::of(&StageWorkQuery)?);
        }
        Ok(queries)
    };
    intervals.into_iter().enumerate().map(queries).collect()
}

/// Places of the selected collectives.
fn wanted(job: &Job<'_>, all: &[JobCollective<'_>]) -> Vec<usize> {
    let is_wanted = |at: &usize| all[*at].first().is_some_and(|part| holds(&job.parts[part.member as usize], part.one));
    (0..all.len()).filter(is_wanted).collect()
}

fn late_ones<'a, 'b>(
    all: &'b [JobCollective<'a>],
    wanted: &[usize],
    did: &RankActivities<'_>,
    pipelines: &Pipelines,
) -> Vec<LateCollective<'a, 'b>> {
    let before = late_collective::previous(all);
    let of = |at: &usize| LateCollective::of(&all[*at], before[*at].map(|at| &all[at]), did, pipelines);
    wanted.iter().filter_map(of).collect()
}

fn sort_by_cost(late: &mut [LateCollective<'_, '_>]) {
    sort::by_key(late, |late| (std::cmp::Reverse(late.arrival.caused_wait_ns), late_collective::came(&late.arrival)));
}
