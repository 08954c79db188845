//! A budget with its value and the verdict.

use super::key::Budget;
use crate::table::{Column, Table, boolean, float, int, put, put_name, text};

/// One budget, checked.
#[derive(Debug, Clone)]
pub(crate) struct BudgetRow {
    pub(super) budget: Budget,
    /// Of the worst rank.
    pub(super) rank: Option<i64>,
    pub(super) outcome: BudgetOutcome,
}

/// The outcome for one rank.
#[derive(Debug, Clone)]
pub(super) enum BudgetOutcome {
    /// In the unit of the limit; 1 or 0 for a yes or no that holds or not. With a remark.
    Value(f64, String),
    Unknown(String),
}

impl BudgetOutcome {
    /// Adds remarks on the recording to that on the value.
    pub(super) fn with_caveats(self, caveats: Vec<String>) -> Self {
        let Self::Value(value, note) = self else { return self };
        let notes = std::iter::once(note).filter(|note| !note.is_empty()).chain(caveats);
        Self::Value(value, notes.collect::<Vec<_>>().join("; "))
    }
}

impl BudgetRow {
    pub(super) fn is_broken(&self) -> Option<bool> {
        let BudgetOutcome::Value(value, _) = &self.outcome else { return None };
        Some(self.budget.is_broken_by(*value))
    }

    /// The worst first: broken by most, unknown, kept.
    pub(super) fn badness(&self) -> f64 {
        match &self.outcome {
            BudgetOutcome::Unknown(_) => 0.0,
            BudgetOutcome::Value(value, _) => {
                let excess = self.budget.excess(*value);
                if self.budget.is_broken_by(*value) { 1.0 + excess } else { -1.0 / (1.0 + excess) }
            }
        }
    }

    fn status(&self) -> &'static str {
        match self.is_broken() {
            Some(true) => "broken",
            Some(false) => "kept",
            None => "unknown",
        }
    }

    fn note(&self) -> &str {
        let (BudgetOutcome::Value(_, note) | BudgetOutcome::Unknown(note)) = &self.outcome;
        note
    }
}

pub(crate) static TABLE: Table<Vec<BudgetRow>> = Table {
    name: "budgets",
    doc: "a budget: its limit, the value of the worst rank, and the verdict",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<BudgetRow>>] = &[
    text("budget", |rows, at, out| put_name(out, &rows[at].budget.name)),
    text("status", |rows, at, out| put_name(out, rows[at].status())),
    boolean("is_failing", |rows, at| match rows[at].is_broken() {
        None if rows[at].budget.may_be_unknown => Some(false),
        is_broken => is_broken,
    }),
    text("unit", |rows, at, out| put_name(out, rows[at].budget.unit())),
    float("limit_value", |rows, at| rows[at].budget.limit.map(|limit| limit.value)),
    float("value", |rows, at| match rows[at].outcome {
        BudgetOutcome::Value(value, _) => Some(value),
        BudgetOutcome::Unknown(_) => None,
    }),
    int("rank", |rows, at| rows[at].rank),
    text("note", |rows, at, out| put(out, rows[at].note())),
];
