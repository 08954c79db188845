//! Tests findings on idle devices.

use kinetoscope::analyze::{MIN_SHARE, Selection, findings};
use kinetoscope::time::TimeRange;
use serde_json::{Value, json};

use crate::scene::scene;

#[test]
fn kernels_of_graphs_are_told_where_the_launches_between_them_are_what_costs() {
    let graphs = |call: &str| {
        let mut scene = scene();
        for at in 0..60 {
            let (start, id) = (at * 100, at + 1);
            scene.with("cuda_runtime", call, (start, 5), &json!({"correlation": id}));
            let args = json!({"correlation": id, "device": 0, "stream": 7});
            let kernel = json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": start + 10, "dur": 3, "args": args});
            scene.events.push(kernel);
        }
        scene.found("launch_bound").remove(0).detail
    };
    assert!(graphs("cudaGraphLaunch").ends_with("60 kernels, copies and fills already run in graphs"));
    assert!(!graphs("cudaLaunchKernel").contains("graphs"));
}

#[test]
fn kernels_of_compiled_code_are_told_where_launches_are_what_costs() {
    let running = |kernel: &str| {
        let mut scene = scene();
        for at in 0..60 {
            scene.kernel(kernel, at * 100, at * 100 + 10, 3);
        }
        scene.found("launch_bound").remove(0).detail
    };
    assert!(running("triton_poi_fused_add_0").ends_with("torch.compile already generates 60 kernels"));
    assert!(!running("add").contains("compile"));
}

#[test]
fn recorded_stacks_are_told_where_launches_are_what_costs() {
    let recorded = |has_stacks: bool| {
        let mut scene = scene();
        for at in 0..60 {
            scene.kernel("add", at * 100, at * 100 + 10, 3);
        }
        if has_stacks {
            scene.host("python_function", "train.py(3): step", 0, 6000);
        }
        scene.found("launch_bound").remove(0).detail
    };
    assert!(recorded(true).contains("with_stack=False"));
    assert!(!recorded(false).contains("stack"));
}

#[test]
fn short_kernels_that_are_waited_for_bind_a_run_to_its_launches() {
    let launching = |dur: i64, lead: i64| {
        let mut scene = scene();
        for at in 0..60 {
            scene.kernel("add", at * 10 - lead, at * 10 + 2, dur);
        }
        scene
    };
    let (subject, cost, count) = launching(3, 0).only("launch_bound");
    assert_eq!((subject.as_str(), cost, count), ("device", 59 * 7, 59));
    launching(3, 400).expect_none("launch_bound"); // launched in time
    let mut few = scene();
    (0..19).for_each(|at| {
        few.kernel("add", at * 10, at * 10 + 2, 3);
    });
    few.expect_none("launch_bound");
}

#[test]
fn what_is_done_once_is_told_apart_from_what_is_repeated() {
    let mut scene = scene();
    // A context is made in the first copy, a library's memory in the first convolution, code is
    // loaded at a first launch.
    scene.operator("aten::to", 0, 9_000).host("cuda_runtime", "cudaFree", 100, 8_000);
    scene.copy("Memcpy HtoD (Pinned -> Device)", (8_900, 10), (8_905, 10));
    scene.operator("aten::conv", 9_100, 7_000).host("cuda_runtime", "cudaMalloc", 9_200, 6_000);
    scene.kernel("conv", 16_000, 16_005, 10).operator("aten::conv", 16_200, 7_000);
    scene.work("kernel", "once", (16_300, 6_000), (22_310, 10));
    for at in 0..40 {
        scene.kernel("conv", 23_300 + 100 * at, 23_305 + 100 * at, 90);
    }
    let subjects: Vec<_> =
        scene.found("start_up").into_iter().map(|found| (found.subject, found.cost_ns / 1_000)).collect();
    let expected = [("cudaFree", 8_000), ("cudaLaunchKernel", 6_000), ("cudaMalloc", 6_000)]
        .map(|(name, us)| (String::from(name), us));
    assert!(expected.iter().all(|one| subjects.contains(one)), "{subjects:?}");
    scene.expect_none("allocation_in_steady_state");
    // In a later call of the same operator, it is no longer the first.
    scene.operator("aten::conv", 28_000, 7_000).host("cuda_runtime", "cudaMalloc", 28_100, 6_000);
    assert_eq!(scene.only("allocation_in_steady_state"), (String::from("cudaMalloc"), 6_000, 1));
}

#[test]
fn a_device_that_waits_for_long_is_told_with_what_the_host_does() {
    let waiting = |host: &str| {
        let mut scene = scene();
        scene
            .kernel("a", 0, 10, 100)
            .operator("aten::first", 200, 10)
            .operator(host, 300, 4_600)
            .kernel("a", 4_950, 5_000, 100);
        scene
    };
    assert_eq!(waiting("tokenize").only("long_idle"), (String::from("tokenize"), 4_890, 1));
    waiting("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__").expect_none("long_idle");
    waiting("cudaDeviceSynchronize").expect_none("long_idle"); // The device worked, but was not recorded.
    // Another stream of the device works on.
    let mut busy = waiting("tokenize");
    let args = json!({"correlation": 999, "device": 0, "stream": 8});
    let long =
        json!({"ph": "X", "cat": "kernel", "name": "long", "pid": 0, "tid": 8, "ts": 50, "dur": 4_940, "args": args});
    busy.events.push(long);
    busy.expect_none("long_idle");
}

#[test]
fn each_device_of_a_process_has_its_own_exposed_work() {
    let mut scene = scene();
    let on = |device: i64, stream: i64, name: &str, category: &str, start: i64, dur: i64| {
        json!({"ph": "X", "cat": category, "name": name, "pid": device, "tid": stream, "ts": start, "dur": dur,
            "args": {"device": device, "stream": stream}})
    };
    let reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)";
    scene.events.extend([on(0, 7, reduce, "kernel", 0, 400), on(0, 7, "gemm", "kernel", 400, 600)]);
    scene.events.extend([on(0, 8, "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 1_000, 300)]);
    scene.events.extend([on(1, 7, "gemm", "kernel", 0, 1_400)]);
    assert_eq!(scene.only("exposed_communication").1, 400);
    assert_eq!(scene.only("pageable_copy").1, 300);
}

#[test]
fn launches_cost_also_where_kernels_are_not_short() {
    let of = |pause: i64| {
        let mut scene = scene();
        for at in 0..60 {
            let start = at * (12 + pause);
            scene.kernel("k", start, start + 5, 12);
        }
        scene
    };
    assert_eq!(of(90).only("launch_bound"), (String::from("device"), 59 * 90, 59));
    of(1).expect_none("launch_bound"); // A twelfth of the time, and kernels are not short.
}

#[test]
fn a_part_of_a_trace_does_not_start_up_again() {
    let mut scene = scene();
    scene.annotation("ProfilerStep#1", 0, 1_000).operator("aten::conv", 10, 20).kernel("conv", 12, 15, 100);
    scene.annotation("ProfilerStep#2", 1_000, 9_000).operator("aten::conv", 1_010, 7_000);
    scene.host("cuda_runtime", "cudaMalloc", 1_020, 6_000).kernel("conv", 8_000, 8_010, 100);
    let linked = scene.linked();
    let start = |row: usize| linked.trace.events.start.at(row);
    let range = TimeRange { start: start(4), end: linked.trace.events.end(4) };
    let second = Selection::within(&linked, Some(range));
    let names: Vec<_> = findings(&second, MIN_SHARE).into_iter().map(|found| found.name).collect();
    assert!(names.contains(&"allocation_in_steady_state") && !names.contains(&"start_up"), "{names:?}");
}

#[test]
fn a_gap_before_the_backward_pass_is_told_by_the_thread_that_did_something() {
    let mut scene = scene();
    scene.kernel("a", 0, 10, 100).operator("aten::first", 120, 10).operator("forward", 200, 4_000);
    let on_other = |category: &str, name: &str, start: i64, dur: i64, args: Value| json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 3, "ts": start, "dur": dur, "args": args});
    let id = json!({"correlation": 900, "device": 0, "stream": 7});
    scene.events.push(on_other("cpu_op", "aten::mm", 4_900, 50, json!({})));
    scene.events.push(on_other("cuda_runtime", "cudaLaunchKernel", 4_910, 5, json!({"correlation": 900})));
    scene
        .events
        .push(json!({"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 4_930, "dur": 9, "args": id}));
    assert_eq!(scene.only("long_idle"), (String::from("forward"), 4_820, 1));
}
