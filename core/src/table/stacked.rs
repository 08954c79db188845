//! Stacks the tables of all traces of a job.

use std::ops::Range;
use std::sync::Arc;

use super::cells::Cells;
use super::rows::TableRows;
use super::values::{ColumnType, ColumnValues};

/// A table of one trace of a job.
pub struct RankTable {
    /// The rank of the trace, where it is known.
    pub rank: Option<i64>,
    /// Index among the traces of its rank, from 0.
    pub window: i64,
    /// The table.
    pub rows_of: Arc<dyn TableRows>,
}

/// Tables one under another, with the columns `rank` and `window` before the others.
pub struct StackedTable {
    parts: Vec<RankTable>,
    /// Where the rows of each part begin.
    starts: Vec<usize>,
    num_rows: usize,
}

/// The columns before those of the parts.
const OWN: [&str; 2] = ["rank", "window"];

impl StackedTable {
    /// All parts are tables of one kind; `None` when there is none.
    pub fn new(parts: Vec<RankTable>) -> Option<Self> {
        parts.first()?;
        let mut num_rows = 0;
        let start = |part: &RankTable| {
            num_rows += part.rows_of.num_rows();
            num_rows - part.rows_of.num_rows()
        };
        let starts = parts.iter().map(start).collect();
        Some(Self { parts, starts, num_rows })
    }

    fn first(&self) -> &dyn TableRows {
        &*self.parts[0].rows_of
    }

    /// The values of some rows in each part.
    fn pieces(&self, rows: Range<usize>) -> impl Iterator<Item = (&RankTable, Range<usize>)> {
        let piece = move |(part, start): (_, &usize)| {
            let part: &RankTable = part;
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
        OWN.len() + self.first().num_columns()
    }

    fn column_name(&self, column: usize) -> &'static str {
        OWN.get(column).copied().unwrap_or_else(|| self.first().column_name(column - OWN.len()))
    }

    fn column_type(&self, column: usize) -> ColumnType {
        if column < OWN.len() { ColumnType::Int } else { self.first().column_type(column - OWN.len()) }
    }

    fn column_unit(&self, column: usize) -> Option<&'static str> {
        self.first().column_unit(column.checked_sub(OWN.len())?)
    }

    fn values(&self, column: usize, rows: Range<usize>) -> ColumnValues {
        let piece = |(part, inside): (&RankTable, Range<usize>)| match column {
            0 => ColumnValues::Int(inside.map(|_| part.rank).collect()),
            1 => ColumnValues::Int(inside.map(|_| Some(part.window)).collect()),
            _ => part.rows_of.values(column - OWN.len(), inside),
        };
        let mut pieces = self.pieces(rows.clone()).map(piece);
        // No rows have a type, too: that of the first part.
        let mut all = pieces.next().unwrap_or_else(|| match column {
            0 | 1 => ColumnValues::Int(Cells::default()),
            _ => self.first().values(column - OWN.len(), 0..0),
        });
        pieces.for_each(|piece| all.append(piece));
        all
    }
}
