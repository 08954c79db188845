//! Lists the kinds of rows in reading order: names come first.

use super::row_kind::RowKind;
use super::{call, copy, device, header, kernel, memory, nvtx, title};

/// All kinds, in reading order: names come before the rows that use them.
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
