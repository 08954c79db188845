//! Tells whether the recording can be trusted.

use super::digest_block::DigestBlock;
use super::digest_contents::DigestContents;
use super::digest_item::{DigestItem, ItemWeights};
use super::digest_value::DigestValue;
use crate::analyze::tables::{LACKING_COLLECTIVES, PROBLEMS};
use crate::analyze::{VerdictState, known_analysis};
use crate::sort;
use crate::table::TableColumn;
use crate::view::report::edit_counts::edits;
use crate::view::report::report_frame::ReportFrame;
use crate::view::report::requests::OPTIONS;
use crate::view::report::source::{ReportResult, UnreadFile, frame};
use crate::view::report::trust;
use crate::view::report::words::title;

const MAX_ROWS: usize = 10_000;
const MAX_PROBLEMS: usize = 12;
const PROBLEM_WEIGHTS: ItemWeights = ItemWeights { first: 1, step: 5 };
const SHOWN_WEIGHTS: ItemWeights = ItemWeights { first: 2, step: 6 };
const REMARK_WEIGHTS: ItemWeights = ItemWeights { first: 45, step: 6 };

const PROBLEM: TableColumn = PROBLEMS.column("problem");
const STATE: TableColumn = PROBLEMS.column("state");
const START: TableColumn = PROBLEMS.column("start_ns");
const END: TableColumn = PROBLEMS.column("end_ns");
const EVENTS: TableColumn = PROBLEMS.column("event_ids");
const MESSAGE: TableColumn = PROBLEMS.column("message");
const IS_SHOWN: TableColumn = PROBLEMS.column("is_shown");
const ADVICE: TableColumn = PROBLEMS.column("advice");

/// The worst state of all traces.
pub(super) fn state(contents: &DigestContents<'_>) -> VerdictState {
    contents.source.facts().map(|(_, facts)| facts.state).max().unwrap_or(VerdictState::Complete)
}

pub(super) fn blocks(contents: &DigestContents<'_>) -> ReportResult<Vec<DigestBlock>> {
    let command = contents.commands.analysis(known_analysis("problems").name, "");
    let mut items = vec![verdict(contents)];
    items.extend(contents.source.unread().iter().take(MAX_PROBLEMS).map(unread));
    items.extend(notes(contents));
    let problems = frame(&*contents.source.ask(known_analysis("problems").name, OPTIONS)?, PROBLEMS.name, MAX_ROWS)?;
    let complete = Some(VerdictState::Complete.name());
    let is_remark = |rows: &Vec<usize>| problems.text(STATE, rows[0]) == complete;
    let (remarks, serious): (Vec<_>, Vec<_>) = by_name(&problems).into_iter().partition(is_remark);
    // All numbers depend on some remarks.
    let is_shown = |rows: &Vec<usize>| problems.flag(IS_SHOWN, rows[0]) == Some(true);
    let (shown, remarks): (Vec<_>, Vec<_>) = remarks.into_iter().partition(is_shown);
    for (groups, weights) in [(serious, PROBLEM_WEIGHTS), (shown, SHOWN_WEIGHTS), (remarks, REMARK_WEIGHTS)] {
        let told = groups.iter().take(MAX_PROBLEMS).enumerate();
        items.extend(told.map(|(at, rows)| problem(&problems, rows, weights.at(at))));
    }
    Ok(vec![DigestBlock::list("Verdict", command, items)])
}

fn verdict(contents: &DigestContents<'_>) -> DigestItem {
    let (state, heading) = trust::verdict(contents.source);
    let words = match state {
        VerdictState::Complete if lacks_collectives(contents) => {
            format!("{heading} Ranks lack collectives, though: see Communication.")
        }
        VerdictState::Complete => format!("{heading} Nothing is known to be missing or impossible."),
        _ => heading.to_owned(),
    };
    DigestItem::new(0).with("state", "", DigestValue::Words(state.name().to_owned())).with(
        "meaning",
        "",
        DigestValue::Words(words),
    )
}

/// A file of the job that could not be read.
fn unread((name, reason): &UnreadFile) -> DigestItem {
    DigestItem::new(1).with("unread_file", "unread file", DigestValue::Quoted(name.clone())).line(
        "reason",
        "",
        Some(DigestValue::Quoted(reason.clone())),
    )
}

/// Whether a rank of a job lacks collectives that others have.
fn lacks_collectives(contents: &DigestContents<'_>) -> bool {
    let answer = contents.source.is_job().then(|| contents.source.ask(known_analysis("topology").name, OPTIONS));
    let rows = answer.and_then(Result::ok).and_then(|answer| frame(&answer, LACKING_COLLECTIVES.name, 1).ok());
    rows.is_some_and(|rows| rows.num_rows > 0)
}

/// Notes on edits, and on iterations that are left out.
fn notes(contents: &DigestContents<'_>) -> Vec<DigestItem> {
    let note = |words: String| DigestItem::new(2).with("note", "", DigestValue::Words(words));
    let Some(linked) = contents.source.single() else { return Vec::new() };
    let mut notes: Vec<_> =
        edits(&linked.trace).into_iter().map(|(kind, count)| note(format!("{}: {count} rows", title(&kind)))).collect();
    if let Some(extent) = contents.source.extent() {
        let (start, end) = (extent.range.start.0, extent.range.end.0);
        notes.push(note(format!("Trimmed: numbers are of the range from {start} ns to {end} ns")));
    } else if linked.clean_range().is_some() {
        let num = linked.links.iterations.iter().filter(|iteration| iteration.is_observed).count();
        notes.push(note(format!(
            "Numbers are without {num} iterations in which the observer of the Execution Trace ran (--observed has them)"
        )));
    }
    notes
}

/// Rows of the same problem on several ranks, told in the same words, in the order of the table.
fn by_name(problems: &ReportFrame) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for row in 0..problems.num_rows {
        let is_same = |group: &&mut Vec<usize>| {
            problems.rank(group[0]) != problems.rank(row)
                && [PROBLEM, STATE, MESSAGE]
                    .iter()
                    .all(|column| problems.text(*column, group[0]) == problems.text(*column, row))
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    // The worst state of any rank comes first.
    let state = |group: &Vec<usize>| {
        let name = problems.text(STATE, group[0]).unwrap_or_default();
        [VerdictState::Inconsistent, VerdictState::Incomplete].iter().position(|state| state.name() == name)
    };
    sort::by_key(&mut groups, |group| (state(group).unwrap_or(usize::MAX), group[0]));
    groups
}

fn problem(problems: &ReportFrame, rows: &[usize], weight: u32) -> DigestItem {
    let row = rows[0];
    let text = |column| problems.text(column, row).map(str::to_owned);
    let mut ranks: Vec<_> = rows.iter().filter_map(|row| problems.rank(*row)).collect();
    ranks.dedup();
    // Times and events are those of one rank.
    let is_alone = rows.len() == 1;
    DigestItem::new(weight)
        .maybe("problem", "", text(PROBLEM).map(DigestValue::Words))
        .maybe("state", "", text(STATE).map(DigestValue::Words))
        .maybe("ranks", "ranks", (!ranks.is_empty()).then_some(DigestValue::Ids(ranks)))
        .maybe("start_ns", "from", problems.int(START, row).filter(|_| is_alone).map(DigestValue::Moment))
        .maybe("end_ns", "to", problems.int(END, row).filter(|_| is_alone).map(DigestValue::Moment))
        .maybe("event_ids", "events", text(EVENTS).filter(|_| is_alone).and_then(|ids| ids_value(&ids)))
        .line("message", "", text(MESSAGE).map(DigestValue::Quoted))
        .line("advice", "Fix:", text(ADVICE).map(DigestValue::Words))
}

/// The ids of a JSON list, if it has any.
pub(super) fn ids_value(list: &str) -> Option<DigestValue> {
    Some(ids_of(list)).filter(|ids| !ids.is_empty()).map(DigestValue::Ids)
}

/// The numbers of a JSON list.
pub(super) fn ids_of(list: &str) -> Vec<i64> {
    list.trim_matches(['[', ']']).split(',').filter_map(|id| id.trim().parse().ok()).collect()
}
