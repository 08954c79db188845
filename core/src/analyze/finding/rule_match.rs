//! A match of a rule, before it becomes a finding.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::analyze::interval::total_ns;
use crate::column::Rising;
use crate::label::without_addresses;
use crate::sort;
use crate::time::{TimeRange, add_ns};

/// How many events a finding names.
const MAX_EVIDENCE: usize = 20;

/// A match of a rule about one subject.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RuleMatch {
    pub(super) subject: String,
    pub(super) count: u64,
    pub(super) cost_ns: i64,
    pub(super) confidence: f64,
    pub(super) detail: String,
    /// A more specific fix than that of the rule.
    #[serde(default)]
    pub(super) advice: Option<String>,
    /// Rows, or later their ids, the costliest first.
    pub(super) evidence: Vec<u32>,
    /// Whether the program failed there, or will: it is reported whatever it costs.
    #[serde(default)]
    pub(super) is_failure: bool,
    /// When it costs; `None` where that is unknown.
    #[serde(skip)]
    pub(super) times: Option<Vec<TimeRange>>,
    /// The part of the cost that other findings of the trace count, too.
    #[serde(default)]
    pub(super) overlap_ns: Option<i64>,
}

impl RuleMatch {
    /// Events, each with its cost, that show the same.
    pub(super) fn of(subject: impl Into<String>, mut costs: Vec<(i64, u32)>, confidence: f64) -> Self {
        sort::by_key(&mut costs, |(ns, row)| (Reverse(*ns), *row));
        let mut cost_ns = 0;
        costs.iter().for_each(|(ns, _)| add_ns(&mut cost_ns, *ns));
        Self {
            subject: subject.into(),
            count: costs.len() as u64,
            cost_ns,
            confidence,
            detail: String::new(),
            advice: None,
            evidence: costs.iter().take(MAX_EVIDENCE).map(|(_, row)| *row).collect(),
            is_failure: false,
            times: None,
            overlap_ns: None,
        }
    }

    /// The same, which costs no more than this: events at the same time cost that once.
    #[must_use]
    pub(super) fn at_most(mut self, ns: i64) -> Self {
        self.cost_ns = self.cost_ns.min(ns);
        self
    }

    /// The same, whose cost lies in these disjoint ranges.
    #[must_use]
    pub(super) fn during(self, times: Vec<TimeRange>) -> Self {
        let all_ns = total_ns(&times);
        Self { times: Some(times), ..self }.at_most(all_ns)
    }

    /// Its cost divided by the selected time.
    pub(super) fn share(&self, span_ns: i64) -> f64 {
        self.cost_ns as f64 / span_ns.max(1) as f64
    }

    /// The same with the ids of its rows.
    #[must_use]
    pub(super) fn with_ids(mut self, ids: &Rising) -> Self {
        self.evidence
            .iter_mut()
            .filter(|row| (**row as usize) < ids.len())
            .for_each(|row| *row = ids.at(*row as usize));
        self
    }

    /// The same, in words.
    #[must_use]
    pub(super) fn detailed(mut self, detail: String) -> Self {
        self.detail = detail;
        self
    }

    /// Adds a more specific fix.
    #[must_use]
    pub(super) fn advised(mut self, advice: Option<&str>) -> Self {
        self.advice = advice.map(str::to_owned);
        self
    }
}

/// Groups events with their costs by subject, sorted by its name. Subjects have no addresses.
pub(super) fn by_subject(costs: impl Iterator<Item = (String, i64, u32)>) -> Vec<(String, Vec<(i64, u32)>)> {
    let mut groups: FxHashMap<String, Vec<(i64, u32)>> = FxHashMap::default();
    costs.for_each(|(subject, ns, row)| {
        let subject = without_addresses(&subject).into_owned();
        groups.entry(subject).or_default().push((ns, row));
    });
    let mut groups: Vec<_> = groups.into_iter().collect();
    sort::by(&mut groups, |(a, _), (b, _)| a.cmp(b));
    groups
}
