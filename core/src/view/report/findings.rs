//! Writes the section on findings: meaning, cost, fix and evidence.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::grid::{bar, name};
use super::report_frame::ReportFrame;
use super::section::{ReportSection, SectionOutcome};
use super::source::{ReportSource, frame};
use super::words::{percent, sentence, title};
use crate::view::chart::time_words;
use crate::view::svg::escape;

/// More are not read.
const MAX_FINDINGS: usize = 30;
/// Beside the costliest of a kind.
const MAX_OTHERS: usize = 6;
/// Of a job with many ranks, most are those of other ranks, too.
const MAX_ROWS: usize = 2_000;
/// Events of each that are linked.
const MAX_LINKS: usize = 8;
const MAX_RULES: usize = 100;

/// Rows of one finding about the same, on one rank or several, the costliest first.
type FindingGroup = Vec<usize>;

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let Some(answer) = source.ask("findings", "{}") else { return SectionOutcome::Nothing };
    let found = frame(&answer, "findings", MAX_ROWS);
    let rules = frame(&answer, "finding_rules", MAX_RULES);
    let heading = "Findings";
    if found.num_rows == 0 {
        return SectionOutcome::Missing { title: heading, why: "nothing was found of what is looked for" };
    }
    let groups = grouped(0..found.num_rows, |row| (found.text("finding", *row), found.text("subject", *row)));
    let kinds = grouped(groups, |rows| found.text("finding", rows[0]));
    let mut out = String::from("<ol class=\"ks-findings\">");
    for kind in kinds.iter().take(MAX_FINDINGS) {
        finding(&mut out, source, (&found, &rules), kind);
    }
    out.push_str("</ol>");
    more(&mut out, kinds.len(), MAX_FINDINGS);
    let note = String::from("the costliest first; two may cost the same time");
    SectionOutcome::Section(ReportSection::wide("findings", heading, out).with_note(note))
}

/// Groups items by key, in order of first occurrence.
fn grouped<T, K: std::hash::Hash + Eq>(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut known: FxHashMap<K, usize> = FxHashMap::default();
    for one in all {
        let group = *known.entry(key(&one)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

fn more(out: &mut String, all: usize, most: usize) {
    if all > most {
        // Writing into a `String` cannot fail.
        let _ = write!(out, "<p class=\"ks-note\">and {} more</p>", all - most);
    }
}

/// All findings of one kind: the most expensive subject, then the others.
fn finding(
    out: &mut String,
    source: &ReportSource<'_>,
    (found, rules): (&ReportFrame, &ReportFrame),
    kind: &[FindingGroup],
) {
    let Some((first, others)) = kind.split_first() else { return };
    let row = first[0];
    let text = |column: &str| found.text(column, row).unwrap_or_default();
    let rule = (0..rules.num_rows).find(|rule| rules.text("finding", *rule) == Some(text("finding")));
    let of_rule = |column: &str| rule.and_then(|rule| rules.text(column, rule)).unwrap_or_default();
    let cost = costs(found, row);
    let bar = if cost.is_empty() { String::new() } else { bar(found.number("share", row).unwrap_or(0.0)) };
    let _ = write!(
        out,
        "<li><h3>{}{}<span class=\"ks-cost\" title=\"costs at most: {}\">{cost}</span></h3>\
         <div class=\"ks-share\">{bar}</div><p class=\"ks-subject\">{}</p><p>{}: {}.</p>\
         <p class=\"ks-advice\"><b>What helps</b> {}</p>",
        escape(&title(text("finding"))),
        rank(source, found, row),
        escape(of_rule("cost")),
        name(text("subject")),
        escape(&sentence(of_rule("what"))),
        escape(text("detail")),
        escape(text("advice")),
    );
    seen(out, source, found, first);
    for other in others.iter().take(MAX_OTHERS) {
        another(out, source, found, other, text("advice"));
    }
    more(out, others.len(), MAX_OTHERS);
    out.push_str("</li>");
}

/// The other findings of a kind, each with its own fix.
fn another(out: &mut String, source: &ReportSource<'_>, found: &ReportFrame, group: &[usize], told: &str) {
    let row = group[0];
    let text = |column: &str| found.text(column, row).unwrap_or_default();
    // Writing into a `String` cannot fail.
    let _ = write!(
        out,
        "<p class=\"ks-subject\">{}{}<span class=\"ks-cost\">{}</span></p><p>{}.</p>",
        name(text("subject")),
        rank(source, found, row),
        costs(found, row),
        escape(&sentence(text("detail"))),
    );
    let advice = text("advice");
    if advice != told {
        let _ = write!(out, "<p class=\"ks-advice\"><b>What helps</b> {}</p>", escape(advice));
    }
    seen(out, source, found, group);
}

/// The rank that it costs the most, of a job.
fn rank(source: &ReportSource<'_>, found: &ReportFrame, row: usize) -> String {
    let rank = found.int("rank", row).filter(|_| source.is_job());
    rank.map_or_else(String::new, |rank| format!(" <span class=\"ks-tag\">rank {rank}</span>"))
}

/// Its cost; empty for findings without one.
fn costs(found: &ReportFrame, row: usize) -> String {
    match found.number("cost_ns", row) {
        None | Some(0.0) => String::new(),
        Some(cost) => {
            let share = percent(found.number("share", row).unwrap_or(0.0));
            format!("{} <small>{}</small>", time_words(cost), escape(&share))
        }
    }
}

/// Where it is to be seen, on which ranks besides, and how sure that is.
fn seen(out: &mut String, source: &ReportSource<'_>, found: &ReportFrame, rows: &[usize]) {
    let Some((&row, others)) = rows.split_first() else { return };
    out.push_str("<p class=\"ks-note\">");
    evidence(out, source, found, row);
    also(out, found, others);
    let confidence = percent(found.number("confidence", row).unwrap_or(0.0));
    let _ = write!(out, "confidence {}</p>", escape(&confidence));
}

/// The other ranks that have it.
fn also(out: &mut String, found: &ReportFrame, others: &[usize]) {
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
fn evidence(out: &mut String, source: &ReportSource<'_>, found: &ReportFrame, row: usize) {
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
