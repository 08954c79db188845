//! Tests each rule on a trace that matches and on one that nearly does.

use serde_json::json;

use crate::scene::{Scene, scene};

/// An operator that copies a number to the host and waits for it; the next kernel starts at `next`.
fn reading(operator: &str, next: i64) -> Scene {
    let mut scene = scene();
    scene.kernel("gemm", 0, 2, 98).operator(operator, 10, 95);
    scene.copy("Memcpy DtoH (Device -> Pinned)", (11, 2), (100, 1));
    scene.host("cuda_runtime", "cudaStreamSynchronize", 14, 88).kernel("gemm", 103, next, 90);
    scene
}

#[test]
fn a_wait_costs_what_the_device_then_idles() {
    assert_eq!(reading("aten::nonzero", 120).only("host_device_sync"), (String::from("aten::nonzero"), 19, 1));
    // The device had more to do.
    let mut busy = reading("aten::nonzero", 120);
    let args = json!({"correlation": 99, "device": 0, "stream": 8});
    busy.with("cuda_runtime", "cudaLaunchKernel", (5, 1), &json!({"correlation": 99}));
    busy.events.push(
        json!({"ph": "X", "cat": "kernel", "name": "long", "pid": 0, "tid": 8, "ts": 6, "dur": 150, "args": args}),
    );
    busy.expect_none("host_device_sync");
}

#[test]
fn a_copy_that_is_waited_for_twice_is_one_wait() {
    let mut scene = scene();
    scene.kernel("gemm", 0, 2, 20).operator("aten::to", 10, 95);
    scene.copy("Memcpy DtoH (Device -> Pageable)", (11, 40), (25, 10));
    scene.host("cuda_runtime", "cudaStreamSynchronize", 30, 12).kernel("gemm", 103, 120, 90);
    assert_eq!(scene.only("host_device_sync"), (String::from("aten::to"), 40, 1));
    // Nor does it count for less when the profiler, as it ends, waits for it, too.
    scene.annotation("ProfilerStep#1", 0, 300).host("cuda_runtime", "cudaDeviceSynchronize", 400, 90);
    assert_eq!(scene.only("host_device_sync").2, 1);
}

#[test]
fn reading_one_number_is_told_apart_from_other_waits() {
    let item = reading("aten::item", 120);
    assert_eq!(item.only("item_in_loop"), (String::from("aten::item"), 19, 1));
    item.expect_none("host_device_sync");
    // Outside of the iterations nobody minds.
    let mut after = reading("aten::item", 120);
    after.annotation("ProfilerStep#1", 0, 9);
    after.expect_none("item_in_loop");
}

#[test]
fn copies_count_as_far_as_nothing_is_computed_beside_them() {
    let copying = |name: &str, compute: i64| {
        let mut scene = scene();
        scene.copy(name, (0, 1), (10, 40)).kernel("gemm", 2, compute, 45);
        scene
    };
    let (pageable, pinned) = ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)");
    assert_eq!(copying(pageable, 60).only("pageable_copy"), (String::from(pageable), 40, 1));
    copying(pageable, 60).expect_none("exposed_copy");
    copying(pinned, 60).expect_none("pageable_copy");
    assert_eq!(copying(pinned, 30).only("exposed_copy"), (String::from(pinned), 20, 1));
    copying(pinned, 8).expect_none("exposed_copy");
    copying("Memcpy DtoD (Device -> Device)", 60).expect_none("exposed_copy");
}

#[test]
fn what_is_filled_and_moved_at_once_is_created_in_the_wrong_place() {
    let moving = |between: Option<&str>, copy: &str| {
        let mut scene = scene();
        scene.operator("aten::zeros", 0, 9).operator("aten::zero_", 2, 6).operator("aten::fill_", 3, 2);
        if let Some(name) = between {
            scene.operator(name, 10, 5);
        }
        scene.operator("aten::to", 20, 30).operator("aten::_to_copy", 21, 28).operator("aten::copy_", 22, 26);
        scene.copy(copy, (23, 20), (25, 10));
        scene
    };
    let to_device = "Memcpy HtoD (Pageable -> Device)";
    assert_eq!(moving(None, to_device).only("created_on_host"), (String::from("aten::zeros"), 40, 1));
    moving(Some("aten::add"), to_device).expect_none("created_on_host");
    moving(None, "Memcpy DtoH (Device -> Pageable)").expect_none("created_on_host");
}

#[test]
fn loading_costs_the_time_in_which_the_device_idles() {
    let loading = |iterator: &str, dur: i64| {
        let mut scene = scene();
        scene.annotation(&format!("enumerate(DataLoader)#{iterator}.__next__"), 0, dur);
        scene.kernel("gemm", 0, 1, 49).kernel("gemm", dur, dur + 1, 1_000);
        scene
    };
    let (alone, workers) = ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter");
    assert_eq!(loading(alone, 90).only("data_loading_without_workers"), (String::from(alone), 41, 1));
    loading(alone, 90).expect_none("data_loading_stall");
    assert_eq!(loading(workers, 90).only("data_loading_stall"), (String::from(workers), 41, 1));
    // They had the batch ready.
    loading(workers, 4).expect_none("data_loading_stall");
    // It costs nothing here, but it is the program's pattern.
    loading(alone, 4).expect_none("data_loading_without_workers");
    assert!(loading(alone, 4).found_at("data_loading_without_workers", 0.0)[0].confidence < 0.5);
}

#[test]
fn an_optimizer_that_takes_parameters_one_by_one_is_told() {
    let stepping = |update: &str, count: i64| {
        let mut scene = scene();
        scene.annotation("Optimizer.step#SGD.step", 0, 100);
        for at in 0..count {
            scene.operator(update, at * 5, 4);
        }
        scene
    };
    assert_eq!(stepping("aten::add_", 12).only("unfused_optimizer"), (String::from("SGD"), 100, 1));
    stepping("aten::_foreach_add_", 12).expect_none("unfused_optimizer");
    stepping("aten::add_", 3).expect_none("unfused_optimizer");
    let mut mixed = stepping("aten::add_", 12);
    mixed.operator("aten::_fused_sgd_", 80, 10);
    mixed.expect_none("unfused_optimizer");
    let mut frame = scene();
    frame.host("python_function", "torch/optim/adam.py(340): _single_tensor_adam", 0, 50).operator("aten::add_", 1, 2);
    assert_eq!(frame.only("unfused_optimizer").0, "_single_tensor_adam");
}

#[test]
fn gradients_are_filled_only_in_zero_grad() {
    let filling = |around: &str, fill: &str| {
        let mut scene = scene();
        scene.annotation(around, 0, 50).operator(fill, 5, 20).operator("aten::mm", 60, 5);
        scene
    };
    let zero_grad = "Optimizer.zero_grad#SGD.zero_grad";
    assert_eq!(filling(zero_grad, "aten::zero_").only("gradients_zeroed"), (String::from("zero_grad"), 20, 1));
    assert_eq!(filling(zero_grad, "aten::_foreach_zero_").only("gradients_zeroed").1, 20);
    filling("Optimizer.step#SGD.step", "aten::zero_").expect_none("gradients_zeroed");
    filling(zero_grad, "aten::zeros").expect_none("gradients_zeroed");
}

#[test]
fn full_precision_is_told_where_the_device_has_less() {
    let multiplying = |kernel: &str, dtype: &str, major: i64| {
        let mut scene = scene();
        scene.with(
            "cpu_op",
            "aten::mm",
            (0, 10),
            &json!({"Input type": [dtype, dtype], "Input Dims": [[64, 64], [64, 64]]}),
        );
        scene.kernel(kernel, 2, 20, 80);
        scene.header = json!([{"id": 0, "name": "NVIDIA", "computeMajor": major, "computeMinor": 0}]);
        scene
    };
    let full = "ampere_sgemm_128x64_tn";
    assert_eq!(multiplying(full, "float", 8).only("fp32_matmul"), (String::from("aten::mm"), 40, 1));
    multiplying(full, "float", 7).expect_none("fp32_matmul");
    multiplying("ampere_tf32_s1688gemm_128x64", "float", 8).expect_none("fp32_matmul");
    multiplying("ampere_bf16_s16816gemm", "c10::BFloat16", 8).expect_none("fp32_matmul");
}

#[test]
fn sixteen_bits_want_multiples_of_eight() {
    let multiplying = |dtype: &str, shapes: [[i64; 2]; 2]| {
        let mut scene = scene();
        scene.with("cpu_op", "aten::mm", (0, 10), &json!({"Input type": [dtype, dtype], "Input Dims": shapes}));
        scene.kernel("gemm", 2, 20, 80);
        scene
    };
    let half = "c10::Half";
    assert_eq!(multiplying(half, [[64, 64], [64, 50_257]]).only("unaligned_matmul"), (String::from("aten::mm"), 20, 1));
    multiplying(half, [[64, 64], [64, 50_304]]).expect_none("unaligned_matmul");
    multiplying("float", [[64, 64], [64, 50_257]]).expect_none("unaligned_matmul");
    // Only the number of rows.
    assert_eq!(multiplying(half, [[3, 64], [64, 64]]).found_at("unaligned_matmul", 0.0)[0].cost_ns, 0);
}

#[test]
fn a_bias_before_a_batch_norm_is_lost() {
    let convolving = |bias: &str, between: &[&str]| {
        let mut scene = scene();
        let args = json!({"Input type": ["float", "float", bias, "", ""]});
        scene.with("cpu_op", "aten::conv2d", (0, 20), &args).operator("aten::convolution", 1, 18).operator(
            "aten::add_",
            10,
            5,
        );
        for (at, name) in (0_i64..).zip(between) {
            scene.with("cpu_op", name, (30 + at * 10, 5), &json!({"Input type": ["long int", "Scalar", "Scalar"]}));
        }
        scene.operator("aten::batch_norm", 90, 5);
        scene
    };
    let rule = "conv_bias_before_batch_norm";
    assert_eq!(convolving("float", &[]).only(rule), (String::from("convolution"), 5, 1));
    assert_eq!(convolving("float", &["aten::add_"]).only(rule).2, 1); // batches are counted
    convolving("", &[]).expect_none(rule);
    convolving("float", &["aten::relu"]).expect_none(rule);
}

#[test]
fn allocating_in_the_first_iteration_is_no_defect() {
    let allocating = |at: i64| {
        let mut scene = scene();
        scene.annotation("ProfilerStep#1", 0, 100).annotation("ProfilerStep#2", 100, 100);
        scene.host("cuda_runtime", "cudaMalloc", at, 30);
        scene
    };
    assert_eq!(allocating(120).only("allocation_in_steady_state"), (String::from("cudaMalloc"), 30, 1));
    allocating(20).expect_none("allocation_in_steady_state");
}

#[test]
fn compiling_counts_and_what_was_compiled_does_not() {
    let running = |name: &str| {
        let mut scene = scene();
        scene.annotation("ProfilerStep#1", 0, 100).annotation(name, 10, 60).annotation(
            "backend_compile (dynamo_timed)",
            20,
            30,
        );
        scene
    };
    assert_eq!(running("_compile.compile_inner (dynamo_timed)").only("recompilation").1, 60);
    let mut compiled = scene();
    compiled.annotation("ProfilerStep#1", 0, 100).annotation("Torch-Compiled Region: 0/0", 10, 60);
    compiled.host("python_function", "torch/_dynamo/convert_frame.py(1): catch_errors", 5, 70);
    compiled.expect_none("recompilation");
}

#[test]
fn communication_counts_as_far_as_nothing_is_computed() {
    let reducing = |compute: i64| {
        let mut scene = scene();
        scene.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 0, 10, 40).kernel("gemm", 2, compute, 60);
        scene
    };
    let (subject, cost, count) = reducing(30).only("exposed_communication");
    assert_eq!((subject.as_str(), cost, count), ("all_reduce", 20, 1));
    reducing(5).expect_none("exposed_communication");
}

#[test]
fn what_helps_depends_on_what_is_exchanged() {
    let advice = |kernel: &str| {
        let mut scene = scene();
        scene.kernel(kernel, 0, 10, 40).kernel("gemm", 2, 50, 60);
        scene.operator("autograd::engine::evaluate_function: MmBackward0", 1, 3);
        scene.found("exposed_communication")[0].advice.to_string()
    };
    let words = [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "bucket_cap_mb"),
        ("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)", "forward_prefetch"),
        ("ncclDevKernel_Send(x)", "micro-batches"),
        ("ncclDevKernel_Generic(x)", "see stragglers"),
    ];
    for (kernel, word) in words {
        assert!(advice(kernel).contains(word), "{kernel}: {}", advice(kernel));
    }
}

#[test]
fn ten_rounds_of_the_same_are_a_loop() {
    let taking = |rounds: i64, second: &str| {
        let mut scene = scene();
        for at in 0..rounds {
            let name = if at == 1 { second } else { "aten::fill_" };
            scene.operator("aten::select", at * 10, 4).operator(name, at * 10 + 5, 4);
        }
        scene
    };
    assert_eq!(taking(12, "aten::fill_").only("indexing_in_a_loop"), (String::from("aten::select"), 11 * 8, 1));
    taking(9, "aten::fill_").expect_none("indexing_in_a_loop");
    taking(10, "aten::mul_").expect_none("indexing_in_a_loop");
}

#[test]
fn the_same_element_again_is_no_loop_over_elements_nor_is_a_model_run_for_each() {
    let taking = |index: fn(i64) -> i64, others: i64| {
        let mut scene = scene();
        for at in 0..12 {
            let inputs = json!({"Concrete Inputs": ["", "1", index(at).to_string()]});
            scene.with("cpu_op", "aten::select", (at * 100, 4), &inputs);
            for other in 1..=others {
                scene.operator("aten::mul", at * 100 + other * 5, 4);
            }
        }
        scene
    };
    assert_eq!(taking(|at| at, 1).only("indexing_in_a_loop").1, 11 * 8);
    taking(|_| -1, 1).expect_none("indexing_in_a_loop"); // the last token of each answer
    taking(|at| at, 12).expect_none("indexing_in_a_loop");
}

#[test]
fn evidence_names_the_costliest_events_first() {
    let mut scene = scene();
    scene.copy("Memcpy HtoD (Pageable -> Device)", (0, 1), (10, 10)).copy(
        "Memcpy HtoD (Pageable -> Device)",
        (21, 1),
        (30, 60),
    );
    let found = scene.found("pageable_copy");
    assert_eq!(found[0].evidence, [3, 1]);
    assert!((found[0].share - 70.0 / 90.0).abs() < 1e-9);
}

#[test]
fn time_that_several_events_lose_together_is_lost_once() {
    let mut scene = scene();
    let args = |id: i64, stream: i64| json!({"correlation": id, "device": 0, "stream": stream});
    for at in 0..6 {
        let id = 100 + at;
        scene.with("cuda_runtime", "cudaMemcpyAsync", (at, 1), &json!({"correlation": id}));
        scene.events.push(json!({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0,
                                 "tid": 20 + at, "ts": 10, "dur": 90, "args": args(id, 20 + at)}));
    }
    assert_eq!(scene.only("pageable_copy").1, 90);
    let mut launching = Scene::default();
    for at in 0..60 {
        for stream in 1..9 {
            let id = at * 10 + stream;
            launching.with("cuda_runtime", "cudaLaunchKernel", (at * 20, 1), &json!({"correlation": id}));
            launching.events.push(json!({"ph": "X", "cat": "kernel", "name": "add", "pid": 0, "tid": stream,
                                         "ts": at * 20 + 5, "dur": 3, "args": args(id, stream)}));
        }
    }
    assert_eq!(launching.only("launch_bound"), (String::from("device"), 59 * 17, 59));
}

#[test]
fn memory_that_is_not_there_is_told_whatever_it_costs() {
    let failing = |reserved: i64| {
        let mut scene = scene();
        scene.operator("aten::repeat", 10, 80).operator("aten::empty", 12, 3).kernel("gemm", 100, 110, 1_000_000);
        let args = json!({"Bytes": 4_i64 << 30, "Device Type": 1, "Device Id": 0, "Total Allocated": 70_i64 << 30,
                          "Total Reserved": reserved << 30});
        for time in [13, 14] {
            scene.events.push(json!({"ph": "i", "cat": "cpu_instant_event", "name": "[OutOfMemory]", "s": "t",
                                     "pid": 1, "tid": 2, "ts": time, "args": args}));
        }
        scene
    };
    let full = failing(71);
    assert_eq!(full.only("out_of_memory"), (String::from("cuda:0"), 3, 2));
    let full = &full.found("out_of_memory")[0];
    assert_eq!(full.detail, "largest request 4.0 GiB, with 70.0 GiB allocated and 71.0 GiB reserved");
    assert_eq!(full.evidence.len(), 1);
    assert!(full.advice.starts_with("hold less"));
    assert!(failing(76).found("out_of_memory")[0].advice.contains("expandable_segments"));
    scene().operator("aten::repeat", 10, 80).expect_none("out_of_memory");
}
