//! Exposes recordings other than traces: tables and metadata.

use std::sync::Arc;

use kinetoscope::analyze::{
    AnalysisResult, FlightJob, flight_job_tables, memory_growth, memory_of_snapshot, memory_of_timeline, memory_state,
};
use kinetoscope::chakra::Chakra;
use kinetoscope::table::{
    CHAKRA_TABLES, FLIGHT_TABLES, MEMORY_SNAPSHOT_TABLES, MEMORY_TIMELINE_TABLES, Table as TableOf, TableRows,
    chakra_metadata,
};
use kinetoscope::view::{DigestForm, MemorySession, digest_of_growth, digest_of_snapshot};
use kinetoscope::write::chakra::write_chakra;
use kinetoscope::{FlightRecorder, MemorySnapshot, MemoryTimeline};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{UnsupportedTraceError, raised};
use crate::memory::detached;
use crate::result::{Answered, answered};
use crate::table::{Table, find};
use crate::writing::written;

/// Tables with metadata. A public class per kind wraps it.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct Tables {
    sort: &'static str,
    metadata_json: String,
    all: Vec<Arc<dyn TableRows>>,
    /// The content for writing the file again.
    chakra: Option<Arc<Chakra>>,
    /// The memory analysis.
    memory: Option<Box<AnswerMemory>>,
    /// The content for a comparison.
    snapshot: Option<Arc<MemorySnapshot>>,
    /// The content of one rank, for a comparison.
    recorder: Option<Arc<FlightRecorder>>,
    /// Dumps of several ranks.
    flight_job: Option<Arc<FlightJob>>,
}

type AnswerMemory = dyn Fn() -> AnalysisResult + Send + Sync;

#[pymethods]
impl Tables {
    /// Its kind in words.
    #[getter]
    fn sort(&self) -> &'static str {
        self.sort
    }

    /// The file's metadata as a JSON object.
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

    /// The memory analysis of a memory snapshot or a memory timeline.
    fn memory(&self, py: Python<'_>) -> PyResult<Answered> {
        let expected = || {
            UnsupportedTraceError::new_err(format!(
                "expected a memory snapshot or a memory timeline, \
             found {}",
                self.sort
            ))
        };
        let memory = self.memory.as_ref().ok_or_else(expected)?;
        answered(detached(py, || Ok(memory()))?)
    }

    /// Compares the memory of two snapshots: of this one before, and of another one after.
    fn memory_growth(&self, py: Python<'_>, after: PyRef<'_, Self>) -> PyResult<Answered> {
        let (before, after) = (self.snapshot()?, after.snapshot()?);
        answered(detached(py, || Ok(memory_growth(&before, &after)))?)
    }

    /// The allocator's memory at a moment.
    fn memory_state(&self, py: Python<'_>, at: &str) -> PyResult<Answered> {
        let snapshot = self.snapshot()?;
        answered(detached(py, || memory_state(&snapshot, at))?)
    }

    /// The body of a page about the memory snapshot.
    fn memory_page(&self, py: Python<'_>, title: &str) -> PyResult<String> {
        let snapshot = self.snapshot()?;
        detached(py, || MemorySession::new(snapshot).page(title))
    }

    /// The digest of a memory snapshot, or of its change to another one.
    #[pyo3(signature = (form, max_chars, after=None))]
    fn memory_digest(
        &self,
        py: Python<'_>,
        form: &str,
        max_chars: usize,
        after: Option<PyRef<'_, Self>>,
    ) -> PyResult<String> {
        let snapshot = self.snapshot()?;
        let after = after.map(|after| after.snapshot()).transpose()?;
        let form = DigestForm::named(form)
            .ok_or_else(|| PyValueError::new_err(format!("expected markdown or json as form, found {form}")))?;
        let digest = detached(py, || match &after {
            Some(after) => digest_of_growth([&snapshot, after], form, max_chars),
            None => digest_of_snapshot(&snapshot, form, max_chars),
        })?;
        digest.map_err(|error| raised(&error))
    }

    /// Writes a Chakra trace, in a gzip stream or plain.
    fn write_chakra(&self, py: Python<'_>, path: String, gzip: bool) -> PyResult<()> {
        let chakra = self
            .chakra
            .as_ref()
            .ok_or_else(|| UnsupportedTraceError::new_err(format!("expected a Chakra trace, found {}", self.sort)))?;
        written(py, &path, gzip, |out| write_chakra(chakra, out))
    }
}

impl Tables {
    pub(crate) fn snapshot(&self) -> PyResult<Arc<MemorySnapshot>> {
        let expected = || format!("expected a memory snapshot, found {}", self.sort);
        self.snapshot.clone().ok_or_else(|| UnsupportedTraceError::new_err(expected()))
    }

    pub(crate) fn new<S: Send + Sync>(
        sort: &'static str,
        metadata_json: String,
        source: &Arc<S>,
        tables: &'static [&'static TableOf<S>],
    ) -> Self {
        Self {
            sort,
            metadata_json,
            all: tables.iter().map(|table| table.of(source)).collect(),
            chakra: None,
            memory: None,
            snapshot: None,
            recorder: None,
            flight_job: None,
        }
    }
}

impl Tables {
    /// The flight recorder of one rank.
    pub(crate) fn recorder(&self) -> PyResult<Arc<FlightRecorder>> {
        let expected = || format!("expected a flight recorder, found {}", self.sort);
        self.recorder.clone().ok_or_else(|| UnsupportedTraceError::new_err(expected()))
    }

    /// The flight recorders of several ranks.
    pub(crate) fn flight_job(&self) -> PyResult<Arc<FlightJob>> {
        let expected = || format!("expected flight recorders, found {}", self.sort);
        self.flight_job.clone().ok_or_else(|| UnsupportedTraceError::new_err(expected()))
    }
}

impl From<FlightJob> for Tables {
    fn from(job: FlightJob) -> Self {
        let job = Arc::new(job);
        let tables = Self::new("flight recorders", job.metadata_json(), &job, &[]);
        Self { all: flight_job_tables(&job), flight_job: Some(job), ..tables }
    }
}

impl From<Chakra> for Tables {
    fn from(chakra: Chakra) -> Self {
        let chakra = Arc::new(chakra);
        let tables = Self::new("a Chakra trace", chakra_metadata(&chakra), &chakra, CHAKRA_TABLES);
        Self { chakra: Some(chakra), ..tables }
    }
}

impl From<MemorySnapshot> for Tables {
    fn from(mut snapshot: MemorySnapshot) -> Self {
        let metadata = std::mem::take(&mut snapshot.metadata);
        let snapshot = Arc::new(snapshot);
        let tables = Self::new("a memory snapshot", metadata, &snapshot, MEMORY_SNAPSHOT_TABLES);
        let content = Arc::clone(&snapshot);
        let memory: Box<AnswerMemory> = Box::new(move || memory_of_snapshot(&content));
        Self { memory: Some(memory), snapshot: Some(snapshot), ..tables }
    }
}

impl From<FlightRecorder> for Tables {
    fn from(mut recorder: FlightRecorder) -> Self {
        let metadata = std::mem::take(&mut recorder.metadata);
        let recorder = Arc::new(recorder);
        let tables = Self::new("a flight recorder", metadata, &recorder, FLIGHT_TABLES);
        Self { recorder: Some(recorder), ..tables }
    }
}

impl From<MemoryTimeline> for Tables {
    fn from(timeline: MemoryTimeline) -> Self {
        let timeline = Arc::new(timeline);
        let tables = Self::new("a memory timeline", String::from("{}"), &timeline, MEMORY_TIMELINE_TABLES);
        Self { memory: Some(Box::new(move || memory_of_timeline(&timeline))), ..tables }
    }
}
