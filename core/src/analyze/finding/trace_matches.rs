//! Matches the rules of a single trace, locally or on its worker.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::cost_overlap::{CostTotals, SharedTimes};
use super::row::{Finding, finding, is_reported};
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use super::rules::RULES;
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::analyze::query::RankQuery;
use crate::analyze::selection::Selection;
use crate::time::sum_ns;
use crate::trace::Trace;
use crate::vendor::{Vendor, advice_for};

/// The matches in the selected part of a trace.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct TraceMatches {
    /// How long that part is.
    pub(super) span_ns: i64,
    /// Each with the place of its rule, and ids of events as its evidence.
    found: Vec<(u8, RuleMatch)>,
    /// All costs together.
    #[serde(default)]
    pub(super) totals: CostTotals,
    /// The data that the part has.
    #[serde(default)]
    pub(super) data: Vec<RuleData>,
}

impl TraceMatches {
    /// Skips matches below `min_share` of the span, and patterns below 0.1 %.
    pub(in crate::analyze) fn of(selection: &Selection<'_>, min_share: f64) -> Self {
        let (context, span_ns) = (RuleContext::new(selection), selection.len_ns());
        let ids = &context.trace.events.position;
        let advice = FittingAdvice::of(context.trace);
        let of_rule = |(at, rule): (usize, &&'static Rule)| {
            let found = if let RuleScope::Trace(find) = rule.find { find(&context) } else { Vec::new() };
            // Device work runs on several streams at once, and whole events may reach outside.
            let found = found.into_iter().map(|found| found.at_most(span_ns).with_ids(ids));
            let told = found.filter(|found| is_reported(rule, found, span_ns, min_share));
            told.map(|found| (at as u8, advice.fitted(rule, found))).collect::<Vec<_>>()
        };
        let mut found: Vec<(u8, RuleMatch)> = RULES.iter().enumerate().flat_map(of_rule).collect();
        let totals = overlapped(&mut found, span_ns);
        Self { span_ns, found, totals, data: RuleData::of(selection) }
    }

    /// The costs of all findings together, of a trace of this rank.
    pub(super) fn totals(&self, rank: Option<i64>, window: i64) -> CostTotals {
        CostTotals { rank, window, ..self.totals.clone() }
    }

    /// As findings about a trace of this rank.
    pub(super) fn findings(&self, rank: Option<i64>, window: i64) -> impl Iterator<Item = Finding> {
        let of = move |(at, found): &(u8, RuleMatch)| {
            let rule = RULES.get(usize::from(*at))?;
            Some(Finding { rank, window, ..finding(rule, found.clone(), self.span_ns) })
        };
        self.found.iter().filter_map(of)
    }
}

/// Says the fixes of rules for the devices and the program of a trace.
struct FittingAdvice {
    vendor: Option<&'static Vendor>,
    is_foreign: bool,
}

impl FittingAdvice {
    fn of(trace: &Trace) -> Self {
        let is_foreign = trace.producer().is_some_and(|producer| !producer.records_pytorch);
        Self { vendor: trace.vendor(), is_foreign }
    }

    fn fitted(&self, rule: &Rule, found: RuleMatch) -> RuleMatch {
        let advice = found.advice.as_deref().unwrap_or(rule.advice);
        let fitting = advice_for(self.vendor, advice);
        // A fix for programs of PyTorch helps no other one.
        let fitting = if self.is_foreign && (advice.contains("torch") || advice.contains("CUDA")) {
            String::new()
        } else {
            fitting
        };
        if fitting == advice { found } else { RuleMatch { advice: Some(fitting), ..found } }
    }
}

/// Sets how far each cost overlaps others, and sums the costs.
fn overlapped(found: &mut [(u8, RuleMatch)], span_ns: i64) -> CostTotals {
    let times: Vec<_> = found.iter_mut().map(|(_, found)| found.times.take()).collect();
    let sets: Vec<_> = times.iter().map(|times| times.as_deref().unwrap_or_default()).collect();
    let shared = SharedTimes::of(&sets);
    for (at, (_, found)) in found.iter_mut().enumerate() {
        found.overlap_ns = times[at].as_ref().map(|_| shared.shared_ns[at].min(found.cost_ns));
    }
    let untimed = found.iter().zip(&times).filter(|((_, found), times)| times.is_none() && found.cost_ns > 0);
    CostTotals {
        num_findings: found.len() as u64,
        num_untimed: untimed.count() as u64,
        sum_ns: sum_ns(found.iter().map(|(_, found)| found.cost_ns)),
        union_ns: shared.union_ns.min(span_ns),
        span_ns,
        ..CostTotals::default()
    }
}

/// Asks a rank for the matches in its trace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct MatchQuery;

impl RankQuery for MatchQuery {
    const NAME: &'static str = "matches";

    type Reply = TraceMatches;

    fn respond(self, selection: &Selection<'_>, options: &Options) -> TraceMatches {
        TraceMatches::of(selection, options.number("min_share"))
    }
}

/// The matches in each trace of a job.
pub(super) fn of_job<'a>(job: &'a Job<'_>, min_share: f64) -> Vec<Cow<'a, TraceMatches>> {
    job.replies_or::<MatchQuery>(|part| TraceMatches::of(part, min_share))
}
