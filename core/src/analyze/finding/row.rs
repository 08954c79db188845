//! A finding, and its table.

use std::borrow::Cow;

use serde::Serialize;

use super::rule::{MIN_PATTERN_SHARE, Rule};
use super::rule_match::RuleMatch;
use crate::table::{Column, Table, float, int, json, put, put_name, text};

/// Something that slows the run down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rank of its trace, where that is known.
    pub rank: Option<i64>,
    /// Index among the traces of the rank, from 0.
    pub window: i64,
    /// The name of its rule.
    pub name: &'static str,
    /// Whom it concerns: an operator, a call, a direction of copies, an optimizer.
    pub subject: String,
    /// The time that it costs at most, as its rule counts it.
    pub cost_ns: i64,
    /// `cost_ns` divided by the selected time.
    pub share: f64,
    /// The part of `cost_ns` that other findings of the trace count, too; `None` where the time of
    /// the cost is unknown.
    pub overlap_ns: Option<i64>,
    /// How often.
    pub count: u64,
    /// How sure it is that this is the case, from 0 to 1.
    pub confidence: f64,
    /// The evidence in words.
    pub detail: String,
    /// The fix.
    pub advice: Cow<'static, str>,
    /// Ids of events that show it, the costliest first, at most 20.
    pub evidence: Vec<u32>,
}

pub(super) static TABLE: Table<Vec<Finding>> =
    Table { name: "findings", doc: "a bottleneck; the costliest come first", num_rows: Vec::len, columns: COLUMNS };

/// The same without rank and window.
pub(crate) static OF_TRACE: Table<Vec<Finding>> = Table {
    name: "findings",
    doc: "a bottleneck; the costliest come first",
    num_rows: Vec::len,
    columns: COLUMNS.split_at(2).1,
};

const COLUMNS: &[Column<Vec<Finding>>] = &[
    int("rank", |rows, at| rows[at].rank),
    int("window", |rows, at| Some(rows[at].window)),
    text("finding", |rows, at, out| put_name(out, rows[at].name)),
    text("subject", |rows, at, out| put_name(out, &rows[at].subject)),
    int("cost_ns", |rows, at| Some(rows[at].cost_ns)),
    float("share", |rows, at| Some(rows[at].share)),
    int("overlap_ns", |rows, at| rows[at].overlap_ns),
    int("count", |rows, at| Some(rows[at].count as i64)),
    float("confidence", |rows, at| Some(rows[at].confidence)),
    text("detail", |rows, at, out| put(out, &rows[at].detail)),
    text("advice", |rows, at, out| put(out, &rows[at].advice)),
    json("evidence", |rows, at, out| {
        let ids: Vec<_> = rows[at].evidence.iter().map(u32::to_string).collect();
        put(out, &format!("[{}]", ids.join(", ")))
    }),
];

/// A finding from a match, in a span of that length; its evidence is event ids.
pub(super) fn finding(rule: &Rule, found: RuleMatch, span_ns: i64) -> Finding {
    Finding {
        rank: None,
        window: 0,
        name: rule.name,
        share: found.share(span_ns),
        overlap_ns: found.overlap_ns,
        evidence: found.evidence,
        subject: found.subject,
        cost_ns: found.cost_ns,
        count: found.count,
        confidence: found.confidence,
        detail: found.detail,
        advice: found.advice.map_or(Cow::Borrowed(rule.advice), Cow::Owned),
    }
}

/// Whether a match costs enough to be a finding.
pub(super) fn is_reported(rule: &Rule, found: &RuleMatch, span_ns: i64, min_share: f64) -> bool {
    let share = found.share(span_ns);
    let costs_enough = if rule.is_pattern {
        share >= min_share.min(MIN_PATTERN_SHARE)
    } else {
        found.cost_ns > 0 && share >= min_share
    };
    found.count > 0 && (found.is_failure || costs_enough)
}
