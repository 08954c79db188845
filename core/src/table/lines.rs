//! Writes rows as JSON lines.

use std::fmt::Write as _;
use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::rows::TableRows;
use super::values::{ColumnType, ColumnValues};
use crate::json::write_string;

/// Appends some rows of some columns, given by their places, each as a JSON object in a line of its
/// own.
///
/// `before` holds members for the start of every object, as JSON with a trailing comma. JSON
/// columns are embedded, or written as text if malformed; missing values and non-finite numbers are
/// null.
pub fn json_lines(rows_of: &dyn TableRows, columns: &[usize], rows: Range<usize>, before: &str, out: &mut String) {
    let columns: Vec<_> = columns.iter().map(|column| LineMember::new(rows_of, *column, rows.clone())).collect();
    for row in 0..rows.len() {
        out.push('{');
        out.push_str(before);
        for (at, member) in columns.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            out.push_str(&member.key);
            member.write(row, out);
        }
        out.push_str("}\n");
    }
}

struct LineMember {
    key: String,
    is_json: bool,
    values: ColumnValues,
}

impl LineMember {
    fn new(rows_of: &dyn TableRows, column: usize, rows: Range<usize>) -> Self {
        let mut key = String::new();
        write_string(&mut key, rows_of.column_name(column));
        key.push(':');
        let is_json = rows_of.column_type(column) == ColumnType::Json;
        Self { key, is_json, values: rows_of.values(column, rows) }
    }

    fn write(&self, row: usize, out: &mut String) {
        // Writing into a `String` cannot fail.
        let _ = match &self.values {
            ColumnValues::Int(values) => values.get(row).map(|value| write!(out, "{value}")),
            ColumnValues::UInt(values) => values.get(row).map(|value| write!(out, "{value}")),
            ColumnValues::Float(values) => {
                values.get(row).filter(|value| value.is_finite()).map(|value| write!(out, "{value:?}"))
            }
            ColumnValues::Bool(values) => values.get(row).map(|value| write!(out, "{value}")),
            ColumnValues::Text { .. } => self.values.text(row).map(|text| {
                self.write_text(text, out);
                Ok(())
            }),
        }
        .unwrap_or_else(|| out.write_str("null"));
    }

    fn write_text(&self, text: &str, out: &mut String) {
        if self.is_json && is_portable(text) {
            // Between the parts of a value a line may end; within a string it cannot.
            out.extend(text.chars().map(|letter| if matches!(letter, '\n' | '\r') { ' ' } else { letter }));
        } else {
            write_string(out, text);
        }
    }
}

/// Whether all readers take a text as JSON: many refuse numbers beyond the largest `f64`.
fn is_portable(text: &str) -> bool {
    let is_exponent =
        |pair: &[u8]| (pair[0].is_ascii_digit() || pair[0] == b'.') && pair[1].eq_ignore_ascii_case(&b'e');
    if text.len() > MAX_PLAIN || text.as_bytes().windows(2).any(is_exponent) {
        serde_json::from_str::<Value>(text).is_ok()
    } else {
        serde_json::from_str::<IgnoredAny>(text).is_ok()
    }
}

/// A number of no more digits fits into an `f64`.
const MAX_PLAIN: usize = 300;

#[cfg(test)]
mod tests {
    use super::is_portable;

    #[test]
    fn numbers_that_no_float_holds_are_not_portable() {
        assert!(["[1e308]", "[64, 1.5]", "\"4e\"", "{\"a\":null}"].iter().all(|text| is_portable(text)));
        assert!(!["[641e308,256]", "-1E400", "[1"].iter().any(|text| is_portable(text)));
        assert!(!is_portable(&"9".repeat(310)));
    }
}
