//! A value of a digest, as Markdown and as JSON.

use serde_json::{Value, json};

use super::quoted_text::{name_span, plain_value, sentence_span};
use crate::view::chart::{size_words, time_words};
use crate::view::report::words::{count, decimal, percent};

/// Stands for an unknown value.
const UNKNOWN: &str = "–";

/// Event ids of a value in Markdown.
const MAX_IDS: usize = 6;

/// A value with its unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DigestValue {
    Unknown,
    /// Nanoseconds.
    Time(i64),
    /// Nanoseconds, and their share of a whole.
    TimeOf(i64, i64),
    /// The same with a sign.
    Change(i64),
    Bytes(i64),
    /// Bytes with a sign.
    BytesChange(i64),
    Count(i64),
    Number(f64),
    /// A fraction.
    Share(f64),
    Flag(bool),
    /// The id of an event, a number of an iteration, a rank.
    Id(i64),
    /// Ids of events.
    Ids(Vec<i64>),
    /// A moment in nanoseconds, as the tables count.
    Moment(i64),
    /// Text of the recording.
    Name(String),
    /// A sentence with text of the recording.
    Quoted(String),
    /// Kinetoscope's own words.
    Words(String),
    /// A command line.
    Command(String),
}

impl DigestValue {
    /// As Markdown. `is_cell` says that it stands in a table.
    pub(super) fn markdown(&self, is_cell: bool) -> String {
        match self {
            Self::Unknown => UNKNOWN.to_owned(),
            Self::Time(ns) => time_words(*ns as f64),
            Self::TimeOf(ns, whole) => {
                format!("{} ({})", time_words(*ns as f64), percent(*ns as f64 / (*whole).max(1) as f64))
            }
            Self::Change(ns) => signed(*ns, time_words),
            Self::Bytes(bytes) => size_words(*bytes as f64),
            Self::BytesChange(bytes) => signed(*bytes, size_words),
            Self::Count(number) => count(*number),
            Self::Number(number) => decimal(*number, if number.abs() < 10.0 { 2 } else { 1 }),
            Self::Share(share) => percent(*share),
            Self::Flag(flag) => String::from(if *flag { "yes" } else { "no" }),
            Self::Id(id) => id.to_string(),
            Self::Ids(ids) => listed(ids),
            Self::Moment(ns) => format!("{ns} ns"),
            Self::Name(name) => name_span(name, is_cell),
            Self::Quoted(text) => sentence_span(text, is_cell),
            Self::Words(words) => words.clone(),
            Self::Command(line) => format!("`{line}`"),
        }
    }

    /// As JSON: times in nanoseconds, sizes in bytes, shares as fractions.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Unknown => Value::Null,
            Self::Time(number)
            | Self::TimeOf(number, _)
            | Self::Change(number)
            | Self::Bytes(number)
            | Self::BytesChange(number)
            | Self::Count(number)
            | Self::Id(number)
            | Self::Moment(number) => json!(number),
            Self::Number(number) | Self::Share(number) => json!(number),
            Self::Flag(flag) => json!(flag),
            Self::Ids(ids) => json!(ids),
            Self::Name(text) | Self::Quoted(text) => json!(plain_value(text)),
            Self::Words(text) | Self::Command(text) => json!(text),
        }
    }
}

fn signed(number: i64, words: fn(f64) -> String) -> String {
    format!("{}{}", if number > 0 { "+" } else { "" }, words(number as f64))
}

fn listed(ids: &[i64]) -> String {
    let all: Vec<_> = ids.iter().take(MAX_IDS).map(i64::to_string).collect();
    let more = ids.len().saturating_sub(MAX_IDS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", all.join(", "))
}
