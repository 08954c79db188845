//! Raises `MemoryError` where an allocation fails, as Python does. Rust would end the process, and
//! with it a notebook's kernel and all of its variables.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// The message of all failed allocations.
pub(crate) const OUT_OF_MEMORY: &str = "expected memory for the result, found none left";

/// Unwinds a thread whose allocation failed. Without fields, so that it takes no memory.
struct OutOfMemory;

thread_local! {
    /// Whether this thread unwinds for a failed allocation.
    static UNWINDS: Cell<bool> = const { Cell::new(false) };
}

/// Lets failed allocations unwind. A build without `--cfg alloc_error_hook` (see
/// `scripts/maturin.sh`) ends the process instead.
pub(crate) fn unwind_failed_allocations() {
    #[cfg(alloc_error_hook)]
    std::alloc::set_alloc_error_hook(|_| {
        // To unwind takes a few bytes. Where they fail, too, the process ends.
        if !UNWINDS.replace(true) {
            resume_unwind(Box::new(OutOfMemory));
        }
    });
}

/// Runs work without the interpreter's lock. Raises `MemoryError` where an allocation fails.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| caught(work)).map_err(failure)
}

/// Runs work, and catches its panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    // All that the work has changed is dropped with it.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    UNWINDS.set(false);
    outcome
}

/// The exception for a thread that the system did not make: its stack is memory, too.
pub(crate) fn without_thread(error: io::Error) -> PyErr {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => PyMemoryError::new_err(OUT_OF_MEMORY),
        _ => error.into(),
    }
}

/// Whether a caught panic is that of a failed allocation.
pub(crate) fn is_out_of_memory(panic: &(dyn Any + Send)) -> bool {
    // zlib-rs asserts that its first allocation worked.
    let is_of_zlib = || panic.downcast_ref::<String>().is_some_and(|text| text.contains("MemError"));
    panic.is::<OutOfMemory>() || is_of_zlib()
}

/// The exception for a caught panic: `MemoryError` for a failed allocation. Other panics go on.
pub(crate) fn failure(panic: Box<dyn Any + Send>) -> PyErr {
    if is_out_of_memory(&*panic) { PyMemoryError::new_err(OUT_OF_MEMORY) } else { resume_unwind(panic) }
}
