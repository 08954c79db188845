//! Finds kernels for tensor cores during which these units are mostly idle.

use super::rule::{Rule, RuleData, RuleScope};
#[cfg(feature = "kernel-counters")]
use super::tensor_activity::found;
#[cfg(feature = "kernel-counters")]
pub(super) use super::tensor_activity::has_matrix_counters;
#[cfg(not(feature = "kernel-counters"))]
use super::{rule_context::RuleContext, rule_match::RuleMatch};
#[cfg(not(feature = "kernel-counters"))]
use crate::link::LinkedTrace;

pub(super) static TENSOR_CORES_IDLE: Rule = Rule {
    name: "tensor_cores_idle",
    doc: "kernels for tensor cores run, while a sampled counter shows these units active less than a quarter of the time",
    cost: "sampled time that these kernels would save with tensor cores active for a quarter of it: Σ time · (1 − mean / \
           25 %)",
    advice: "enlarge or batch these products: small ones, and those of few rows, wait for memory",
    is_pattern: false,
    data: RuleData::Counters,
    find: RuleScope::Trace(found),
};

/// Pages do not look for it: they have no means of counters.
#[cfg(not(feature = "kernel-counters"))]
pub(super) fn has_matrix_counters(_: &LinkedTrace) -> bool {
    false
}

#[cfg(not(feature = "kernel-counters"))]
fn found(_: &RuleContext<'_>) -> Vec<RuleMatch> {
    Vec::new()
}
