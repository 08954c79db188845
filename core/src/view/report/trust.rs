//! Writes the first block of a report: whether its recordings can be trusted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};

use super::source::ReportSource;
use super::words::{count, plural};
use crate::analyze::VerdictState;

/// Problems that are listed; further ones are counted.
const MAX_LISTED: usize = 12;

/// State, message and advice of a problem; the worst state is the first.
type ProblemLine<'a> = (Reverse<VerdictState>, &'a str, &'a str);

/// The verdict, with the problems that make a recording incomplete or inconsistent.
pub(super) fn block(source: &ReportSource<'_>) -> Markup {
    let state = source.facts().map(|(_, facts)| facts.state).max().unwrap_or(VerdictState::Complete);
    // Ranks with the same problem share a line.
    let mut lines: BTreeMap<ProblemLine<'_>, Vec<Option<i64>>> = BTreeMap::new();
    for (rank, facts) in source.facts() {
        for problem in &facts.problems {
            let line = (Reverse(problem.state), problem.message.as_str(), problem.advice.as_str());
            lines.entry(line).or_default().push(rank);
        }
    }
    let num_more = lines.len().saturating_sub(MAX_LISTED);
    html! {
        section class={ "ks-trust ks-" (state.name()) } aria-label="Completeness of the recording" {
            p { b { (heading(state)) } @if state == VerdictState::Complete { " Nothing is known to be missing or impossible." } }
            @if !lines.is_empty() {
                ul {
                    @for ((_, message, advice), ranks) in lines.iter().take(MAX_LISTED) {
                        li {
                            @if source.is_job() { (ranks_of(ranks)) ": " }
                            (message) "."
                            @if !advice.is_empty() { " " span class="ks-note" { "Fix: " (advice) "." } }
                        }
                    }
                    @if num_more > 0 { li { (plural(num_more, "more problem")) } }
                }
            }
        }
    }
}

pub(super) fn heading(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Complete => "Complete recording.",
        VerdictState::Incomplete => "Incomplete recording: device time beside lost work is unknown, not idle.",
        VerdictState::Inconsistent => "Inconsistent recording: it has times or ids that cannot be.",
    }
}

/// `rank 3`, or `8 ranks`.
fn ranks_of(ranks: &[Option<i64>]) -> String {
    match ranks {
        [Some(rank)] => format!("rank {rank}"),
        _ => format!("{} ranks", count(ranks.len() as i64)),
    }
}
