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

/// How much slower or faster the step is, and the part that changed most in the same direction.
pub(super) fn headline(parts: &ReportFrame) -> Option<String> {
    let (before, after) = (parts.number(BEFORE, 0)?, parts.number(AFTER, 0)?);
    let by = after - before;
    if before <= 0.0 || after <= 0.0 {
        return None;
    }
    let (factor, word) = if by < 0.0 { (before / after, "faster") } else { (after / before, "slower") };
    let times = format!("{} → {}", time_words(before), time_words(after));
    if factor < 1.005 {
        return Some(format!("The step takes as long as before: {times}."));
    }
    let of_step = |row: usize| Some((row, parts.number(CHANGE, row)? / by)).filter(|(_, share)| *share > 0.0);
    // In a job, the rows of the first rank.
    let is_step = |row: &usize| parts.text(PART, *row) == parts.text(PART, 0);
    let end = (1..parts.num_rows).find(is_step).unwrap_or(parts.num_rows);
    let most = (1..end).filter_map(of_step).max_by(|(_, a), (_, b)| a.total_cmp(b));
    let told = most.and_then(|(row, share)| {
        let name = spaced(parts.text(PART, row)?);
        let share = if share <= 1.0 { format!("{} of it", percent(share)) } else { "more than all of it".to_owned() };
        Some(format!("; {share} is {name}"))
    });
    Some(format!("The step is {} × {word}: {times}{}.", decimal(factor, 2), told.unwrap_or_default()))
}
