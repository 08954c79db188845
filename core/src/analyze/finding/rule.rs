//! Defines a rule: its texts, and the function that looks for it.

use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::analyze::job::Job;

/// Something to look for.
pub(super) struct Rule {
    /// Its name.
    pub(super) name: &'static str,
    /// The problem that a match means.
    pub(super) doc: &'static str,
    /// The definition of its cost.
    pub(super) cost: &'static str,
    /// The fix.
    pub(super) advice: &'static str,
    /// Whether it is a pattern of the program, which may cost more in another run. So it is
    /// reported at a lower share.
    pub(super) is_pattern: bool,
    pub(super) find: RuleScope,
}

/// Where to look for it.
pub(super) enum RuleScope {
    /// In one trace.
    Trace(fn(&RuleContext<'_>) -> Vec<RuleMatch>),
    /// In several ranks compared; each found belongs to the member of that number.
    Ranks(fn(&Job<'_>) -> Vec<(usize, RuleMatch)>),
}

/// Default share of the span below which findings are skipped.
pub const MIN_SHARE: f64 = 0.005;

/// Share of the span below which even patterns are skipped, unless a lower share is asked for.
pub(super) const MIN_PATTERN_SHARE: f64 = 0.001;
