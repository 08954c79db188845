//! Exposes the documentation of tables and columns.

use pyo3::prelude::*;

/// All tables with their columns, as a JSON list.
#[pyfunction]
pub(crate) fn schema_json() -> String {
    kinetoscope::schema::schema_json()
}
