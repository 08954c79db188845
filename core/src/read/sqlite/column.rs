//! Defines where the values of a column are.

use super::record::{SqlContent, SqlRecord};

/// A column of a table.
#[derive(Debug, Clone)]
pub(in crate::read) struct StoredColumn {
    pub(in crate::read) name: String,
    pub(super) place: ColumnPlace,
    /// Whether whole numbers, which are stored as integers, are reals.
    pub(super) is_real: bool,
}

/// Where the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnPlace {
    /// Among the values of a row.
    Stored(usize),
    /// It is the number of the row.
    RowNumber,
}

impl StoredColumn {
    /// The column's value in a row.
    pub(in crate::read) fn of<'a>(&self, record: &'a SqlRecord) -> SqlContent<'a> {
        match self.place {
            ColumnPlace::RowNumber => SqlContent::Integer(record.row),
            ColumnPlace::Stored(at) => match record.stored(at) {
                SqlContent::Integer(number) if self.is_real => SqlContent::Real(number as f64),
                content => content,
            },
        }
    }
}
