//! Metrics that a gate compares.

use crate::analyze::options::unexpected;
use crate::error::Error;
use crate::nearest_name::suggestion;

/// Names of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::analyze::diff) enum NameKind {
    Operator,
    Kernel,
    Module,
}

impl NameKind {
    pub(in crate::analyze::diff) const ALL: [Self; 3] = [Self::Operator, Self::Kernel, Self::Module];

    pub(in crate::analyze::diff) fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Kernel => "kernel",
            Self::Module => "module",
        }
    }
}

/// A number of each iteration; a larger one is worse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analyze::diff) enum GateMetric {
    /// Host time of the iteration.
    Step,
    /// Device work that the iteration launched: durations, summed.
    Device,
    /// A part of the step, by its name in the table `diff`.
    Part(&'static str),
    /// The most memory that one device held.
    Memory,
    /// Time of a name, in which `*` stands for any text.
    Named(NameKind, String),
    /// Host time of the iterations of a phase.
    Phase(String),
}

/// Parts of a step that are metrics.
pub(in crate::analyze::diff) const PARTS: [&str; 5] =
    ["compute", "exposed_communication", "exposed_copy", "exposed_other", "idle"];

const PLAIN: [&str; 3] = ["step", "device", "memory"];
const PHASE: &str = "phase";

impl GateMetric {
    /// The metric of a text, such as `step` or `operator:aten::mm`.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let (word, name) = text.split_once(':').map_or((text, None), |(word, name)| (word, Some(name)));
        let kind = NameKind::ALL.into_iter().find(|kind| kind.name() == word);
        match (word, name) {
            ("step", None) => Ok(Self::Step),
            ("device", None) => Ok(Self::Device),
            ("memory", None) => Ok(Self::Memory),
            (PHASE, Some(name)) if !name.is_empty() => Ok(Self::Phase(name.to_owned())),
            (_, Some(name)) if !name.is_empty() && kind.is_some() => {
                Ok(Self::Named(kind.unwrap_or(NameKind::Operator), name.to_owned()))
            }
            (_, None) if PARTS.contains(&word) => {
                Ok(Self::Part(PARTS.into_iter().find(|part| *part == word).unwrap_or_default()))
            }
            _ => Err(Self::unknown(text, word)),
        }
    }

    fn unknown(text: &str, word: &str) -> Error {
        let named = NameKind::ALL.map(NameKind::name).into_iter().chain([PHASE]);
        let plain = PLAIN.into_iter().chain(PARTS);
        let listed: Vec<_> =
            plain.clone().map(str::to_owned).chain(named.clone().map(|kind| format!("{kind}:NAME"))).collect();
        let advice = suggestion(word, plain.chain(named)).replace('?', if text.contains(':') { ":NAME?" } else { "?" });
        unexpected(&format!("a metric of {}", listed.join(", ")), &format!("{text}{advice}"))
    }

    /// The phase whose iterations count, if not all do.
    pub(super) fn phase(&self) -> Option<&str> {
        if let Self::Phase(name) = self { Some(name) } else { None }
    }

    /// Whether it is how long iterations took, whatever was recorded in them.
    pub(in crate::analyze::diff) fn is_host_time(&self) -> bool {
        matches!(self, Self::Step | Self::Phase(_))
    }

    /// Whether it is time of the device work of iterations, where that was recorded.
    pub(in crate::analyze::diff) fn is_of_device(&self) -> bool {
        matches!(self, Self::Device | Self::Part(_) | Self::Named(..))
    }

    /// The name that was asked for, in which `*` stands for any text; empty for metrics without.
    pub(super) fn pattern(&self) -> &str {
        if let Self::Named(_, pattern) = self { pattern } else { "" }
    }

    /// The unit of its values.
    pub(super) fn unit(&self) -> &'static str {
        if *self == Self::Memory { "bytes" } else { "ns" }
    }

    /// As it is written, for one of the names that it stands for.
    pub(super) fn text(&self, name: &str) -> String {
        match self {
            Self::Step => String::from("step"),
            Self::Device => String::from("device"),
            Self::Part(part) => (*part).to_owned(),
            Self::Memory => String::from("memory"),
            Self::Named(kind, _) => format!("{}:{name}", kind.name()),
            Self::Phase(name) => format!("{PHASE}:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_contain_colons() {
        let parsed = GateMetric::parse("operator:aten::mm").ok();
        assert_eq!(parsed, Some(GateMetric::Named(NameKind::Operator, String::from("aten::mm"))));
    }

    #[test]
    fn unknown_ones_suggest_the_nearest() {
        for (text, advice) in [
            ("setp", "did you mean step?"),
            ("devise", "did you mean device?"),
            ("operatr:mm", "did you mean operator:NAME?"),
            ("kernel:", "kernel"),
        ] {
            let found = GateMetric::parse(text).map_err(|error| error.to_string()).err().unwrap_or_default();
            assert!(found.contains(advice), "{found}");
        }
    }
}
