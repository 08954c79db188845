//! Reads from paths, bytes and open Python files.

use std::fs::File;
use std::io::{self, Cursor, Read as _};
use std::sync::Arc;

use kinetoscope::read::{self, ArchiveSource, InputSource, ReadAt, Recording, for_each_member, is_archive};
use kinetoscope::{Container, ErrorKind, Input, Limits, sniff};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};

use crate::error::{os_error, raised};
use crate::interrupt::interruptible;
use crate::memory::detached;
use crate::reading::{Reading, Teller, Watch, Watched};
use crate::tables::Tables;
use crate::trace::Trace;

/// More bytes than these are read as a stream, which copies them but can be interrupted.
const LARGE: usize = 1 << 28;
/// Bytes that hold every signature: that of tar is at 257.
const SIGNATURE_BYTES: u64 = 512;
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
    Member(Py<ArchiveMember>),
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
    match detached(py, || read_sources(&sources, limits, &watch))?? {
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
            Some(path) => {
                let file = File::open(path).map_err(|error| os_error(&error, path))?;
                read::read_database(file, Some(path), limits, Some(tell(watch))).map(trace)
            }
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

/// Calls `each` with every file in an archive; false when the file is no archive.
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
    detached(py, || {
        let label = source.0.as_deref().unwrap_or("archive");
        let found = for_each_member(source.archive(&watch)?, label, limits(max_bytes, 1), |member| {
            Python::attach(|py| each.call1(py, (ArchiveMember(member),))).map(drop).map_err(|error| {
                let source = watch.stopped(error);
                ErrorKind::Unreadable { source }.into()
            })
        });
        watch.check()?;
        found.map_err(|error| raised(&error))
    })?
}

/// A file in an archive.
#[pyclass(frozen, module = "kinetoscope._native")]
pub(crate) struct ArchiveMember(read::ArchiveMember);

#[pymethods]
impl ArchiveMember {
    /// Its path in the archive.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Archive and path, for messages.
    #[getter]
    fn label(&self) -> &str {
        &self.0.label
    }

    /// Its size in bytes, as the archive states it.
    #[getter]
    fn size(&self) -> u64 {
        self.0.size
    }

    /// Its format in words.
    #[getter]
    fn format(&self) -> &'static str {
        self.0.container.words()
    }

    /// Whether it is an archive itself.
    #[getter]
    fn is_archive(&self) -> bool {
        self.0.is_archive
    }

    /// Whether it may be a trace.
    #[getter]
    fn may_be_recording(&self) -> bool {
        self.0.container.may_be_recording()
    }

    /// All of its bytes, as they are.
    fn bytes(&self, py: Python<'_>) -> PyResult<Py<PyBytes>> {
        let read = || {
            let mut bytes = Vec::new();
            self.0.bytes().map_err(|error| raised(&error))?.read_to_end(&mut bytes)?;
            Ok::<_, PyErr>(bytes)
        };
        Ok(PyBytes::new(py, &detached(py, read)??).unbind())
    }

    /// Its first bytes, as they are.
    fn head(&self, py: Python<'_>, len: u64) -> PyResult<Py<PyBytes>> {
        let head = detached(py, || self.0.head(len))?.map_err(|error| raised(&error))?;
        Ok(PyBytes::new(py, &head).unbind())
    }
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
            Some(Content::Member(member)) => {
                let member = &member.get().0;
                let open = || member.text(Watched::new(member.bytes()?, watch));
                Input::stream(open().map_err(|error| raised(&error))?)
            }
            Some(Content::Bytes(bytes)) if bytes.len() < LARGE && !watch.is_watched() => Input::new(bytes),
            Some(Content::Bytes(bytes)) => Input::stream(Watched::new(&bytes[..], watch)),
            Some(Content::File(file)) => Input::stream(Watched::new(PythonFile::new(file, watch), watch)),
        };
        Ok(Input { name: name.as_deref(), watch: Some(tell(watch)), ..input })
    }

    /// An archive whose members lie in it uncompressed by others is read in place. Other streams
    /// are watched.
    fn archive(&self, watch: &Arc<Watch>) -> PyResult<ArchiveSource<'_>> {
        let is_in_place = |head: &[u8]| matches!(sniff(head), Container::Tar | Container::Zip);
        match self {
            Self(Some(path), None) if is_in_place(&head_of_file(path)?) => {
                let file = File::open(path).map_err(|error| os_error(&error, path))?;
                Ok(ArchiveSource::InPlace(Arc::new(SharedFile(file))))
            }
            Self(_, Some(Content::Bytes(bytes))) if is_in_place(bytes) => {
                Ok(ArchiveSource::InPlace(Arc::new(Python::attach(|py| bytes.clone_ref(py)))))
            }
            _ => Ok(match self.open(watch)?.source {
                InputSource::Stream(stream) => ArchiveSource::Stream(stream),
                InputSource::Bytes(bytes) => ArchiveSource::Stream(Box::new(Cursor::new(bytes))),
            }),
        }
    }

    /// The path of a file that is a database: those are read in place.
    fn database(&self) -> PyResult<Option<&str>> {
        let Self(Some(path), None) = self else { return Ok(None) };
        Ok((sniff(&head_of_file(path)?) == Container::Sqlite).then_some(path))
    }
}

/// A file that several threads read.
struct SharedFile(File);

impl ReadAt for SharedFile {
    fn num_bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.0, buffer, offset)
    }
}

/// The first bytes of a file; none of a pipe, which gives them only once.
fn head_of_file(path: &str) -> PyResult<Vec<u8>> {
    let mut head = Vec::new();
    let mut read = || -> io::Result<()> {
        let file = File::open(path)?;
        if file.metadata()?.is_file() {
            file.take(SIGNATURE_BYTES).read_to_end(&mut head)?;
        }
        Ok(())
    };
    read().map_err(|error| os_error(&error, path))?;
    Ok(head)
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
