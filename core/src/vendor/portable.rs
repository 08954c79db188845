//! Names on devices of every vendor: those of Kineto, and of libraries for several vendors.

use super::entry::NamePattern::{Anywhere, Start};
use super::entry::{CommunicationLibraries, KernelNames, Vendor, device};
use crate::event_kind::EventKind;

pub(super) static PORTABLE: Vendor = Vendor {
    name: "portable",
    categories: &[
        device("kernel", EventKind::Kernel),
        device("concurrent_kernel", EventKind::Kernel),
        device("gpu_memcpy", EventKind::Copy),
        device("memcpy", EventKind::Copy),
        device("gpu_memset", EventKind::Fill),
        device("memset", EventKind::Fill),
        device("gpu_sync", EventKind::Sync),
        device("gpu_user_annotation", EventKind::Annotation),
        // Nodes of a replayed graph at which the device does no work: a recorded event, and a call
        // of the host for which the stream waits.
        device("gpu_event", EventKind::Other),
        device("graph_event_node", EventKind::Other),
        device("graph_host_node", EventKind::Other),
    ],
    kernels: KernelNames {
        communication: &[
            Anywhere("msccl"),
            Anywhere("deep_ep::"),
            // Collectives that inference engines and symmetric memory bring themselves.
            Anywhere("cross_device_reduce"),
            Anywhere("all_reduce"),
            Anywhere("allreduce"),
            Anywhere("all_gather"),
            Anywhere("allgather"),
            Anywhere("reduce_scatter"),
            Anywhere("reducescatter"),
            Anywhere("all_to_all"),
            Anywhere("alltoall"),
        ],
        memory: &[Start("memcpy"), Start("memset")],
        // Attention.
        matrix_units: &[
            Anywhere("flash_fwd"),
            Anywhere("flash_bwd"),
            Anywhere("fmha_fwd"),
            Anywhere("fmha_bwd"),
            Anywhere("fmhafwd"),
            Anywhere("fmhabwd"),
        ],
        ..KernelNames::EMPTY
    },
    communication: CommunicationLibraries { backends: &["ucc"], ..Vendor::EMPTY.communication },
    ..Vendor::EMPTY
};
