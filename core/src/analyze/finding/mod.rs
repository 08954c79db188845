//! Finds bottlenecks, each with its rank, cost, evidence and fix.

mod allocation;
mod between_steps;
mod cache_copy;
mod communication;
mod compile;
mod conv_bias;
mod copy;
pub(super) mod cost_overlap;
mod devices;
mod graph_break;
mod host_sampling;
mod idle_matrix_units;
mod indexing;
mod kept_memory;
mod launch_bound;
mod leak;
mod loader;
mod long_idle;
mod matmul;
mod missed_fusion;
mod operator_trees;
mod optimizer;
mod optimizer_update;
mod out_of_memory;
mod padded_graph;
mod passes;
mod rank;
mod recompile_reason;
pub(super) mod row;
mod rule;
mod rule_context;
mod rule_match;
pub(super) mod rules;
mod small_graphs;
mod start_up;
mod sync;
#[cfg(feature = "kernel-counters")]
mod tensor_activity;
mod trace_matches;
mod uncaptured_decode;

use std::borrow::Cow;

use super::analysis::{Analysis, CrossRank, Run};
use super::job::Job;
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::query::{Query, QueryKind};
use super::result::AnalysisResult;
use super::selection::Selection;
use super::straggler::{self, ActivityQuery, StageWorkQuery};
use crate::error::Error;
use crate::sort;
pub(super) use cost_overlap::CostTotals;
use rank::ComputeQuery;
pub use row::Finding;
pub(super) use row::OF_TRACE;
use row::{TABLE, finding, is_reported};
pub use rule::MIN_SHARE;
#[cfg(feature = "gates")]
use rule::RuleData;
use rule::RuleScope;
#[cfg(feature = "gates")]
pub(super) use rule::{NO_DEVICE, NO_MEMORY};
use rules::{RULES, RULES_TABLE, checks};
use trace_matches::{MatchQuery, TraceMatches};

/// The bottlenecks of a run.
pub(super) static FINDINGS: Analysis = Analysis {
    name: "findings",
    doc: "bottlenecks, each with evidence, cost and fix",
    options: &[OptionDoc {
        name: "min_share",
        doc: "minimum share of the selected time; omits cheaper findings; patterns in the program count from 0.1 %",
        kind: OptionKind::Number(MIN_SHARE),
    }],
    run: Run::Ranks(CrossRank {
        compare: answer,
        plan,
        queries: &[
            QueryKind::of::<MatchQuery>(),
            QueryKind::of::<ComputeQuery>(),
            QueryKind::of::<ActivityQuery>(),
            QueryKind::of::<StageWorkQuery>(),
        ],
    }),
};

fn answer(job: &Job<'_>, options: &Options) -> AnalysisResult {
    let seen = trace_matches::of_job(job, min_share(options));
    let totals = totals(job, &seen);
    let findings = of_matches(job, &seen, min_share(options));
    let checks = checks(&findings, &seen);
    AnalysisResult::of(&TABLE, findings, "no rule matched (`finding_rules` lists all rules)")
        .and(&cost_overlap::TABLE, totals)
        .and(&RULES_TABLE, checks)
        .drawn(Plot::Bars { label: "finding", parts: &["cost_ns"] })
}

fn min_share(options: &Options) -> f64 {
    options.number("min_share")
}

/// The bottlenecks of a run, sorted by cost.
///
/// Each rule documents its cost; costs of several findings may overlap. Findings below `min_share`
/// of the selected time are skipped. Patterns of the program may cost more in another run, so they
/// are reported from 0.1 %. Failures are always reported.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{MIN_SHARE, Selection, findings};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 2, "ts": 0, "dur": 90,
///                  "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"},
///                 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 90, "dur": 10}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let findings = findings(&Selection::all(&linked), MIN_SHARE);
/// assert_eq!((findings[0].name, findings[0].cost_ns), ("data_loading_without_workers", 90_000));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn findings(selection: &Selection<'_>, min_share: f64) -> Vec<Finding> {
    findings_with_totals(selection, min_share).0
}

/// The same with their costs together.
pub(super) fn findings_with_totals(selection: &Selection<'_>, min_share: f64) -> (Vec<Finding>, CostTotals) {
    let (matches, rank) = (TraceMatches::of(selection, min_share), selection.linked.trace.rank());
    (sorted(matches.findings(rank, 0).collect()), matches.totals(rank, 0))
}

/// The findings of all traces of a job, and those of rules that compare ranks.
pub fn findings_of_job(job: &Job<'_>, min_share: f64) -> Vec<Finding> {
    of_matches(job, &trace_matches::of_job(job, min_share), min_share)
}

/// The costs of each trace's findings together.
fn totals(job: &Job<'_>, seen: &[Cow<'_, TraceMatches>]) -> Vec<CostTotals> {
    let seen = seen.iter().zip(&job.ranks.members);
    seen.map(|(seen, member)| seen.totals(member.rank, member.window)).collect()
}

fn of_matches(job: &Job<'_>, seen: &[Cow<'_, TraceMatches>], min_share: f64) -> Vec<Finding> {
    let members = &job.ranks.members;
    let of_traces = seen.iter().zip(members).flat_map(|(seen, member)| seen.findings(member.rank, member.window));
    let mut all: Vec<_> = of_traces.collect();
    for rule in RULES.iter().filter(|_| members.len() > 1) {
        let found = if let RuleScope::Ranks(find) = rule.find { find(job) } else { Vec::new() };
        let found = found.into_iter().map(|(at, found)| (at, found.at_most(seen[at].span_ns)));
        let told = found.filter(|(at, found)| is_reported(rule, found, seen[*at].span_ns, min_share));
        all.extend(told.map(|(at, found)| {
            let member = &members[at];
            Finding { rank: member.rank, window: member.window, ..finding(rule, found, seen[at].span_ns) }
        }));
    }
    sorted(all)
}

/// Asks each rank for its own findings, and for the figures that ranks are compared by.
fn plan(job: &Job<'_>, _: &Options) -> Result<Vec<Vec<Query>>, Error> {
    if job.has_replies() {
        return Ok(Vec::new());
    }
    let own = |of_ranks: Vec<Query>| {
        let own = [Query::of(&MatchQuery), Query::of(&ComputeQuery)];
        own.into_iter().chain(of_ranks.into_iter().map(Ok)).collect()
    };
    straggler::queries(job, 0)?.into_iter().map(own).collect()
}

/// The names of all findings that rules make.
#[cfg(feature = "gates")]
pub(super) fn finding_names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name)
}

/// Why nobody can tell from the trace whether it has such a finding, if so.
#[cfg(feature = "gates")]
pub(super) fn lack(name: &str, selection: &Selection<'_>, has_device: bool) -> Option<&'static str> {
    let rule = RULES.iter().find(|rule| rule.name == name)?;
    if selection.linked.lost_work().is_cut() {
        return Some("the file ends early (see the verdict)");
    }
    let is_lost = rule.data == RuleData::Device && !has_device;
    (is_lost || !rule.data.is_in(selection)).then(|| rule.data.lack())
}

/// Whether a finding compares ranks, so that one trace does not show it.
#[cfg(feature = "gates")]
pub(super) fn compares_ranks(name: &str) -> bool {
    RULES.iter().any(|rule| rule.name == name && matches!(rule.find, RuleScope::Ranks(_)))
}

fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    sort::by(&mut findings, |a, b| {
        let place = |finding: &Finding| (finding.name, finding.rank, finding.window);
        b.cost_ns.cmp(&a.cost_ns).then_with(|| place(a).cmp(&place(b))).then_with(|| a.subject.cmp(&b.subject))
    });
    findings
}
