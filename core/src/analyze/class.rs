//! What device work is for: computation, communication, moving memory, or none of these. The table is data.

use crate::link::LinkedTrace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// What device work is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
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
enum At {
    Start,
    Anywhere,
}

/// Names of kernels by the first pattern that they match; what matches none computes.
const PATTERNS: &[(At, &str, Class)] = &[
    // NCCL of any age, RCCL, MSCCL, HCCL, oneCCL.
    (At::Start, "nccl", Class::Communication),
    (At::Anywhere, "ncclkernel", Class::Communication),
    (At::Anywhere, "nccldevkernel", Class::Communication),
    (At::Anywhere, "rccl", Class::Communication),
    (At::Anywhere, "msccl", Class::Communication),
    (At::Start, "hccl", Class::Communication),
    (At::Anywhere, "oneccl", Class::Communication),
    // One-sided communication, and the kernels built on it.
    (At::Anywhere, "nvshmem", Class::Communication),
    (At::Anywhere, "rocshmem", Class::Communication),
    (At::Anywhere, "deep_ep::", Class::Communication),
    // Collectives that inference engines and symmetric memory bring themselves.
    (At::Anywhere, "cross_device_reduce", Class::Communication),
    (At::Anywhere, "quickreduce", Class::Communication),
    (At::Anywhere, "all_reduce", Class::Communication),
    (At::Anywhere, "allreduce", Class::Communication),
    (At::Anywhere, "all_gather", Class::Communication),
    (At::Anywhere, "allgather", Class::Communication),
    (At::Anywhere, "reduce_scatter", Class::Communication),
    (At::Anywhere, "reducescatter", Class::Communication),
    (At::Anywhere, "all_to_all", Class::Communication),
    (At::Anywhere, "alltoall", Class::Communication),
    (At::Anywhere, "userbuffers_", Class::Communication),
    (At::Start, "collective_subgraph_execution", Class::Communication),
    // Copies and fills that are kernels: of ROCm, and of MTIA.
    (At::Start, "memcpy", Class::Memory),
    (At::Start, "memset", Class::Memory),
    (At::Start, "hipmemcpy", Class::Memory),
    (At::Start, "hipmemset", Class::Memory),
    (At::Start, "__amd_rocclr_copy", Class::Memory),
    (At::Start, "__amd_rocclr_fill", Class::Memory),
    (At::Start, "copydevicetodevice", Class::Memory),
    (At::Start, "copydevicetohost", Class::Memory),
    (At::Start, "copyhosttodevice", Class::Memory),
    (At::Start, "copybuffer", Class::Memory),
    (At::Start, "fillbuffer", Class::Memory),
    (At::Start, "dma", Class::Memory),
    // What MTIA reports around the work of its elements.
    (At::Start, "runfunction", Class::Other),
    (At::Start, "job_exe", Class::Other),
    (At::Start, "packet", Class::Other),
    (At::Start, "pe_exe", Class::Other),
    (At::Start, "cpum_exe_subgraph", Class::Other),
];

impl Class {
    /// All classes, in the order of their codes.
    pub const ALL: [Class; 4] = [Self::Computation, Self::Communication, Self::Memory, Self::Other];

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
    /// use kinetoscope::analyze::Class;
    /// assert_eq!(Class::of_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)"), Class::Communication);
    /// assert_eq!(Class::of_kernel("sm90_xmma_gemm_bf16bf16_bf16f32"), Class::Computation);
    /// ```
    pub fn of_kernel(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let matches = |(at, pattern, _): &&(At, &str, Class)| match at {
            At::Start => lower.starts_with(pattern),
            At::Anywhere => lower.contains(pattern),
        };
        PATTERNS.iter().find(matches).map_or(Self::Computation, |(.., class)| *class)
    }
}

/// The class of each event by its row; of what is no device work, [`Class::Other`].
///
/// Copies and fills (`gpu_memcpy`, `gpu_memset`) are memory, kernels with a `Collective name` communication, and other
/// kernels what their name says.
pub fn classes(linked: &LinkedTrace) -> Vec<Class> {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let mut by_name = rustc_hash::FxHashMap::default();
    let mut text = String::new();
    let class = |row: usize| match events.kind[row] {
        EventKind::Copy | EventKind::Fill => Class::Memory,
        EventKind::Kernel => {
            text.clear();
            if trace.args.write_text(&trace.strings, events.args(row), ArgKey::Collective, &mut text) {
                return Class::Communication;
            }
            *by_name.entry(events.name[row]).or_insert_with(|| Class::of_kernel(trace.event_name(row)))
        }
        _ => Class::Other,
    };
    (0..events.len()).map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::Class;

    #[test]
    fn names_of_every_maker_have_their_class() {
        let cases = [
            ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", Class::Communication),
            ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", Class::Communication),
            ("void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)", Class::Communication),
            ("nvshmemi_transfer_rma_p<int>", Class::Communication),
            ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(…)", Class::Communication),
            ("multimem_one_shot_all_reduce_kernel", Class::Communication),
            ("Memcpy HtoD (Pageable -> Device)", Class::Memory),
            ("__amd_rocclr_copyBuffer", Class::Memory),
            ("CopyDeviceToDevice", Class::Memory),
            ("triton_poi_fused_add_0", Class::Computation),
            ("void at::native::batch_norm_collect_statistics_channels_last_kernel<SyncBatchNorm>", Class::Computation),
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", Class::Computation),
            ("pe_exe", Class::Other),
        ];
        for (name, class) in cases {
            assert_eq!(Class::of_kernel(name), class, "{name}");
        }
    }
}
