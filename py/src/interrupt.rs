//! Lets Ctrl-C end the wait for work that runs without the interpreter.

use std::io::{Error, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::memory::{detached, failure, without_thread};

/// Between two looks for Ctrl-C.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// As much as the main thread usually has.
const STACK_BYTES: usize = 1 << 23;

/// Runs work without the interpreter's lock. Where Ctrl-C or another handler of a signal raises
/// meanwhile, that exception is returned at once; the work goes on unseen until its end, and what
/// it holds is freed then. In a browser, which has no threads, the work runs at once.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if cfg!(target_os = "emscripten") {
        return detached(py, work);
    }
    let (sender, receiver) = channel();
    // A lock makes a receiver shareable, as `detach` asks.
    let receiver = Mutex::new(receiver);
    // Nobody may wait for it any more.
    let worker = Builder::new().stack_size(STACK_BYTES).spawn(move || drop(sender.send(work())));
    let worker = worker.map_err(without_thread)?;
    loop {
        match py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(BETWEEN_LOOKS)) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => return Err(failure(panic)),
                Ok(()) => unreachable!("a worker that ends sends what it found"),
            },
        }
    }
}

/// A file to write, at which Ctrl-C ends the writing.
pub(crate) struct InterruptibleWriter<W> {
    out: W,
    last_look: Instant,
    /// The exception that ended the writing.
    pub(crate) raised: Option<PyErr>,
}

impl<W> InterruptibleWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, last_look: now(), raised: None }
    }
}

impl<W: Write> Write for InterruptibleWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        if now() - self.last_look > BETWEEN_LOOKS {
            self.last_look = now();
            let looked = Python::attach(|py| py.check_signals().map_err(Some));
            if let Err(error) = looked {
                self.raised = error;
                return Err(Error::other("interrupted"));
            }
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.out.flush()
    }
}

#[expect(clippy::disallowed_methods, reason = "the interval of checks for Ctrl-C does not change the result")]
fn now() -> Instant {
    Instant::now()
}
