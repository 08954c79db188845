//! A limit as people write it: a number with its unit.

use serde_json::Value;

use crate::analyze::options::unexpected;
use crate::error::Error;

/// The quantity that a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitUnit {
    Nanoseconds,
    Bytes,
    /// Of the step.
    Share,
    Count,
}

/// The units of each quantity that a budget may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitKind {
    Time,
    TimeOrShare,
    Size,
    Count,
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BudgetLimit {
    pub(super) value: f64,
    pub(super) unit: LimitUnit,
}

const UNITS: &[(&str, f64, LimitUnit)] = &[
    ("ns", 1.0, LimitUnit::Nanoseconds),
    ("us", 1e3, LimitUnit::Nanoseconds),
    ("µs", 1e3, LimitUnit::Nanoseconds),
    ("μs", 1e3, LimitUnit::Nanoseconds),
    ("ms", 1e6, LimitUnit::Nanoseconds),
    ("s", 1e9, LimitUnit::Nanoseconds),
    ("%", 0.01, LimitUnit::Share),
    ("B", 1.0, LimitUnit::Bytes),
    ("kB", 1e3, LimitUnit::Bytes),
    ("MB", 1e6, LimitUnit::Bytes),
    ("GB", 1e9, LimitUnit::Bytes),
    ("TB", 1e12, LimitUnit::Bytes),
    ("KiB", 1024.0, LimitUnit::Bytes),
    ("MiB", 1_048_576.0, LimitUnit::Bytes),
    ("GiB", 1_073_741_824.0, LimitUnit::Bytes),
    ("TiB", 1_099_511_627_776.0, LimitUnit::Bytes),
];

impl LimitUnit {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::Share => "share",
            Self::Count => "count",
        }
    }
}

impl LimitKind {
    fn example(self) -> &'static str {
        match self {
            Self::Time => "a time such as \"12 ms\"",
            Self::TimeOrShare => "a time such as \"2 ms\", or a share of the step such as \"5 %\"",
            Self::Size => "a size such as \"20 GiB\"",
            Self::Count => "a whole number from 0",
        }
    }

    fn has(self, unit: LimitUnit) -> bool {
        match self {
            Self::Time => unit == LimitUnit::Nanoseconds,
            Self::TimeOrShare => matches!(unit, LimitUnit::Nanoseconds | LimitUnit::Share),
            Self::Size => unit == LimitUnit::Bytes,
            Self::Count => unit == LimitUnit::Count,
        }
    }

    /// The limit of a budget of this name.
    pub(super) fn limit(self, name: &str, value: &Value) -> Result<BudgetLimit, Error> {
        let wrong = || unexpected(&format!("{} as {name}", self.example()), &value.to_string());
        let limit = match value {
            Value::String(text) => parse(text),
            other => other
                .as_u64()
                .filter(|_| self == Self::Count)
                .map(|count| BudgetLimit { value: count as f64, unit: LimitUnit::Count }),
        };
        limit.filter(|limit| self.has(limit.unit)).ok_or_else(wrong)
    }
}

fn parse(text: &str) -> Option<BudgetLimit> {
    let text = text.trim();
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || "._,".contains(letter))).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, factor, unit) = UNITS.iter().find(|(name, _, _)| *name == unit.trim())?;
    let number: f64 = number.replace(['_', ','], "").parse().ok()?;
    Some(BudgetLimit { value: number * factor, unit: *unit }).filter(|limit| limit.value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_unit() {
        let value = |text| parse(text).map(|limit| (limit.value, limit.unit.name()));
        assert_eq!(value("12 ms"), Some((12e6, "ns")));
        assert_eq!(value("1,200µs"), Some((1.2e6, "ns")));
        assert_eq!(value("20 GiB"), Some((20.0 * 1_073_741_824.0, "bytes")));
        assert_eq!(value("5 %"), Some((0.05, "share")));
        for text in ["12", "", "ms", "-3 ms", "nan ms", "1 hour", "1e3 ms", "1.2.3 s"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
