//! Names on devices of every vendor: those of Kineto, and of libraries for several vendors.

use super::entry::NamePattern::{Anywhere, Function, Start, Word};
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
            Word("ucc_"),
            Word("ucc::"),
            // Experts on other devices: DeepEP and its forks, pplx, Triton-distributed.
            Word("deep_ep::"),
            Word("dpsk::ep::"),
            Word("hybrid_ep::"),
            Word("internode::"),
            Word("internode_ll::"),
            Word("intranode::"),
            Word("pplx::"),
            Function("a2a_dispatch"),
            Function("a2a_combine"),
            Function("kernel_dispatch_token"),
            Function("kernel_combine_token"),
            Word("flashcomm"),
            Word("flash_comm"),
            // Collectives that inference engines and symmetric memory bring themselves.
            Word("symmetric_memory::"),
            Function("symm_mem"),
            Word("barrier_kernel"),
            Word("put_signal_kernel"),
            Word("wait_signal_kernel"),
            Function("cross_device_reduce"),
            Function("all_reduce"),
            Function("allreduce"),
            Function("all_gather"),
            Function("allgather"),
            Function("reduce_scatter"),
            Function("reducescatter"),
            Function("all_to_all"),
            Function("alltoall"),
            Function("all2all"),
            Function("sendrecv"),
        ],
        // Compilers name a kernel after the operators that it fuses:
        // `triton_poi_fused_all_reduce_0` computes on the result of one.
        computation: &[
            Start("triton_poi_"),
            Start("triton_red_"),
            Start("triton_per_"),
            Start("triton_tem_"),
            Start("triton_for_"),
            Start("triton_spl_"),
            Start("triton_mix_"),
            Start("triton_unk_"),
            Start("triton_fused_"),
            Start("triton__"),
            Start("nvfuser_"),
            // A product that sends or receives its parts meanwhile.
            Function("gemm"),
            Function("matmul"),
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
