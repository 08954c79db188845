//! Rules that compare ranks: stragglers and imbalanced computation.

use serde::{Deserialize, Serialize};

use super::super::class::{WorkClass, classes};
use super::super::interval::{total_ns, union};
use super::super::job::Job;
use super::super::number_text::{duration_text, plural};
use super::super::options::Options;
use super::super::query::RankQuery;
use super::super::selection::Selection;
use super::super::straggler::waited_for;
use super::super::verdict::MissingRanks;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_match::RuleMatch;

pub(super) static STRAGGLER: Rule = Rule {
    name: "straggler",
    doc: "a rank reaches collectives later than the others, which wait for it",
    cost: "mean time that each other rank waits for it",
    advice: "see stragglers for the cause: data, share of the work, host or device of this rank",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Ranks(stragglers),
};

pub(super) static IMBALANCE: Rule = Rule {
    name: "imbalanced_ranks",
    doc: "a rank computes longer than the others",
    cost: "computation time of the rank minus the mean of all ranks",
    advice: "balance the ranks: batches of equal token counts, pipeline stages and experts of equal cost",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Ranks(imbalance),
};

fn stragglers(job: &Job<'_>) -> Vec<(usize, RuleMatch)> {
    let num_others = (job.parts.len() as i64 - 1).max(1);
    let late = waited_for(job).into_iter().filter(|row| row.caused_wait_ns > 0);
    let missing = MissingRanks::of_job(&job.ranks).map(|missing| format!("; {}", missing.words())).unwrap_or_default();
    let found = |row: super::super::straggler::StragglerRow| {
        let cause = row.cause_name().unwrap_or("unknown");
        let detail = format!("last at {}; cause: {cause}{missing}", plural(row.num_last as usize, "communication"));
        let found = RuleMatch {
            subject: subject(job, row.member),
            count: row.num_last as u64,
            cost_ns: row.caused_wait_ns / num_others,
            confidence: 0.8,
            ..RuleMatch::default()
        };
        (row.member, found.detailed(detail))
    };
    late.map(found).collect()
}

fn imbalance(job: &Job<'_>) -> Vec<(usize, RuleMatch)> {
    let computing = job.replies_or::<ComputeQuery>(RankCompute::of);
    // Lost work would look like little work.
    let known: Vec<usize> = (0..computing.len()).filter(|at| !computing[*at].is_unknown).collect();
    let mean_ns = crate::time::sum_ns(known.iter().map(|at| computing[*at].busy_ns)) / (known.len() as i64).max(1);
    let Some(most) = known.into_iter().rev().max_by_key(|at| computing[*at].busy_ns) else { return Vec::new() };
    let RankCompute { busy_ns, longest, .. } = computing[most].as_ref();
    let found = RuleMatch {
        subject: subject(job, most),
        cost_ns: busy_ns - mean_ns,
        count: 1,
        confidence: 0.7,
        evidence: longest.clone(),
        ..RuleMatch::default()
    };
    let detail = format!("{} of computation; mean of all ranks: {}", duration_text(*busy_ns), duration_text(mean_ns));
    vec![(most, found.detailed(detail))]
}

/// How much a rank computed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RankCompute {
    /// Time with any computation running.
    busy_ns: i64,
    /// Ids of the events that took the longest.
    longest: Vec<u32>,
    /// Whether work of it was lost.
    #[serde(default)]
    is_unknown: bool,
}

impl RankCompute {
    fn of(part: &Selection<'_>) -> Self {
        let classes = classes(part.linked);
        let rows = part.device_work().filter(|row| classes[*row] == WorkClass::Computation);
        let runs: Vec<_> = rows.map(|row| (part.time(row), row as u32)).collect();
        let busy_ns = total_ns(&union(runs.iter().map(|(time, _)| *time).collect()));
        let longest = runs.iter().map(|(time, row)| (time.dur().0, *row)).collect();
        let longest = RuleMatch::of("", longest, 0.0).with_ids(&part.linked.trace.events.position).evidence;
        Self { busy_ns, longest, is_unknown: part.has_lost_work() }
    }
}

/// Asks a rank how much it computed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ComputeQuery;

impl RankQuery for ComputeQuery {
    const NAME: &'static str = "compute";

    type Reply = RankCompute;

    fn respond(self, selection: &Selection<'_>, _: &Options) -> RankCompute {
        RankCompute::of(selection)
    }
}

fn subject(job: &Job<'_>, member: usize) -> String {
    job.ranks.members[member].rank.map_or_else(|| String::from("unknown rank"), |rank| format!("rank {rank}"))
}
