//! Huawei: CANN and HCCL.
//!
//! `trace_view.json` of `torch_npu` gives tasks of the device no category: the names of processes
//! and the types of tasks tell them. Arrows lead from operators (`async_npu`) and from calls of the
//! runtime (`HostToDevice…`) to them.

use super::entry::NamePattern::{Anywhere, Start};
use super::entry::{CommunicationLibraries, HostCalls, KernelNames, ProcessName, ProcessRows, Vendor};
use crate::event_kind::EventKind;

const RECORDER: &str = "Ascend PyTorch Profiler";

const fn process(start: &'static str, rows: ProcessRows) -> ProcessName {
    ProcessName { start, rows, recorder: RECORDER }
}

pub(super) static ASCEND: Vendor = Vendor {
    name: "ascend",
    processes: &[
        process("Ascend Hardware", ProcessRows::Device),
        process("HCCL", ProcessRows::Communication),
        process("Communication", ProcessRows::Communication),
        process("CANN", ProcessRows::Calls),
        process("Overlap Analysis", ProcessRows::Derived),
    ],
    tasks: &[
        (Anywhere("event_wait"), EventKind::Sync),
        (Anywhere("notify_wait"), EventKind::Sync),
        (Anywhere("notify wait"), EventKind::Sync),
        (Anywhere("event_record"), EventKind::Other),
        (Anywhere("notify_record"), EventKind::Other),
        (Anywhere("profiler_"), EventKind::Other),
        (Anywhere("memcpy"), EventKind::Copy),
        (Anywhere("sdma"), EventKind::Copy),
        (Anywhere("memset"), EventKind::Fill),
    ],
    operator_flows: &["async_npu"],
    calls: HostCalls {
        // `AscendCL@aclrtLaunchKernelWithHostArgs`, `Node@launch`, `aclmdlRIExecuteAsync`.
        enqueue: &["aclrtLaunch", "aclrtMemcpy", "aclrtMemset", "Node@launch", "aclmdlRIExecute"],
        launch_kernel: &["aclrtLaunchKernel"],
        launch_graph: &["aclmdlRIExecute"],
        copy: &["aclrtMemcpy"],
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
    kernels: KernelNames { communication: &[Start("hcom_"), Start("hccl")], ..KernelNames::EMPTY },
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
