//! What a file holds when it is no trace: some tables and what the file says about itself.

use std::sync::Arc;

use kinetoscope::chakra::Chakra;
use kinetoscope::table::{
    CHAKRA_TABLES, MEMORY_SNAPSHOT_TABLES, MEMORY_TIMELINE_TABLES, Rows, Table as TableOf, chakra_metadata,
};
use kinetoscope::{MemorySnapshot, MemoryTimeline};
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

impl Tables {
    fn new<S: Send + Sync>(
        sort: &'static str,
        metadata_json: String,
        source: S,
        tables: &'static [&'static TableOf<S>],
    ) -> Self {
        let source = Arc::new(source);
        Self { sort, metadata_json, all: tables.iter().map(|table| table.of(&source)).collect() }
    }
}

impl From<Chakra> for Tables {
    fn from(chakra: Chakra) -> Self {
        Self::new("a Chakra trace", chakra_metadata(&chakra), chakra, CHAKRA_TABLES)
    }
}

impl From<MemorySnapshot> for Tables {
    fn from(mut snapshot: MemorySnapshot) -> Self {
        let metadata = std::mem::take(&mut snapshot.metadata);
        Self::new("a memory snapshot", metadata, snapshot, MEMORY_SNAPSHOT_TABLES)
    }
}

impl From<MemoryTimeline> for Tables {
    fn from(timeline: MemoryTimeline) -> Self {
        Self::new("a memory timeline", String::from("{}"), timeline, MEMORY_TIMELINE_TABLES)
    }
}
