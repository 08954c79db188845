//! Intel: SYCL's Unified Runtime, Level Zero and oneCCL.

use super::entry::NamePattern::{Anywhere, Word};
use super::entry::{CommunicationLibraries, HostCalls, KernelNames, Vendor, device};
use crate::event_kind::EventKind;

pub(super) static XPU: Vendor = Vendor {
    name: "xpu",
    categories: &[
        device("xpu_sync", EventKind::Sync),
        // Metrics of a kernel, around it.
        device("xpu_scope_profiler", EventKind::Other),
    ],
    calls: HostCalls {
        // `urEnqueueKernelLaunch`, `urEnqueueUSMMemcpy`, `zeCommandListAppendLaunchKernel`.
        enqueue: &["Enqueue", "AppendLaunch", "AppendMemory"],
        // `urEnqueueEventsWaitWithBarrier` both records events and makes a queue wait for them, so
        // it has neither role.
        describe: &["EventsWait"],
        launch_kernel: &["EnqueueKernelLaunch", "EnqueueCooperativeKernelLaunch", "AppendLaunch"],
        launch_graph: &["EnqueueCommandBuffer", "EnqueueGraph"],
        copy: &["Memcpy", "MemoryCopy", "MemBufferCopy", "MemBufferRead", "MemBufferWrite"],
        fill: &["Fill"],
        synchronize: &["urQueueFinish", "urEventWait", "HostSynchronize", "QueueSynchronize"],
        synchronize_event: &["urEventWait", "EventHostSynchronize"],
        may_wait: &["urQueueFinish", "urEventWait", "Synchronize", "Memcpy", "AppendMemory"],
        allocate: &[
            "urUSMDeviceAlloc",
            "urUSMHostAlloc",
            "urUSMSharedAlloc",
            "urUSMFree",
            "zeMemAllocDevice",
            "zeMemAllocHost",
            "zeMemAllocShared",
            "zeMemFree",
        ],
        ..HostCalls::EMPTY
    },
    kernels: KernelNames { communication: &[Anywhere("oneccl"), Word("ccl::")], ..KernelNames::EMPTY },
    // `oneccl_reduce_base` is a step of several collectives: a kernel names none.
    communication: CommunicationLibraries { backends: &["xccl"], kernels: &["oneccl"], ..Vendor::EMPTY.communication },
    companies: &["Intel(R)", "Intel"],
    devices: &["Intel"],
    device_types: &["xpu"],
    call_prefixes: &["xpu", "ur", "ze"],
    ..Vendor::EMPTY
};
