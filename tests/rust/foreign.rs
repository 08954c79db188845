//! Tests that files of other tools than Kineto are named, and that their rows are understood.

use std::sync::Arc;

use kinetoscope::analyze::{
    MIN_SHARE, Selection, VerdictState, WorkClass, analysis, classes, coverage, findings, verdict,
};
use kinetoscope::edit::{Redaction, redact};
use kinetoscope::link::{LinkMethod, MergedRanks};
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::write_snapshot;
use kinetoscope::{EventKind, Limits, LinkedTrace, category_kind};
use serde_json::{Value, json};

use crate::files;

fn process(pid: i64, name: &str, labels: &str) -> [Value; 2] {
    [
        json!({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}),
        json!({"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": labels}}),
    ]
}

fn thread(pid: i64, tid: i64, name: &str) -> Value {
    json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}})
}

fn event(pid: i64, tid: i64, name: &str, start: i64, dur: i64) -> Value {
    json!({"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur})
}

/// As `msprof` writes times.
fn in_text(mut event: Value) -> Value {
    event["ts"] = json!(format!("{}.250", 1_778_659_200_000_000 + event["ts"].as_i64().unwrap()));
    event
}

fn arrow(category: &str, id: i64, [from, to]: [(i64, i64, i64); 2]) -> [Value; 2] {
    let end = |phase: &str, (pid, tid, time): (i64, i64, i64)| {
        in_text(json!({"ph": phase, "bp": "e", "cat": category, "name": category, "id": id.to_string(),
                       "pid": pid, "tid": tid, "ts": time}))
    };
    [end("s", from), end("f", to)]
}

fn linked(events: &[Value]) -> Arc<LinkedTrace> {
    Arc::new(LinkedTrace::new(files::trace(&json!(events).to_string())))
}

const PYTHON: i64 = 100_001;
const HARDWARE: i64 = 100_002;
const CANN: i64 = 100_003;
const HCCL: i64 = 100_004;
const SUMS: i64 = 100_005;

/// Operators at 0, 1000, 2000 … µs, each with a task of 500 µs on stream 2.
fn ascend(num: i64, has_category: bool) -> Vec<Value> {
    let mut events = Vec::from(process(PYTHON, "Python", "CPU"));
    events.extend(process(HARDWARE, "Ascend Hardware", "NPU"));
    events.push(thread(HARDWARE, 2, "Stream 2"));
    for at in 0..num {
        let (host, device) = (at * 1000, at * 1000 + 150);
        let mut operator = in_text(event(PYTHON, 777, "aten::matmul", host, 90));
        if has_category {
            operator["cat"] = json!("cpu_op");
        }
        events.push(operator);
        let mut task = in_text(event(HARDWARE, 2, "MatMulV3", device, 500));
        task["args"] = json!({"Task Type": "AI_CORE", "Physic Stream Id": 2});
        events.push(task);
        events.extend(arrow("async_npu", 429_501_024_567_296 + at, [(PYTHON, 777, host), (HARDWARE, 2, device)]));
    }
    events
}

fn kinds(linked: &LinkedTrace, name: &str) -> Vec<EventKind> {
    let rows = (0..linked.trace.events.len()).filter(|row| linked.trace.event_name(*row) == name);
    rows.map(|row| linked.trace.events.kind[row]).collect()
}

fn row(linked: &LinkedTrace, name: &str) -> usize {
    (0..linked.trace.events.len()).find(|row| linked.trace.event_name(*row) == name).unwrap()
}

fn class(linked: &LinkedTrace, name: &str) -> WorkClass {
    classes(linked)[row(linked, name)]
}

#[test]
fn ascend_tasks_are_device_work_of_the_operators_with_arrows_to_them() {
    for has_category in [true, false] {
        let linked = linked(&ascend(20, has_category));
        let (trace, links) = (&linked.trace, &linked.links);
        assert_eq!(kinds(&linked, "MatMulV3"), [EventKind::Kernel; 20]);
        assert_eq!(kinds(&linked, "aten::matmul"), [EventKind::Operator; 20]);
        let shares = coverage(&linked);
        assert_eq!((shares.device_events.num_linked, shares.device_owners.num_linked), (20, 20));
        assert_eq!(shares.device_events.linked.get(&LinkMethod::Flow), Some(&20));
        for kernel in (0..trace.events.len()).filter(|row| trace.is_on_device(*row)) {
            assert_eq!(trace.track(trace.events.track.at(kernel)).stream.unwrap().stream, Some(2));
            let operator = links.operator.get(kernel).unwrap() as usize;
            assert_eq!((trace.event_name(operator), linked.known_device_ns(operator)), ("aten::matmul", Some(500_000)));
            assert_eq!(trace.events.start.at(kernel).since(trace.events.start.at(operator)).0, 150_000);
        }
    }
}

/// The task queue: the operator enqueues, another thread makes the call that starts the task.
#[test]
fn an_ascend_task_has_its_call_and_through_the_queue_its_operator() {
    let mut events = Vec::from(process(PYTHON, "Python", "CPU"));
    events.extend(process(HARDWARE, "Ascend Hardware", "NPU 3"));
    events.extend(process(CANN, "CANN", "CPU"));
    events.push(thread(HARDWARE, 5, "Stream 5"));
    let enqueue = |name: &str, category: &str, tid: i64, start: i64, dur: i64| {
        let mut event = in_text(event(PYTHON, tid, name, start, dur));
        event["cat"] = json!(category);
        event
    };
    events.push(enqueue("aten::add", "cpu_op", 1, 0, 100));
    events.push(enqueue("Enqueue@aclnnAdd", "enqueue", 1, 50, 10));
    events.push(enqueue("Dequeue@aclnnAdd", "dequeue", 2, 200, 60));
    events.push(in_text(event(CANN, 2, "Node@launch", 220, 20)));
    events.push(in_text(event(HARDWARE, 5, "Add", 400, 30)));
    events.extend(arrow("async_task_queue", 1, [(PYTHON, 1, 50), (PYTHON, 2, 200)]));
    events.extend(arrow("async_npu", 2, [(PYTHON, 2, 200), (HARDWARE, 5, 400)]));
    events.extend(arrow("HostToDevice7", 7, [(CANN, 2, 220), (HARDWARE, 5, 400)]));
    let linked = linked(&events);
    let task = row(&linked, "Add");
    assert_eq!(linked.links.launch.get(task), Some(row(&linked, "Node@launch") as u32));
    assert_eq!(linked.links.operator.get(task), Some(row(&linked, "aten::add") as u32));
    assert_eq!(linked.trace.device(task), Some(3));
    assert_eq!(verdict(&linked).state, VerdictState::Complete);
}

/// An NPU as `torch_npu` records it: `CANN` launches, and an arrow leads from the operator as well.
fn layered_npu(base: i64, num: i64) -> Vec<Value> {
    let (python, cann, hardware) = (base + 1, base + 2, base + 3);
    let mut events = Vec::from(process(python, "Python", "CPU"));
    events.extend(process(cann, "CANN", "CPU"));
    events.extend(process(hardware, "Ascend Hardware", "NPU"));
    events.push(thread(hardware, 2, "Stream 2"));
    for at in 0..num {
        let (start, id) = (at * 1000, base + at * 10);
        for (name, start, dur) in [("aten::matmul", start, 95), ("aten::add", start + 200, 50)] {
            let mut operator = in_text(event(python, 7, name, start, dur));
            operator["cat"] = json!("cpu_op");
            events.push(operator);
        }
        events.push(in_text(event(cann, 77, "node@launch", start + 20, 10)));
        events.push(in_text(event(hardware, 2, "MatMulV3", start + 150, 300)));
        events.push(in_text(event(hardware, 2, "Add", start + 500, 100)));
        let tasks = [(hardware, 2, start + 150), (hardware, 2, start + 500)];
        events.extend(arrow("async_npu", id, [(python, 7, start), tasks[0]]));
        events.extend(arrow("HostToDevice", id + 1, [(cann, 77, start + 20), tasks[0]]));
        events.extend(arrow("async_npu", id + 2, [(python, 7, start + 200), tasks[1]]));
    }
    events
}

#[test]
fn layers_of_one_npu_are_one_rank_and_operators_have_the_time_of_their_tasks() {
    let linked = linked(&layered_npu(0, 5));
    assert!(MergedRanks::of(&linked).is_none());
    for (operator, task, ns) in [("aten::matmul", "MatMulV3", 300_000), ("aten::add", "Add", 100_000)] {
        let [operator, task] = [row(&linked, operator), row(&linked, task)];
        assert_eq!(linked.links.operator.get(task), Some(operator as u32));
        assert_eq!((linked.device_time().total_ns[operator], linked.device_time().self_ns[operator]), (ns, ns));
    }
    let launch = row(&linked, "node@launch");
    assert_eq!(linked.links.launch.get(row(&linked, "MatMulV3")), Some(launch as u32));
    assert_eq!(linked.device_time().total_ns[launch], 300_000);
}

#[test]
fn two_layered_npus_are_two_ranks_with_all_their_layers() {
    let mut events = layered_npu(0, 3);
    events.extend(layered_npu(100, 3));
    let linked = linked(&events);
    let merged = MergedRanks::of(&linked).unwrap();
    let labels: Vec<_> = merged.ranks.iter().map(|rank| (rank.rank, rank.label.as_str())).collect();
    assert_eq!(labels, [(0, "process 1"), (1, "process 101")]);
    let num_events: Vec<_> = merged.rows.events.iter().map(Vec::len).collect();
    assert_eq!((num_events, merged.rows.unplaced.len()), (vec![15, 15], 0));
}

#[test]
fn ascend_collectives_are_communication_and_their_steps_and_sums_no_work() {
    for layer in ["HCCL", "Communication"] {
        let mut events = ascend(3, true);
        events.extend(process(HCCL, layer, "NPU"));
        events.extend(process(SUMS, "Overlap Analysis", "NPU"));
        events.push(thread(HCCL, 1, "Group 0 Communication"));
        events.push(thread(HCCL, 2, "Plane 0"));
        events.push(thread(SUMS, 3, "Computing"));
        events.push(in_text(event(HCCL, 1, "hcom_allReduce__428_0_1", 5000, 300)));
        events.push(in_text(event(HCCL, 1, "AllGatherAicpuKernel", 5400, 100)));
        events.push(in_text(event(HCCL, 2, "Notify_Wait", 5000, 200)));
        events.push(in_text(event(SUMS, 3, "Computing", 150, 500)));
        let mut wait = in_text(event(HARDWARE, 2, "NOTIFY_WAIT_SQE", 5000, 290));
        wait["args"] = json!({"Task Type": "NOTIFY_WAIT_SQE"});
        events.push(wait);
        let mut copy = in_text(event(HARDWARE, 2, "MEMCPY_ASYNC", 5300, 10));
        copy["args"] = json!({"Task Type": "SDMA_SQE"});
        events.push(copy);
        let linked = linked(&events);
        assert_eq!(class(&linked, "hcom_allReduce__428_0_1"), WorkClass::Communication);
        assert_eq!(class(&linked, "AllGatherAicpuKernel"), WorkClass::Communication);
        assert_eq!(class(&linked, "MatMulV3"), WorkClass::Computation);
        assert_eq!(kinds(&linked, "Notify_Wait"), [EventKind::Other]);
        assert_eq!(kinds(&linked, "NOTIFY_WAIT_SQE"), [EventKind::Sync]);
        assert_eq!(kinds(&linked, "MEMCPY_ASYNC"), [EventKind::Copy]);
        assert!(!linked.trace.is_on_device(row(&linked, "Computing")));
    }
}

#[test]
fn two_ascend_devices_never_become_one() {
    let mut events = ascend(2, true);
    events.extend(process(200_002, "Ascend Hardware", "NPU"));
    events.push(thread(200_002, 2, "Stream 2"));
    events.push(in_text(event(200_002, 2, "MatMulV3", 10, 500)));
    let linked = linked(&events);
    let mut devices: Vec<_> = (0..linked.trace.events.len()).filter_map(|row| linked.trace.device(row)).collect();
    devices.dedup();
    assert_eq!(devices, [0, 1]);
}

#[test]
fn no_advice_for_ascend_names_cuda() {
    let mut events = ascend(40, true);
    for (at, name) in ["aten::item", "aten::_local_scalar_dense", "aten::copy_", "aten::to"].iter().enumerate() {
        let mut operator = in_text(event(PYTHON, 777, name, 50_000 + at as i64 * 1000, 900));
        operator["cat"] = json!("cpu_op");
        events.push(operator);
    }
    let linked = linked(&events);
    let found = findings(&Selection::all(&linked), MIN_SHARE);
    let advice: Vec<_> = found.iter().map(|finding| finding.advice.as_ref()).collect();
    assert!(advice.iter().all(|advice| !advice.to_lowercase().contains("cuda")), "{advice:?}");
    let problems = verdict(&linked).problems;
    assert!(problems.iter().any(|problem| problem.name == "foreign_recorder" && problem.message.contains("Ascend")));
    assert!(problems.iter().all(|problem| !problem.advice.to_lowercase().contains("cuda")));
}

fn xla(process_name: &str, threads: &[(i64, &str)]) -> Vec<Value> {
    let mut events = Vec::from(process(1, process_name, ""));
    events.extend(threads.iter().map(|(tid, name)| thread(1, *tid, name)));
    events.extend(process(701, "/host:CPU", ""));
    events.push(thread(701, 1, "python"));
    events.push(event(701, 1, "PjitFunction(step)", 0, 90));
    events.push(event(701, 1, "$train.py:12 step", 0, 95));
    events
}

#[test]
fn jax_streams_are_device_work_and_derived_lines_are_not() {
    let mut events =
        xla("/device:GPU:1", &[(20, "Stream #20(Compute)"), (21, "Stream #21(MemcpyH2D)"), (3, "XLA Ops")]);
    for at in 0..10 {
        events.push(event(1, 20, &format!("loop_fusion_{at}"), 100 + at * 1000, 500));
        events.push(event(1, 3, &format!("fusion.{at}"), 100 + at * 1000, 500));
    }
    events.push(event(1, 21, "MemcpyH2D", 50, 20));
    events.push(event(1, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20_000, 20));
    let linked = linked(&events);
    let trace = &linked.trace;
    let work: Vec<_> = (0..trace.events.len()).filter(|row| trace.events.kind[*row].is_device_work()).collect();
    assert_eq!(work.len(), 12);
    let streams: Vec<_> = work.iter().map(|row| trace.track(trace.events.track.at(*row)).stream.unwrap()).collect();
    assert!(streams.iter().all(|stream| stream.device == Some(1)));
    assert_eq!((streams[0].stream, streams[10].stream), (Some(20), Some(21)));
    assert_eq!(kinds(&linked, "MemcpyH2D"), [EventKind::Copy]);
    assert_eq!(kinds(&linked, "fusion.3"), [EventKind::Annotation]);
    assert_eq!(kinds(&linked, "PjitFunction(step)"), [EventKind::Operator]);
    assert_eq!(kinds(&linked, "$train.py:12 step"), [EventKind::Python]);
    assert_eq!(class(&linked, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), WorkClass::Communication);
    let problems = verdict(&linked).problems;
    assert!(problems.iter().any(|problem| problem.name == "foreign_program" && problem.message.contains("JAX")));
    let found = findings(&Selection::all(&linked), 0.0);
    assert!(found.iter().all(|finding| !finding.advice.contains("CUDA") && !finding.advice.contains("torch")));
}

#[test]
fn a_tpu_has_the_operations_of_xla_as_its_work() {
    let mut events = xla("/device:TPU:0", &[(1, "Steps"), (2, "XLA Modules"), (3, "XLA Ops")]);
    events.push(event(1, 1, "0", 0, 1000));
    events.push(event(1, 2, "jit_step(123)", 0, 1000));
    events.push(event(1, 3, "while.1", 0, 1000));
    events.push(event(1, 3, "fusion.3", 100, 200));
    events.push(event(1, 3, "all-reduce.2", 400, 200));
    events.push(event(1, 3, "copy-start.4", 700, 100));
    let linked = linked(&events);
    assert_eq!(kinds(&linked, "fusion.3"), [EventKind::Kernel]);
    assert_eq!(kinds(&linked, "while.1"), [EventKind::Other], "a loop is no work beside that inside it");
    assert_eq!(kinds(&linked, "copy-start.4"), [EventKind::Copy]);
    assert_eq!(kinds(&linked, "jit_step(123)"), [EventKind::Annotation]);
    assert_eq!(class(&linked, "all-reduce.2"), WorkClass::Communication);
    assert_eq!(class(&linked, "fusion.3"), WorkClass::Computation);
}

#[test]
fn a_sparse_core_has_its_operations_as_its_work_once() {
    let lines =
        [(1, "Sparse Core Steps"), (2, "Sparse Core Modules"), (3, "Sparse Core Ops"), (4, "Sparse Core Syncs")];
    let mut events = xla("/device:TPU:2 SparseCore 1", &lines);
    events.push(event(1, 1, "0", 0, 1000));
    events.push(event(1, 2, "jit_step(123)", 0, 1000));
    events.push(event(1, 3, "gather_fusion.3", 100, 200));
    events.push(event(1, 4, "sync.1", 300, 100));
    let linked = linked(&events);
    let work: Vec<_> =
        (0..linked.trace.events.len()).filter(|row| linked.trace.events.kind[*row].is_device_work()).collect();
    assert_eq!(work.iter().map(|row| linked.trace.event_name(*row)).collect::<Vec<_>>(), ["gather_fusion.3"]);
    assert_eq!(linked.trace.device(work[0]), Some(2));
}

#[test]
fn work_of_the_runtime_of_aiu_is_on_its_devices() {
    let rdma = "SenRdmaSend_82227 [sync=AllReduce_all_reduce_4_s0_r1_0] DmaO";
    let of_device = |pid: i64| {
        vec![
            event(pid, 1, "add_11 Cmpt Prep", 0, 5),
            event(pid, 2, "add_11 Cmpt Exec", 5, 9),
            event(pid, 3, "Input DmaI", 0, 4),
            event(pid, 4, rdma, 20, 4),
            event(pid, 9, "Execute Graph", 0, 30),
        ]
    };
    let linked = linked(&[of_device(0), of_device(1)].concat());
    let trace = &linked.trace;
    assert_eq!(kinds(&linked, "add_11 Cmpt Exec"), [EventKind::Kernel; 2]);
    assert_eq!(kinds(&linked, "Input DmaI"), [EventKind::Copy; 2]);
    assert_eq!(kinds(&linked, "Execute Graph"), [EventKind::Other; 2]);
    assert_eq!(class(&linked, rdma), WorkClass::Communication);
    let devices: Vec<_> = (0..trace.events.len()).map(|row| trace.device(row)).collect();
    assert_eq!(devices[..5], [Some(0), Some(0), Some(0), Some(0), None]);
    assert_eq!(devices[5..], [Some(1), Some(1), Some(1), Some(1), None]);
    let problems = verdict(&linked).problems;
    assert!(problems.iter().any(|problem| problem.message.contains("AIU") && problem.advice.contains("no launches")));
}

#[test]
fn categories_of_kineto_tell_the_side() {
    assert_eq!(category_kind("xpu_scope_profiler"), (EventKind::Other, true));
    assert_eq!(category_kind("xpu_sync"), (EventKind::Sync, true));
    for category in ["driver", "runtime", "xpu_driver", "privateuse1_driver"] {
        assert_eq!(category_kind(category), (EventKind::Launch, false), "{category}");
    }
}

#[test]
fn functions_of_viztracer_are_python() {
    let function = |category: Option<&str>| {
        let mut event = event(9, 9, "forward (/w/model.py:33)", 0, 50);
        category.into_iter().for_each(|category| event["cat"] = json!(category));
        event
    };
    let file = json!({"traceEvents": [function(Some("FEE"))], "viztracer_metadata": {"version": "1.0"}});
    for text in [file.to_string(), json!([function(Some("FEE"))]).to_string()] {
        let linked = LinkedTrace::new(files::trace(&text));
        assert_eq!(kinds(&linked, "forward (/w/model.py:33)"), [EventKind::Python]);
        assert!(verdict(&linked).problems.iter().any(|problem| problem.message.contains("VizTracer")));
    }
}

#[test]
fn other_tools_are_named_and_kineto_is_not() {
    let chrome = vec![thread(4, 1, "CrBrowserMain"), event(4, 1, "RunTask", 0, 5)];
    let session = |category: &str, name: &str| {
        let mut event = event(16, 16, name, 0, 5);
        event["cat"] = json!(category);
        event
    };
    let onnx = vec![session("Session", "model_run"), session("Node", "conv_kernel_time"), session("Kernel", "gemm")];
    let mut tensorflow = Vec::from(process(1, "/job:localhost/replica:0/task:0/device:CPU:0 Compute", ""));
    tensorflow.extend(process(2, "/device:GPU:0/stream:all Compute", ""));
    tensorflow.extend([event(1, 1, "MatMul", 0, 9), event(2, 1, "sgemm", 5, 9)]);
    for (events, words) in [(&chrome, "Chrome"), (&onnx, "ONNX Runtime"), (&tensorflow, "TensorFlow")] {
        let problems = verdict(&linked(events)).problems;
        assert!(problems.iter().any(|problem| problem.message.contains(words)), "{words}: {problems:?}");
    }
    let onnx = linked(&onnx);
    assert_eq!(kinds(&onnx, "conv_kernel_time"), [EventKind::Operator]);
    assert_eq!((kinds(&onnx, "gemm"), onnx.trace.device(row(&onnx, "gemm"))), (vec![EventKind::Kernel], None));
    let tensorflow = linked(&tensorflow);
    assert_eq!(
        (kinds(&tensorflow, "MatMul"), kinds(&tensorflow, "sgemm")),
        (vec![EventKind::Operator], vec![EventKind::Kernel])
    );
    let mut kineto = Vec::from(process(7, "python", "CPU"));
    kineto.push(event(7, 7, "aten::add", 0, 5));
    assert!(linked(&kineto).trace.producer().is_none());
}

#[test]
fn kinds_survive_snapshots_and_redaction() {
    let text = json!(ascend(3, false)).to_string();
    let trace = files::trace(&text);
    let kinds = trace.events.kind.clone();
    let loaded = read_snapshot(&write_snapshot(&trace).unwrap(), Limits::default()).unwrap();
    assert_eq!((loaded.events.kind, loaded.tracks), (kinds.clone(), trace.tracks.clone()));
    let hidden = redact([&trace], Redaction::default()).remove(0);
    let mut bytes = Vec::new();
    write_chrome(&hidden, &mut bytes).unwrap();
    let again = files::trace(std::str::from_utf8(&bytes).unwrap());
    assert_eq!(again.events.kind.iter().filter(|kind| **kind == EventKind::Kernel).count(), 3);
}

#[test]
fn work_of_an_accelerator_that_is_not_known_is_not_said_to_be_none() {
    let unknown = |name: &str, start: i64| {
        json!({"ph": "X", "cat": "acme_task", "name": name, "pid": 7, "tid": 1,
        "ts": start, "dur": 10})
    };
    let linked = linked(&[unknown("matmul", 0), unknown("softmax", 20)]);
    let told = verdict(&linked);
    let problem = told.problems.iter().find(|problem| problem.name == "unknown_kind").unwrap();
    assert!(problem.message.contains("acme_task"), "{}", problem.message);
    assert_eq!((problem.count, told.state, problem.is_shown), (2, VerdictState::Complete, true));
    let answer = analysis("kernels").unwrap().answer(&linked, "{}").unwrap();
    assert_eq!(answer.reason.as_deref(), Some("no kernel, copy or fill was recognised (see the verdict)"));
}

#[test]
fn a_trace_of_the_host_alone_has_nothing_unrecognised() {
    let operator = json!({"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 0, "dur": 9});
    let mark = json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "x", "ts": 0,
        "dur": 99});
    assert_eq!(verdict(&linked(&[operator, mark])).problems, []);
}
