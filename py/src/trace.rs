//! Exposes a linked trace.

use std::sync::Arc;

use kinetoscope::analyze::{KERNEL_SOURCES, SourceFile, kernel_file_names, kernel_sources};
use kinetoscope::analyze::{
    PartRequest, Selection, SelectionRequest, allocator_history, coverage, events_inside, events_within,
};
use kinetoscope::edit::{
    Companion, CompanionAlignment, ExecutionEdit, Redaction, beside, edit, redact, separate_devices, shrink, split,
    trim, with_captures, with_memory,
};
use kinetoscope::link::{CapturedGraphs, MergedRank, MergedRanks, companion_of};
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::replay::write_param_collectives;
use kinetoscope::table::{CAPTURED, TABLES};
use kinetoscope::time::{TimeRange, Ts};
use kinetoscope::view::Session;
use kinetoscope::write::chakra::{chakra_from_collectives, comm_groups};
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::write::et_plus::{EtPlusRules, write_et_plus};
use kinetoscope::write::execution::write_execution;
use kinetoscope::write::perfetto::write_perfetto;
use kinetoscope::{Error, ErrorKind, Limits, LinkedTrace, write_snapshot};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::raised;
use crate::interrupt::interruptible;
use crate::job_groups::{JobPlace, collectives};
use crate::memory::detached;
use crate::table::{Table, find};
use crate::tables::Tables;
use crate::writing::written;

/// A rank of a merged file: its trace, its label, the origin of its number, and the original id of
/// each element, as four-byte integers.
type RankPart<'py> = (Trace, String, &'static str, Bound<'py, PyBytes>);

/// A linked trace. The public class of the same name wraps it.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct Trace {
    linked: Arc<LinkedTrace>,
    session: Arc<Session>,
}

#[pymethods]
impl Trace {
    /// Loads a snapshot.
    #[staticmethod]
    #[pyo3(signature = (snapshot, *, max_threads = 1))]
    fn from_snapshot(py: Python<'_>, snapshot: PyBackedBytes, max_threads: usize) -> PyResult<Self> {
        let limits = Limits { max_threads, ..Limits::default() };
        let load = move || read_snapshot(&snapshot, limits).map(|trace| Self::new(trace, max_threads));
        interruptible(py, load)?.map_err(|error| raised(&error))
    }

    /// Number of events that have a duration.
    #[getter]
    fn num_events(&self) -> usize {
        self.linked.trace.events.len()
    }

    /// The rank, where the file gives one.
    #[getter]
    fn rank(&self) -> Option<i64> {
        self.linked.trace.rank()
    }

    /// The Kineto file's header, then the Execution Trace's, as one JSON object of two.
    #[getter]
    fn metadata_json(&self) -> String {
        self.linked.trace.metadata_json()
    }

    /// How much was linked, as a JSON object.
    #[getter]
    fn coverage_json(&self) -> String {
        serde_json::to_string(&coverage(&self.linked)).unwrap_or_default()
    }

    /// The trace with its nodes linked by names and shapes alone: to that iteration, or to the one
    /// that fits best.
    #[pyo3(signature = (iteration=None))]
    fn relink(&self, py: Python<'_>, iteration: Option<i64>) -> PyResult<Self> {
        let linked = self.linked();
        let linked = interruptible(py, move || LinkedTrace::relink(linked.trace.clone(), iteration))?;
        let linked = linked.map_err(|error| raised(&error))?;
        Ok(Self::of(Arc::new(linked)))
    }

    /// The table of that name.
    fn table(&self, name: &str) -> PyResult<Table> {
        let tables: Vec<_> = TABLES.iter().map(|table| table.of(&self.linked)).collect();
        find(&tables, name).map(Table::new)
    }

    /// Events of which a part is in a range, as a table.
    fn events_within(&self, py: Python<'_>, start_ns: i64, end_ns: i64) -> PyResult<Table> {
        let (linked, range) = (self.linked(), TimeRange { start: Ts(start_ns), end: Ts(end_ns.max(start_ns)) });
        interruptible(py, move || events_within(&linked, range)).map(Table::new)
    }

    /// An event with its children and the device work launched there, as a table; no rows for an
    /// unknown event.
    #[pyo3(signature = (event))]
    fn events_inside(&self, py: Python<'_>, event: Option<u32>) -> PyResult<Table> {
        let linked = self.linked();
        interruptible(py, move || events_inside(&linked, event)).map(Table::new)
    }

    /// The kernels of this trace's graphs, with the calls that captured them in another trace.
    fn captured(&self, py: Python<'_>, capture: &Self) -> PyResult<Table> {
        let (graphs, capture) = (self.linked(), capture.linked());
        let found = interruptible(py, move || CapturedGraphs::new(graphs, capture))?;
        Ok(Table::new(CAPTURED.of(&Arc::new(found))))
    }

    /// The trace with what the traces of the captures know of the kernels of its graphs.
    #[pyo3(signature = (captures, *, max_threads = 1))]
    fn with_captures(&self, py: Python<'_>, captures: Vec<PyRef<'_, Self>>, max_threads: usize) -> PyResult<Self> {
        let (replay, captures) = (self.linked(), captures.iter().map(|one| one.linked()).collect::<Vec<_>>());
        interruptible(py, move || Self::new(with_captures(&replay, &captures), max_threads))
    }

    /// The tool that recorded the trace.
    #[getter]
    fn tool(&self) -> &'static str {
        self.linked.trace.tool()
    }

    /// Whether `PyTorch`'s profiler left its marks.
    #[getter]
    fn is_of_pytorch(&self) -> bool {
        self.linked.trace.is_of_pytorch()
    }

    /// The known tool that recorded the trace, if `PyTorch`'s profiler did not.
    #[getter]
    fn other_tool(&self) -> Option<&'static str> {
        self.linked.trace.other_tool()
    }

    /// This trace with times of the clock of another one, by an alignment in JSON.
    #[pyo3(signature = (main, align, *, max_threads = 1))]
    fn beside(&self, py: Python<'_>, main: &Self, align: &str, max_threads: usize) -> PyResult<Self> {
        let align = serde_json::from_str(align).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let align = CompanionAlignment::of(&align).map_err(|error| raised(&error))?;
        let (main, other) = (main.linked(), self.linked());
        let trace = interruptible(py, move || beside(&main.trace, &other.trace, align))?;
        let trace = trace.map_err(|error| raised(&error))?;
        interruptible(py, move || Self::new(trace, max_threads))
    }

    /// How the trace was placed beside another one: method, offset and spread in ns, and the
    /// annotations that fit it, of all common ones; `None` for a trace that is no companion.
    #[getter]
    fn companion(&self) -> Option<(String, i64, Option<i64>, u64, u64)> {
        let Companion { align, offset_ns, spread_ns, num_matches, num_common, .. } = Companion::of(&self.linked.trace)?;
        Some((align, offset_ns, spread_ns, num_matches, num_common))
    }

    /// The place of the only one of these traces that is of the same process.
    fn process_among(&self, traces: Vec<PyRef<'_, Self>>) -> Option<usize> {
        let traces: Vec<_> = traces.iter().map(|trace| trace.linked()).collect();
        companion_of(&traces, &self.linked.trace)
    }

    /// The trace with what a memory snapshot of the same run knows.
    #[pyo3(signature = (snapshot, *, max_threads = 1))]
    fn with_memory(&self, py: Python<'_>, snapshot: PyRef<'_, Tables>, max_threads: usize) -> PyResult<Self> {
        let (linked, snapshot) = (self.linked(), snapshot.snapshot()?);
        let trace = interruptible(py, move || with_memory(&linked, allocator_history(&snapshot)))?;
        let trace = trace.map_err(|error| raised(&error))?;
        interruptible(py, move || Self::new(trace, max_threads))
    }

    /// The compiled kernels with their nodes and lines, from files given by name and content.
    fn kernel_sources(&self, py: Python<'_>, files: Vec<(String, Vec<u8>)>) -> PyResult<Table> {
        let linked = self.linked();
        let rows = interruptible(py, move || kernel_sources(&linked, &source_files(files)))?;
        Ok(Table::new(KERNEL_SOURCES.of(&Arc::new(rows))))
    }

    /// The trace with files of sources, given by name and content, for costs of generated kernels.
    fn with_sources(&self, py: Python<'_>, files: Vec<(String, Vec<u8>)>) -> PyResult<Self> {
        let linked = self.linked();
        let linked = interruptible(py, move || linked.with_sources(source_files(files)))?;
        Ok(Self::of(Arc::new(linked)))
    }

    /// The names of the source files of compiled kernels, without folders.
    fn kernel_file_names(&self) -> Vec<String> {
        kernel_file_names(&self.linked)
    }

    /// Names of all tables.
    #[staticmethod]
    fn table_names() -> Vec<&'static str> {
        TABLES.iter().map(|table| table.name).collect()
    }

    /// Answers one request (see docs/protocol.md).
    fn query<'py>(&self, py: Python<'py>, request: PyBackedBytes) -> PyResult<Bound<'py, PyBytes>> {
        let session = Arc::clone(&self.session);
        let answer = interruptible(py, move || session.query(&request))?;
        Ok(PyBytes::new(py, &answer))
    }

    /// The trace in the form that travels to a browser.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let linked = self.linked();
        let snapshot = interruptible(py, move || write_snapshot(&linked.trace))?;
        snapshot.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| raised(&error))
    }

    /// Writes Chrome's JSON, in a gzip stream or plain.
    fn write_chrome(&self, py: Python<'_>, path: String, gzip: bool) -> PyResult<()> {
        let trace = &self.linked.trace;
        written(py, &path, gzip, |out| write_chrome(trace, out))
    }

    /// Writes a Perfetto trace, in a gzip stream or plain.
    fn write_perfetto(&self, py: Python<'_>, path: String, gzip: bool) -> PyResult<()> {
        let linked = &self.linked;
        written(py, &path, gzip, |out| write_perfetto(linked, out))
    }

    /// Writes the Execution Trace's JSON, in a gzip stream or plain.
    fn write_execution(&self, py: Python<'_>, path: String, gzip: bool) -> PyResult<()> {
        let trace = &self.linked.trace;
        trace.expect_execution().map_err(|error| raised(&error))?;
        written(py, &path, gzip, |out| write_execution(trace, out))
    }

    /// Writes the Execution Trace with times and device work, in a gzip stream or plain. Returns
    /// the numbers of nodes, linked nodes, added and skipped device events, and nodes with times of
    /// an observed iteration.
    fn write_et_plus(
        &self,
        py: Python<'_>,
        path: String,
        gzip: bool,
        like_chakra: bool,
    ) -> PyResult<(usize, usize, usize, usize, usize)> {
        let linked = &self.linked;
        linked.trace.expect_execution().map_err(|error| raised(&error))?;
        let rules = if like_chakra { EtPlusRules::LikeChakra } else { EtPlusRules::Exact };
        let tally = written(py, &path, gzip, |out| write_et_plus(linked, rules, out))?;
        let devices = (tally.num_device_events, tally.num_left_out);
        Ok((tally.num_nodes, tally.num_linked, devices.0, devices.1, tally.num_observed))
    }

    /// Writes the communications as PARAM replays them; how many operations there are, and how many
    /// were left out: without a name or call, without a size, and failed ones; and how many have no
    /// group. The job tells groups that no file names.
    #[pyo3(signature = (path, job=None))]
    fn write_param_comms(
        &self,
        py: Python<'_>,
        path: String,
        job: Option<JobPlace<'_>>,
    ) -> PyResult<(u64, u64, u64, u64, u64)> {
        let linked = &self.linked;
        let found = collectives(linked, job.as_ref());
        let counts = written(py, &path, false, |out| write_param_collectives(linked, found, out))?;
        let left_out = (counts.num_left_out, counts.num_unsized, counts.num_failed);
        Ok((counts.num_operations, left_out.0, left_out.1, left_out.2, counts.num_groupless))
    }

    /// The graph that simulators read. The job tells groups that no file names.
    #[pyo3(signature = (job=None))]
    fn chakra(&self, py: Python<'_>, job: Option<JobPlace<'_>>) -> PyResult<Tables> {
        let found = collectives(&self.linked, job.as_ref());
        let chakra = detached(py, || chakra_from_collectives(&self.linked, found))?;
        chakra.map(Tables::from).map_err(|error| raised(&error))
    }

    /// The ranks of each process group of a job of `num_ranks`, as a JSON object.
    #[pyo3(signature = (num_ranks=None))]
    fn comm_groups_json(&self, py: Python<'_>, num_ranks: Option<i64>) -> PyResult<String> {
        detached(py, || comm_groups(&self.linked, num_ranks))
    }

    /// The Execution Trace alone, edited.
    fn edit(
        &self,
        py: Python<'_>,
        iteration: Option<i64>,
        subtree: Option<u64>,
        upgrade: bool,
        anonymise: bool,
    ) -> PyResult<Self> {
        let linked = self.linked();
        let edited = interruptible(py, move || {
            let spans = linked.spans();
            edit(&linked.trace, ExecutionEdit { iteration, spans: &spans, subtree, upgrade, anonymise })
        })?;
        edited.map(|trace| Self::new(trace, 1)).map_err(|error| raised(&error))
    }

    /// Trims a trace to a range or an iteration, with all links. Also returns the original id of
    /// each element, as four-byte integers.
    fn trim<'py>(&self, py: Python<'py>, request: &str) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let linked = self.linked();
        let wanted = PartRequest::parse(request).map_err(|error| raised(&error))?;
        let cut = move || {
            let wanted = SelectionRequest::of(PartRequest { is_with_observed: true, ..wanted });
            let range = Selection::of(&linked, &wanted)?.extent().ok_or_else(nothing_asked)?;
            let trimmed = trim(&linked, range);
            Ok((Self::new(trimmed.trace, 1), trimmed.ids))
        };
        let (part, ids) = interruptible(py, cut)?.map_err(|error: Error| raised(&error))?;
        let ids: Vec<u8> = ids.iter().flat_map(|id| id.to_ne_bytes()).collect();
        Ok((part, PyBytes::new(py, &ids)))
    }

    /// The ranks of a merged file, by number; none for the recording of one rank.
    #[pyo3(signature = (*, max_threads = 1))]
    fn split<'py>(&self, py: Python<'py>, max_threads: usize) -> PyResult<Vec<RankPart<'py>>> {
        let linked = self.linked();
        let parts = interruptible(py, move || {
            let merged = MergedRanks::of(&linked);
            let parts = merged.map_or_else(Vec::new, |merged| split(&linked, &merged));
            parts.into_iter().map(|part| (Self::new(part.trace, max_threads), part.rank, part.ids)).collect::<Vec<_>>()
        })?;
        let part = |(trace, rank, ids): (Self, MergedRank, Vec<u32>)| {
            let ids: Vec<u8> = ids.iter().flat_map(|id| id.to_ne_bytes()).collect();
            (trace, rank.label, rank.origin.name(), PyBytes::new(py, &ids))
        };
        Ok(parts.into_iter().map(part).collect())
    }

    /// The trace with iterations that events with names like one of `patterns` mark.
    #[pyo3(signature = (patterns, *, max_threads = 1))]
    fn with_iterations(&self, py: Python<'_>, patterns: Vec<String>, max_threads: usize) -> PyResult<Self> {
        let linked = self.linked();
        let marked = interruptible(py, move || {
            LinkedTrace::with_iterations(linked.trace.clone(), &patterns, max_threads)
                .map(|linked| Self::of(Arc::new(linked)))
        })?;
        marked.map_err(|error| raised(&error))
    }

    /// A merged file as one trace in which no two ranks share the number of a device; `None` if
    /// none does.
    #[pyo3(signature = (*, max_threads = 1))]
    fn with_separate_devices(&self, py: Python<'_>, max_threads: usize) -> PyResult<Option<Self>> {
        let linked = self.linked();
        interruptible(py, move || {
            let merged = MergedRanks::of(&linked)?;
            separate_devices(&linked, &merged).map(|trace| Self::new(trace, max_threads))
        })
    }

    /// The trace with as much left out as it takes for its snapshot to have so many bytes at most.
    fn shrink(&self, py: Python<'_>, max_bytes: usize) -> PyResult<Self> {
        let linked = self.linked();
        let shrunk = interruptible(py, move || {
            shrink(&linked, &mut |trace| write_snapshot(trace).is_ok_and(|bytes| bytes.len() <= max_bytes))
        })?;
        shrunk.map(|trace| Self::new(trace, 1)).map_err(|error| raised(&error))
    }
}

fn nothing_asked() -> Error {
    let [expected, found] = ["a range or an iteration", "neither"].map(String::from);
    ErrorKind::Request { expected, found }.into()
}

/// The traces without private texts, each of which has one pseudonym in all of them. `level` is
/// `names` or `strict`.
#[pyfunction]
pub(crate) fn redacted(
    py: Python<'_>,
    traces: Vec<PyRef<'_, Trace>>,
    keep_modules: bool,
    level: &str,
) -> PyResult<Vec<Trace>> {
    let linked: Vec<_> = traces.iter().map(|trace| trace.linked()).collect();
    let level = Redaction::of_level(level).map_err(|error| raised(&error))?;
    let redaction = Redaction { keeps_modules: keep_modules, ..level };
    interruptible(py, move || {
        let traces = redact(linked.iter().map(|linked| &linked.trace), redaction);
        traces.into_iter().map(|trace| Trace::new(trace, 1)).collect()
    })
}

/// The iteration whose times written Execution Traces take, of all ranks; None for those of the
/// links.
#[pyfunction]
pub(crate) fn clean_iteration(py: Python<'_>, traces: Vec<PyRef<'_, Trace>>) -> PyResult<Option<i64>> {
    let linked: Vec<_> = traces.iter().map(|trace| trace.linked()).collect();
    interruptible(py, move || kinetoscope::write::clean_iteration(linked.iter().map(AsRef::as_ref)))
}

fn source_files(files: Vec<(String, Vec<u8>)>) -> Vec<SourceFile> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    files.into_iter().map(|(name, bytes)| SourceFile { name, text: text(bytes) }).collect()
}

impl Trace {
    fn of(linked: Arc<LinkedTrace>) -> Self {
        Self { session: Arc::new(Session::new(Arc::clone(&linked))), linked }
    }

    pub(crate) fn new(trace: kinetoscope::Trace, max_threads: usize) -> Self {
        Self::of(Arc::new(LinkedTrace::with_threads(trace, max_threads)))
    }

    pub(crate) fn linked(&self) -> Arc<LinkedTrace> {
        Arc::clone(&self.linked)
    }
}
