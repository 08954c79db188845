//! Writes the section on findings: meaning, cost, fix and evidence.

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::grid::{bar, name};
use super::report_frame::ReportFrame;
use super::requests::OPTIONS;
use super::section::SectionOutcome;
use super::source::{ReportResult, ReportSource, frame};
use super::words::{count, percent, sentence, title};
use crate::analyze::known_analysis;
use crate::analyze::tables::{FINDING_RULES, FINDING_TOTALS, FINDINGS};
use crate::table::TableColumn;
use crate::view::chart::time_words;

/// Kinds of findings on the page.
const MAX_FINDINGS: usize = 30;
/// Further subjects of a kind, after the costliest.
const MAX_OTHERS: usize = 6;
/// Those that open on a click.
const MAX_REST: usize = 60;
/// Rows to read: in a job with many ranks, most findings repeat on other ranks.
const MAX_ROWS: usize = 100_000;
/// Linked events per finding.
const MAX_LINKS: usize = 8;
const MAX_RULES: usize = 100;
/// Other ranks that are named.
const MAX_RANKS: usize = 12;

const FINDING: TableColumn = FINDINGS.column("finding");
const SUBJECT: TableColumn = FINDINGS.column("subject");
const COST: TableColumn = FINDINGS.column("cost_ns");
const SHARE: TableColumn = FINDINGS.column("share");
const OVERLAP: TableColumn = FINDINGS.column("overlap_ns");
const CONFIDENCE: TableColumn = FINDINGS.column("confidence");
const DETAIL: TableColumn = FINDINGS.column("detail");
const ADVICE: TableColumn = FINDINGS.column("advice");
const EVIDENCE: TableColumn = FINDINGS.column("evidence");
const UNION: TableColumn = FINDING_TOTALS.column("union_ns");
const UNION_SHARE: TableColumn = FINDING_TOTALS.column("union_share");
const RULE: TableColumn = FINDING_RULES.column("finding");
const RULE_COST: TableColumn = FINDING_RULES.column("cost_formula");
const RULE_DOC: TableColumn = FINDING_RULES.column("description");

/// Rows of one finding and one subject, from one rank or several, sorted by cost.
type FindingGroup = Vec<usize>;

/// The tables of the section, and the links of their rows.
struct FindingTables<'a> {
    source: &'a ReportSource<'a>,
    found: &'a ReportFrame,
    rules: &'a ReportFrame,
}

pub(super) fn section(source: &ReportSource<'_>) -> ReportResult<SectionOutcome> {
    let answer = source.ask(known_analysis("findings").name, OPTIONS)?;
    let (found, rules) = (frame(&answer, FINDINGS.name, MAX_ROWS)?, frame(&answer, FINDING_RULES.name, MAX_RULES)?);
    if found.num_rows == 0 {
        return Ok(SectionOutcome::missing(None, "no rule matched"));
    }
    let groups = grouped(0..found.num_rows, |row| (found.text(FINDING, *row), found.text(SUBJECT, *row)));
    let kinds = grouped(groups, |rows| found.text(FINDING, rows[0]));
    let tables = FindingTables { source, found: &found, rules: &rules };
    let body = html! {
        ol class="ks-findings" { @for kind in kinds.iter().take(MAX_FINDINGS) { (tables.kind(kind)) } }
        (more(kinds.len(), MAX_FINDINGS))
    };
    let note = note(&frame(&answer, FINDING_TOTALS.name, MAX_ROWS)?);
    Ok(SectionOutcome::wide(body).with_note(note))
}

/// Says that costs overlap, and their time together: in a job, that of the rank with the most.
fn note(totals: &ReportFrame) -> String {
    let number = |column, row| totals.number(column, row).unwrap_or(0.0);
    let most = (0..totals.num_rows).max_by(|a, b| number(UNION, *a).total_cmp(&number(UNION, *b)));
    let Some(row) = most.filter(|row| number(UNION, *row) > 0.0) else {
        return String::from("sorted by cost; costs may overlap");
    };
    let (union, share) = (time_words(number(UNION, row)), percent(number(UNION_SHARE, row)));
    let of = if totals.num_rows > 1 { " on the rank with the most" } else { "" };
    format!("sorted by cost; costs overlap, and together take at most {union} ({share}){of}")
}

/// Groups items by key, in order of first occurrence.
pub(super) fn grouped<T, K: std::hash::Hash + Eq>(
    all: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<Vec<T>> {
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

fn more(all: usize, most: usize) -> Markup {
    html! { @if all > most { p class="ks-note" { "and " (all - most) " more" } } }
}

impl FindingTables<'_> {
    fn text(&self, column: TableColumn, row: usize) -> &str {
        self.found.text(column, row).unwrap_or_default()
    }

    /// All findings of one kind: the most expensive subject, then the others.
    fn kind(&self, kind: &[FindingGroup]) -> Markup {
        let Some((first, others)) = kind.split_first() else { return Markup::default() };
        let row = first[0];
        let finding = self.text(FINDING, row);
        let rule = (0..self.rules.num_rows).find(|rule| self.rules.text(RULE, *rule) == Some(finding));
        let of_rule = |column| rule.and_then(|rule| self.rules.text(column, rule)).unwrap_or_default();
        html! {
            li {
                h3 {
                    (title(finding))
                    (self.rank(row))
                    span class="ks-cost" title={ "upper bound of the cost: " (of_rule(RULE_COST)) } { (self.cost(row)) }
                }
                div class="ks-share" {
                    @if self.has_cost(row) { (bar(self.found.number(SHARE, row).unwrap_or(0.0))) }
                }
                p class="ks-subject" { (name(self.text(SUBJECT, row))) }
                p { (sentence(of_rule(RULE_DOC))) ": " (self.text(DETAIL, row)) "." }
                (advice(self.text(ADVICE, row)))
                (self.seen(first))
                @let (first_others, rest) = others.split_at(others.len().min(MAX_OTHERS));
                @for other in first_others { (self.another(other, self.text(ADVICE, row))) }
                @if !rest.is_empty() {
                    details {
                        summary { "and " (rest.len()) " more" }
                        @for other in rest.iter().take(MAX_REST) { (self.another(other, self.text(ADVICE, row))) }
                        (more(rest.len(), MAX_REST))
                    }
                }
            }
        }
    }

    /// Another finding of a kind, with its own fix unless it is the first one's.
    fn another(&self, group: &[usize], told: &str) -> Markup {
        let row = group[0];
        html! {
            p class="ks-subject" {
                (name(self.text(SUBJECT, row)))
                (self.rank(row))
                span class="ks-cost" { (self.cost(row)) }
            }
            p { (sentence(self.text(DETAIL, row))) "." }
            @if self.text(ADVICE, row) != told { (advice(self.text(ADVICE, row))) }
            (self.seen(group))
        }
    }

    /// The rank with the highest cost, for jobs.
    fn rank(&self, row: usize) -> Markup {
        let rank = self.found.rank(row).filter(|_| self.source.is_job());
        html! { @if let Some(rank) = rank { " " span class="ks-tag" { "rank " (rank) } } }
    }

    fn has_cost(&self, row: usize) -> bool {
        self.found.number(COST, row).is_some_and(|cost| cost != 0.0)
    }

    /// Cost in time and share; empty for findings without a cost.
    fn cost(&self, row: usize) -> Markup {
        let number = |column| self.found.number(column, row).unwrap_or(0.0);
        html! {
            @if self.has_cost(row) { (time_words(number(COST))) " " small { (percent(number(SHARE))) } }
            @if number(OVERLAP) > 0.0 {
                " " small { "(" (time_words(number(OVERLAP))) " also in other findings)" }
            }
        }
    }

    /// Evidence, other ranks and confidence.
    fn seen(&self, rows: &[usize]) -> Markup {
        let Some((&row, others)) = rows.split_first() else { return Markup::default() };
        html! {
            p class="ks-note" {
                (self.evidence(row))
                (self.also(others))
                "confidence " (percent(self.found.number(CONFIDENCE, row).unwrap_or(0.0)))
            }
        }
    }

    /// Other ranks with this finding.
    fn also(&self, others: &[usize]) -> Markup {
        let rank = |row: &usize| {
            let cost = time_words(self.found.number(COST, *row).unwrap_or(0.0));
            self.found.rank(*row).map(|rank| format!("{rank} ({cost})"))
        };
        let ranks: Vec<_> = others.iter().take(MAX_RANKS).filter_map(rank).collect();
        let num_more = others.len().saturating_sub(MAX_RANKS);
        html! {
            @if !ranks.is_empty() { "also on rank " (ranks.join(", ")) }
            @if num_more > 0 { " and " (count(num_more as i64)) " more" }
            @if !ranks.is_empty() { " · " }
        }
    }

    /// Links to the events that prove it.
    fn evidence(&self, row: usize) -> Markup {
        let ids = self.text(EVIDENCE, row).trim_matches(['[', ']']).split(',');
        let ids = ids.filter_map(|id| id.trim().parse().ok());
        let links: Vec<_> = ids.filter_map(|id| self.source.event(self.found, row, id)).take(MAX_LINKS).collect();
        html! {
            @if !links.is_empty() {
                span class="ks-seen" {
                    "Evidence: "
                    @for (at, link) in links.iter().enumerate() {
                        a class="ks-chip" href=(link) title="show in the timeline" { (at + 1) } " "
                    }
                    "· "
                }
            }
        }
    }
}

fn advice(words: &str) -> Markup {
    html! { p class="ks-advice" { b { "Fix" } " " (words) } }
}
