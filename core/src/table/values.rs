//! Values of a column.

use super::cells::Cells;

/// Values of a column for a range of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
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

impl Values {
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
