//! What a file holds when it is no trace: some tables and what the file says about itself.

use std::sync::Arc;

use kinetoscope::chakra::Chakra;
use kinetoscope::table::{CHAKRA_TABLES, Rows, chakra_metadata};
use pyo3::prelude::*;

use crate::table::{Table, find};

/// Tables, and what the file says about itself. A public class of its sort wraps it.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct Tables {
    sort: &'static str,
    metadata_json: String,
    all: Vec<Arc<dyn Rows>>,
}

#[pymethods]
impl Tables {
    /// What it is, in words.
    #[getter]
    fn sort(&self) -> &'static str {
        self.sort
    }

    /// What the file says about itself, as a JSON object.
    #[getter]
    fn metadata_json(&self) -> &str {
        &self.metadata_json
    }

    /// The table of that name.
    fn table(&self, name: &str) -> PyResult<Table> {
        find(&self.all, name).map(Table::new)
    }

    /// Names of all tables.
    fn table_names(&self) -> Vec<&'static str> {
        self.all.iter().map(|table| table.name()).collect()
    }
}

impl From<Chakra> for Tables {
    fn from(chakra: Chakra) -> Self {
        let metadata_json = chakra_metadata(&chakra);
        let source = Arc::new(chakra);
        let all = CHAKRA_TABLES.iter().map(|table| table.of(&source)).collect();
        Self { sort: "a Chakra trace", metadata_json, all }
    }
}
