//! Writes the section on defects and link coverage.

use std::fmt::Write as _;

use super::section::{ReportSection, SectionOutcome};
use super::source::ReportSource;
use super::words::{count, percent, plural};
use crate::analyze::{LinkedShare, coverage, health};
use crate::view::svg::escape;

pub(super) fn section(source: &ReportSource<'_>) -> SectionOutcome {
    let mut out = String::new();
    let mut num_defects = 0;
    for (rank, linked) in source.traces() {
        let rows = health(linked);
        num_defects += rows.iter().map(|row| row.count).sum::<u64>();
        for row in rows {
            // Paths of the person who made the page stay private.
            let place = row.first.split(", ").next().unwrap_or("");
            let folders = place.rfind(['/', '\\']).map_or(0, |at| at + 1);
            let rank = rank.filter(|_| source.is_job()).map_or_else(String::new, |rank| format!("rank {rank}: "));
            // Writing into a `String` cannot fail.
            let _ = write!(
                out,
                "<tr><td>{rank}{}</td><td class=\"ks-number\">{}</td><td>{}</td></tr>",
                escape(row.message),
                count(row.count as i64),
                escape(&row.first[folders..])
            );
        }
    }
    let defects = if out.is_empty() {
        String::from("<p>Nothing is wrong with the files.</p>")
    } else {
        format!(
            "<div class=\"ks-scroll\" tabindex=\"0\"><table><caption>Defects that were survived</caption><thead><tr>\
             <th scope=\"col\">defect</th><th scope=\"col\" class=\"ks-number\">count</th><th scope=\"col\">first</th></tr></thead>\
             <tbody>{out}</tbody></table></div>"
        )
    };
    let note = if num_defects == 0 { String::new() } else { plural(num_defects as usize, "defect") };
    SectionOutcome::Section(ReportSection::half("health", "Health", defects + &linked(source)).with_note(note))
}

/// The share of links by kind.
fn linked(source: &ReportSource<'_>) -> String {
    let mut sums: [(&str, u64, u64); 4] = [
        ("kernels, copies and fills with their launch", 0, 0),
        ("the same with the operator that they are for", 0, 0),
        ("operators with their node of the Execution Trace", 0, 0),
        ("nodes of the Execution Trace with their operator", 0, 0),
    ];
    for (_, linked) in source.traces() {
        let found = coverage(linked);
        let shares: [&LinkedShare; 4] = [&found.device_events, &found.device_owners, &found.operators, &found.nodes];
        let has_nodes = found.nodes.count > 0;
        for (at, (sum, share)) in sums.iter_mut().zip(shares).enumerate() {
            if at < 2 || has_nodes {
                sum.1 += share.num_linked;
                sum.2 += share.count;
            }
        }
    }
    let mut out = String::new();
    for (what, num_linked, num) in sums.iter().filter(|(.., num)| *num > 0) {
        let _ = write!(
            out,
            "<tr><td>{what}</td><td class=\"ks-number\">{}</td><td class=\"ks-number\">{} of {}</td></tr>",
            escape(&percent(*num_linked as f64 / *num as f64)),
            count(*num_linked as i64),
            count(*num as i64)
        );
    }
    if out.is_empty() { out } else { format!("<table><caption>What is linked</caption><tbody>{out}</tbody></table>") }
}
