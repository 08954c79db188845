//! A read that is under way, as other threads see it.

use std::io::{Error, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Bytes between two looks for Ctrl-C: at most some 20 ms, also when they are compressed.
const BYTES_BETWEEN_LOOKS: u64 = 1 << 20;

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

    /// Ends every read that this object was given to, and each that it will be given to: they raise `KeyboardInterrupt`.
    fn cancel(&self) {
        self.state.is_cancelled.store(true, Ordering::Relaxed);
    }
}

/// What stands beside the streams of one read: it counts, and keeps the Python exception that ends them.
#[derive(Default)]
pub(crate) struct Watch {
    state: Option<Arc<State>>,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    pub(crate) fn new(reading: Option<&Py<Reading>>) -> Arc<Self> {
        Arc::new(Self { state: reading.map(|reading| Arc::clone(&reading.get().state)), ..Self::default() })
    }

    /// What a stream says when it ends for a reason that is Python's: the reason is kept here.
    pub(crate) fn stopped(&self, error: PyErr) -> Error {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        Error::other("stopped")
    }

    /// The exception that ended a stream, if one did. The core takes a stream that ends for one that is damaged.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn advance(&self, before: u64, num_new: u64) -> Result<(), Error> {
        let Some(state) = &self.state else {
            let is_due = (before + num_new) / BYTES_BETWEEN_LOOKS > before / BYTES_BETWEEN_LOOKS;
            let look = |py: Python<'_>| py.check_signals().map_err(|error| self.stopped(error));
            return if is_due { Python::attach(look) } else { Ok(()) };
        };
        state.num_bytes.fetch_add(num_new, Ordering::Relaxed);
        if state.is_cancelled.load(Ordering::Relaxed) {
            return Err(self.stopped(PyKeyboardInterrupt::new_err("the read was cancelled")));
        }
        Ok(())
    }
}

/// A stream that ends when its read is to end.
pub(crate) struct Watched<R> {
    stream: R,
    watch: Arc<Watch>,
    num_bytes: u64,
}

impl<R> Watched<R> {
    pub(crate) fn new(stream: R, watch: &Arc<Watch>) -> Self {
        Self { stream, watch: Arc::clone(watch), num_bytes: 0 }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.watch.advance(self.num_bytes, count as u64)?;
        self.num_bytes += count as u64;
        Ok(count)
    }
}
