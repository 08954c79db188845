//! Tests which kernel belongs to which record, where the record closed before the launch.

use kinetoscope::link::UntimedReason;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

/// Events of one `c10d` operator at `start`: its records, each `[start, end]`, and the launches
/// with their kernels' names. The operator lasts 200 µs, a kernel 400 µs.
fn call(start: i64, records: &[[i64; 2]], kernels: &[(i64, &str)]) -> Vec<Value> {
    let event = |name: &str, category: &str, at: i64, dur: i64, args: Value| {
        let is_kernel = category == "kernel";
        json!({"ph": "X", "cat": category, "name": name, "pid": i64::from(!is_kernel), "tid": if is_kernel { 7 } else { 1 },
            "ts": start + at, "dur": dur, "args": args})
    };
    let mut events = vec![event("c10d::allreduce_", "cpu_op", 0, 200, json!({}))];
    for [first, last] in records {
        let args = json!({"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 4096,
            "Out msg nelems": 4096, "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"});
        events.push(event("record_param_comms", "cpu_op", *first, last - first, args));
    }
    for (at, name) in kernels {
        let correlation = json!({"correlation": start + at, "device": 0, "stream": 7});
        events.push(event("urEnqueueKernelLaunchWithArgsExp", "xpu_runtime", *at, 5, correlation.clone()));
        events.push(event(name, "kernel", at + 300, 400, correlation));
    }
    events
}

fn linked(events: &[Value]) -> LinkedTrace {
    let document = json!({"distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": events});
    LinkedTrace::new(read([Input::new(document.to_string().as_bytes())], Limits::default()).unwrap())
}

/// Of each row: how long it ran in µs, its bandwidth in MB/s, and why no time is known.
fn told(events: &[Value]) -> Vec<(Option<i64>, Option<i64>, Option<UntimedReason>)> {
    let linked = linked(events);
    let rows = linked.collectives().rows.iter().map(|row| {
        let us = row.time(&linked.trace).map(|time| time.dur().0 / 1_000);
        (us, row.bus_gbps(&linked.trace).map(|gbps| (gbps * 1_000.0).round() as i64), row.untimed_reason())
    });
    rows.collect()
}

#[test]
fn the_kernel_of_the_operator_is_that_of_its_one_record() {
    let timed = (Some(400), Some(41), None);
    assert_eq!(told(&call(0, &[[10, 30]], &[(80, "oneccl_allreduce_large_kernel")])), [timed]);
    assert_eq!(told(&call(0, &[[10, 30]], &[(80, "ncclDevKernel_AllReduce_Sum_f32_RING_LL()")])), [timed]);
    // A backend's kernel of any name, launched by the operator itself.
    assert_eq!(told(&call(0, &[[10, 30]], &[(80, "typeinfo name for sycl::kernel_42")])), [timed]);
    assert_eq!(told(&call(0, &[[10, 90]], &[(50, "oneccl_allreduce_large_kernel")])), [timed]);
}

#[test]
fn several_kernels_of_one_record_are_one_time() {
    let events = call(0, &[[10, 30]], &[(80, "oneccl_reduce_scatter"), (120, "oneccl_allgather")]);
    assert_eq!(told(&events), [(Some(440), Some(37), None)]);
}

#[test]
fn a_kernel_that_may_be_of_several_records_is_of_none_and_the_reason_is_told() {
    let events = call(0, &[[10, 30], [40, 60]], &[(80, "oneccl_allreduce_large_kernel")]);
    let found = told(&events);
    let reasons: Vec<_> = found.iter().map(|(us, _, why)| (*us, *why)).collect();
    let several = (None, Some(UntimedReason::SeveralRecords));
    assert_eq!(reasons, [several, several, (Some(400), None)]);
    assert!(UntimedReason::SeveralRecords.message().contains("several records"));
}

#[test]
fn a_kernel_inside_of_one_of_several_records_is_of_that_one() {
    let name = "oneccl_allreduce_large_kernel";
    let found = told(&call(0, &[[10, 30], [40, 60]], &[(15, name), (45, name)]));
    assert_eq!(found.iter().map(|(us, ..)| *us).collect::<Vec<_>>(), [Some(400), Some(400)]);
}

#[test]
fn a_call_without_work_tells_why() {
    let mut events = call(0, &[[10, 30]], &[(80, "oneccl_allreduce_large_kernel")]);
    events.extend(call(1_000, &[[10, 30]], &[]));
    let mut lost = call(2_000, &[[10, 30]], &[(80, "oneccl_allreduce_large_kernel")]);
    lost.pop();
    events.extend(lost);
    let reasons: Vec<_> = told(&events).into_iter().map(|(_, _, why)| why).collect();
    assert_eq!(reasons, [None, Some(UntimedReason::NothingLaunched), Some(UntimedReason::NoDeviceWork)]);
}

#[test]
fn a_check_beside_the_named_kernel_is_no_communication() {
    let kernels = [(40, "checkForNaN<float>"), (80, "ncclDevKernel_AllReduce_Sum_f32_RING_LL()")];
    assert_eq!(told(&call(0, &[[10, 30]], &kernels)), [(Some(400), Some(41), None)]);
}
