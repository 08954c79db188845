//! Lists the kinds of rows in reading order: names come first.

#[cfg(feature = "kernel-counters")]
use super::metric;
use super::row_kind::RowKind;
use super::{call, copy, device, header, kernel, memory, nvtx, title};

/// All kinds, in reading order: names come before the rows that use them.
pub(super) const SORTS: &[RowKind] = &[
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
    #[cfg(feature = "kernel-counters")]
    metric::DEVICE,
    #[cfg(feature = "kernel-counters")]
    metric::NAME,
    // Last, so that ids of events are the same without them.
    #[cfg(feature = "kernel-counters")]
    metric::SAMPLE,
];
