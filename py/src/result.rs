//! Passes the result of an analysis to Python.

use std::borrow::Cow;

use kinetoscope::analyze::AnalysisResult;
use pyo3::prelude::*;

use crate::chart::Plot;
use crate::error::raised;
use crate::table::Table;

/// Tables of an answer, why the first has no rows, and how it is drawn.
pub(crate) type Answered = (Vec<Table>, Option<String>, Option<Plot>);

/// An answer as Python takes it.
pub(crate) fn answered(answer: Result<AnalysisResult, kinetoscope::Error>) -> PyResult<Answered> {
    let answer = answer.map_err(|error| raised(&error))?;
    let drawn = answer.drawn.or_else(|| answer.tables.first().map(|table| table.name()));
    let plot = answer.plot.zip(drawn).map(|(plot, table)| Plot::new(plot, table));
    Ok((answer.tables.into_iter().map(Table::new).collect(), answer.reason.map(Cow::into_owned), plot))
}
