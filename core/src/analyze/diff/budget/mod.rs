//! Compares a trace, or a job, with budgets.

mod key;
mod limit;
mod row;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::gate::measured::{CUT, PairMeasures};
use super::gate::metric::{GateMetric, NameKind};
use super::side::DiffSide;
use crate::analyze::finding::{Finding, MIN_SHARE, NO_DEVICE, NO_MEMORY, compares_ranks, findings_of_job, lack};
use crate::analyze::job::{Job, RankedTrace};
use crate::analyze::memory::{MemoryRow, changes, memory};
use crate::analyze::number_text::{duration_text, plural};
use crate::analyze::options::{Options, unexpected};
use crate::analyze::result::AnalysisResult;
use crate::analyze::selection::Selection;
use crate::analyze::selection_request::SelectionRequest;
use crate::analyze::verdict::{VerdictState, verdict};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::nearest_name::suggestion;
use crate::sort;
use crate::threads::each;
use key::{Budget, BudgetSubject, budgets_of};
use limit::LimitUnit;
use row::{BudgetOutcome, BudgetRow};

/// Compares the traces of a job with budgets: one row per budget, of the worst rank.
///
/// `request` is a JSON object with the selection and `budget`, an object. Its keys:
///
/// * `step`, `slowest_step`: mean and longest host time of the iterations, such as `12 ms`
/// * `device`, `compute`, `exposed_communication`, `exposed_copy`, `exposed_other`, `idle`: mean
///   time per iteration, or a share of the mean step, such as `5 %`
/// * `peak_memory`, `peak_reserved_memory`: of the device that holds most, such as `20 GiB`
/// * `device_events`: kernels, copies and fills per iteration; `min_iterations`: at least so many
/// * `operators`, `kernels`, `modules`: objects with the limit of each name, in which `*` stands
///   for any text: all its names together. `phases`: the mean step of each phase
/// * `forbid`: names of findings; `complete`: the recording has no problem
/// * `allow_unknown`: true, or a list of budgets that are kept where their value is unknown
///
/// # Errors
/// When the request has other keys or values, or a trace lacks the selection.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::check;
/// use kinetoscope::table::ColumnValues;
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 13}]"#;
/// let trace = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let answer = check(&[(None, trace)], r#"{"budget": {"step": "12 us"}}"#, 1)?;
/// assert_eq!(answer.tables[0].values(2, 0..1), ColumnValues::Bool([Some(true)].into_iter().collect()));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn check(traces: &[RankedTrace], request: &str, max_threads: usize) -> Result<AnalysisResult, Error> {
    let read = |error: serde_json::Error| unexpected("a JSON object of options", &error.to_string());
    let mut asked: Map<String, Value> = serde_json::from_str(request).map_err(read)?;
    let wanted = SelectionRequest::take(&mut asked)?;
    let budgets = match asked.remove("budget") {
        Some(Value::Object(table)) => budgets_of(table)?,
        other => return Err(unexpected("a table of budgets", &other.unwrap_or_default().to_string())),
    };
    Options::new(&[], asked)?;
    if wanted.by_phase {
        return Err(unexpected("budgets of phases, such as phases.decode", "by=phase"));
    }
    let has_device = traces.iter().any(|(_, linked)| has_work(linked));
    let findings = findings_if_asked(traces, &wanted, &budgets, max_threads)?;
    let of_rank = |at: usize| {
        let (rank, linked) = &traces[at];
        let of_rank = findings.iter().filter(|finding| traces.len() == 1 || finding.rank == *rank).collect();
        let is_alone = traces.len() == 1;
        CheckedTrace { linked, wanted: &wanted, findings: of_rank, is_alone, has_device }.outcomes(&budgets)
    };
    let outcomes: Vec<Vec<BudgetOutcome>> =
        each(max_threads, traces.len(), of_rank).into_iter().collect::<Result<_, _>>()?;
    let rows = budgets.iter().enumerate().filter_map(|(place, budget)| {
        let rows = traces.iter().zip(&outcomes).map(|((rank, _), outcomes)| BudgetRow {
            budget: budget.clone(),
            rank: rank.filter(|_| traces.len() > 1),
            outcome: outcomes[place].clone(),
        });
        // The first of equals.
        rows.rev().max_by(|one, other| one.badness().total_cmp(&other.badness()))
    });
    Ok(AnalysisResult::of(&row::TABLE, rows.collect(), "no trace was given"))
}

fn findings_if_asked(
    traces: &[RankedTrace],
    wanted: &SelectionRequest,
    budgets: &[Budget],
    max_threads: usize,
) -> Result<Vec<Finding>, Error> {
    if !budgets.iter().any(|budget| matches!(budget.subject, BudgetSubject::Finding(_))) {
        return Ok(Vec::new());
    }
    let job = Job::of(traces, &|_| wanted.clone(), &Options::default(), max_threads)?;
    Ok(findings_of_job(&job, MIN_SHARE))
}

const NO_ITERATIONS: &str = "the trace has no iterations: all of it counts as one";

/// A trace of the job.
struct CheckedTrace<'a> {
    linked: &'a Arc<LinkedTrace>,
    wanted: &'a SelectionRequest,
    findings: Vec<&'a Finding>,
    /// Whether it is all there is of its job.
    is_alone: bool,
    /// Whether any trace of the job has device work.
    has_device: bool,
}

fn has_work(linked: &LinkedTrace) -> bool {
    (0..linked.trace.events.len()).any(|row| linked.trace.is_on_device(row))
}

impl CheckedTrace<'_> {
    fn outcomes(&self, budgets: &[Budget]) -> Result<Vec<BudgetOutcome>, Error> {
        let selection = Selection::of(self.linked, self.wanted)?;
        let (sides, keys) = DiffSide::both([&selection, &selection]);
        let mut measures = PairMeasures::of(&sides, &keys);
        let state = verdict(self.linked).state;
        let outcome = |budget: &Budget| {
            self.outcome(budget, &sides[0], &mut measures).with_caveats(caveats(&budget.subject, state, &sides[0]))
        };
        Ok(budgets.iter().map(outcome).collect())
    }

    fn outcome(&self, budget: &Budget, side: &DiffSide<'_>, measures: &mut PairMeasures<'_>) -> BudgetOutcome {
        let whole = if side.iterations.is_empty() { NO_ITERATIONS } else { "" };
        let plain = |value: f64| BudgetOutcome::Value(value, whole.to_owned());
        match &budget.subject {
            BudgetSubject::Metric(GateMetric::Phase(phase)) => self.phase(phase),
            BudgetSubject::Metric(metric) if is_named(metric) && self.has_device && !side.compared.device => {
                BudgetOutcome::Unknown(NO_DEVICE.to_owned())
            }
            BudgetSubject::Metric(metric) => match mean_of(metric, budget, side, measures) {
                BudgetOutcome::Value(value, _) => plain(value),
                unknown @ BudgetOutcome::Unknown(_) => unknown,
            },
            BudgetSubject::SlowestStep if self.linked.trace.events.is_empty() => {
                BudgetOutcome::Unknown(String::from("the trace has no events"))
            }
            BudgetSubject::SlowestStep => slowest(side),
            BudgetSubject::PeakMemory => self.whole_peak(self.peak(|row| Some(row.peak_allocated_bytes), side), budget),
            BudgetSubject::PeakReservedMemory => {
                self.whole_peak(self.peak(|row| row.peak_reserved_bytes, side), budget)
            }
            BudgetSubject::DeviceEvents => match measures.measure(&GateMetric::Device) {
                Err(reason) => BudgetOutcome::Unknown(reason.to_owned()),
                Ok(_) => plain(side.device_work().count() as f64 / side.num_samples() as f64),
            },
            BudgetSubject::Iterations => plain(side.all_iterations.len() as f64),
            BudgetSubject::Complete => self.complete(),
            BudgetSubject::Finding(name) => self.finding(name, side),
        }
    }

    fn phase(&self, phase: &str) -> BudgetOutcome {
        let mut wanted = self.wanted.clone();
        wanted.part.phase = Some(phase.to_owned());
        match Selection::of(self.linked, &wanted) {
            Ok(selection) => {
                let (sides, _) = DiffSide::both([&selection, &selection]);
                BudgetOutcome::Value(mean(&sides[0].all_window_lengths()), String::new())
            }
            Err(error) => BudgetOutcome::Unknown(error.to_string()),
        }
    }

    /// Of all that was recorded, unless a part was asked for.
    fn peak(&self, bytes: fn(&MemoryRow) -> Option<i64>, side: &DiffSide<'_>) -> BudgetOutcome {
        let all = Selection::all(self.linked);
        let selection = if side.selection.part_asked_for().is_some() { side.selection } else { &all };
        let peak = memory(&changes(selection)).iter().filter_map(bytes).max();
        peak.map_or_else(
            || BudgetOutcome::Unknown(NO_MEMORY.to_owned()),
            |peak| BudgetOutcome::Value(peak as f64, String::new()),
        )
    }

    /// Of a file that ends early, a peak is at least so high.
    fn whole_peak(&self, outcome: BudgetOutcome, budget: &Budget) -> BudgetOutcome {
        match outcome {
            BudgetOutcome::Value(value, _) if self.linked.lost_work().is_cut() && !budget.is_broken_by(value) => {
                BudgetOutcome::Unknown(CUT.to_owned())
            }
            other => other,
        }
    }

    fn complete(&self) -> BudgetOutcome {
        let verdict = verdict(self.linked);
        let problems = verdict.problems.iter().filter(|problem| problem.state != VerdictState::Complete);
        let note = verdict.problems.first().filter(|_| verdict.state != VerdictState::Complete);
        BudgetOutcome::Value(problems.count() as f64, note.map(|worst| worst.message.clone()).unwrap_or_default())
    }

    fn finding(&self, name: &str, side: &DiffSide<'_>) -> BudgetOutcome {
        if self.is_alone && compares_ranks(name) {
            return BudgetOutcome::Unknown(String::from("it compares ranks: check the traces of several ranks"));
        }
        let found: Vec<_> = self.findings.iter().filter(|finding| finding.name == name).collect();
        if let Some(reason) = lack(name, side.selection, side.compared.device).filter(|_| found.is_empty()) {
            return BudgetOutcome::Unknown(reason.to_owned());
        }
        let note = found.first().map(|worst| {
            let event = worst.evidence.first().map(|id| format!(", such as event {id}")).unwrap_or_default();
            let (times, cost) = (plural(worst.count as usize, "time"), duration_text(worst.cost_ns));
            format!("{}: {times}, costs up to {cost}{event}", worst.subject)
        });
        BudgetOutcome::Value(found.len() as f64, note.unwrap_or_default())
    }
}

/// Whether a metric is host time where no device work was recorded.
fn is_named(metric: &GateMetric) -> bool {
    matches!(metric, GateMetric::Named(NameKind::Operator | NameKind::Module, _))
}

/// Tells what a value rests on, where something is missing or wrong.
fn caveats(subject: &BudgetSubject, state: VerdictState, side: &DiffSide<'_>) -> Vec<String> {
    let of_state = match subject {
        BudgetSubject::Complete | BudgetSubject::Iterations => None,
        BudgetSubject::SlowestStep => state.caveat_of_host_time(),
        BudgetSubject::Metric(metric) if metric.is_host_time() => state.caveat_of_host_time(),
        _ => state.caveat(),
    };
    let (is_of_device, is_named) = match subject {
        BudgetSubject::DeviceEvents => (true, false),
        BudgetSubject::Metric(metric) => (metric.is_of_device(), is_named(metric)),
        _ => (false, false),
    };
    let left_out = plural(side.num_left_out(), "iteration");
    let left_out = (is_of_device && side.num_left_out() > 0).then(|| format!("{left_out} left out: device work lost"));
    let host = (is_named && !side.compared.device).then(|| String::from(OF_HOST));
    of_state.map(str::to_owned).into_iter().chain(left_out).chain(host).collect()
}

const OF_HOST: &str = "host time, as no device work was recorded";

fn mean_of(
    metric: &GateMetric,
    budget: &Budget,
    side: &DiffSide<'_>,
    measures: &mut PairMeasures<'_>,
) -> BudgetOutcome {
    let values = match measures.measure(metric) {
        Ok(values) if values.is_empty() => return BudgetOutcome::Unknown(unknown_name(metric, measures)),
        Ok(values) => values,
        Err(reason) => return BudgetOutcome::Unknown(reason.to_owned()),
    };
    let ns: f64 = values.values().map(|[values, _]| mean(values)).sum();
    let step = mean(&side.window_lengths());
    match budget.limit.map(|limit| limit.unit) {
        Some(LimitUnit::Share) if step <= 0.0 => BudgetOutcome::Unknown(String::from("the step has no duration")),
        Some(LimitUnit::Share) => BudgetOutcome::Value(ns / step, String::new()),
        _ => BudgetOutcome::Value(ns, String::new()),
    }
}

fn unknown_name(metric: &GateMetric, measures: &mut PairMeasures<'_>) -> String {
    let GateMetric::Named(kind, name) = metric else { return String::new() };
    let known = measures.named(*kind).ok();
    let advice = suggestion(name, known.into_iter().flat_map(|names| names.keys().map(String::as_str)));
    format!("the trace has no {} of this name{advice}", NameKind::name(*kind))
}

fn slowest(side: &DiffSide<'_>) -> BudgetOutcome {
    let all = side.all_window_lengths();
    let mut places: Vec<_> = (0..all.len()).collect();
    sort::by_key(&mut places, |at| (std::cmp::Reverse(all[*at]), *at));
    let slowest = places.first().copied().unwrap_or(0);
    let note = side.all_iterations.get(slowest).map(|iteration| format!("iteration {}", iteration.number));
    let note = note.unwrap_or_else(|| String::from(NO_ITERATIONS));
    BudgetOutcome::Value(all.get(slowest).map_or(0.0, |ns| *ns as f64), note)
}

fn mean(values: &[i64]) -> f64 {
    values.iter().map(|value| *value as f64).sum::<f64>() / values.len().max(1) as f64
}
