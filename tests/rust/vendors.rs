//! Tests that a trace of every vendor is linked and understood, by the vendor's entry alone.

use std::sync::Arc;

use kinetoscope::analyze::{Selection, WorkClass, classes, findings};
use kinetoscope::edit::{Redaction, redact};
use kinetoscope::link::LinkMethod;
use kinetoscope::trace::collective::CollectivePattern;
use kinetoscope::vendor::{self, NamePattern, VENDORS};
use kinetoscope::{EventKind, LinkedTrace, WarningKind, category_kind};
use serde_json::{Value, json};

use crate::files;

/// Names in a trace of one vendor.
struct Sample {
    vendor: &'static str,
    /// Categories of its calls and of its kernels.
    categories: (&'static str, &'static str),
    launch: &'static str,
    /// A call that waits for the device.
    wait: &'static str,
    allocation: Option<&'static str>,
    kernel: &'static str,
    /// A kernel of its library for communication, with the collective if its name has it.
    communication: (&'static str, Option<CollectivePattern>),
    /// The annotation of a call by its process group.
    annotation: Option<&'static str>,
    device: &'static str,
}

const ALL_REDUCE: Option<CollectivePattern> = Some(CollectivePattern::AllReduce);

const SAMPLES: [Sample; 7] = [
    Sample {
        vendor: "cuda",
        categories: ("cuda_runtime", "kernel"),
        launch: "cudaLaunchKernel",
        wait: "cudaDeviceSynchronize",
        allocation: Some("cudaMalloc"),
        kernel: "ampere_sgemm_128x64_nn",
        communication: ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", ALL_REDUCE),
        annotation: Some("nccl:all_reduce"),
        device: "NVIDIA H100 80GB HBM3",
    },
    Sample {
        vendor: "rocm",
        categories: ("cuda_runtime", "kernel"),
        launch: "hipExtModuleLaunchKernel",
        wait: "hipDeviceSynchronize",
        allocation: Some("hipMalloc"),
        kernel: "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32",
        communication: ("void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)", None),
        annotation: Some("rccl:all_reduce"),
        device: "AMD Instinct MI300X VF",
    },
    Sample {
        vendor: "xpu",
        categories: ("xpu_runtime", "kernel"),
        launch: "urEnqueueKernelLaunchWithArgsExp",
        wait: "urQueueFinish",
        allocation: Some("urUSMDeviceAlloc"),
        kernel: "at::native::xpu::VectorizedElementwiseKernel<4>",
        communication: ("oneccl_reduce_base<float, 2, 16, 1, 1, 2>", None),
        annotation: Some("xccl:all_reduce"),
        device: "Intel(R) Data Center GPU Max 1550",
    },
    Sample {
        vendor: "mtia",
        categories: ("mtia_runtime", "mtia_ccp_events"),
        launch: "runFunction - job_prep_and_submit_for_execution",
        wait: "synchronizeStream",
        allocation: None,
        kernel: "remote",
        communication: ("collective_subgraph_execution", None),
        annotation: Some("hccl:all_reduce"),
        device: "ARTEMIS",
    },
    Sample {
        vendor: "ascend",
        categories: ("privateuse1_runtime", "kernel"),
        launch: "AscendCL@aclrtLaunchKernelWithHostArgs",
        wait: "AscendCL@aclrtSynchronizeStream",
        allocation: Some("AscendCL@aclrtMalloc"),
        kernel: "aclnnMatmul_MatMulV2_MatMulV2",
        communication: ("hcom_allReduce__428_0_1", ALL_REDUCE),
        annotation: Some("hccl:all_reduce"),
        device: "Ascend910B",
    },
    Sample {
        vendor: "hpu",
        categories: ("privateuse1_runtime", "kernel"),
        launch: "synLaunchWithExternalEventsExt",
        wait: "synStreamSynchronize",
        allocation: Some("synDeviceMalloc"),
        kernel: "gemm",
        communication: ("hccl_all_reduce", None),
        annotation: Some("hccl:all_reduce"),
        device: "HL-225",
    },
    Sample {
        vendor: "aiu",
        categories: ("privateuse1_runtime", "kernel"),
        launch: "aiuLaunchControlBlocks",
        wait: "aiuScheduleWait",
        allocation: Some("aiuMalloc"),
        kernel: "add_[N]",
        communication: ("SenRdmaSend_82227 [sync=AllReduce_all_reduce_4_s0_r1_0] DmaO", ALL_REDUCE),
        annotation: None,
        device: "AIU",
    },
];

/// Rows of a sample's trace.
const OPERATOR: usize = 0;
const LAUNCH: usize = 1;
const KERNEL: usize = 2;
const CALL: usize = 3;
const COMMUNICATION: usize = 5;
const WAIT: usize = 6;

/// An operator that launches a kernel, a communication, a wait for it, an allocation, and a launch
/// without work.
fn traced(sample: &Sample) -> LinkedTrace {
    let event = |category: &str, name: &str, [process, thread, start, dur]: [i64; 4], args: Value| {
        json!({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start, "dur": dur,
            "args": args})
    };
    let (calls, kernels) = sample.categories;
    let work = |id: i64| json!({"correlation": id, "device": 0, "stream": 7});
    let number = |id: i64| json!({"correlation": id});
    let annotation = sample.annotation.unwrap_or("step");
    let mut events = vec![
        event("cpu_op", "aten::mm", [1, 1, 0, 20], json!({})),
        event(calls, sample.launch, [1, 1, 5, 5], number(1)),
        event(kernels, sample.kernel, [0, 7, 15, 20], work(1)),
        event("user_annotation", annotation, [1, 1, 30, 20], json!({})),
        event(calls, sample.launch, [1, 1, 35, 5], number(2)),
        event(kernels, sample.communication.0, [0, 7, 50, 20], work(2)),
        event(calls, sample.wait, [1, 1, 55, 20], number(3)),
        event(calls, sample.launch, [1, 1, 80, 5], number(4)),
    ];
    if let Some(allocation) = sample.allocation {
        events.extend([10, 90].map(|start| event(calls, allocation, [1, 1, start, 5], number(5 + start))));
    }
    let document = json!({"deviceProperties": [{"id": 0, "name": sample.device}], "traceEvents": events});
    LinkedTrace::new(files::trace(&document.to_string()))
}

#[test]
fn every_vendor_has_a_sample() {
    let names: Vec<_> = VENDORS.iter().map(|vendor| vendor.name).filter(|name| *name != "portable").collect();
    assert_eq!(SAMPLES.each_ref().map(|sample| sample.vendor).as_slice(), names);
}

#[test]
fn device_work_is_linked_with_its_launch_and_its_operator() {
    for sample in &SAMPLES {
        let linked = traced(sample);
        let kinds = &linked.trace.events.kind;
        assert_eq!((kinds[LAUNCH], kinds[KERNEL]), (EventKind::Launch, EventKind::Kernel), "{}", sample.vendor);
        assert!(linked.trace.is_on_device(KERNEL) && !linked.trace.is_on_device(LAUNCH), "{}", sample.vendor);
        assert_eq!(linked.links.launch.get(KERNEL), Some(LAUNCH as u32), "{}", sample.vendor);
        assert_eq!(linked.links.operator.get(KERNEL), Some(OPERATOR as u32), "{}", sample.vendor);
        // The last launch has no work. Each other call has, or needs none.
        let kinds = [WarningKind::LaunchWithoutDeviceEvent, WarningKind::LostDeviceWork];
        let lacking = linked.warnings().filter(|warning| kinds.contains(&warning.kind));
        assert_eq!(lacking.map(|warning| warning.count).collect::<Vec<_>>(), [1], "{}", sample.vendor);
    }
}

#[test]
fn a_call_that_waits_is_linked_with_the_work() {
    for sample in &SAMPLES {
        let edges = traced(sample).sync_edges().to_vec();
        let pairs: Vec<_> = edges.iter().map(|edge| (edge.source as usize, edge.target as usize, edge.how)).collect();
        assert_eq!(pairs, [(COMMUNICATION, WAIT, LinkMethod::EndedInside)], "{}", sample.vendor);
    }
}

#[test]
fn communication_is_told_from_computation() {
    for sample in &SAMPLES {
        let classes = classes(&traced(sample));
        assert_eq!(classes[KERNEL], WorkClass::Computation, "{}", sample.vendor);
        assert_eq!(classes[COMMUNICATION], WorkClass::Communication, "{}", sample.vendor);
    }
}

#[test]
fn a_kernel_of_a_library_is_a_collective() {
    for sample in &SAMPLES {
        let (kernel, pattern) = sample.communication;
        let rows = |linked: &LinkedTrace| {
            let rows = linked.collectives().rows.iter();
            rows.map(|row| (row.device_events.clone(), row.pattern)).collect::<Vec<_>>()
        };
        let expected = vec![(vec![COMMUNICATION as u32], ALL_REDUCE)];
        assert_eq!(rows(&traced(sample)), expected, "{}: {kernel}", sample.vendor);
        // Without the annotation, the name of the kernel has to say it.
        let alone = traced(&Sample { annotation: None, ..*sample });
        assert_eq!(rows(&alone), [(vec![COMMUNICATION as u32], pattern)], "{}: {kernel}", sample.vendor);
    }
}

#[test]
fn allocations_in_the_loop_are_found() {
    for sample in SAMPLES.iter().filter(|sample| sample.allocation.is_some()) {
        let linked = Arc::new(traced(sample));
        let found = findings(&Selection::all(&linked), 0.0);
        let found = found.iter().filter(|found| found.name == "allocation_in_steady_state");
        let subjects: Vec<_> = found.map(|found| found.subject.as_str()).collect();
        assert_eq!(subjects, sample.allocation.as_slice(), "{}", sample.vendor);
    }
}

#[test]
fn calls_and_annotations_stay_in_a_redacted_trace() {
    for sample in &SAMPLES {
        let trace = traced(sample).trace.clone();
        let redacted = redact([&trace], Redaction::default());
        let annotation = sample.annotation.is_some().then_some(CALL);
        // Calls without a prefix are no more than words.
        let has_prefix = vendor::has_call_prefix(sample.launch) && !sample.launch.contains('@');
        for row in annotation.into_iter().chain([LAUNCH, WAIT].into_iter().filter(|_| has_prefix)) {
            assert_eq!(redacted[0].event_name(row), trace.event_name(row), "{}", sample.vendor);
        }
    }
}

#[test]
fn devices_are_told_by_their_names() {
    for sample in &SAMPLES {
        let vendor = vendor::of_device(sample.device);
        // Files of HPU and AIU name no device.
        let expected = Some(sample.vendor).filter(|name| !matches!(*name, "hpu" | "aiu"));
        assert_eq!(vendor.map(|vendor| vendor.name), expected);
    }
}

#[test]
fn a_call_has_the_roles_of_its_own_vendor() {
    // The words of CUDA are in names of other vendors, where they mean something else.
    for call in ["aiuLaunchSuperNode", "aiuLaunchScheduleCompute", "urEnqueueEventsWaitWithBarrier", "cudaGraphAddNode"]
    {
        assert!(!vendor::enqueues(call), "{call}");
    }
    // A runtime that is not in the table may be like CUDA's.
    for call in ["Node@launch", "zeCommandListAppendMemoryCopy", "musaLaunchKernel", "synMemCopyAsync"] {
        assert!(vendor::enqueues(call), "{call}");
    }
    assert!(vendor::launches_graph("hipGraphLaunch") && vendor::launches_graph("AscendCL@aclmdlRIExecuteAsync"));
    assert!(vendor::synchronizes_event("zeEventHostSynchronize") && !vendor::synchronizes_event("urQueueFinish"));
    assert!(vendor::makes_stream_wait("aclrtStreamWaitEvent") && vendor::records_event("hipEventRecord"));
    assert!(vendor::may_wait("cuStreamWaitValue32") && !vendor::may_wait("aiuLaunchControlBlocks"));
}

#[test]
fn entries_fit_what_reads_them() {
    for vendor in VENDORS {
        let name = vendor.name;
        for category in vendor.categories {
            assert_eq!(category_kind(category.name), (category.kind, category.is_on_device), "{name}");
        }
        let kernels = &vendor.kernels;
        let lists = [kernels.communication, kernels.memory, kernels.envelope, kernels.matrix_units];
        let lists = lists.into_iter().chain([kernels.other_units, kernels.rounded_float32]);
        let lists = lists.chain([kernels.computation]);
        for NamePattern::Start(pattern)
        | NamePattern::Anywhere(pattern)
        | NamePattern::Word(pattern)
        | NamePattern::Function(pattern) in lists.flatten()
        {
            assert_eq!(pattern.to_ascii_lowercase(), *pattern, "{name}: names are compared in lower case");
        }
        for call in vendor.calls.allocate {
            let is_own = vendor::has_call_prefix(call) || vendor.call_prefixes.is_empty();
            assert!(is_own, "{name}: {call}");
        }
        for start in vendor.communication.kernels {
            assert_eq!(WorkClass::of_kernel(start), WorkClass::Communication, "{name}: {start}");
        }
    }
}
