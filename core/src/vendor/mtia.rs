//! Meta: MTIA. Its calls have no prefix: `enqueueCommand memcpyHtoDAsync`, `runFunction - …`.

use super::entry::NamePattern::Start;
use super::entry::{CommunicationLibraries, HostCalls, KernelNames, Vendor, device};
use crate::event_kind::EventKind;

pub(super) static MTIA: Vendor = Vendor {
    name: "mtia",
    categories: &[device("mtia_ccp_events", EventKind::Kernel)],
    calls: HostCalls {
        enqueue: &["enqueueCommand", "runFunction", "memcpy"],
        describe: &["waitOnEvent"],
        launch_kernel: &["runFunction"],
        copy: &["memcpy"],
        synchronize: &["synchronize"],
        may_wait: &["synchronizeStream"],
        ..HostCalls::EMPTY
    },
    kernels: KernelNames {
        communication: &[Start("collective_subgraph_execution"), Start("hccl")],
        memory: &[Start("dma")],
        // Events around the work of the device's elements.
        envelope: &[
            Start("runfunction"),
            Start("job_exe"),
            Start("packet"),
            Start("pe_exe"),
            Start("cpum_exe_subgraph"),
        ],
        ..KernelNames::EMPTY
    },
    communication: CommunicationLibraries {
        backends: &["hccl"],
        kernels: &["hccl", "collective_subgraph_execution"],
        ..Vendor::EMPTY.communication
    },
    devices: &["ARTEMIS"],
    device_types: &["mtia"],
    call_prefixes: &["mtia"],
    ..Vendor::EMPTY
};
