//! A table's first rows, read by the names of columns.

use crate::table::{Rows, Values};

/// The values of some rows.
#[derive(Default)]
pub(super) struct Frame {
    columns: Vec<(&'static str, Values)>,
    /// Where each row stands among the values.
    places: Vec<usize>,
    /// How many rows are here.
    pub(super) num_rows: usize,
    /// How many the table has.
    pub(super) num_in_all: usize,
}

impl Frame {
    pub(super) fn of(table: &dyn Rows, limit: usize) -> Self {
        let num_in_all = table.num_rows();
        let num_rows = num_in_all.min(limit);
        let values = |at| (table.column_name(at), table.values(at, 0..num_rows));
        let columns = (0..table.num_columns()).map(values).collect();
        Self { columns, places: (0..num_rows).collect(), num_rows, num_in_all }
    }

    /// The rows with the most of a number: tables of several ranks have one rank's after the other's.
    pub(super) fn top(table: &dyn Rows, by: &str, limit: usize) -> Self {
        let mut all = Self::of(table, table.num_rows());
        let mut ranked: Vec<_> = (0..all.num_rows).map(|row| (all.number(by, row).unwrap_or(f64::MIN), row)).collect();
        crate::sort::by(&mut ranked, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.truncate(limit);
        all.places = ranked.into_iter().map(|(_, row)| row).collect();
        all.num_rows = all.places.len();
        all
    }

    /// A number, whole or not.
    pub(super) fn number(&self, name: &str, row: usize) -> Option<f64> {
        match self.values(name)? {
            Values::Float(values) => values.get(self.place(row)?).copied().flatten().filter(|value| value.is_finite()),
            _ => self.int(name, row).map(|value| value as f64),
        }
    }

    pub(super) fn int(&self, name: &str, row: usize) -> Option<i64> {
        match self.values(name)? {
            Values::Int(values) => values.get(self.place(row)?).copied().flatten(),
            Values::UInt(values) => i64::try_from(values.get(self.place(row)?).copied().flatten()?).ok(),
            _ => None,
        }
    }

    pub(super) fn flag(&self, name: &str, row: usize) -> Option<bool> {
        match self.values(name)? {
            Values::Bool(values) => values.get(self.place(row)?).copied().flatten(),
            _ => None,
        }
    }

    /// A text; none for an empty one.
    pub(super) fn text(&self, name: &str, row: usize) -> Option<&str> {
        let Values::Text { bytes, ends, valid } = self.values(name)? else { return None };
        let row = self.place(row)?;
        let start = row.checked_sub(1).map_or(0, |before| ends.get(before).copied().unwrap_or_default());
        let text = bytes.get(start..*ends.get(row)?)?;
        Some(text).filter(|text| valid.get(row) == Some(&true) && !text.is_empty())
    }

    fn place(&self, row: usize) -> Option<usize> {
        self.places.get(row).copied()
    }

    fn values(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|(known, _)| *known == name).map(|(_, values)| values)
    }
}
