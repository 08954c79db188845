//! Writes the section on defects and link coverage.

use maud::{Markup, html};

use super::section::SectionOutcome;
use super::source::ReportSource;
use super::words::{count, percent, plural};
use crate::analyze::{HealthRow, LinkCoverage, LinkedShare, coverage, health};

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let defects: Vec<_> = source.traces().map(|(rank, linked)| (rank, health(linked))).collect();
    let all = || defects.iter().flat_map(|(rank, rows)| rows.iter().map(|row| (*rank, row)));
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

fn defect(rank: Option<i64>, row: &HealthRow) -> Markup {
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

/// Shares that need no Execution Trace, which come first.
const NUM_DEVICE_SHARES: usize = 3;

/// Link coverage by kind of link.
fn linked(source: &ReportSource<'_>) -> Markup {
    let mut sums: [(&str, u64, u64); 5] = [
        ("kernels, copies and fills with a launch", 0, 0),
        ("kernels, copies and fills with an operator", 0, 0),
        ("work of graphs with its capture or a label", 0, 0),
        ("operators with an Execution Trace node", 0, 0),
        ("Execution Trace nodes with an operator", 0, 0),
    ];
    for (_, linked) in source.traces() {
        let found = coverage(linked);
        let LinkCoverage { device_events, device_owners, graph_work, operators, nodes, .. } = &found;
        let shares: [&LinkedShare; 5] = [device_events, device_owners, graph_work, operators, nodes];
        let has_nodes = found.nodes.count > 0;
        for (at, (sum, share)) in sums.iter_mut().zip(shares).enumerate() {
            if at < NUM_DEVICE_SHARES || has_nodes {
                sum.1 += share.num_linked;
                sum.2 += share.count;
            }
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
