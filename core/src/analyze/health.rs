//! Lists the defects of a trace for readers.

use serde::Serialize;

use crate::link::LinkedTrace;
use crate::warning::{Severity, Warning};

/// A kind of defect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HealthRow {
    /// Its short name.
    pub kind: &'static str,
    /// The defect and the remedy.
    pub message: &'static str,
    /// How often.
    pub count: u64,
    /// The first place; empty where it has none.
    pub first: String,
}

/// The defects of a trace, one row a kind, in the order of first sight.
pub fn health(linked: &LinkedTrace) -> Vec<HealthRow> {
    let row = |warning: &Warning| HealthRow {
        kind: warning.kind.name(),
        message: warning.kind.message(),
        count: warning.count,
        first: warning.first.to_string(),
    };
    linked.warnings().filter(|warning| warning.kind.severity() == Severity::Defect).map(row).collect()
}
