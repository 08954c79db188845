//! Collects the values of each metric from the runs of both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::recorded::ComparedKinds;
use super::super::side::DiffSide;
use super::measured::{MeasuredMetric, PairMeasures, PairValues};
use super::metric::{GateMetric, NameKind};
use super::noise::RunValues;
use crate::analyze::selection::Selection;
use crate::analyze::selection_request::SelectionRequest;
use crate::error::Error;
use crate::link::LinkedTrace;

/// The runs of both sides, of one rank.
pub(super) type RankRuns = [Vec<Arc<LinkedTrace>>; 2];

/// Values of one name in all runs, or the reason for their lack.
pub(super) type JudgedValues = Result<[RunValues; 2], &'static str>;

/// Values of each name of a metric.
pub(super) type NamedValues = BTreeMap<String, JudgedValues>;

/// Names below this share of the time of their kind do not count for `*`, nor as causes.
const MIN_NAME_SHARE: f64 = 0.01;

/// Two runs, one of each side, with their metrics.
struct MeasuredPair {
    at: [usize; 2],
    num_samples: [usize; 2],
    num_left_out: [usize; 2],
    compared: ComparedKinds,
    metrics: Vec<MeasuredMetric>,
    /// Operators, kernels and modules.
    names: Vec<MeasuredMetric>,
}

/// All metrics of one rank.
pub(super) struct MeasuredRuns {
    pub(super) metrics: Vec<NamedValues>,
    pub(super) names: Vec<(NameKind, NamedValues)>,
    /// Names that a metric could have meant, in any of the runs.
    pub(super) known: BTreeMap<NameKind, BTreeSet<String>>,
    /// Iterations that metrics of the device leave out, because they lost work; of both sides.
    pub(super) num_left_out: [usize; 2],
}

impl MeasuredRuns {
    /// Compares each run of one side with the first of the other one.
    pub(super) fn of(
        runs: &RankRuns,
        wanted: &SelectionRequest,
        metrics: &[&GateMetric],
        has_causes: bool,
    ) -> Result<Self, Error> {
        let [before, after] = runs.each_ref().map(Vec::len);
        let places = (0..before).map(|at| [at, 0]).chain((1..after).map(|at| [0, at]));
        let pairs = places.map(|at| MeasuredPair::of(runs, at, wanted, (metrics, has_causes)));
        let pairs: Vec<MeasuredPair> = pairs.collect::<Result<_, _>>()?;
        let is_equal = pairs.iter().all(|pair| pair.compared == pairs[0].compared);
        let has_iterations = pairs.iter().all(|pair| pair.compared.iterations == pairs[0].compared.iterations);
        let of_metric = |place: usize, of: fn(&MeasuredPair) -> &[MeasuredMetric], is_of_device: bool| {
            let is_alike = if is_of_device { is_equal } else { has_iterations };
            if is_alike { merged(&pairs, place, of) } else { unknown(UNEQUAL) }
        };
        let kinds = NameKind::ALL.into_iter().enumerate().filter(|_| has_causes);
        let all: Vec<_> = kinds
            .map(|(place, kind)| (kind, of_metric(place, |pair| &pair.names, true)))
            .filter(|(_, values)| values.values().all(Result::is_ok))
            .collect();
        let known = all.iter().map(|(kind, values)| (*kind, values.keys().cloned().collect())).collect();
        let values = metrics.iter().enumerate().map(|(place, metric)| {
            let values = of_metric(place, |pair| &pair.metrics, metric.is_of_device());
            let is_many = matches!(metric, GateMetric::Named(_, pattern) if !values.contains_key(pattern));
            if is_many { frequent(values) } else { values }
        });
        let names = all.into_iter().map(|(kind, values)| (kind, frequent(values))).collect();
        let first_of = |side: usize| pairs.iter().filter(move |pair| pair.at[1 - side] == 0);
        let num_left_out = [0, 1].map(|side| first_of(side).map(|pair| pair.num_left_out[side]).sum());
        Ok(Self { metrics: values.collect(), names, known, num_left_out })
    }
}

const UNEQUAL: &str = "the runs recorded different kinds of data";

fn unknown(reason: &'static str) -> NamedValues {
    BTreeMap::from([(String::new(), Err(reason))])
}

impl MeasuredPair {
    fn of(
        runs: &RankRuns,
        at: [usize; 2],
        wanted: &SelectionRequest,
        (metrics, has_causes): (&[&GateMetric], bool),
    ) -> Result<Self, Error> {
        let before = Selection::of(&runs[0][at[0]], wanted)?;
        let after = Selection::of(&runs[1][at[1]], wanted)?;
        let (sides, keys) = DiffSide::both([&before, &after]);
        let mut measures = PairMeasures::of(&sides, &keys);
        let kinds = NameKind::ALL.into_iter().filter(|_| has_causes);
        Ok(Self {
            at,
            num_samples: sides.each_ref().map(DiffSide::num_samples),
            num_left_out: sides.each_ref().map(DiffSide::num_left_out),
            compared: sides[0].compared,
            metrics: metrics.iter().map(|metric| measures.measure(metric)).collect(),
            names: kinds.map(|kind| measures.named(kind).cloned()).collect(),
        })
    }

    /// The values of a name in one run; no time where it lacks the name.
    fn values(&self, named: &BTreeMap<String, PairValues>, name: &str, side: usize) -> Vec<i64> {
        named.get(name).map_or_else(|| vec![0; self.num_samples[side]], |values| values[side].clone())
    }
}

fn merged(pairs: &[MeasuredPair], place: usize, of: fn(&MeasuredPair) -> &[MeasuredMetric]) -> NamedValues {
    let mut all = Vec::new();
    for pair in pairs {
        match &of(pair)[place] {
            Ok(named) => all.push((pair, named)),
            Err(reason) => return unknown(reason),
        }
    }
    let names: BTreeSet<&String> = all.iter().flat_map(|(_, named)| named.keys()).collect();
    let values = |name: &str| {
        let before = all.iter().filter(|(pair, _)| pair.at[1] == 0).map(|(pair, named)| pair.values(named, name, 0));
        let after = all.iter().filter(|(pair, _)| pair.at[0] == 0).map(|(pair, named)| pair.values(named, name, 1));
        [before.collect(), after.collect()]
    };
    names.into_iter().map(|name| (name.clone(), Ok(values(name)))).collect()
}

/// The names with enough time to matter.
fn frequent(values: NamedValues) -> NamedValues {
    let sum = |values: &JudgedValues| {
        let all = values.iter().flatten().flatten();
        all.map(|run| run.iter().map(|ns| *ns as f64).sum::<f64>() / run.len().max(1) as f64).sum::<f64>()
    };
    let whole: f64 = values.values().map(sum).sum();
    values.into_iter().filter(|(_, values)| values.is_err() || sum(values) >= MIN_NAME_SHARE * whole).collect()
}
