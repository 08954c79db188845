//! Intel Gaudi: Synapse and HCCL.
//!
//! `hpu_op` is no category of devices: its events are of the device or of the host.

use super::entry::NamePattern::Start;
use super::entry::{CommunicationLibraries, HostCalls, KernelNames, Vendor};

pub(super) static HPU: Vendor = Vendor {
    name: "hpu",
    calls: HostCalls {
        enqueue: &["synLaunch", "synMemCopy", "synMemset", "enqueue", "Enqueue"],
        // A recipe: kernels and copies.
        launch_graph: &["synLaunch"],
        copy: &["synMemCopy"],
        fill: &["synMemset"],
        synchronize: &["synStreamSynchronize", "synEventSynchronize", "synDeviceSynchronize"],
        synchronize_event: &["synEventSynchronize"],
        may_wait: &["Synchronize", "synStreamWaitEvent", "Query", "synMemCopy"],
        stream_wait: &["synStreamWaitEvent"],
        record_event: &["synEventRecord"],
        allocate: &["synDeviceMalloc", "synDeviceFree", "synHostMalloc", "synHostFree"],
        ..HostCalls::EMPTY
    },
    kernels: KernelNames { communication: &[Start("hccl")], ..KernelNames::EMPTY },
    communication: CommunicationLibraries { backends: &["hccl"], kernels: &["hccl"], ..Vendor::EMPTY.communication },
    device_types: &["hpu"],
    call_prefixes: &["syn"],
    ..Vendor::EMPTY
};
