//! Defines a kind of row: its table, its columns, and its conversion.

use super::export_state::ExportState;
use super::row::SqlRow;

/// A sort of rows.
pub(super) struct RowKind {
    /// The table they are in.
    pub(super) table: &'static str,
    /// The columns that `write` takes by their meaning.
    pub(super) takes: &'static [&'static str],
    /// Whether `write` makes arguments of the others.
    pub(super) has_rest: bool,
    /// Adds a row to the state.
    pub(super) write: fn(&SqlRow<'_>, &mut ExportState),
}
