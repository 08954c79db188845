//! Writes the section on defects and link coverage.

use maud::{Markup, html};

use super::section::SectionOutcome;
use super::source::ReportSource;
use super::trace_facts::{LINKS, ShownDefect};
use super::words::{count, percent, plural};

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let all = || source.facts().flat_map(|(rank, facts)| facts.defects.iter().map(move |row| (rank, row)));
    let num_defects = all().map(|(_, row)| row.count).sum::<u64>();
    let body = html! {
        @if all().next().is_none() {
            p { "No defects found." }
        } @else {
            div class="ks-scroll" tabindex="0" {
                table {
                    caption { "Tolerated defects" }
                    thead {
                        tr {
                            th scope="col" { "defect" }
                            th scope="col" class="ks-number" { "count" }
                            th scope="col" { "first occurrence" }
                        }
                    }
                    tbody { @for (rank, row) in all() { (defect(rank.filter(|_| source.is_job()), row)) } }
                }
            }
        }
        (linked(source))
    };
    let note = if num_defects == 0 { String::new() } else { plural(num_defects as usize, "defect") };
    SectionOutcome::half(body).with_note(note)
}

fn defect(rank: Option<i64>, row: &ShownDefect) -> Markup {
    // Paths of the person who made the page stay private.
    let place = row.first.split(", ").next().unwrap_or("");
    let folders = place.rfind(['/', '\\']).map_or(0, |at| at + 1);
    html! {
        tr {
            td { @if let Some(rank) = rank { "rank " (rank) ": " } (row.message) }
            td class="ks-number" { (count(row.count as i64)) }
            td { (row.first[folders..]) }
        }
    }
}

/// Link coverage by kind of link.
fn linked(source: &ReportSource<'_>) -> Markup {
    let mut sums = LINKS.map(|ends| (ends, 0, 0));
    for (_, facts) in source.facts() {
        for (sum, (num_linked, num)) in sums.iter_mut().zip(facts.links) {
            (sum.1, sum.2) = (sum.1 + num_linked, sum.2 + num);
        }
    }
    let shown: Vec<_> = sums.iter().filter(|(.., num)| *num > 0).collect();
    html! {
        @if !shown.is_empty() {
            table {
                caption { "Link coverage" }
                tbody {
                    @for (ends, num_linked, num) in shown {
                        tr {
                            td { (ends) }
                            td class="ks-number" { (percent(*num_linked as f64 / *num as f64)) }
                            td class="ks-number" { (count(*num_linked as i64)) " of " (count(*num as i64)) }
                        }
                    }
                }
            }
        }
    }
}
