//! Kinetoscope in Python: the extension module `kinetoscope._native`.

use pyo3::prelude::*;

/// The extension module. (Skeleton; replaced when the core is in place.)
#[pymodule]
mod _native {}
