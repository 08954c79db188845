//! Decides whether runs became slower by more than a threshold and by more than chance.

mod cause;
pub(super) mod measured;
pub(super) mod metric;
mod noise;
mod row;
mod runs;
mod threshold;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::analyze::job::{RankedTrace, common_ranks};
use crate::analyze::options::{Options, unexpected};
use crate::analyze::part_request::flag;
use crate::analyze::result::AnalysisResult;
use crate::analyze::selection_request::SelectionRequest;
use crate::analyze::verdict::{VerdictState, verdict};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::nearest_name::suggestion;
use crate::sort;
use crate::threads::each;
use cause::GateCause;
use metric::GateMetric;
use noise::NoisyChange;
use row::GateRow;
use runs::{JudgedValues, MeasuredRuns, RankRuns};

/// Compares runs before a change with runs after it: fails where a metric is worse by more than a
/// threshold, and by more than chance.
///
/// Each run is a trace, or the traces of a job. `request` is a JSON object with the selection and:
///
/// * `fail_over`: the threshold, as a share (`0.03`) or a text (`3%`, the default)
/// * `metrics`: texts; `step` by default. Others: `device`, `memory`, parts of the step such as
///   `idle`, `phase:NAME`, and `operator:NAME`, `kernel:NAME`, `module:NAME`, in which `*` stands
///   for any text. `*` takes names with at least 1 % of the time of their kind
/// * `allow_unknown`: whether an unknown metric passes
///
/// `change_share = (after − before) / before`, of the means over runs of the mean over iterations.
/// `noise_share` is the largest change that chance makes: iterations in 499 of 500 comparisons, all
/// metrics together, and runs in 199 of 200 (see `noise.rs`). Status `worse` needs both
/// `change_share > threshold_share` and `change_share > noise_share`; beyond the threshold alone it
/// is `noisy`. It is `unknown` where a run lacks the metric, or where nothing tells the noise.
///
/// Tables: `gate`, one row per metric; `gate_causes`, the names that changed by more than both.
///
/// # Errors
/// When the request asks for something else, no run has the name of a metric, or the runs have no
/// rank in common.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::gate;
/// use kinetoscope::table::ColumnValues;
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let run = |durs: [i64; 4]| {
///     let step = |(at, dur): (usize, i64)| format!(
///         r#"{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{at}", "pid": 1, "tid": 1,
///              "ts": {}, "dur": {dur}}}"#, at * 1000);
///     let json = durs.into_iter().enumerate().map(step).collect::<Vec<_>>().join(",");
///     let read = read([Input::new(format!("[{json}]").as_bytes())], Limits::default())?;
///     Ok::<_, kinetoscope::Error>(vec![(None, Arc::new(LinkedTrace::new(read)))])
/// };
/// let answer = gate(&[run([100, 102, 98, 100])?], &[run([120, 118, 122, 120])?], "{}", 1)?;
/// assert_eq!(answer.tables[0].values(2, 0..1), ColumnValues::Bool([Some(true)].into_iter().collect()));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn gate(
    before: &[Vec<RankedTrace>],
    after: &[Vec<RankedTrace>],
    request: &str,
    max_threads: usize,
) -> Result<AnalysisResult, Error> {
    let request = GateRequest::parse(request)?;
    [before, after].into_iter().try_for_each(expect_distinct)?;
    let RankedRuns { mut ranks, runs, missing } = RankedRuns::of(before, after)?;
    let measured: Vec<RankMeasures> =
        each(max_threads, runs.len(), |at| request.measured(&runs[at])).into_iter().collect::<Result<_, _>>()?;
    request.expect_names(&measured)?;
    let num_judged = measured.iter().map(|rank| request.num_judged(rank)).sum();
    let num_names = measured.iter().map(RankMeasures::num_names).sum();
    let mut answers: Vec<_> = measured.iter().map(|rank| request.answer(rank, num_judged, num_names)).collect();
    answers.extend(missing.iter().map(|_| request.answer_of_missing()));
    ranks.extend(missing);
    match (&ranks[..], answers.first()) {
        ([_], Some(answer)) if before.iter().chain(after).all(|run| run.len() == 1) => Ok(answer.clone()),
        _ => Ok(AnalysisResult::stacked(&ranks, &answers)),
    }
}

/// A request: selection, threshold and metrics.
struct GateRequest {
    wanted: SelectionRequest,
    threshold: f64,
    metrics: Vec<GateMetric>,
    may_be_unknown: bool,
}

/// The metrics of one rank.
struct RankMeasures {
    /// By metric of the request.
    values: Vec<runs::NamedValues>,
    all: MeasuredRuns,
    /// The worst of the runs before, and of those after.
    states: [VerdictState; 2],
}

impl GateRequest {
    fn parse(request: &str) -> Result<Self, Error> {
        let read = |error: serde_json::Error| unexpected("a JSON object of options", &error.to_string());
        let mut asked: Map<String, Value> = serde_json::from_str(request).map_err(read)?;
        let wanted = SelectionRequest::take(&mut asked)?;
        if wanted.by_phase {
            return Err(unexpected("a metric such as phase:decode for each phase", "by=phase"));
        }
        let threshold = threshold::take_threshold(&mut asked)?;
        let metrics = metrics_of(asked.remove("metrics"))?;
        let may_be_unknown = flag(&mut asked, "allow_unknown", false)?;
        Options::new(&[], asked)?;
        if let Some(both) = metrics.iter().find(|metric| metric.phase().is_some() && wanted.part.phase.is_some()) {
            return Err(unexpected("a phase as selection or as metric", &format!("both: {}", both.text(""))));
        }
        Ok(Self { wanted, threshold, metrics, may_be_unknown })
    }

    fn measured(&self, runs: &RankRuns) -> Result<RankMeasures, Error> {
        let whole: Vec<_> = self.metrics.iter().filter(|metric| metric.phase().is_none()).collect();
        let mut all = MeasuredRuns::of(runs, &self.wanted, &whole, true)?;
        let mut plain = std::mem::take(&mut all.metrics).into_iter();
        let mut values = Vec::new();
        for metric in &self.metrics {
            let Some(phase) = metric.phase() else {
                values.extend(plain.next());
                continue;
            };
            let mut wanted = self.wanted.clone();
            wanted.part.phase = Some(phase.to_owned());
            values.append(&mut MeasuredRuns::of(runs, &wanted, &[metric], false)?.metrics);
        }
        let worst = |runs: &Vec<Arc<LinkedTrace>>| runs.iter().map(|run| verdict(run).state).max();
        let states = runs.each_ref().map(|runs| worst(runs).unwrap_or(VerdictState::Complete));
        Ok(RankMeasures { values, all, states })
    }

    /// A name that no run has is a mistake, which would pass the gate unseen.
    fn expect_names(&self, measured: &[RankMeasures]) -> Result<(), Error> {
        for (place, metric) in self.metrics.iter().enumerate() {
            let GateMetric::Named(kind, name) = metric else { continue };
            if measured.iter().any(|rank| !rank.values[place].is_empty()) {
                continue;
            }
            let known = measured.iter().filter_map(|rank| rank.all.known.get(kind)).flatten();
            let advice = suggestion(name, known.map(String::as_str));
            let expected = format!("{}:NAME with a name of the traces", kind.name());
            return Err(unexpected(&expected, &format!("{}{advice}", metric.text(name))));
        }
        Ok(())
    }

    fn answer(&self, rank: &RankMeasures, num_judged: usize, num_names: usize) -> AnalysisResult {
        let rows = self.named(rank).into_iter().map(|(name, metric, values)| {
            let caveat = if values.is_ok() { rank.caveat(metric) } else { String::new() };
            GateRow { caveat, ..self.row(name, metric.unit(), values, num_judged) }
        });
        let names = rank.all.names.iter().flat_map(|(kind, values)| {
            let row = |values| self.row(String::new(), "ns", values, num_names);
            values.iter().map(move |(name, values)| (kind.name(), name.clone(), row(values)))
        });
        AnalysisResult::of(&row::TABLE, rows.collect(), "no rank has such a name")
            .and(&cause::TABLE, GateCause::among(names))
    }

    /// The metrics with their names. One that two metrics of the request mean is there once.
    fn named<'r>(&'r self, rank: &'r RankMeasures) -> Vec<(String, &'r GateMetric, &'r JudgedValues)> {
        let mut seen = BTreeSet::new();
        let all = self.metrics.iter().zip(&rank.values).flat_map(|(metric, values)| {
            let name = |name: &'r str| metric.text(if name.is_empty() { metric.pattern() } else { name });
            values.iter().map(move |(own, values)| (name(own), metric, values))
        });
        all.filter(|(name, ..)| seen.insert(name.clone())).collect()
    }

    fn num_judged(&self, rank: &RankMeasures) -> usize {
        self.named(rank).iter().filter(|(.., values)| values.is_ok()).count()
    }

    /// Of a rank that not all runs have: nothing is known.
    fn answer_of_missing(&self) -> AnalysisResult {
        let row = |metric: &GateMetric| {
            self.row(metric.text(metric.pattern()), metric.unit(), &Err("a run lacks this rank"), 1)
        };
        let rows = self.metrics.iter().map(row).collect();
        AnalysisResult::of(&row::TABLE, rows, "").and(&cause::TABLE, Vec::new())
    }

    fn row(&self, metric: String, unit: &'static str, values: &JudgedValues, num_compared: usize) -> GateRow {
        let (values, reason) = match values {
            Ok(values) => (Some(values), ""),
            Err(reason) => (None, *reason),
        };
        let num_iterations = |runs: &Vec<Vec<i64>>| runs.iter().map(Vec::len).sum();
        GateRow {
            metric,
            unit,
            change: values.and_then(|values| NoisyChange::of(values.each_ref(), num_compared)),
            threshold: self.threshold,
            num_runs: values.map_or([0, 0], |values| values.each_ref().map(Vec::len)),
            num_iterations: values.map_or([0, 0], |values| values.each_ref().map(num_iterations)),
            reason,
            may_be_unknown: self.may_be_unknown,
            caveat: String::new(),
        }
    }
}

impl RankMeasures {
    fn num_names(&self) -> usize {
        self.all.names.iter().map(|(_, values)| values.len()).sum()
    }

    /// Tells what a metric rests on, where something is missing or wrong.
    fn caveat(&self, metric: &GateMetric) -> String {
        let left_out = left_out_words(self.all.num_left_out).filter(|_| metric.is_of_device());
        state_words(metric, self.states).into_iter().chain(left_out).collect::<Vec<_>>().join("; ")
    }
}

/// Iterations that lost device work, of both sides.
fn left_out_words([before, after]: [usize; 2]) -> Option<String> {
    (before + after > 0).then(|| format!("without iterations that lost device work: {before} before, {after} after"))
}

/// The sides that rest on recordings that are not complete.
fn state_words(metric: &GateMetric, states: [VerdictState; 2]) -> Vec<String> {
    let caveat = if metric.is_host_time() { VerdictState::caveat_of_host_time } else { VerdictState::caveat };
    match states.map(caveat) {
        [Some(both), Some(other)] if both == other => vec![format!("{both} (before and after)")],
        [before, after] => {
            let sides = [(before, "before"), (after, "after")];
            sides.into_iter().filter_map(|(words, side)| Some(format!("{} ({side})", words?))).collect()
        }
    }
}

fn metrics_of(asked: Option<Value>) -> Result<Vec<GateMetric>, Error> {
    let texts = match asked {
        None | Some(Value::Null) => return Ok(vec![GateMetric::Step]),
        Some(Value::Array(texts)) if !texts.is_empty() => texts,
        Some(other) => return Err(unexpected("a list of metrics, such as [\"step\"]", &other.to_string())),
    };
    let mut metrics = Vec::new();
    for text in texts {
        let Value::String(text) = text else {
            return Err(unexpected("the name of a metric, such as \"step\"", &text.to_string()));
        };
        let metric = GateMetric::parse(&text)?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

/// The same run twice would look like runs that do not differ.
fn expect_distinct(runs: &[Vec<RankedTrace>]) -> Result<(), Error> {
    let is_same_trace = |(one, other): (&RankedTrace, &RankedTrace)| {
        let (one, other) = (&one.1.trace.events, &other.1.trace.events);
        !one.is_empty() && one.start == other.start && one.dur == other.dur
    };
    let are_same = |one: &[RankedTrace], other: &[RankedTrace]| {
        one.len() == other.len() && one.iter().zip(other).all(is_same_trace)
    };
    for (at, run) in runs.iter().enumerate() {
        if let Some(place) = runs[..at].iter().position(|earlier| are_same(earlier, run)) {
            let found = format!("run {} again as run {}", place + 1, at + 1);
            return Err(unexpected("different runs of each side", &found));
        }
    }
    Ok(())
}

/// The runs by rank.
struct RankedRuns {
    /// Ranks that all runs have, and their runs.
    ranks: Vec<Option<i64>>,
    runs: Vec<RankRuns>,
    /// Ranks that some of the runs have.
    missing: Vec<Option<i64>>,
}

impl RankedRuns {
    fn of(before: &[Vec<RankedTrace>], after: &[Vec<RankedTrace>]) -> Result<Self, Error> {
        let (Some(first), false) = (before.first(), after.is_empty()) else {
            return Err(unexpected("a run before and a run after", "none"));
        };
        let all = || before.iter().chain(after);
        if all().all(|run| run.len() == 1) {
            let linked = |runs: &[Vec<RankedTrace>]| runs.iter().map(|run| Arc::clone(&run[0].1)).collect();
            let runs = vec![[linked(before), linked(after)]];
            return Ok(Self { ranks: vec![first[0].0], runs, missing: Vec::new() });
        }
        // The place of each trace of the first run in each run.
        let mut places: Vec<Vec<Option<usize>>> = Vec::new();
        let mut missing = Vec::new();
        for run in all() {
            let pairs = common_ranks(first, run)?;
            let place = |at: usize| pairs.iter().find(|(one, _)| *one == at).map(|(_, other)| *other);
            places.push((0..first.len()).map(place).collect());
            let is_other = |at: &usize| pairs.iter().all(|(_, other)| other != at);
            missing.extend((0..run.len()).filter(is_other).map(|at| run[at].0));
        }
        let mut ranked = Self { ranks: Vec::new(), runs: Vec::new(), missing };
        for at in 0..first.len() {
            let Some(own) = places.iter().map(|run| run[at]).collect::<Option<Vec<_>>>() else {
                ranked.missing.push(first[at].0);
                continue;
            };
            let linked: Vec<_> = all().zip(own).map(|(run, place)| Arc::clone(&run[place].1)).collect();
            let (one, other) = linked.split_at(before.len());
            ranked.ranks.push(first[at].0);
            ranked.runs.push([one.to_vec(), other.to_vec()]);
        }
        if ranked.ranks.is_empty() {
            return Err(unexpected("a rank that all runs have", "none"));
        }
        ranked.missing = sort::distinct(ranked.missing);
        Ok(ranked)
    }
}
