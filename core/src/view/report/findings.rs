//! Findings: what each means, what it costs, what helps, and where it is to be seen.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::frame::Frame;
use super::grid::{bar, name};
use super::section::{Found, Section};
use super::source::{Source, frame};
use super::words::{percent, title};
use crate::view::chart::time_words;
use crate::view::svg::escape;

/// More are not read.
const MAX_FINDINGS: usize = 30;
/// Of a job with many ranks, most are those of other ranks, too.
const MAX_ROWS: usize = 2_000;
/// Events of each that are linked.
const MAX_LINKS: usize = 8;
const MAX_RULES: usize = 100;

pub(super) fn section(source: &Source<'_>) -> Found {
    let Some(answer) = source.ask("findings", "{}") else { return Found::Nothing };
    let found = frame(&answer, "findings", MAX_ROWS);
    let rules = frame(&answer, "finding_rules", MAX_RULES);
    let heading = "Findings";
    if found.num_rows == 0 {
        return Found::Missing { title: heading, why: "nothing was found of what is looked for" };
    }
    let mut out = String::from("<ol class=\"ks-findings\">");
    let groups = groups(&found);
    for rows in groups.iter().take(MAX_FINDINGS) {
        finding(&mut out, source, &found, &rules, rows);
    }
    out.push_str("</ol>");
    if groups.len() > MAX_FINDINGS {
        let _ = write!(out, "<p class=\"ks-note\">and {} more</p>", groups.len() - MAX_FINDINGS);
    }
    let note = String::from("the costliest first; two may cost the same time");
    Found::Section(Section::wide("findings", heading, out).with_note(note))
}

/// Rows of the same finding about the same, on several ranks, the costliest first.
fn groups(found: &Frame) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: FxHashMap<(Option<&str>, Option<&str>), usize> = FxHashMap::default();
    for row in 0..found.num_rows {
        let group = *known.entry((found.text("finding", row), found.text("subject", row))).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(rows) => rows.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

fn finding(out: &mut String, source: &Source<'_>, found: &Frame, rules: &Frame, rows: &[usize]) {
    let Some((&row, others)) = rows.split_first() else { return };
    let text = |column: &str| found.text(column, row).unwrap_or_default();
    let number = |column: &str| found.number(column, row).unwrap_or(0.0);
    let rule = (0..rules.num_rows).find(|rule| rules.text("finding", *rule) == Some(text("finding")));
    let of_rule = |column: &str| rule.and_then(|rule| rules.text(column, rule)).unwrap_or_default();
    let rank = found.int("rank", row).filter(|_| source.is_job());
    let rank = rank.map_or_else(String::new, |rank| format!(" <span class=\"ks-tag\">rank {rank}</span>"));
    let share = number("share");
    let (cost, bar) = match number("cost_ns") {
        0.0 => (String::new(), String::new()), // not counted: its like are found by what they are
        cost => (format!("{} <small>{}</small>", time_words(cost), escape(&percent(share))), bar(share)),
    };
    // Writing into a `String` cannot fail.
    let _ = write!(
        out,
        "<li><h3>{}{rank}<span class=\"ks-cost\" title=\"costs at most: {}\">{cost}</span></h3>\
         <div class=\"ks-share\">{bar}</div><p class=\"ks-subject\">{}</p><p>{}: {}.</p>\
         <p class=\"ks-advice\"><b>What helps</b> {}</p><p class=\"ks-note\">",
        escape(&title(text("finding"))),
        escape(of_rule("cost")),
        name(text("subject")),
        escape(&title(of_rule("what"))),
        escape(text("detail")),
        escape(text("advice")),
    );
    evidence(out, source, found, row);
    also(out, found, others);
    let _ = write!(out, "confidence {}</p></li>", escape(&percent(number("confidence"))));
}

/// The other ranks that have it.
fn also(out: &mut String, found: &Frame, others: &[usize]) {
    let rank = |row: &usize| {
        let cost = time_words(found.number("cost_ns", *row).unwrap_or(0.0));
        found.int("rank", *row).map(|rank| format!("{rank} ({cost})"))
    };
    let ranks: Vec<_> = others.iter().filter_map(rank).collect();
    if !ranks.is_empty() {
        let _ = write!(out, "also on rank {} · ", ranks.join(", "));
    }
}

/// Links to the events that show it.
fn evidence(out: &mut String, source: &Source<'_>, found: &Frame, row: usize) {
    let ids = found.text("evidence", row).unwrap_or_default();
    let ids = ids.trim_matches(['[', ']']).split(',').filter_map(|id| id.trim().parse().ok());
    let links: Vec<_> = ids.filter_map(|id: i64| source.event(found, row, id)).take(MAX_LINKS).collect();
    if links.is_empty() {
        return;
    }
    out.push_str("<span class=\"ks-seen\">seen at ");
    for (at, link) in links.iter().enumerate() {
        let _ = write!(out, "<a class=\"ks-chip\" href=\"{link}\" title=\"show in the timeline\">{}</a> ", at + 1);
    }
    out.push_str("· </span>");
}
