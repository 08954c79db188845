//! Passes plots to Python, draws tables as pictures, and writes bytes as text for pages.

use kinetoscope::analyze::Plot as PlotOf;
use kinetoscope::view;
use pyo3::prelude::*;

use crate::memory::detached;
use crate::table::Table;

/// How a table of an answer is drawn.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct Plot {
    plot: PlotOf,
    /// The name of the table.
    #[pyo3(get)]
    table: &'static str,
}

impl Plot {
    pub(crate) fn new(plot: PlotOf, table: &'static str) -> Self {
        Self { plot, table }
    }
}

/// A table as an SVG picture: as the plot says, or else as its columns suggest; of no rows, the
/// reason.
#[pyfunction]
#[pyo3(signature = (table, plot = None, reason = None))]
pub(crate) fn chart(
    py: Python<'_>,
    table: PyRef<'_, Table>,
    plot: Option<PyRef<'_, Plot>>,
    reason: Option<&str>,
) -> PyResult<String> {
    let (rows_of, plot) = (table.rows_of(), plot.map(|plot| plot.plot));
    detached(py, || view::chart(&*rows_of, plot, reason))
}

/// Bytes as text for a page.
#[pyfunction]
pub(crate) fn base85(py: Python<'_>, content: &[u8]) -> PyResult<String> {
    detached(py, || kinetoscope::base85::base85(content))
}
