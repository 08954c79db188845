//! Table columns for charts: numbers for lengths, words for labels.

use rustc_hash::FxHashMap;

use super::axis::ChartUnit;
use crate::table::{ColumnType, ColumnValues, TableRows};

/// Columns that distinguish rows with equal labels.
const APART: &[&str] = &["rank", "window", "device", "stream", "side", "input_shapes"];
/// Ends of the names of points in time, which have no length.
pub(in crate::view) const MOMENTS: &[&str] = &["start_ns", "time_ns", "peak_ns"];
/// Starts of the names of values that have no sum.
const NO_SUMS: &[&str] = &["mean", "median", "max", "min", "std", "peak", "first", "last"];

/// A column with its values.
pub(super) struct ChartColumn {
    pub(super) name: &'static str,
    pub(super) unit: ChartUnit,
    values: ColumnValues,
}

impl ChartColumn {
    pub(super) fn of(table: &dyn TableRows, at: usize) -> Self {
        let name = table.column_name(at);
        let is_integer = table.column_type(at) == ColumnType::Int;
        let values = table.values(at, 0..table.num_rows());
        Self { name, unit: ChartUnit::of(table.column_unit(at), name, is_integer), values }
    }

    /// The finite number of a row; `None` for others.
    pub(super) fn number(&self, row: usize) -> Option<f64> {
        match &self.values {
            ColumnValues::Int(values) => values.get(row).map(|value| value as f64),
            ColumnValues::UInt(values) => values.get(row).map(|value| value as f64),
            ColumnValues::Float(values) => values.get(row).filter(|value| value.is_finite()),
            ColumnValues::Bool(_) | ColumnValues::Text { .. } => None,
        }
    }

    /// The integer in a row.
    pub(super) fn integer(&self, row: usize) -> Option<i64> {
        self.values.int(row)
    }

    /// The text of a row: a name as it is, a number with its unit.
    pub(super) fn words(&self, row: usize) -> String {
        let number =
            |value: Option<String>| value.map_or_else(String::new, |value| format!("{} {value}", self.title()));
        match &self.values {
            ColumnValues::Int(values) => number(values.get(row).map(|value| value.to_string())),
            ColumnValues::UInt(values) => number(values.get(row).map(|value| value.to_string())),
            ColumnValues::Float(_) => number(self.number(row).map(|value| self.unit.words(value))),
            ColumnValues::Bool(values) => {
                number(values.get(row).map(|value| String::from(if value { "yes" } else { "no" })))
            }
            ColumnValues::Text { .. } => self.values.text(row).unwrap_or_default().to_owned(),
        }
    }

    /// Whether the order of rows carries meaning.
    pub(super) fn is_ordered(&self) -> bool {
        matches!(self.values, ColumnValues::Int(_))
    }

    /// Whether its values add up.
    pub(super) fn is_a_sum(&self) -> bool {
        let is_counted = matches!(self.unit, ChartUnit::Time | ChartUnit::Bytes | ChartUnit::Count);
        is_counted && !NO_SUMS.iter().any(|start| self.name.starts_with(start))
    }

    /// Its name in words, without its unit.
    pub(super) fn title(&self) -> String {
        let bare = self.name.strip_suffix("_ns").or_else(|| self.name.strip_suffix("_gbps")).unwrap_or(self.name);
        let bare = bare.strip_suffix("_bytes").unwrap_or(bare);
        let words = bare.split('_').map(|word| match word {
            "dur" => "duration",
            "gbps" => "bandwidth",
            other => other,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Splits groups of rows by their values; returns the number of groups.
    fn part(&self, groups: &mut [u32]) -> usize {
        let mut known: FxHashMap<(u32, String), u32> = FxHashMap::default();
        for (row, group) in groups.iter_mut().enumerate() {
            let next = known.len() as u32;
            *group = *known.entry((*group, self.words(row))).or_insert(next);
        }
        known.len()
    }
}

/// The position of the column of that name.
pub(in crate::view) fn find(table: &dyn TableRows, name: &str) -> Option<usize> {
    (0..table.num_columns()).find(|at| table.column_name(*at) == name)
}

/// The columns that distinguish rows with equal labels, as few as suffice.
pub(super) fn apart(table: &dyn TableRows, but: &[usize]) -> Vec<ChartColumn> {
    let found = APART.iter().filter_map(|name| find(table, name)).filter(|at| !but.contains(at));
    let mut groups = vec![0; table.num_rows()];
    let mut num_groups = 1;
    let mut tells = |column: &ChartColumn| {
        let before = num_groups;
        num_groups = column.part(&mut groups);
        num_groups > before
    };
    found.map(|at| ChartColumn::of(table, at)).filter(|column| tells(column)).collect()
}

/// Whether a column holds points in time.
pub(super) fn is_a_moment(name: &str) -> bool {
    MOMENTS.iter().any(|end| name.ends_with(end))
}

/// Whether a column holds numbers that can be drawn: no points in time, no ids.
pub(super) fn is_a_measure(table: &dyn TableRows, at: usize) -> bool {
    let name = table.column_name(at);
    let is_a_number = matches!(table.column_type(at), ColumnType::Int | ColumnType::Float);
    is_a_number && !is_a_moment(name) && !name.ends_with("id") && !APART.contains(&name)
}
