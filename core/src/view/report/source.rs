//! The traces that a report is of, and what analyses answer about them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::frame::Frame;
use crate::analyze::{Answer, Options, RankedTrace, Selection, analysis};
use crate::edit::Extent;
use crate::link::LinkedTrace;
use crate::table::Rows;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::view::part::View;
use crate::view::screen::Screen;
use crate::view::shown_kind::ShownKind;

/// The traces of a report: one, or those of a job in the order of their ranks.
pub(super) struct Source<'a> {
    screen: &'a Screen<'a>,
    traces: Vec<RankedTrace>,
    /// What was answered, for sections that ask the same.
    answers: RefCell<FxHashMap<Asked, Option<Rc<Answer>>>>,
}

/// The name of an analysis, and what it was asked.
type Asked = (&'static str, &'static str);

impl<'a> Source<'a> {
    pub(super) fn of(screen: &'a Screen<'a>) -> Self {
        Self { screen, traces: screen.session.ranked(), answers: RefCell::default() }
    }

    pub(super) fn traces(&self) -> impl Iterator<Item = (Option<i64>, &Arc<LinkedTrace>)> {
        self.traces.iter().map(|(rank, linked)| (*rank, linked))
    }

    /// How many traces there are.
    pub(super) fn len(&self) -> usize {
        self.traces.len()
    }

    /// Whether ranks are compared.
    pub(super) fn is_job(&self) -> bool {
        self.traces.len() > 1
    }

    /// The first trace, for what all have in common.
    pub(super) fn first(&self) -> Option<&Trace> {
        self.traces.first().map(|(_, linked)| &linked.trace)
    }

    /// What of each trace the report is about: what it was trimmed to.
    pub(super) fn selections(&self) -> impl Iterator<Item = Selection<'_>> {
        let range = |at: usize| Some(self.screen.parts[at].extent?.range);
        self.traces.iter().enumerate().map(move |(at, (_, linked))| Selection::within(linked, range(at)))
    }

    /// When that of the first trace was.
    pub(super) fn span(&self) -> TimeRange {
        self.selections().next().map(|selection| selection.span()).unwrap_or_default()
    }

    /// The part of a recording that the first trace is, if it is one.
    pub(super) fn extent(&self) -> Option<Extent> {
        self.screen.parts.first()?.extent
    }

    /// What an analysis answers; nothing where it does not know what it is asked.
    pub(super) fn ask(&self, name: &'static str, request: &'static str) -> Option<Rc<Answer>> {
        let mut answers = self.answers.borrow_mut();
        answers.entry((name, request)).or_insert_with(|| self.answer(name, request).map(Rc::new)).clone()
    }

    fn answer(&self, name: &str, request: &str) -> Option<Answer> {
        let analysis = analysis(name).ok()?;
        let options = Options::new(analysis.options, serde_json::from_str(request).ok()?).ok()?;
        let wanted = |at: usize| self.screen.parts[at].trimmed();
        match &self.traces[..] {
            [(_, linked)] => analysis.answer_about(linked, &wanted(0), &options),
            traces => analysis.answer_about_each(traces, &wanted, &options, 1),
        }
        .ok()
    }

    /// The address of an event in the timeline, which a row of a table names.
    pub(super) fn event(&self, frame: &Frame, row: usize, id: i64) -> Option<String> {
        let id = i64::from(self.part(frame, row)?.first_id).checked_add(id)?;
        Some(format!("#event={id}"))
    }

    /// The address of a stretch of time in the timeline, which a row of a table names.
    pub(super) fn range(&self, frame: &Frame, row: usize, (start_ns, dur_ns): (i64, i64)) -> Option<String> {
        let part = self.part(frame, row)?;
        let which = if self.is_job() { format!("&part={}", part.at) } else { String::new() };
        Some(address(part, start_ns, dur_ns) + &which)
    }

    /// The same in the only trace.
    pub(super) fn range_of_first(&self, start_ns: i64, dur_ns: i64) -> Option<String> {
        self.screen.parts.first().map(|part| address(*part, start_ns, dur_ns))
    }

    /// Whether a row of a table names a communication on a device.
    pub(super) fn is_communication(&self, frame: &Frame, row: usize, column: &str) -> bool {
        let found = || {
            let part = self.part(frame, row)?;
            let row = part.linked.trace.events.row_at(u32::try_from(frame.int(column, row)?).ok()?)?;
            Some(part.shown_kind(row) == ShownKind(None))
        };
        found().unwrap_or_default()
    }

    /// The trace that a row is about.
    fn part(&self, frame: &Frame, row: usize) -> Option<View<'a>> {
        if self.is_job() {
            return self.screen.of_rank(frame.int("rank", row), frame.int("window", row).unwrap_or(0));
        }
        self.screen.parts.first().copied()
    }
}

fn address(part: View<'_>, start_ns: i64, dur_ns: i64) -> String {
    let start = part.offset(Ts(start_ns)).max(0.0);
    format!("#range={start:.0}-{:.0}", start + dur_ns.max(1) as f64)
}

/// A table of an answer by its name.
pub(super) fn table<'a>(answer: &'a Answer, name: &str) -> Option<&'a Arc<dyn Rows>> {
    answer.tables.iter().find(|table| table.name() == name)
}

/// Its rows with the most of a number, where several ranks have theirs one after the other; else the first.
pub(super) fn top(source: &Source<'_>, answer: &Answer, name: &str, (by, limit): (&str, usize)) -> Frame {
    match table(answer, name) {
        Some(table) if source.is_job() => Frame::top(table, by, limit),
        _ => frame(answer, name, limit),
    }
}

/// Its rows as they are or, where there are more than so many, those with the most of a number.
pub(super) fn top_of(answer: &Answer, name: &str, (by, limit): (&str, usize)) -> Frame {
    match table(answer, name) {
        Some(table) if table.num_rows() > limit => Frame::top(table, by, limit),
        _ => frame(answer, name, limit),
    }
}

/// Its first rows.
pub(super) fn frame(answer: &Answer, name: &str, limit: usize) -> Frame {
    table(answer, name).map_or_else(Frame::default, |table| Frame::of(&**table, limit))
}
