//! The sorts of rows that are read: which tables, and what becomes of their rows.

use super::row::Row;
use super::scene::Scene;
use super::{call, copy, device, header, kernel, memory, nvtx, title};

/// A sort of rows.
pub(super) struct Sort {
    /// The table they are in.
    pub(super) table: &'static str,
    /// The columns that `write` takes by their meaning.
    pub(super) takes: &'static [&'static str],
    /// Whether `write` makes arguments of the others.
    pub(super) has_rest: bool,
    /// Adds a row to the scene.
    pub(super) write: fn(&Row<'_>, &mut Scene),
}

/// All sorts, in the order in which they are read: names before what they are names of.
pub(super) const SORTS: [Sort; 17] = [
    header::DEVICE,
    header::START,
    title::GPU,
    title::PROCESS,
    title::THREAD,
    nvtx::VOCABULARY,
    call::RUNTIME,
    call::DRIVER,
    call::OVERHEAD,
    call::PROFILER,
    kernel::KERNEL,
    copy::COPY,
    copy::FILL,
    device::SYNC,
    device::GRAPH,
    nvtx::RANGE,
    memory::ALLOCATION,
];
