//! Analyses by their names, and what they answered.

use kinetoscope::analyze::{ANALYSES, Answer, OptionKind, RankedTrace, analysis};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::chart::Plot;
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
        json!({"name": analysis.name, "doc": analysis.doc, "kind": analysis.kind(), "options": options.collect::<Vec<_>>()})
    });
    Value::Array(all.collect()).to_string()
}

/// Tables of an answer, why the first has no rows, and how it is drawn.
pub(crate) type Answered = (Vec<Table>, Option<String>, Option<Plot>);

/// Traces, each with its rank.
pub(crate) type Ranked<'py> = Vec<(Option<i64>, PyRef<'py, Trace>)>;

/// What an analysis of a trace answers to a request, a JSON object.
#[pyfunction]
pub(crate) fn analyze(py: Python<'_>, trace: PyRef<'_, Trace>, name: &str, request: &str) -> PyResult<Answered> {
    let linked = trace.linked();
    answered(py.detach(|| analysis(name)?.answer(&linked, request)))
}

/// What it answers about the traces of a job, each with its rank, on as many threads as may be made.
#[pyfunction]
pub(crate) fn analyze_job(
    py: Python<'_>,
    traces: Ranked<'_>,
    name: &str,
    request: &str,
    max_threads: usize,
) -> PyResult<Answered> {
    let traces = linked(traces);
    answered(py.detach(|| analysis(name)?.answer_of_job(&traces, request, max_threads)))
}

/// What differs between traces of the same ranks.
#[pyfunction]
pub(crate) fn diff_of_jobs(
    py: Python<'_>,
    before: Ranked<'_>,
    after: Ranked<'_>,
    request: &str,
    max_threads: usize,
) -> PyResult<Answered> {
    let (before, after) = (linked(before), linked(after));
    answered(py.detach(|| kinetoscope::analyze::diff_jobs(&before, &after, request, max_threads)))
}

/// What differs between two traces.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    before: PyRef<'_, Trace>,
    after: PyRef<'_, Trace>,
    request: &str,
) -> PyResult<Answered> {
    let (before, after) = (before.linked(), after.linked());
    answered(py.detach(|| kinetoscope::analyze::diff(&before, &after, request)))
}

pub(crate) fn linked(traces: Ranked<'_>) -> Vec<RankedTrace> {
    traces.into_iter().map(|(rank, trace)| (rank, trace.linked())).collect()
}

/// An answer as Python takes it.
pub(crate) fn answered(answer: Result<Answer, kinetoscope::Error>) -> PyResult<Answered> {
    let answer = answer.map_err(|error| raised(&error))?;
    let reason = answer.reason.map(str::to_owned);
    Ok(with_reason(answer, reason))
}

/// The same with a reason of its own.
pub(crate) fn with_reason(answer: Answer, reason: Option<String>) -> Answered {
    let drawn = answer.drawn.or_else(|| answer.tables.first().map(|table| table.name()));
    let plot = answer.plot.zip(drawn).map(|(plot, table)| Plot::new(plot, table));
    (answer.tables.into_iter().map(Table::new).collect(), reason, plot)
}
