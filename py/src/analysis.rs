//! Analyses by their names, and what they answered.

use std::sync::Arc;

use kinetoscope::analyze::{ANALYSES, OptionKind, analysis};
use kinetoscope::table::{Part, Stacked};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::error::raised;
use crate::table::Table;
use crate::trace::Trace;

/// All analyses with their options, as a JSON list.
#[pyfunction]
pub(crate) fn analyses_json() -> String {
    let all = ANALYSES.iter().map(|analysis| {
        let options = analysis.options.iter().map(|option| {
            let (kind, default, choices) = match option.kind {
                OptionKind::Choice(words) => ("choice", json!(words.first()), json!(words)),
                OptionKind::Count(count) => ("count", json!(count), Value::Null),
                OptionKind::Number(number) => ("number", json!(number), Value::Null),
                OptionKind::Flag => ("flag", json!(false), Value::Null),
                OptionKind::Text => ("text", Value::Null, Value::Null),
            };
            json!({"name": option.name, "doc": option.doc, "kind": kind, "default": default, "choices": choices})
        });
        json!({"name": analysis.name, "doc": analysis.doc, "options": options.collect::<Vec<_>>()})
    });
    Value::Array(all.collect()).to_string()
}

/// What an analysis of a trace answers to a request, a JSON object: its tables, why the first has no rows, and how it is
/// drawn, as a JSON object.
#[pyfunction]
pub(crate) fn analyze(
    py: Python<'_>,
    trace: PyRef<'_, Trace>,
    name: &str,
    request: &str,
) -> PyResult<(Vec<Table>, Option<&'static str>, Option<String>)> {
    let linked = trace.linked();
    let answer = py.detach(|| analysis(name)?.answer(&linked, request)).map_err(|error| raised(&error))?;
    let plot = answer.plot.map(|plot| json!(plot).to_string());
    Ok((answer.tables.into_iter().map(Table::new).collect(), answer.reason, plot))
}

/// Tables of one kind, each with its rank and which of its rank's traces it is of, as one.
#[pyfunction]
pub(crate) fn stacked(parts: Vec<(Option<i64>, i64, PyRef<'_, Table>)>) -> PyResult<Table> {
    let part =
        |(rank, window, table): (Option<i64>, i64, PyRef<'_, Table>)| Part { rank, window, rows_of: table.rows_of() };
    let stacked = Stacked::new(parts.into_iter().map(part).collect());
    let stacked = stacked.ok_or_else(|| PyValueError::new_err("expected at least one table, found none"))?;
    Ok(Table::new(Arc::new(stacked)))
}
