//! Analyses, as a screen asks for them: tables whose cells are JSON, for a few rows to show.

use std::sync::Arc;

use serde_json::{Value, json};

use super::part::View;
use super::request::AnalyzeRequest;
use super::response::Response;
use super::screen::Screen;
use crate::analyze::{Options, Wanted, analysis};
use crate::error::Error;
use crate::table::{Rows, Values};

/// How many rows of a table are sent when nobody says.
const LIMIT: usize = 100;

pub(super) fn answer(screen: &Screen<'_>, request: &AnalyzeRequest) -> Result<Response, Error> {
    let analysis = analysis(&request.name)?;
    let wanted = |part: View<'_>| Wanted {
        start_ns: request.start.map(|start| part.time(start.floor()).0),
        end_ns: request.end.map(|end| part.time(end.ceil()).0),
        iteration: request.iteration,
        stream: request.stream,
        is_launched_inside: request.launched_inside,
        is_whole: request.whole,
    };
    let options = Options::new(analysis.options, request.options.clone())?;
    let answer = match (request.part, &screen.parts[..]) {
        (None, parts) if parts.len() > 1 => {
            let traces: Vec<_> = parts.iter().map(|part| (part.rank, Arc::clone(&part.linked))).collect();
            analysis.answer_about_each(&traces, &|at| wanted(parts[at]), &options, 1)?
        }
        _ => {
            let part = screen.part(request.part)?;
            analysis.answer_about(&part.linked, &wanted(part), &options)?
        }
    };
    let limit = request.limit.unwrap_or(LIMIT);
    let tables: Vec<_> = answer.tables.iter().map(|table| table_json(&**table, limit)).collect();
    let drawn = answer.drawn.or_else(|| answer.tables.first().map(|table| table.name()));
    let data = json!({
        "name": analysis.name,
        "doc": analysis.doc,
        "reason": answer.reason,
        "plot": answer.plot,
        "drawn": drawn,
        "tables": tables,
    });
    Ok(Response::of("analyze", &data))
}

fn table_json(table: &dyn Rows, limit: usize) -> Value {
    let num_rows = table.num_rows();
    let shown = 0..num_rows.min(limit);
    let columns = 0..table.num_columns();
    let values: Vec<_> = columns.clone().map(|column| table.values(column, shown.clone())).collect();
    let rows: Vec<Vec<Value>> = shown.map(|row| values.iter().map(|values| cell(values, row)).collect()).collect();
    let column = |at: usize| json!({"name": table.column_name(at), "unit": table.column_unit(at)});
    let columns: Vec<_> = columns.map(column).collect();
    json!({"name": table.name(), "doc": table.doc(), "num_rows": num_rows, "columns": columns, "rows": rows})
}

/// The largest integer up to which a script's numbers are exact.
const EXACT: i64 = 1 << 53;

fn cell(values: &Values, row: usize) -> Value {
    let integer = |value: i64| if (-EXACT..=EXACT).contains(&value) { json!(value) } else { json!(value.to_string()) };
    let value = match values {
        Values::Int(values) => values[row].map(integer),
        Values::UInt(values) => {
            values[row].map(|value| i64::try_from(value).map_or_else(|_| json!(value.to_string()), integer))
        }
        Values::Float(values) => values[row].filter(|value| value.is_finite()).map(|value| json!(value)),
        Values::Bool(values) => values[row].map(Value::Bool),
        Values::Text { bytes, ends, valid } => valid[row].then(|| {
            let start = row.checked_sub(1).map_or(0, |before| ends[before]);
            json!(&bytes[start..ends[row]])
        }),
    };
    value.unwrap_or(Value::Null)
}
