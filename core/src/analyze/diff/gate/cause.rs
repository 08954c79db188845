//! Names whose time changed beyond threshold and noise.

use super::row::{GateRow, GateStatus};
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};

/// A name whose time changed.
pub(crate) struct GateCause {
    kind: &'static str,
    name: String,
    row: GateRow,
}

/// At most so many are told.
const MAX_CAUSES: usize = 50;

impl GateCause {
    /// The changes among judged rows, the largest growth first.
    pub(super) fn among(rows: impl Iterator<Item = (&'static str, String, GateRow)>) -> Vec<Self> {
        let is_change = |row: &GateRow| matches!(row.status(), GateStatus::Worse | GateStatus::Better);
        let causes = rows.filter(|(_, _, row)| is_change(row));
        let mut causes: Vec<_> = causes.map(|(kind, name, row)| Self { kind, name, row }).collect();
        sort::by(&mut causes, |one, other| {
            let grown = |cause: &Self| cause.change_ns().unwrap_or(0);
            grown(other).cmp(&grown(one)).then_with(|| (one.kind, &one.name).cmp(&(other.kind, &other.name)))
        });
        causes.truncate(MAX_CAUSES);
        causes
    }

    fn change_ns(&self) -> Option<i64> {
        Some(self.row.change?.change().round() as i64)
    }
}

pub(crate) static TABLE: Table<Vec<GateCause>> = Table {
    name: "gate_causes",
    doc: "an operator, kernel or module whose time changed beyond threshold and noise; the largest growth first",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<GateCause>>] = &[
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    int("before_ns", |rows, at| Some(rows[at].row.change?.before.round() as i64)),
    int("after_ns", |rows, at| Some(rows[at].row.change?.after.round() as i64)),
    int("change_ns", |rows, at| rows[at].change_ns()),
    float("change_share", |rows, at| rows[at].row.change_share()),
    float("noise_share", |rows, at| rows[at].row.noise_share()),
];
