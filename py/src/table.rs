//! Exposes a table as an Arrow stream.

use std::sync::Arc;

use kinetoscope::table::{ColumnValues, PartKey, StackedTable, TablePart, TableRows, json_lines};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::arrow::{self, Batches};
use crate::interrupt::interruptible;
use crate::memory::detached;

/// Fewer rows are there before anyone could press Ctrl-C.
const WORTH_A_THREAD: usize = 10_000;

/// Some columns of a table. The public class of the same name wraps it.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct Table {
    rows_of: Arc<dyn TableRows>,
    /// Places of the columns.
    columns: Vec<usize>,
}

impl Table {
    pub(crate) fn new(rows_of: Arc<dyn TableRows>) -> Self {
        let columns = (0..rows_of.num_columns()).collect();
        Self { rows_of, columns }
    }

    pub(crate) fn rows_of(&self) -> Arc<dyn TableRows> {
        Arc::clone(&self.rows_of)
    }
}

/// The table of that name.
pub(crate) fn find(tables: &[Arc<dyn TableRows>], name: &str) -> PyResult<Arc<dyn TableRows>> {
    let found = tables.iter().find(|table| table.name() == name);
    found.map(Arc::clone).ok_or_else(|| {
        let names: Vec<_> = tables.iter().map(|table| table.name()).collect();
        PyKeyError::new_err(format!("expected a table of {}, found {name}", names.join(", ")))
    })
}

#[pymethods]
impl Table {
    /// The name.
    #[getter]
    fn name(&self) -> &'static str {
        self.rows_of.name()
    }

    /// Names of its columns.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.columns.iter().map(|column| self.rows_of.column_name(*column)).collect()
    }

    fn __len__(&self) -> usize {
        self.rows_of.num_rows()
    }

    /// The rows as an Arrow C stream. A schema that is asked for is not cast to, as the interface
    /// allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        if self.rows_of.num_rows() >= WORTH_A_THREAD {
            // Columns compute all rows at their first use, and Arrow does not look for Ctrl-C.
            let (rows_of, columns) = (Arc::clone(&self.rows_of), self.columns.clone());
            interruptible(py, move || columns.iter().for_each(|column| drop(rows_of.values(*column, 0..1))))?;
        }
        let batches = Batches::new(Arc::clone(&self.rows_of), self.columns.clone());
        PyCapsule::new_with_value(py, arrow::stream(batches), c"arrow_array_stream")
    }

    /// The types of the columns as an Arrow C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = arrow::ffi_schema(&*self.rows_of, &self.columns);
        let schema = schema.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The same rows with only these columns, in this order.
    fn select(&self, columns: Vec<String>) -> PyResult<Self> {
        let find = |name: &String| {
            let found = self.columns.iter().find(|column| self.rows_of.column_name(**column) == name);
            found.copied().ok_or_else(|| {
                PyKeyError::new_err(format!("expected a column of {}, found {name}", self.columns().join(", ")))
            })
        };
        let columns = columns.iter().map(find).collect::<PyResult<_>>()?;
        Ok(Self { rows_of: Arc::clone(&self.rows_of), columns })
    }

    /// Rows `start` to `stop` as JSON lines; `before` are members that every object starts with.
    fn json_lines(&self, py: Python<'_>, start: usize, stop: usize, before: &str) -> PyResult<String> {
        let stop = stop.min(self.rows_of.num_rows());
        let mut out = String::new();
        detached(py, || json_lines(&*self.rows_of, &self.columns, start.min(stop)..stop, before, &mut out))?;
        Ok(out)
    }

    /// The values of rows `start` to `stop`, a tuple a row.
    fn rows<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let stop = stop.min(self.rows_of.num_rows());
        let start = start.min(stop);
        let (rows_of, columns) = (Arc::clone(&self.rows_of), self.columns.clone());
        let values = move || columns.iter().map(|column| rows_of.values(*column, start..stop)).collect();
        // Lazy columns take time on first use.
        let values: Vec<_> =
            if self.rows_of.num_rows() < WORTH_A_THREAD { detached(py, values)? } else { interruptible(py, values)? };
        (0..stop - start).map(|row| PyTuple::new(py, cells(py, &values, row)?)).collect()
    }
}

/// Tables of one name as one: each with the rank that it is of, and which of the rank's it is. An
/// error without any.
#[pyfunction]
pub(crate) fn stacked(parts: Vec<(Option<i64>, i64, PyRef<'_, Table>)>) -> PyResult<Table> {
    let part = |(rank, window, table): (_, _, PyRef<'_, Table>)| TablePart {
        key: PartKey::Rank { rank, window },
        rows_of: table.rows_of(),
    };
    let parts = parts.into_iter().map(part);
    let stacked = StackedTable::new(parts.collect());
    let stacked = stacked.ok_or_else(|| PyRuntimeError::new_err("expected tables of one name, found none"))?;
    Ok(Table::new(Arc::new(stacked)))
}

fn cells<'py>(py: Python<'py>, columns: &[ColumnValues], row: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    columns.iter().map(|values| cell(py, values, row)).collect()
}

fn cell<'py>(py: Python<'py>, values: &ColumnValues, row: usize) -> PyResult<Bound<'py, PyAny>> {
    match values {
        ColumnValues::Int(values) => values.get(row).into_bound_py_any(py),
        ColumnValues::UInt(values) => values.get(row).into_bound_py_any(py),
        ColumnValues::Float(values) => values.get(row).into_bound_py_any(py),
        ColumnValues::Bool(values) => values.get(row).into_bound_py_any(py),
        ColumnValues::Text { bytes, ends, valid } => {
            let start = row.checked_sub(1).map_or(0, |before| ends[before]);
            valid[row].then(|| &bytes[start..ends[row]]).into_bound_py_any(py)
        }
    }
}
