//! Says in a sentence how much slower or faster a step became.

use super::report_frame::ReportFrame;
use super::words::{decimal, percent};
use crate::analyze::tables::diff::PARTS;
use crate::table::TableColumn;
use crate::view::chart::time_words;
use crate::view::svg::spaced;

const PART: TableColumn = PARTS.column("part");
const BEFORE: TableColumn = PARTS.column("before_ns");
const AFTER: TableColumn = PARTS.column("after_ns");
const CHANGE: TableColumn = PARTS.column("change_ns");

/// How much slower or faster the step is, and the part that changed most in the same direction. Of
/// a job, the rank that became slower by most, or else the one that changed most.
pub(super) fn headline(parts: &ReportFrame) -> Option<String> {
    // The rows of each rank begin with the step.
    let is_step = |row: &usize| parts.text(PART, *row) == parts.text(PART, 0);
    let steps: Vec<usize> = (0..parts.num_rows).filter(is_step).collect();
    let ratio = |row: usize| {
        let (before, after) = (parts.number(BEFORE, row)?, parts.number(AFTER, row)?);
        (before > 0.0 && after > 0.0).then_some(after / before)
    };
    let known = || steps.iter().filter_map(|row| Some((*row, ratio(*row)?)));
    let slowest = known().rev().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let fastest = known().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let (first, change) = if slowest.1 < SAME { fastest } else { slowest };
    let (before, after) = (parts.number(BEFORE, first)?, parts.number(AFTER, first)?);
    let by = after - before;
    let (factor, word) = if by < 0.0 { (1.0 / change, "faster") } else { (change, "slower") };
    let times = format!("{} → {}", time_words(before), time_words(after));
    if factor < SAME {
        let all = if steps.len() > 1 { " on each rank" } else { "" };
        return Some(format!("The step takes as long as before{all}: {times}."));
    }
    let rank = parts.rank(first).filter(|_| steps.len() > 1);
    let of_rank = rank.map(|rank| format!(" of rank {rank}")).unwrap_or_default();
    let of_step = |row: usize| Some((row, parts.number(CHANGE, row)? / by)).filter(|(_, share)| *share > 0.0);
    let end = (first + 1..parts.num_rows).find(is_step).unwrap_or(parts.num_rows);
    let most = (first + 1..end).filter_map(of_step).max_by(|(_, a), (_, b)| a.total_cmp(b));
    let told = most.and_then(|(row, share)| {
        let name = spaced(parts.text(PART, row)?);
        let share = if share <= 1.0 { format!("{} of it", percent(share)) } else { "more than all of it".to_owned() };
        Some(format!("; {share} is {name}"))
    });
    Some(format!("The step{of_rank} is {} × {word}: {times}{}.", decimal(factor, 2), told.unwrap_or_default()))
}

/// Changes by less are none.
const SAME: f64 = 1.005;
