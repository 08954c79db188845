//! Reads from paths, bytes and open Python files.

use std::fs::File;
use std::io::{self, Cursor, Read as _};
use std::path::Path;
use std::sync::Arc;

use kinetoscope::read::{self, Recording, for_each_member, is_archive, read_nsight};
use kinetoscope::{Container, ErrorKind, Input, Limits, sniff};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};

use crate::error::{os_error, raised};
use crate::interrupt::interruptible;
use crate::reading::{Reading, Teller, Watch, Watched};
use crate::tables::Tables;
use crate::trace::Trace;

/// More bytes than these are read as a stream, which copies them but can be interrupted.
const LARGE: usize = 1 << 28;
/// More bytes than any signature has.
const SIGNATURE_BYTES: u64 = 32;
/// Fewer events are linked before anyone could press Ctrl-C.
const WORTH_A_THREAD: usize = 10_000;
/// Bytes per read of a Python file.
const CHUNK: usize = 1 << 20;

/// A name, and the content; where that is none, the file at the path that the name is.
#[derive(FromPyObject)]
pub(crate) struct Source(Option<String>, Option<Content>);

#[derive(FromPyObject)]
enum Content {
    Bytes(PyBackedBytes),
    File(Py<PyAny>),
}

/// Reads the files of one recording, each a name and its content: a Kineto trace, an Execution
/// Trace, or both; or one file of another sort alone.
#[pyfunction(name = "read")]
#[pyo3(signature = (sources, *, max_bytes = None, max_threads = 1, include_environment = false, reading = None))]
pub(crate) fn read_files(
    py: Python<'_>,
    sources: Vec<Source>,
    max_bytes: Option<u64>,
    max_threads: usize,
    include_environment: bool,
    reading: Option<Py<Reading>>,
) -> PyResult<Bound<'_, PyAny>> {
    let watch = Watch::new(reading.as_ref());
    let limits = Limits { include_environment, ..limits(max_bytes, max_threads) };
    match py.detach(|| read_sources(&sources, limits, &watch))? {
        Read::Trace(trace) if trace.events.len() < WORTH_A_THREAD => Trace::new(*trace, 1).into_bound_py_any(py),
        Read::Trace(trace) => interruptible(py, move || Trace::new(*trace, limits.max_threads))?.into_bound_py_any(py),
        Read::Tables(tables) => tables.into_bound_py_any(py),
    }
}

/// The result of a read for Python.
enum Read {
    Trace(Box<kinetoscope::Trace>),
    Tables(Tables),
}

fn read_sources(sources: &[Source], limits: Limits, watch: &Arc<Watch>) -> PyResult<Read> {
    let trace = |trace| Recording::Trace(Box::new(trace));
    let found = if let [source] = sources {
        match source.database()? {
            Some(path) => read_nsight(Path::new(path), Some(path), limits, Some(tell(watch))).map(trace),
            None => kinetoscope::read_file(source.open(watch)?, limits),
        }
    } else {
        let inputs = sources.iter().map(|source| source.open(watch)).collect::<PyResult<Vec<_>>>()?;
        kinetoscope::read(inputs, limits).map(trace)
    };
    watch.check()?;
    match found.map_err(|error| raised(&error))? {
        Recording::Trace(trace) => Ok(Read::Trace(trace)),
        Recording::Chakra(chakra) => Ok(Read::Tables(chakra.into())),
        Recording::MemorySnapshot(snapshot) => Ok(Read::Tables((*snapshot).into())),
        Recording::FlightRecorder(recorder) => Ok(Read::Tables((*recorder).into())),
        Recording::MemoryTimeline(timeline) => Ok(Read::Tables(timeline.into())),
    }
}

/// Calls `each` with the name and the bytes of every file in an archive; false when the file is no
/// archive.
#[pyfunction(name = "members")]
#[pyo3(signature = (source, each, *, max_bytes = None, reading = None))]
pub(crate) fn archive_members(
    py: Python<'_>,
    source: Source,
    each: Py<PyAny>,
    max_bytes: Option<u64>,
    reading: Option<Py<Reading>>,
) -> PyResult<bool> {
    let watch = Watch::new(reading.as_ref());
    py.detach(|| {
        let found = for_each_member(source.open(&watch)?, limits(max_bytes, 1), |member| {
            let call = |py: Python<'_>| each.call1(py, (member.name, PyBytes::new(py, &member.bytes)));
            Python::attach(call).map(drop).map_err(|error| {
                let source = watch.stopped(error);
                ErrorKind::Unreadable { source }.into()
            })
        });
        watch.check()?;
        found.map_err(|error| raised(&error))
    })
}

/// Whether a file that starts with these bytes is an archive.
#[pyfunction(name = "is_archive")]
pub(crate) fn is_an_archive(head: &[u8]) -> bool {
    is_archive(head)
}

fn limits(max_bytes: Option<u64>, max_threads: usize) -> Limits {
    Limits { max_bytes: max_bytes.unwrap_or(Limits::default().max_bytes), max_threads, ..Limits::default() }
}

/// Reports read bytes to a watch.
fn tell(watch: &Arc<Watch>) -> read::ReadProgress<'static> {
    let mut teller = Teller::new(watch);
    Box::new(move |num_new| teller.tell(num_new))
}

impl Source {
    fn open(&self, watch: &Arc<Watch>) -> PyResult<Input<'_>> {
        let Self(name, content) = self;
        let input = match content {
            None => {
                let path = name.as_deref().ok_or_else(|| {
                    PyTypeError::new_err(
                        "expected a path, bytes or a binary file \
                     object",
                    )
                })?;
                let file = File::open(path).map_err(|error| os_error(&error, path))?;
                Input::stream(Watched::new(file, watch))
            }
            Some(Content::Bytes(bytes)) if bytes.len() < LARGE && !watch.is_watched() => Input::new(bytes),
            Some(Content::Bytes(bytes)) => Input::stream(Watched::new(&bytes[..], watch)),
            Some(Content::File(file)) => Input::stream(Watched::new(PythonFile::new(file, watch), watch)),
        };
        Ok(Input { name: name.as_deref(), watch: Some(tell(watch)), ..input })
    }

    /// The path of a file that is a database: those are read in place.
    fn database(&self) -> PyResult<Option<&str>> {
        let Self(Some(path), None) = self else { return Ok(None) };
        let mut head = Vec::new();
        let file = File::open(path).map_err(|error| os_error(&error, path))?;
        file.take(SIGNATURE_BYTES).read_to_end(&mut head).map_err(|error| os_error(&error, path))?;
        Ok((sniff(&head) == Container::Sqlite).then_some(path))
    }
}

/// A file that Python has open in binary mode.
struct PythonFile<'a> {
    file: &'a Py<PyAny>,
    watch: Arc<Watch>,
    chunk: Cursor<Vec<u8>>,
}

impl<'a> PythonFile<'a> {
    fn new(file: &'a Py<PyAny>, watch: &Arc<Watch>) -> Self {
        Self { file, watch: Arc::clone(watch), chunk: Cursor::default() }
    }

    fn next_chunk(&self) -> PyResult<Vec<u8>> {
        Python::attach(|py| {
            let chunk = self.file.bind(py).call_method1("read", (CHUNK,))?;
            if chunk.is_instance_of::<PyString>() {
                return Err(PyTypeError::new_err(
                    "expected a file opened in binary mode, found one in text mode (open \
                     it with mode \"rb\")",
                ));
            }
            Ok(chunk.extract::<PyBackedBytes>()?.to_vec())
        })
    }
}

impl io::Read for PythonFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunk.position() == self.chunk.get_ref().len() as u64 {
            self.chunk = Cursor::new(self.next_chunk().map_err(|error| self.watch.stopped(error))?);
        }
        self.chunk.read(buffer)
    }
}
