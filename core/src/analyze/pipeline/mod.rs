//! Analyzes pipeline parallelism: stages, micro-batches, and the bubble of each stage.

mod micro_batch;
pub(super) mod row;
mod schedule;
mod stage_order;
mod stage_pipeline;
mod stage_record;

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::analysis::{Analysis, CrossRank, Run};
use super::job::Job;
use super::options::Options;
use super::plot::Plot;
use super::query::{Query, QueryKind};
use super::result::AnalysisResult;
use super::straggler;
use crate::error::Error;
use crate::trace::collective::CollectivePattern;
use stage_order::stage_orders;
use stage_pipeline::StagePipeline;
use stage_record::{StageEvent, StageRecord, StageRecordQuery};

/// The pipelines of a job.
pub(super) static PIPELINE: Analysis = Analysis {
    name: "pipeline",
    doc: "stages of pipeline parallelism: schedule, micro-batches, and the bubble beside its ideal",
    options: &[],
    run: Run::Ranks(CrossRank {
        compare: pipeline,
        plan,
        queries: &[
            QueryKind::of::<straggler::ActivityQuery>(),
            QueryKind::of::<straggler::StageWorkQuery>(),
            QueryKind::of::<StageRecordQuery>(),
        ],
    }),
};

/// Asks each rank with messages for its record as a stage, and all for what stragglers need.
fn plan(job: &Job<'_>, _: &Options) -> Result<Vec<Vec<Query>>, Error> {
    if job.has_replies() {
        return Ok(Vec::new());
    }
    let mut queries = straggler::queries(job, 0)?;
    for (part, queries) in job.parts.iter().zip(&mut queries) {
        let rows = &part.linked.collectives().rows;
        if rows.iter().any(|row| row.pattern.is_some_and(CollectivePattern::is_p2p)) {
            queries.push(Query::of(&StageRecordQuery)?);
        }
    }
    Ok(queries)
}

fn pipeline(job: &Job<'_>, _: &Options) -> AnalysisResult {
    let found = job.replies_or::<StageRecordQuery>(StageRecord::of);
    let records = records(job, &found);
    let has_messages = found.iter().any(|record| !record.iterations.is_empty());
    let orders = stage_orders(&records);
    let bubbles = straggler::bubbles(job);
    let bubble = |rank: i64| {
        let member = job.ranks.members.iter().position(|member| member.rank == Some(rank))?;
        bubbles.get(member).copied().flatten()
    };
    let (mut rows, mut passes) = (Vec::new(), Vec::new());
    for order in orders {
        let pipeline = StagePipeline::of(&order, &records);
        rows.extend(pipeline.rows(&bubble));
        passes.extend(pipeline.passes);
    }
    let reason = if lacks_peers(&records) {
        "ranks exchange messages with ranks whose traces are missing"
    } else if has_messages {
        "ranks exchange messages, but not in the order of a pipeline"
    } else {
        "no rank sends a message to another one"
    };
    AnalysisResult::of(&row::TABLE, rows, reason).and(&micro_batch::TABLE, passes).drawn_from(
        micro_batch::TABLE.name,
        Plot::Ranges { lane: "rank", start: "start_ns", end: "end_ns", series: "pass", label: "micro_batch" },
    )
}

/// The record of each rank; of several windows of a rank, the first. Work outside of iterations
/// counts only where there are none.
fn records(job: &Job<'_>, found: &[Cow<'_, StageRecord>]) -> BTreeMap<i64, StageRecord> {
    let has_numbers = found.iter().flat_map(|record| &record.iterations).any(|(number, _)| number.is_some());
    let mut records = BTreeMap::new();
    for (member, record) in job.ranks.members.iter().zip(found) {
        let record = if has_numbers { record.numbered() } else { StageRecord::clone(record) };
        if let Some(rank) = member.rank.filter(|_| !record.iterations.is_empty()) {
            records.entry(rank).or_insert(record);
        }
    }
    records
}

/// Whether a rank without a trace sends or receives messages.
fn lacks_peers(records: &BTreeMap<i64, StageRecord>) -> bool {
    let events = records.values().flat_map(|record| &record.iterations).flat_map(|(_, events)| events);
    let mut peers = events.filter_map(|event| match event {
        StageEvent::Message { peer, .. } => Some(peer),
        StageEvent::Run(_) => None,
    });
    peers.any(|peer| !records.contains_key(peer))
}
