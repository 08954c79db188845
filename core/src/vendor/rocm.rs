//! AMD: HIP, roctracer and RCCL. Kineto writes HIP's calls as `cuda_runtime`.

use super::entry::NamePattern::{Anywhere, Function, Start, Word};
use super::entry::{CommunicationLibraries, HostCalls, KernelNames, Vendor, VersionFormat};

pub(super) static ROCM: Vendor = Vendor {
    name: "rocm",
    // Derived counters of rocprofiler.
    #[cfg(feature = "kernel-counters")]
    matrix_counters: &["mfmautil"],
    calls: HostCalls {
        allocate: &[
            "hipMalloc",
            "hipFree",
            "hipMallocAsync",
            "hipFreeAsync",
            "hipHostMalloc",
            "hipHostFree",
            "hipMemCreate",
            "hipMemMap",
            "hipMemUnmap",
            "hipMemSetAccess",
        ],
        ..HostCalls::LIKE_CUDA
    },
    kernels: KernelNames {
        communication: &[
            Anywhere("rccl"),
            // One-sided communication.
            Anywhere("rocshmem"),
            // vLLM, SGLang and aiter.
            Function("quickreduce"),
            Function("quick_reduce"),
            // Experts on other devices.
            Word("mori::"),
            Function("epdispatch"),
            Function("epcombine"),
        ],
        // Copies and fills that are kernels.
        memory: &[
            Start("hipmemcpy"),
            Start("hipmemset"),
            Start("__amd_rocclr_copy"),
            Start("__amd_rocclr_fill"),
            Start("copydevicetodevice"),
            Start("copydevicetohost"),
            Start("copyhosttodevice"),
            Start("copybuffer"),
            Start("fillbuffer"),
        ],
        // Tensile, composable kernels, MIOpen.
        matrix_units: &[
            Anywhere("_mi16x16"),
            Anywhere("_mi32x32"),
            Anywhere("mfma"),
            Anywhere("xdlops"),
            Anywhere("_xdl_"),
            Anywhere("gtcx"),
        ],
        rounded_float32: &[Anywhere("xf32")],
        ..KernelNames::EMPTY
    },
    communication: CommunicationLibraries {
        backends: &["rccl"],
        kernels: &["rccl", "void rccl"],
        ..Vendor::EMPTY.communication
    },
    companies: &["AMD"],
    devices: &["AMD", "Radeon"],
    device_types: &["hip"],
    call_prefixes: &["hip", "hsa"],
    versions: &[
        ("hip_runtime_version", VersionFormat::Text, "HIP runtime"),
        ("roctracer_version", VersionFormat::Text, "roctracer"),
    ],
    ..Vendor::EMPTY
};
