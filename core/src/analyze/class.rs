//! Classifies device work as computation, communication, memory or other, from a table of name
//! patterns.

use crate::link::LinkedTrace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// The purpose of device work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkClass {
    /// Computes.
    Computation,
    /// Exchanges data with other ranks.
    Communication,
    /// Copies or fills memory.
    Memory,
    /// Only contains or waits for other work.
    Other,
}

/// Where in a name, in lower case, a pattern stands.
#[derive(Debug, Clone, Copy)]
enum PatternPlace {
    Start,
    Anywhere,
}

/// Patterns of kernel names; the first match decides, and names without a match compute.
const PATTERNS: &[(PatternPlace, &str, WorkClass)] = &[
    // NCCL of any age, RCCL, MSCCL, HCCL, oneCCL.
    (PatternPlace::Start, "nccl", WorkClass::Communication),
    (PatternPlace::Anywhere, "ncclkernel", WorkClass::Communication),
    (PatternPlace::Anywhere, "nccldevkernel", WorkClass::Communication),
    (PatternPlace::Anywhere, "rccl", WorkClass::Communication),
    (PatternPlace::Anywhere, "msccl", WorkClass::Communication),
    (PatternPlace::Start, "hccl", WorkClass::Communication),
    (PatternPlace::Anywhere, "oneccl", WorkClass::Communication),
    // One-sided communication, and the kernels built on it.
    (PatternPlace::Anywhere, "nvshmem", WorkClass::Communication),
    (PatternPlace::Anywhere, "rocshmem", WorkClass::Communication),
    (PatternPlace::Anywhere, "deep_ep::", WorkClass::Communication),
    // Collectives that inference engines and symmetric memory bring themselves.
    (PatternPlace::Anywhere, "cross_device_reduce", WorkClass::Communication),
    (PatternPlace::Anywhere, "quickreduce", WorkClass::Communication),
    (PatternPlace::Anywhere, "all_reduce", WorkClass::Communication),
    (PatternPlace::Anywhere, "allreduce", WorkClass::Communication),
    (PatternPlace::Anywhere, "all_gather", WorkClass::Communication),
    (PatternPlace::Anywhere, "allgather", WorkClass::Communication),
    (PatternPlace::Anywhere, "reduce_scatter", WorkClass::Communication),
    (PatternPlace::Anywhere, "reducescatter", WorkClass::Communication),
    (PatternPlace::Anywhere, "all_to_all", WorkClass::Communication),
    (PatternPlace::Anywhere, "alltoall", WorkClass::Communication),
    (PatternPlace::Anywhere, "userbuffers_", WorkClass::Communication),
    (PatternPlace::Start, "collective_subgraph_execution", WorkClass::Communication),
    // Copies and fills that are kernels: of ROCm, and of MTIA.
    (PatternPlace::Start, "memcpy", WorkClass::Memory),
    (PatternPlace::Start, "memset", WorkClass::Memory),
    (PatternPlace::Start, "hipmemcpy", WorkClass::Memory),
    (PatternPlace::Start, "hipmemset", WorkClass::Memory),
    (PatternPlace::Start, "__amd_rocclr_copy", WorkClass::Memory),
    (PatternPlace::Start, "__amd_rocclr_fill", WorkClass::Memory),
    (PatternPlace::Start, "copydevicetodevice", WorkClass::Memory),
    (PatternPlace::Start, "copydevicetohost", WorkClass::Memory),
    (PatternPlace::Start, "copyhosttodevice", WorkClass::Memory),
    (PatternPlace::Start, "copybuffer", WorkClass::Memory),
    (PatternPlace::Start, "fillbuffer", WorkClass::Memory),
    (PatternPlace::Start, "dma", WorkClass::Memory),
    // Events that MTIA reports around the work of its elements.
    (PatternPlace::Start, "runfunction", WorkClass::Other),
    (PatternPlace::Start, "job_exe", WorkClass::Other),
    (PatternPlace::Start, "packet", WorkClass::Other),
    (PatternPlace::Start, "pe_exe", WorkClass::Other),
    (PatternPlace::Start, "cpum_exe_subgraph", WorkClass::Other),
];

impl WorkClass {
    /// All classes, in the order of their codes.
    pub const ALL: [WorkClass; 4] = [Self::Computation, Self::Communication, Self::Memory, Self::Other];

    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Computation => "computation",
            Self::Communication => "communication",
            Self::Memory => "memory",
            Self::Other => "other",
        }
    }

    /// The class of a kernel by its name.
    ///
    /// ```
    /// use kinetoscope::analyze::WorkClass;
    /// assert_eq!(WorkClass::of_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)"), WorkClass::Communication);
    /// assert_eq!(WorkClass::of_kernel("sm90_xmma_gemm_bf16bf16_bf16f32"), WorkClass::Computation);
    /// ```
    pub fn of_kernel(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let matches = |(at, pattern, _): &&(PatternPlace, &str, WorkClass)| match at {
            PatternPlace::Start => lower.starts_with(pattern),
            PatternPlace::Anywhere => lower.contains(pattern),
        };
        PATTERNS.iter().find(matches).map_or(Self::Computation, |(.., class)| *class)
    }
}

/// The class of each event by row; events other than device work are [`WorkClass::Other`].
///
/// Copies and fills (`gpu_memcpy`, `gpu_memset`) are memory. Kernels with a `Collective name` are
/// communication. The name decides on other kernels.
pub fn classes(linked: &LinkedTrace) -> Vec<WorkClass> {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let mut by_name = rustc_hash::FxHashMap::default();
    let mut text = String::new();
    let class = |row: usize| match events.kind[row] {
        EventKind::Copy | EventKind::Fill => WorkClass::Memory,
        EventKind::Kernel => {
            text.clear();
            if trace.args.write_text(&trace.strings, events.args(row), ArgKey::Collective, &mut text) {
                return WorkClass::Communication;
            }
            *by_name.entry(events.name[row]).or_insert_with(|| WorkClass::of_kernel(trace.event_name(row)))
        }
        _ => WorkClass::Other,
    };
    (0..events.len()).map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::WorkClass;

    #[test]
    fn names_of_every_maker_have_their_class() {
        let cases = [
            ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", WorkClass::Communication),
            ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", WorkClass::Communication),
            ("void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)", WorkClass::Communication),
            ("nvshmemi_transfer_rma_p<int>", WorkClass::Communication),
            ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(…)", WorkClass::Communication),
            ("multimem_one_shot_all_reduce_kernel", WorkClass::Communication),
            ("Memcpy HtoD (Pageable -> Device)", WorkClass::Memory),
            ("__amd_rocclr_copyBuffer", WorkClass::Memory),
            ("CopyDeviceToDevice", WorkClass::Memory),
            ("triton_poi_fused_add_0", WorkClass::Computation),
            (
                "void at::native::batch_norm_collect_statistics_channels_last_kernel<SyncBatchNorm>",
                WorkClass::Computation,
            ),
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", WorkClass::Computation),
            ("pe_exe", WorkClass::Other),
        ];
        for (name, class) in cases {
            assert_eq!(WorkClass::of_kernel(name), class, "{name}");
        }
    }
}
