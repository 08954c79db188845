//! Defines a rule: its texts, and the function that looks for it.

use serde::{Deserialize, Serialize};

use super::idle_matrix_units::has_matrix_counters;
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::analyze::job::Job;
use crate::analyze::selection::Selection;
use crate::time::Dur;
use crate::trace::kind::EventKind;

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
    /// The data that it cannot do without.
    pub(super) data: RuleData,
    pub(super) find: RuleScope,
}

/// The data that a rule cannot do without: a trace that lacks them may well have the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RuleData {
    /// Host events, which every trace has.
    Host,
    /// Calls of the runtime.
    Calls,
    /// Kernels, copies and fills of devices.
    Device,
    /// Records of the allocator.
    Memory,
    /// Samples of the units for matrices.
    Counters,
}

impl RuleData {
    const ALL: [Self; 5] = [Self::Host, Self::Calls, Self::Device, Self::Memory, Self::Counters];

    /// All data that a selection has.
    pub(super) fn of(selection: &Selection<'_>) -> Vec<Self> {
        Self::ALL.into_iter().filter(|data| data.is_in(selection)).collect()
    }

    pub(super) fn is_in(self, selection: &Selection<'_>) -> bool {
        let kinds = &selection.linked.trace.events.kind;
        let has_kind = |is_it: fn(EventKind) -> bool| selection.rows().any(|row| is_it(kinds[row]));
        match self {
            Self::Host => selection.rows().next().is_some(),
            Self::Calls => has_kind(|kind| kind == EventKind::Launch),
            Self::Device => has_kind(EventKind::is_device_work),
            Self::Memory => {
                let strings = &selection.linked.trace.strings;
                let mut marks = selection.linked.trace.instants.iter();
                marks.any(|mark| MEMORY.contains(&strings.text(mark.name)) && selection.meets(mark.time, Dur(0)))
            }
            Self::Counters => has_matrix_counters(selection.linked),
        }
    }

    /// Why nobody can tell without them.
    #[cfg(feature = "gates")]
    pub(super) fn lack(self) -> &'static str {
        match self {
            Self::Host => "the trace has no events",
            Self::Calls => "calls of the runtime were not recorded",
            Self::Device => NO_DEVICE,
            Self::Memory => NO_MEMORY,
            Self::Counters => "no counter of tensor cores was sampled",
        }
    }
}

/// Names of the allocator's records.
const MEMORY: [&str; 2] = ["[memory]", "[OutOfMemory]"];
/// Why values of devices are unknown.
#[cfg(feature = "gates")]
pub(in crate::analyze) const NO_DEVICE: &str = "device work was not recorded, or too much of it was lost";
/// Why values of memory are unknown.
#[cfg(feature = "gates")]
pub(in crate::analyze) const NO_MEMORY: &str = "memory was not recorded (profile_memory=True records it)";

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
