//! A block of a digest: items of one kind, with the command that prints all of them.

use super::digest_item::{DigestItem, ItemWeights};
use super::digest_value::DigestValue;
use crate::view::report::grid::{CellKind, GridColumn, ReportGrid};
use crate::view::report::report_frame::ReportFrame;

/// Items with equal fields, or a list of entries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DigestBlock {
    pub(super) caption: &'static str,
    /// The command that prints what the block was made of; empty if there is none.
    pub(super) command: String,
    pub(super) is_table: bool,
    /// Whether its numbers depend on a complete recording.
    pub(super) is_measured: bool,
    /// Number of items, with those that the digest never shows.
    pub(super) num_all: usize,
    pub(super) items: Vec<DigestItem>,
}

impl DigestBlock {
    /// A list, whose entries may differ.
    pub(super) fn list(caption: &'static str, command: String, items: Vec<DigestItem>) -> Self {
        Self { caption, command, is_table: false, is_measured: false, num_all: items.len(), items }
    }

    /// A table, whose rows have the same fields.
    pub(super) fn table(caption: &'static str, command: String, items: Vec<DigestItem>) -> Self {
        Self { is_table: true, is_measured: true, ..Self::list(caption, command, items) }
    }

    /// Rows of a table, with the columns of a grid that say anything.
    pub(super) fn of_grid(grid: &ReportGrid, frame: &ReportFrame, command: String, weights: ItemWeights) -> Self {
        let columns: Vec<_> = grid.columns.iter().filter(|shown| says_anything(grid, shown, frame)).collect();
        let item = |row: usize| {
            let with = |item: DigestItem, shown: &&GridColumn| {
                item.with(shown.name, shown.title, value(grid, shown, frame, row))
            };
            columns.iter().fold(DigestItem::new(weights.at(row)), with)
        };
        let items = (0..frame.num_rows).map(item).collect();
        Self { num_all: frame.num_in_all, ..Self::table(grid.title, command, items) }
    }

    /// The same, whose numbers hold for any recording.
    #[must_use]
    pub(super) fn unmeasured(self) -> Self {
        Self { is_measured: false, ..self }
    }
}

/// Whether a column has a known value; a key is shown if it tells rows apart.
fn says_anything(grid: &ReportGrid, shown: &GridColumn, frame: &ReportFrame) -> bool {
    let of_row = |row| value(grid, shown, frame, row);
    let mut values = (0..frame.num_rows).map(of_row);
    match shown.kind {
        // Ids of a job mean nothing without their rank.
        CellKind::Key if shown.name != RANK => {
            let first = values.next();
            values.any(|value| Some(&value) != first.as_ref())
        }
        CellKind::Flag => values.any(|value| value == DigestValue::Flag(true)),
        _ => values.any(|value| value != DigestValue::Unknown),
    }
}

/// The column with the rank of a row.
const RANK: &str = "rank";

/// A column of bytes that has a sign.
const CHANGE_BYTES: &str = "change_bytes";

/// A word that Kinetoscope defines, if it looks like one; a name otherwise.
fn word(text: String) -> DigestValue {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_- .,/+%".contains(char);
    if text.chars().all(is_plain) { DigestValue::Words(text) } else { DigestValue::Name(text) }
}

/// The value of a row, as its kind says.
fn value(grid: &ReportGrid, shown: &GridColumn, frame: &ReportFrame, row: usize) -> DigestValue {
    let column = grid.column(shown);
    let int = frame.int(column, row);
    let number = frame.number(column, row);
    let text = frame.text(column, row).map(str::to_owned);
    let found = match shown.kind {
        CellKind::Name => text.map(DigestValue::Name),
        CellKind::Word => text.map(word),
        CellKind::Words => text.map(|text| word(text.replace('_', " "))),
        CellKind::Key => int.map(DigestValue::Id).or_else(|| text.map(DigestValue::Name)),
        CellKind::Count => int.map(DigestValue::Count),
        CellKind::Number => number.map(DigestValue::Number),
        CellKind::Time => int.map(DigestValue::Time),
        CellKind::Change => int.map(DigestValue::Change),
        CellKind::Bytes if shown.name == CHANGE_BYTES => int.map(DigestValue::BytesChange),
        CellKind::Bytes => int.map(DigestValue::Bytes),
        CellKind::Share | CellKind::Percent => number.map(DigestValue::Share),
        CellKind::Flag => frame.flag(column, row).map(DigestValue::Flag),
        CellKind::Range(_) => int.map(DigestValue::Moment),
        CellKind::Event | CellKind::EventOf(_) | CellKind::Gap => int.map(DigestValue::Id),
    };
    found.unwrap_or(DigestValue::Unknown)
}
