//! Answers analysis requests: tables with JSON cells, a few rows at a time.

use std::sync::Arc;

use serde_json::{Value, json};

use super::chart::{MOMENTS, find};
use super::comparison::comparison;
use super::labels::labels;
use super::request::{AnalyzeRequest, CompareRequest, DefaultRange, TableView};
use super::response::Response;
use super::screen::Screen;
use super::session_trace::TraceView;
use crate::analyze::{ANALYSES, AnalysisResult, Options, PartRequest, SelectionRequest, analysis, diff_parts};
use crate::error::Error;
use crate::table::{ColumnValues, TableRows, ordered};
use crate::time::TimeRange;

/// Default number of rows per response.
const LIMIT: usize = 100;

pub(super) fn answer(screen: &Screen<'_>, request: &AnalyzeRequest) -> Result<Response, Error> {
    let (analysis, answer) = (analysis(&request.name)?, analyzed(screen, request)?);
    let of_one = request.part.or((screen.members().len() < 2).then_some(0));
    let owner = of_one.and_then(|at| screen.parts.get(at as usize)).copied();
    let data = json!({
        "name": analysis.name,
        "doc": analysis.doc,
        "reason": answer.reason,
        "plot": answer.plot,
        "drawn": answer.drawn.or_else(|| answer.tables.first().map(|table| table.name())),
        "tables": tables(&answer, (screen, owner), &request.view),
    });
    Ok(Response::of("analyze", &data))
}

/// Runs the analysis of a request on one part, or on all.
pub(super) fn analyzed(screen: &Screen<'_>, request: &AnalyzeRequest) -> Result<AnalysisResult, Error> {
    let analysis = analysis(&request.name)?;
    let options = Options::new(analysis.options, request.options.clone())?;
    match (request.part, screen.members()) {
        (None, parts) if parts.len() > 1 => {
            let wanted = |at: usize| selection_of(parts[at], request);
            analysis.answer_about_each(&screen.session.ranked(), &wanted, &options, 1)
        }
        _ => {
            let part = screen.part(request.part)?;
            analysis.answer_about(&part.linked, &selection_of(part, request), &options)
        }
    }
}

/// The selection of a request in a part.
pub(super) fn selection_of(part: TraceView<'_>, request: &AnalyzeRequest) -> SelectionRequest {
    // An iteration has its own range.
    let own = match request.default_range {
        _ if request.iteration.is_some() => SelectionRequest::default(),
        DefaultRange { is_trimmed: true, is_with_observed: true } => part.trimmed_with_observed(),
        DefaultRange { is_trimmed: true, .. } => part.trimmed(),
        DefaultRange { .. } => SelectionRequest::default(),
    };
    SelectionRequest {
        part: PartRequest {
            start_ns: request.start.map(|start| part.time(start.floor()).0).or(own.part.start_ns),
            end_ns: request.end.map(|end| part.time(end.ceil()).0).or(own.part.end_ns),
            iteration: request.iteration,
            phase: request.phase.clone(),
            state: request.state.clone(),
            annotation: request.annotation.clone(),
            module: request.module.clone(),
            is_with_observed: request.default_range.is_with_observed,
            is_lenient: false,
        },
        by_phase: false,
        stream: request.stream,
        is_launched_inside: request.launched_inside,
        is_unclipped: !request.clip,
    }
}

/// Compares two ranges of a trace or, without ranges, the sides of the screen.
pub(super) fn compare(screen: &Screen<'_>, request: &CompareRequest) -> Result<Response, Error> {
    let (answer, owner) = match request.ranges {
        Some(ranges) => {
            let part = screen.part(request.part)?;
            let [before, after] = ranges.map(|(start, end)| {
                let range = TimeRange { start: part.time(start.floor()), end: part.time(end.ceil()) };
                SelectionRequest::of(PartRequest::of_range(Some(range)))
            });
            (diff_parts((&part.linked, &before), (&part.linked, &after))?, Some(part))
        }
        None => (comparison(screen, &request.selection)?, None),
    };
    let data = json!({
        "name": "compare",
        "doc": "after beside before",
        "reason": answer.reason,
        "tables": tables(&answer, (screen, owner), &request.view),
    });
    Ok(Response::of("compare", &data))
}

/// The tables of an answer about one part, or about all of the screen.
pub(super) fn tables(
    answer: &AnalysisResult,
    about: (&Screen<'_>, Option<TraceView<'_>>),
    TableView { limit, order }: &TableView,
) -> Vec<Value> {
    let in_order = |table: &Arc<dyn TableRows>| match order {
        Some(order) if order.table == table.name() => ordered(table, &order.column, order.descends),
        _ => Arc::clone(table),
    };
    let limit = limit.unwrap_or(LIMIT);
    answer.tables.iter().map(|table| table_json(&*in_order(table), about, limit)).collect()
}

/// The available analyses.
pub(super) fn all() -> Response {
    let all: Vec<_> = ANALYSES.iter().map(|analysis| json!({"name": analysis.name, "doc": analysis.doc})).collect();
    Response::of("analyses", &json!({"analyses": all}))
}

/// A table about one part, or about all of the screen.
fn table_json(table: &dyn TableRows, (screen, owner): (&Screen<'_>, Option<TraceView<'_>>), limit: usize) -> Value {
    let num_rows = table.num_rows();
    let shown = 0..num_rows.min(limit);
    let columns = 0..table.num_columns();
    let values: Vec<_> = columns.clone().map(|column| table.values(column, shown.clone())).collect();
    let roles: Vec<_> = columns.clone().map(|column| role(table.column_name(column))).collect();
    let parts: Option<Vec<_>> = match owner {
        Some(_) => None,
        None => Some(parts_of(table, screen, shown.clone())),
    };
    let row = |row: usize| {
        let part = owner.or_else(|| screen.parts.get(*parts.as_ref()?.get(row)?.as_ref()?).copied());
        let cells = values.iter().zip(&roles).map(|(values, role)| match (*role, part) {
            (Some("event"), Some(part)) => screen_id(values, row, part),
            _ => cell(values, row),
        });
        cells.collect::<Vec<Value>>()
    };
    let rows: Vec<_> = shown.clone().map(row).collect();
    let texts = values.iter().filter(|values| matches!(values, ColumnValues::Text { .. }));
    let texts = texts.flat_map(|values| shown.clone().filter_map(|row| values.text(row)));
    let column = |at: usize| json!({"name": table.column_name(at), "unit": table.column_unit(at), "role": roles[at]});
    let columns: Vec<_> = columns.map(column).collect();
    json!({
        "name": table.name(),
        "doc": table.doc(),
        "num_rows": num_rows,
        "columns": columns,
        "rows": rows,
        "labels": labels(texts),
        "parts": parts,
    })
}

/// Columns of ids of events.
const EVENTS: [&str; 7] =
    ["id", "longest_id", "first_id", "event_id", "host_event_id", "device_event_id", "operator_id"];

/// The link target of a column's values, if a screen can go there.
fn role(column: &str) -> Option<&'static str> {
    if EVENTS.contains(&column) {
        return Some("event");
    }
    MOMENTS.contains(&column).then_some("time")
}

/// The part of each row, by its rank and window.
fn parts_of(table: &dyn TableRows, screen: &Screen<'_>, rows: std::ops::Range<usize>) -> Vec<Option<usize>> {
    let values = |name: &str| find(table, name).map(|column| table.values(column, rows.clone()));
    let (ranks, windows) = (values("rank"), values("window"));
    let part = |row: usize| {
        screen.of_rank(ranks.as_ref().and_then(|ranks| ranks.int(row)), windows.as_ref()?.int(row)?).map(|part| part.at)
    };
    (0..rows.len()).map(part).collect()
}

fn screen_id(values: &ColumnValues, row: usize, part: TraceView<'_>) -> Value {
    match values {
        ColumnValues::Int(values) => {
            values.get(row).map_or(Value::Null, |id| json!(id.saturating_add(part.first_id.into())))
        }
        _ => cell(values, row),
    }
}

/// The largest integer up to which a script's numbers are exact.
const EXACT: i64 = 1 << 53;

fn cell(values: &ColumnValues, row: usize) -> Value {
    let integer = |value: i64| if (-EXACT..=EXACT).contains(&value) { json!(value) } else { json!(value.to_string()) };
    let value = match values {
        ColumnValues::Int(values) => values.get(row).map(integer),
        ColumnValues::UInt(values) => {
            values.get(row).map(|value| i64::try_from(value).map_or_else(|_| json!(value.to_string()), integer))
        }
        ColumnValues::Float(values) => values.get(row).filter(|value| value.is_finite()).map(|value| json!(value)),
        ColumnValues::Bool(values) => values.get(row).map(Value::Bool),
        ColumnValues::Text { .. } => values.text(row).map(|text| json!(text)),
    };
    value.unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{EVENTS, MOMENTS};
    use crate::analyze::ANALYSES;
    use crate::{Input, Limits, LinkedTrace, read};

    #[test]
    fn every_column_with_a_link_is_one_of_an_analysis() {
        let trace = read([Input::new(b"[]")], Limits::default()).unwrap();
        let linked = Arc::new(LinkedTrace::new(trace));
        let tables = ANALYSES.iter().flat_map(|analysis| analysis.answer(&linked, "{}").unwrap().tables);
        let names: Vec<_> = tables
            .flat_map(|table| (0..table.num_columns()).map(|at| table.column_name(at)).collect::<Vec<_>>())
            .collect();
        let missing: Vec<_> = EVENTS.iter().chain(MOMENTS).filter(|name| !names.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
