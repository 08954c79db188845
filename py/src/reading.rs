//! The progress of a read, shared between threads.

use std::io::{Error, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Between two looks for Ctrl-C: each waits for the interpreter's lock, which other threads may be
/// holding.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

const INPUT_OUTPUT_ERROR: i32 = 5;

/// How far a read is, and whether it is to end.
#[pyclass(frozen, module = "kinetoscope._native")]
#[derive(Default)]
pub(crate) struct Reading {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    num_bytes: AtomicU64,
    is_cancelled: AtomicBool,
}

#[pymethods]
impl Reading {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Bytes read so far, of all files, as they lie on disk.
    #[getter]
    fn num_bytes(&self) -> u64 {
        self.state.num_bytes.load(Ordering::Relaxed)
    }

    /// Ends every read that this object was given to, and each that it will be given to: they raise
    /// `KeyboardInterrupt`.
    fn cancel(&self) {
        self.state.is_cancelled.store(true, Ordering::Relaxed);
    }
}

/// The shared state of one read: it counts bytes, and keeps the Python exception that ends it.
#[derive(Default)]
pub(crate) struct Watch {
    state: Option<Arc<State>>,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    pub(crate) fn new(reading: Option<&Py<Reading>>) -> Arc<Self> {
        Arc::new(Self { state: reading.map(|reading| Arc::clone(&reading.get().state)), ..Self::default() })
    }

    /// Whether another thread may wish the read to end.
    pub(crate) fn is_watched(&self) -> bool {
        self.state.is_some()
    }

    /// The error of a stream that ends for a Python exception, which is kept here. It is a system
    /// error, at which the core gives up; other errors would count as a damaged stream.
    pub(crate) fn stopped(&self, error: PyErr) -> Error {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        Error::from_raw_os_error(INPUT_OUTPUT_ERROR)
    }

    /// The exception that ended a stream, if one did.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Counts bytes; an error when the read is to end.
    fn advance(&self, num_new: u64) -> Result<(), Error> {
        let Some(state) = &self.state else { return Ok(()) };
        state.num_bytes.fetch_add(num_new, Ordering::Relaxed);
        if state.is_cancelled.load(Ordering::Relaxed) {
            return Err(self.stopped(PyKeyboardInterrupt::new_err("reading was cancelled")));
        }
        Ok(())
    }

    /// Runs Python's handlers of signals, where this is its main thread; an error when one raises.
    fn look(&self) -> Result<(), Error> {
        Python::attach(|py| py.check_signals().map_err(|error| self.stopped(error)))
    }
}

/// Reports the bytes of one file to a watch, and asks whether to end the read.
pub(crate) struct Teller {
    watch: Arc<Watch>,
    last_look: Instant,
}

impl Teller {
    pub(crate) fn new(watch: &Arc<Watch>) -> Self {
        Self { watch: Arc::clone(watch), last_look: now() }
    }

    /// Counts bytes; an error when the read is to end.
    pub(crate) fn tell(&mut self, num_new: u64) -> Result<(), Error> {
        self.watch.advance(num_new)?;
        if !self.watch.is_watched() && now() - self.last_look > BETWEEN_LOOKS {
            self.watch.look()?;
            self.last_look = now();
        }
        Ok(())
    }
}

/// A stream that ends when its read is to end.
pub(crate) struct Watched<R> {
    stream: R,
    teller: Teller,
}

impl<R> Watched<R> {
    pub(crate) fn new(stream: R, watch: &Arc<Watch>) -> Self {
        Self { stream, teller: Teller::new(watch) }
    }
}

#[expect(clippy::disallowed_methods, reason = "the interval of checks for Ctrl-C does not change the result")]
fn now() -> Instant {
    Instant::now()
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.teller.tell(count as u64)?;
        Ok(count)
    }
}
