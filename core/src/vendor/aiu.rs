//! IBM: AIU (Spyre), through `libaiupti`.
//!
//! Kineto writes its calls as `cuda_runtime` or `privateuse1_runtime`, and its work as `kernel` and
//! `gpu_memcpy`. Files of the runtime itself are of another producer.

use super::entry::NamePattern::Start;
use super::entry::{CommunicationLibraries, HostCalls, KernelNames, Vendor};

pub(super) static AIU: Vendor = Vendor {
    name: "aiu",
    calls: HostCalls {
        // `aiuLaunchControlBlocks`, `aiuLaunchDMIControlBlocks`, `aiuLaunchComputeStream`.
        enqueue: &["ControlBlocks", "aiuLaunchComputeStream"],
        synchronize: &["aiuScheduleWait", "aiuLaunchComputeStream"],
        may_wait: &["aiuScheduleWait", "aiuLaunchComputeStream", "aiuDataTransfer", "aiuFileTransfer"],
        allocate: &["aiuMalloc", "aiuResizeTensorAllocation"],
        ..HostCalls::EMPTY
    },
    // `SenRdmaSend_82227 [sync=AllReduce_all_reduce_4_s0_r1_0] DmaO`.
    kernels: KernelNames { communication: &[Start("senrdma")], ..KernelNames::EMPTY },
    communication: CommunicationLibraries {
        kernels: &["SenRdma"],
        before_collective: &["[sync="],
        ..Vendor::EMPTY.communication
    },
    device_types: &["spyre"],
    call_prefixes: &["aiu"],
    ..Vendor::EMPTY
};
