//! NVIDIA: CUDA, CUPTI and NCCL.

use super::entry::NamePattern::{Anywhere, Function, Start, Word};
use super::entry::{
    CommunicationLibraries, DeviceWait, HostCalls, KernelNames, Vendor, VersionFormat, WaitReports, device,
};
use super::residency::ResidencyRules;
use crate::event_kind::EventKind;

pub(super) static CUDA: Vendor = Vendor {
    name: "cuda",
    categories: &[
        // A graph that was traced as a whole is one execution of device code.
        device("cuda_graph", EventKind::Kernel),
        device("cuda_sync", EventKind::Sync),
        device("cuda_profiler_range", EventKind::Other),
        // A recorded event is a moment of the device's, and no work.
        device("cuda_event", EventKind::Other),
    ],
    counter_ranges: &["cuda_profiler_range"],
    // Nsight Systems, CUPTI, DCGM.
    #[cfg(feature = "kernel-counters")]
    matrix_counters: &["tensor active", "pipe_tensor", "tensor_active"],
    reports: WaitReports {
        kind_keys: &["cuda_sync_kind"],
        names: &[
            ("Stream Sync", DeviceWait::Stream),
            ("Context Sync", DeviceWait::Context),
            ("Event Sync", DeviceWait::Event),
            ("Stream Wait Event", DeviceWait::StreamForEvent),
        ],
    },
    calls: HostCalls {
        allocate: &[
            "cudaMalloc",
            "cudaFree",
            "cudaMallocAsync",
            "cudaFreeAsync",
            "cudaHostAlloc",
            "cudaMallocHost",
            "cudaFreeHost",
            "cuMemCreate",
            "cuMemMap",
            "cuMemUnmap",
            "cuMemSetAccess",
        ],
        ..HostCalls::LIKE_CUDA
    },
    kernels: KernelNames {
        communication: &[
            // NCCL of any age.
            Start("nccl"),
            Anywhere("ncclkernel"),
            Anywhere("nccldevkernel"),
            // One-sided communication: NVSHMEM, its calls on streams, symmetric memory of PyTorch.
            Anywhere("nvshmem"),
            Function("_on_stream_kernel"),
            Function("exchangesplitandoffset"),
            // NVLink SHARP: multicast memory.
            Function("multimem"),
            Word("nvls_"),
            // Transformer Engine.
            Anywhere("userbuffers_"),
            // TensorRT-LLM, FlashInfer: experts on other devices.
            Function("moea2a"),
            Function("moe_comm"),
            Function("moecomm"),
        ],
        matrix_units: &[
            // Those of the TensorBoard plugin, which has them from PyProf: cuBLAS and cuDNN from
            // Volta to Ampere.
            Anywhere("h884"),
            Anywhere("s884"),
            Anywhere("h1688"),
            Anywhere("s1688"),
            Anywhere("c1688"),
            Anywhere("hmma"),
            Anywhere("i8816"),
            Anywhere("16816"),
            Anywhere("dgrad_1x1_stride_2x2"),
            Anywhere("first_layer_wgrad_kernel"),
            Anywhere("conv1x1"),
            Anywhere("conv2d_c1_k1"),
            Anywhere("direct_group"),
            Anywhere("xmma_implicit_gemm"),
            Anywhere("xmma_sparse_conv"),
            Anywhere("xmma_warp_specialized_implicit_gemm"),
            // The shape of the unit's product: cuDNN 8's convolutions.
            Anywhere("_tensor16x8x"),
            Anywhere("_tensor8x8x"),
            Anywhere("xmma_gemm"),
            Anywhere("xmma_sparse_gemm"),
            // CUTLASS, Hopper, Blackwell.
            Anywhere("tensorop"),
            Anywhere("gmma"),
            Anywhere("tcgen05"),
            Anywhere("_umma"),
            Anywhere("nvjet"),
            Anywhere("deep_gemm"),
            // Attention.
            Anywhere("fmha_cutlass"),
            Anywhere("cudnn_generated_fort_native_sdpa"),
        ],
        // Products in float32 by the other units.
        other_units: &[Anywhere("xmma_gemm_f32f32_f32f32"), Anywhere("simt")],
        rounded_float32: &[Anywhere("tf32")],
        ..KernelNames::EMPTY
    },
    communication: CommunicationLibraries {
        backends: &["nccl"],
        kernels: &["nccl"],
        // `ncclDevKernel_AllReduce_Sum_f32_RING_LL`. Generic kernels name no collective.
        before_collective: &["Kernel_"],
    },
    companies: &["NVIDIA"],
    devices: &["NVIDIA", "Tesla", "Quadro", "GeForce", "Graphics Device"],
    has_compute_capability: true,
    residency,
    device_types: &["cuda"],
    call_prefixes: &["cuda", "cu"],
    versions: &[
        ("cuda_runtime_version", VersionFormat::Thousands, "CUDA runtime"),
        ("cuda_driver_version", VersionFormat::Thousands, "CUDA driver"),
        ("cupti_version", VersionFormat::Thousands, "CUPTI"),
    ],
};

/// Rules of a compute capability: the tables of the programming guide, and those of the occupancy
/// calculator for units of allocation.
fn residency(major: i64, minor: i64) -> Option<ResidencyRules> {
    let max_blocks = match (major, minor) {
        (5 | 6, _) | (7, 0 | 2) | (8 | 9, 0) | (10, 0 | 3) => 32,
        (8, 9) | (10, 1) | (11 | 12, _) => 24,
        (7, 5) | (8, 6 | 7) => 16,
        _ => return None,
    };
    let is_recent = major >= 8;
    Some(ResidencyRules {
        max_blocks,
        register_unit: 256,
        num_partitions: if (major, minor) == (6, 0) { 2 } else { 4 },
        shared_memory_unit: if is_recent { 128 } else { 256 },
        reserved_shared_memory: if is_recent { 1024 } else { 0 },
    })
}
