//! The budgets of a file.

use serde_json::{Map, Value};

use super::super::gate::metric::{GateMetric, NameKind, PARTS};
use super::limit::{BudgetLimit, LimitKind};
use crate::analyze::finding::finding_names;
use crate::analyze::options::unexpected;
use crate::error::Error;
use crate::nearest_name::suggestion;

/// Quantity, recording or finding that a budget limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BudgetSubject {
    /// The mean over iterations.
    Metric(GateMetric),
    SlowestStep,
    PeakMemory,
    PeakReservedMemory,
    /// Kernels, copies and fills of an iteration.
    DeviceEvents,
    /// At least so many.
    Iterations,
    /// The recording has no problem.
    Complete,
    /// A finding that must not be there.
    Finding(&'static str),
}

/// A budget by its name.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    pub(super) name: String,
    pub(super) subject: BudgetSubject,
    /// None for a yes or no.
    pub(super) limit: Option<BudgetLimit>,
    /// Whether it is kept where its value is unknown.
    pub(super) may_be_unknown: bool,
}

const OPERATORS: &str = "operators";
const KERNELS: &str = "kernels";
const MODULES: &str = "modules";
const PHASES: &str = "phases";
const FORBID: &str = "forbid";
const COMPLETE: &str = "complete";
const ALLOW_UNKNOWN: &str = "allow_unknown";

/// Budgets with one limit.
const SINGLE: [(&str, LimitKind, BudgetSubject); 7] = [
    ("step", LimitKind::Time, BudgetSubject::Metric(GateMetric::Step)),
    ("slowest_step", LimitKind::Time, BudgetSubject::SlowestStep),
    ("device", LimitKind::TimeOrShare, BudgetSubject::Metric(GateMetric::Device)),
    ("peak_memory", LimitKind::Size, BudgetSubject::PeakMemory),
    ("peak_reserved_memory", LimitKind::Size, BudgetSubject::PeakReservedMemory),
    ("device_events", LimitKind::Count, BudgetSubject::DeviceEvents),
    ("min_iterations", LimitKind::Count, BudgetSubject::Iterations),
];

const OTHERS: [&str; 7] = [COMPLETE, FORBID, OPERATORS, KERNELS, MODULES, PHASES, ALLOW_UNKNOWN];

/// The names of all keys.
fn keys() -> impl Iterator<Item = &'static str> + Clone {
    SINGLE.into_iter().map(|(name, ..)| name).chain(PARTS).chain(OTHERS)
}

/// The budgets of a table, by name.
pub(super) fn budgets_of(mut table: Map<String, Value>) -> Result<Vec<Budget>, Error> {
    let allowed = table.remove(ALLOW_UNKNOWN);
    let mut budgets = Vec::new();
    for (key, value) in &table {
        budgets.extend(of_key(key, value)?);
    }
    if budgets.is_empty() {
        let all = keys().collect::<Vec<_>>().join(", ");
        return Err(unexpected(&format!("at least one budget of {all}"), "none"));
    }
    allow_unknown(&mut budgets, allowed)?;
    Ok(budgets)
}

fn of_key(key: &str, value: &Value) -> Result<Vec<Budget>, Error> {
    let budget = |name: String, subject, limit| Budget { name, subject, limit, may_be_unknown: false };
    if let Some((_, kind, subject)) = SINGLE.into_iter().find(|(name, ..)| *name == key) {
        return Ok(vec![budget(key.to_owned(), subject, Some(kind.limit(key, value)?))]);
    }
    if let Some(part) = PARTS.into_iter().find(|part| *part == key) {
        let limit = LimitKind::TimeOrShare.limit(key, value)?;
        return Ok(vec![budget(key.to_owned(), BudgetSubject::Metric(GateMetric::Part(part)), Some(limit))]);
    }
    let named = |kind: LimitKind, of: &dyn Fn(&str) -> GateMetric| {
        let Value::Object(table) = value else {
            return Err(unexpected(&format!("a table of names as {key}"), &value.to_string()));
        };
        let one = |(name, value): (&String, &Value)| {
            let (text, subject) = (format!("{key}.{name}"), BudgetSubject::Metric(of(name)));
            Ok(budget(text.clone(), subject, Some(kind.limit(&text, value)?)))
        };
        table.iter().map(one).collect()
    };
    let of_kind = |kind| named(LimitKind::TimeOrShare, &|name| GateMetric::Named(kind, name.to_owned()));
    match (key, value) {
        (OPERATORS, _) => of_kind(NameKind::Operator),
        (KERNELS, _) => of_kind(NameKind::Kernel),
        (MODULES, _) => of_kind(NameKind::Module),
        (PHASES, _) => named(LimitKind::Time, &|name| GateMetric::Phase(name.to_owned())),
        (COMPLETE, Value::Bool(true)) => Ok(vec![budget(key.to_owned(), BudgetSubject::Complete, None)]),
        (COMPLETE, Value::Bool(false)) => Ok(Vec::new()),
        (COMPLETE, _) => Err(unexpected("true or false as complete", &value.to_string())),
        (FORBID, Value::Array(names)) => names.iter().map(forbidden).collect(),
        (FORBID, _) => Err(unexpected("a list of findings as forbid", &value.to_string())),
        _ => {
            let all = keys().collect::<Vec<_>>().join(", ");
            Err(unexpected(&format!("a budget of {all}"), &format!("{key}{}", suggestion(key, keys()))))
        }
    }
}

fn forbidden(value: &Value) -> Result<Budget, Error> {
    let text = value.as_str().unwrap_or_default();
    let Some(name) = finding_names().find(|name| *name == text) else {
        let found = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let advice = suggestion(text, finding_names());
        return Err(unexpected("the name of a finding in forbid (table finding_rules)", &format!("{found}{advice}")));
    };
    let subject = BudgetSubject::Finding(name);
    Ok(Budget { name: format!("{FORBID}.{name}"), subject, limit: None, may_be_unknown: false })
}

fn allow_unknown(budgets: &mut [Budget], allowed: Option<Value>) -> Result<(), Error> {
    match allowed {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Bool(true)) => budgets.iter_mut().for_each(|budget| budget.may_be_unknown = true),
        Some(Value::Array(names)) => {
            for name in names {
                let text = name.as_str().unwrap_or_default();
                let Some(budget) = budgets.iter_mut().find(|budget| budget.name == text) else {
                    let all: Vec<_> = budgets.iter().map(|budget| budget.name.as_str()).collect();
                    return Err(unexpected(&format!("a budget of {} in {ALLOW_UNKNOWN}", all.join(", ")), text));
                };
                budget.may_be_unknown = true;
            }
        }
        Some(other) => {
            return Err(unexpected(&format!("true or a list of budgets as {ALLOW_UNKNOWN}"), &other.to_string()));
        }
    }
    Ok(())
}

impl Budget {
    pub(super) fn unit(&self) -> &'static str {
        self.limit.map_or("count", |limit| limit.unit.name())
    }

    /// Whether a value is beyond the limit. A yes or no counts how often it is broken.
    pub(super) fn is_broken_by(&self, value: f64) -> bool {
        let limit = self.limit.map_or(0.0, |limit| limit.value);
        if self.subject == BudgetSubject::Iterations { value < limit } else { value > limit }
    }

    /// How bad a value is: comparable among values of this budget, at least 0.
    pub(super) fn excess(&self, value: f64) -> f64 {
        if self.subject == BudgetSubject::Iterations { 1.0 / (1.0 + value) } else { value.max(0.0) }
    }
}
