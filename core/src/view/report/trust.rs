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
    let (unread, missing) = (source.unread(), source.missing_ranks());
    let (state, sentence) = verdict(source);
    // Ranks with the same problem share a line.
    let mut lines: BTreeMap<ProblemLine<'_>, Vec<Option<i64>>> = BTreeMap::new();
    for (rank, facts) in source.facts() {
        for problem in &facts.problems {
            let line = (Reverse(problem.state), problem.message.as_str(), problem.advice.as_str());
            lines.entry(line).or_default().push(rank);
        }
    }
    let num_more = lines.len().saturating_sub(MAX_LISTED);
    let num_more_files = unread.len().saturating_sub(MAX_LISTED);
    html! {
        section class={ "ks-trust ks-" (state.name()) } aria-label="Completeness of the recording" {
            p { b { (sentence) } @if state == VerdictState::Complete { " Nothing is known to be missing or impossible." } }
            @if !lines.is_empty() || !unread.is_empty() || missing.is_some() {
                ul {
                    @if let Some(missing) = &missing { li { "job: " (missing.words()) "." } }
                    @for (name, reason) in unread.iter().take(MAX_LISTED) {
                        li { "file " (name) " could not be read: " (reason) "." }
                    }
                    @if num_more_files > 0 { li { (plural(num_more_files, "more file")) " could not be read" } }
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

/// The state of a trace or job, and its sentence.
pub(super) fn verdict(source: &ReportSource<'_>) -> (VerdictState, &'static str) {
    let state = source.facts().map(|(_, facts)| facts.state).max().unwrap_or(VerdictState::Complete);
    let is_empty = source.facts().all(|(_, facts)| facts.time.is_empty());
    let heading = match state {
        VerdictState::Complete if !source.unread().is_empty() => "Incomplete job: files of it could not be read.",
        VerdictState::Complete if source.missing_ranks().is_some() => "Incomplete job: ranks of it have no trace.",
        VerdictState::Complete if is_empty => "Empty recording: it holds no events.",
        VerdictState::Complete => return (state, "Complete recording."),
        VerdictState::Incomplete => "Incomplete recording: device time beside lost work is unknown, not idle.",
        VerdictState::Inconsistent => "Inconsistent recording: it has times or ids that cannot be.",
    };
    (state.max(VerdictState::Incomplete), heading)
}

/// `rank 3`, or `8 ranks`.
fn ranks_of(ranks: &[Option<i64>]) -> String {
    match ranks {
        [Some(rank)] => format!("rank {rank}"),
        _ => format!("{} ranks", count(ranks.len() as i64)),
    }
}
