//! Stacks the tables of all traces of a job, or of all parts of a trace.

use std::ops::Range;
use std::sync::Arc;

use super::rows::TableRows;
use super::values::{ColumnType, ColumnValues};

/// Key of a table among those above and below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKey {
    /// A trace of a job: the columns `rank` and `window`.
    Rank {
        /// The rank of the trace, where it is known.
        rank: Option<i64>,
        /// Index among the traces of its rank, from 0.
        window: i64,
    },
    /// Iterations of a phase: the column `phase`.
    Phase(&'static str),
}

impl PartKey {
    /// Its columns.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Rank { .. } => &["rank", "window"],
            Self::Phase(_) => &["phase"],
        }
    }

    fn column_type(self) -> ColumnType {
        match self {
            Self::Rank { .. } => ColumnType::Int,
            Self::Phase(_) => ColumnType::Text,
        }
    }

    /// The same value in so many rows.
    fn values(self, column: usize, num_rows: usize) -> ColumnValues {
        match self {
            Self::Rank { rank, window } => {
                let value = if column == 0 { rank } else { Some(window) };
                ColumnValues::Int((0..num_rows).map(|_| value).collect())
            }
            Self::Phase(name) => ColumnValues::Text {
                bytes: name.repeat(num_rows),
                ends: (1..=num_rows).map(|row| row * name.len()).collect(),
                valid: vec![true; num_rows],
            },
        }
    }
}

/// A table with its key.
pub struct TablePart {
    /// Its key among the others.
    pub key: PartKey,
    /// The table.
    pub rows_of: Arc<dyn TableRows>,
}

/// Tables one under another, with the columns of their keys before the others.
pub struct StackedTable {
    parts: Vec<TablePart>,
    /// The columns of the keys that the tables do not have themselves.
    own: &'static [&'static str],
    /// Where the rows of each part begin.
    starts: Vec<usize>,
    num_rows: usize,
}

impl StackedTable {
    /// All parts are tables of one kind, with keys of one kind; `None` when there is none.
    pub fn new(parts: Vec<TablePart>) -> Option<Self> {
        let TablePart { key, rows_of } = parts.first()?;
        let mut known = (0..rows_of.num_columns()).map(|column| rows_of.column_name(column));
        let own = if known.any(|name| key.columns().contains(&name)) { &[][..] } else { key.columns() };
        let mut num_rows = 0;
        let start = |part: &TablePart| {
            num_rows += part.rows_of.num_rows();
            num_rows - part.rows_of.num_rows()
        };
        let starts = parts.iter().map(start).collect();
        Some(Self { parts, own, starts, num_rows })
    }

    fn first(&self) -> &dyn TableRows {
        &*self.parts[0].rows_of
    }

    /// The values of some rows in each part.
    fn pieces(&self, rows: Range<usize>) -> impl Iterator<Item = (&TablePart, Range<usize>)> {
        let piece = move |(part, start): (_, &usize)| {
            let part: &TablePart = part;
            let end = part.rows_of.num_rows();
            let inside = rows.start.saturating_sub(*start).min(end)..rows.end.saturating_sub(*start).min(end);
            (part, inside)
        };
        self.parts.iter().zip(&self.starts).map(piece).filter(|(_, inside)| !inside.is_empty())
    }
}

impl TableRows for StackedTable {
    fn name(&self) -> &'static str {
        self.first().name()
    }

    fn doc(&self) -> &'static str {
        self.first().doc()
    }

    fn num_rows(&self) -> usize {
        self.num_rows
    }

    fn num_columns(&self) -> usize {
        self.own.len() + self.first().num_columns()
    }

    fn column_name(&self, column: usize) -> &'static str {
        self.own.get(column).copied().unwrap_or_else(|| self.first().column_name(column - self.own.len()))
    }

    fn column_type(&self, column: usize) -> ColumnType {
        match column.checked_sub(self.own.len()) {
            Some(column) => self.first().column_type(column),
            None => self.parts[0].key.column_type(),
        }
    }

    fn column_unit(&self, column: usize) -> Option<&'static str> {
        self.first().column_unit(column.checked_sub(self.own.len())?)
    }

    fn values(&self, column: usize, rows: Range<usize>) -> ColumnValues {
        let of_part = |part: &TablePart, inside: Range<usize>| match column.checked_sub(self.own.len()) {
            Some(column) => part.rows_of.values(column, inside),
            None => part.key.values(column, inside.len()),
        };
        let mut pieces = self.pieces(rows.clone()).map(|(part, inside)| of_part(part, inside));
        // No rows have a type, too: that of the first part.
        let mut all = pieces.next().unwrap_or_else(|| of_part(&self.parts[0], 0..0));
        pieces.for_each(|piece| all.append(piece));
        all
    }
}
