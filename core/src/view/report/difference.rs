//! Writes the body of a page that compares two traces, or two jobs rank by rank.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::grid::{CellKind, ComparisonSide, ReportGrid, col};
use super::section::{ReportSections, SectionOutcome};
use super::source::{ReportResult, ReportSource, frame, table};
use super::step_change::headline;
use crate::analyze::AnalysisResult;
use crate::analyze::tables::diff::{DEVICE_WORK, ITERATIONS, KERNELS, MODULES, OPERATORS, PARTS, RECORDED, STRUCTURE};
use crate::error::Error;
use crate::view::chart::figure;
use crate::view::comparison::comparison;
use crate::view::response::Response;
use crate::view::screen::Screen;
use crate::view::svg::finished;

const MAX_ROWS: usize = 50;

const CHANGES: ReportGrid = ReportGrid::of_comparison(
    &PARTS,
    "The step and its parts, per iteration",
    &[
        col("rank", "rank", CellKind::Key),
        col("part", "part", CellKind::Words),
        col("before_ns", "before", CellKind::Time),
        col("after_ns", "after", CellKind::Time),
        col("change_ns", "change", CellKind::Change),
        col("share", "share", CellKind::Percent),
        col("is_significant", "significant", CellKind::Flag),
        col("note", "note", CellKind::Word),
    ],
);

const NAMED: &[super::grid::GridColumn] = &[
    col("rank", "rank", CellKind::Key),
    col("name", "name", CellKind::Name),
    col("status", "status", CellKind::Key),
    col("before_count", "count before", CellKind::Number),
    col("after_count", "count after", CellKind::Number),
    col("before_ns", "before", CellKind::Time),
    col("after_ns", "after", CellKind::Time),
    col("change_ns", "change", CellKind::Change),
    col("is_significant", "significant", CellKind::Flag),
    col("before_id", "Longest before", CellKind::EventOf(ComparisonSide::Before)),
    col("after_id", "Longest after", CellKind::EventOf(ComparisonSide::After)),
];

const OF_KERNELS: ReportGrid = ReportGrid::of_comparison(&KERNELS, "By name, per iteration", NAMED);
const OF_OPERATORS: ReportGrid =
    ReportGrid::of_comparison(&OPERATORS, "Self device time by name, per iteration", NAMED);
const OF_MODULES: ReportGrid = ReportGrid::of_comparison(&MODULES, "Self device time by name, per iteration", NAMED);

const CLASSES: ReportGrid = ReportGrid::of_comparison(
    &DEVICE_WORK,
    "By class, per iteration that launched it",
    &[
        col("rank", "rank", CellKind::Key),
        col("class", "class", CellKind::Words),
        col("before_count", "count before", CellKind::Number),
        col("after_count", "count after", CellKind::Number),
        col("before_ns", "before", CellKind::Time),
        col("after_ns", "after", CellKind::Time),
        col("change_ns", "change", CellKind::Change),
        col("before_exposed_ns", "exposed before", CellKind::Time),
        col("after_exposed_ns", "exposed after", CellKind::Time),
    ],
);

const STEPS: ReportGrid = ReportGrid::of_comparison(
    &ITERATIONS,
    "In order",
    &[
        col("rank", "rank", CellKind::Key),
        col("before_iteration", "before", CellKind::Count),
        col("after_iteration", "after", CellKind::Count),
        col("before_ns", "before", CellKind::Time),
        col("after_ns", "after", CellKind::Time),
        col("change_ns", "change", CellKind::Change),
    ],
);

const CALLS: ReportGrid = ReportGrid::of_comparison(
    &STRUCTURE,
    "Calls added, removed or replaced",
    &[
        col("rank", "rank", CellKind::Key),
        col("status", "status", CellKind::Word),
        col("path", "below", CellKind::Name),
        col("before", "before", CellKind::Name),
        col("after", "after", CellKind::Name),
        col("count", "places", CellKind::Count),
        col("change_ns", "change", CellKind::Change),
        col("before_id", "First before", CellKind::EventOf(ComparisonSide::Before)),
        col("after_id", "First after", CellKind::EventOf(ComparisonSide::After)),
    ],
);

const KINDS: ReportGrid = ReportGrid::of_comparison(
    &RECORDED,
    "Records of each trace",
    &[
        col("rank", "rank", CellKind::Key),
        col("kind", "kind", CellKind::Words),
        col("before_count", "before", CellKind::Count),
        col("after_count", "after", CellKind::Count),
        col("is_compared", "compared", CellKind::Flag),
        col("reason", "reason", CellKind::Word),
    ],
);

/// The body of the page. `facts` are the host's facts about the sides.
pub(in crate::view) fn answer(
    screen: &Screen<'_>,
    selection: &Map<String, Value>,
    title: &str,
    facts: &[(String, String)],
) -> Result<Response, Error> {
    let source = ReportSource::comparing(screen, Value::Object(selection.clone()).to_string());
    let answer = comparison(screen, selection)?;
    let mut sections = ReportSections::default();
    sections.add("changes", "Changes", changes(&source, &answer));
    sections.add("timeline", "Timeline", Ok(super::timeline(&source)));
    sections.add("kernels", "Kernels, copies and fills", rows(&source, &answer, &OF_KERNELS));
    sections.add("operators", "Operators", rows(&source, &answer, &OF_OPERATORS));
    sections.add("modules", "Modules", rows(&source, &answer, &OF_MODULES));
    sections.add("calls", "Call trees", rows(&source, &answer, &CALLS));
    sections.add("device_work", "Device work", rows(&source, &answer, &CLASSES));
    sections.add("iterations", "Iterations", rows(&source, &answer, &STEPS));
    sections.add("recorded", "Recorded data", rows(&source, &answer, &KINDS));
    sections.finish();
    let page = html! {
        header class="ks-head" {
            h1 class="ks-title" { (title) }
            @for (side, files) in facts { p { b { (side) } " " (files) } }
        }
        (sections.contents())
        (sections.html())
    };
    Ok(Response::of("report", &json!({"html": finished(page)})))
}

/// The change of the step in a sentence, as a picture and in numbers.
fn changes(source: &ReportSource<'_>, answer: &AnalysisResult) -> ReportResult<SectionOutcome> {
    let parts = frame(answer, PARTS.name, MAX_ROWS)?;
    if parts.num_rows == 0 {
        return Ok(SectionOutcome::missing(answer.reason.as_ref(), "nothing is there to compare"));
    }
    let drawn = table(answer, PARTS.name)?;
    Ok(SectionOutcome::wide(html! {
        @if let Some(headline) = headline(&frame(answer, PARTS.name, usize::MAX)?) { p class="ks-headline" { (headline) } }
        figure class="ks-picture ks-narrow" { (figure(&**drawn, answer.plot, answer.reason.as_deref())) }
        (CHANGES.html(source, &parts))
    }))
}

fn rows(source: &ReportSource<'_>, answer: &AnalysisResult, grid: &ReportGrid) -> ReportResult<SectionOutcome> {
    let rows = frame(answer, grid.table, MAX_ROWS)?;
    if rows.num_rows == 0 {
        return Ok(SectionOutcome::missing(None, "nothing that both traces recorded"));
    }
    let body: Markup = grid.html(source, &rows);
    Ok(if rows.has_names() { SectionOutcome::wide(body) } else { SectionOutcome::half(body) })
}
