//! Lists the kinds of rows in reading order: names come first.

use super::row_kind::RowKind;
use super::{call, copy, device, header, kernel, memory, nvtx, title};

/// All sorts, in the order in which they are read: names before what they are names of.
pub(super) const SORTS: [RowKind; 17] = [
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
