//! The values of a column.

use std::cmp::Ordering;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::cells::Cells;

/// Values of a column for a range of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ColumnValues {
    /// Signed integers.
    Int(Cells<i64>),
    /// Identifiers.
    UInt(Cells<u64>),
    /// Floats.
    Float(Cells<f64>),
    /// True or false.
    Bool(Cells<bool>),
    /// Texts, one after another, with the end of each.
    Text {
        /// All texts.
        bytes: String,
        /// Where each row's text ends in `bytes`.
        ends: Vec<usize>,
        /// Whether each row has a value.
        valid: Vec<bool>,
    },
}

impl ColumnValues {
    /// The text in a row, where there is one.
    pub fn text(&self, row: usize) -> Option<&str> {
        let Self::Text { bytes, ends, valid } = self else { return None };
        let start = row.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
        let text = bytes.get(start..*ends.get(row)?)?;
        valid.get(row).copied()?.then_some(text)
    }

    /// The signed integer in a row, where there is one.
    pub fn int(&self, row: usize) -> Option<i64> {
        let Self::Int(values) = self else { return None };
        values.get(row)
    }

    /// The order of two rows; nulls come last in either direction.
    pub(super) fn compare(&self, (a, b): (usize, usize), descends: bool) -> Ordering {
        match self {
            Self::Int(values) => compared((values.get(a), values.get(b)), descends, i64::cmp),
            Self::UInt(values) => compared((values.get(a), values.get(b)), descends, u64::cmp),
            Self::Float(values) => {
                let finite = |row| values.get(row).filter(|value| value.is_finite());
                compared((finite(a), finite(b)), descends, f64::total_cmp)
            }
            Self::Bool(values) => compared((values.get(a), values.get(b)), descends, bool::cmp),
            Self::Text { .. } => compared((self.text(a), self.text(b)), descends, |a, b| by_letters(a, b)),
        }
    }

    /// The number of rows; 0 where the columns contradict each other.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Int(values) => values.len(),
            Self::UInt(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text { bytes, ends, valid } => {
                let is_text = ends.len() == valid.len()
                    && ends.is_sorted()
                    && ends.iter().all(|end| bytes.is_char_boundary(*end));
                if is_text { ends.len() } else { 0 }
            }
        }
    }

    /// Their type; texts may be JSON.
    pub(super) fn column_type(&self) -> ColumnType {
        match self {
            Self::Int(_) => ColumnType::Int,
            Self::UInt(_) => ColumnType::UInt,
            Self::Float(_) => ColumnType::Float,
            Self::Bool(_) => ColumnType::Bool,
            Self::Text { .. } => ColumnType::Text,
        }
    }

    /// Those of some of the rows.
    pub(super) fn part(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Int(values) => Self::Int(rows.map(|row| values.get(row)).collect()),
            Self::UInt(values) => Self::UInt(rows.map(|row| values.get(row)).collect()),
            Self::Float(values) => Self::Float(rows.map(|row| values.get(row)).collect()),
            Self::Bool(values) => Self::Bool(rows.map(|row| values.get(row)).collect()),
            Self::Text { .. } => {
                let (mut bytes, mut ends, mut valid) = (String::new(), Vec::new(), Vec::new());
                for text in rows.map(|row| self.text(row)) {
                    bytes.push_str(text.unwrap_or_default());
                    ends.push(bytes.len());
                    valid.push(text.is_some());
                }
                Self::Text { bytes, ends, valid }
            }
        }
    }

    /// The values of both, when they are of one type.
    pub(super) fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Int(all), Self::Int(more)) => all.append(&more),
            (Self::UInt(all), Self::UInt(more)) => all.append(&more),
            (Self::Float(all), Self::Float(more)) => all.append(&more),
            (Self::Bool(all), Self::Bool(more)) => all.append(&more),
            (Self::Text { bytes, ends, valid }, Self::Text { bytes: text, ends: more, valid: are_valid }) => {
                ends.extend(more.iter().map(|end| bytes.len() + end));
                bytes.push_str(&text);
                valid.extend(are_valid);
            }
            _ => {}
        }
    }
}

fn compared<T>((a, b): (Option<T>, Option<T>), descends: bool, compare: impl FnOnce(&T, &T) -> Ordering) -> Ordering {
    match (&a, &b) {
        (Some(a), Some(b)) if descends => compare(b, a),
        (Some(a), Some(b)) => compare(a, b),
        _ => a.is_none().cmp(&b.is_none()),
    }
}

/// Capitals beside their small letters.
fn by_letters(a: &str, b: &str) -> Ordering {
    let (small, other) = [a, b].map(|text| text.bytes().map(|byte| byte.to_ascii_lowercase())).into();
    small.cmp(other).then_with(|| a.cmp(b))
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Signed integers.
    Int,
    /// Identifiers.
    UInt,
    /// Floats.
    Float,
    /// True or false.
    Bool,
    /// Texts.
    Text,
    /// Texts that are JSON.
    Json,
}

impl ColumnType {
    /// Whether both have values of one type: JSON is text.
    pub(super) fn is_like(self, other: Self) -> bool {
        let plain = |of: Self| if of == Self::Json { Self::Text } else { of };
        plain(self) == plain(other)
    }
}
