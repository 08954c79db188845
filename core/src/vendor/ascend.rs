//! Huawei: CANN and HCCL.
//!
//! `trace_view.json` of `torch_npu` gives tasks of the device no category, so they stay on the
//! host. Only files that Kineto writes have kernels.

use super::entry::NamePattern::{Anywhere, Start, Word};
use super::entry::{CommunicationLibraries, HostCalls, KernelNames, Vendor};

pub(super) static ASCEND: Vendor = Vendor {
    name: "ascend",
    calls: HostCalls {
        // `AscendCL@aclrtLaunchKernelWithHostArgs`, `Node@launch`, `aclmdlRIExecuteAsync`.
        enqueue: &["aclrtLaunch", "aclrtMemcpy", "aclrtMemset", "Node@launch", "aclmdlRIExecute"],
        launch_kernel: &["aclrtLaunchKernel"],
        launch_graph: &["aclmdlRIExecute"],
        copy: &["aclrtMemcpy"],
        fill: &["aclrtMemset"],
        begin_capture: &["aclmdlRICaptureBegin"],
        end_capture: &["aclmdlRICaptureEnd"],
        synchronize: &["aclrtSynchronize"],
        synchronize_device: &["aclrtSynchronizeDevice"],
        synchronize_event: &["aclrtSynchronizeEvent"],
        may_wait: &["aclrtSynchronize", "aclrtStreamWaitEvent", "aclrtQuery", "aclrtMemcpy"],
        stream_wait: &["aclrtStreamWaitEvent"],
        record_event: &["aclrtRecordEvent"],
        allocate: &[
            "aclrtMalloc",
            "aclrtFree",
            "aclrtMallocHost",
            "aclrtFreeHost",
            "AscendCL@aclrtMalloc",
            "AscendCL@aclrtFree",
            "AscendCL@aclrtMallocHost",
            "AscendCL@aclrtFreeHost",
        ],
        ..HostCalls::EMPTY
    },
    kernels: KernelNames {
        communication: &[
            Start("hcom_"),
            Word("hccl"),
            // `aclnnMoeDistributeDispatchV2_MoeDistributeDispatchV2_MoeDistributeDispatchV2`.
            Anywhere("moedistributedispatch"),
            Anywhere("moedistributecombine"),
        ],
        ..KernelNames::EMPTY
    },
    communication: CommunicationLibraries {
        backends: &["hccl"],
        kernels: &["hcom_", "hccl"],
        // `hcom_allReduce__428_0_1`.
        before_collective: &["hcom_"],
    },
    devices: &["Ascend"],
    device_types: &["npu"],
    call_prefixes: &["aclrt", "aclnn", "aclmdl", "aclop", "AscendCL@", "Model@", "Node@", "Runtime@"],
    ..Vendor::EMPTY
};
