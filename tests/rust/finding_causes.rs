//! Tests that findings name the right cause: compilation, updates of parameters, communication,
//! allocations, and their costs together.

use kinetoscope::analyze::{MIN_SHARE, Selection, findings, summary};
use serde_json::json;

use crate::scene::{Scene, scene};

/// Two iterations of 20 ms, with frames at these times in µs.
fn framed(frames: &[(&str, i64, i64)]) -> Scene {
    let mut scene = scene();
    scene.annotation("ProfilerStep#5", 0, 20_000).annotation("ProfilerStep#6", 20_000, 20_000);
    for (name, start, dur) in frames {
        scene.host("python_function", name, *start, *dur);
    }
    scene
}

#[test]
fn compiled_code_that_runs_is_no_compilation() {
    let running = framed(&[
        ("torch/_inductor/compile_fx.py(1767): run", 1_000, 5_000),
        ("torch/_inductor/cudagraph_trees.py(2241): execute_node", 1_100, 4_000),
        ("torch/_inductor/compile_fx.py(1767): run", 21_000, 5_000),
        ("torch/_dynamo/convert_frame.py(2601): catch_errors", 27_000, 5_000),
        ("torch/_dynamo/eval_frame.py(1150): compile_wrapper", 33_000, 5_000),
        ("my_compile.py(3): compile_fx", 38_000, 1_500),
    ]);
    running.expect_none("recompilation");
    for event in [
        "Torch-Compiled Region: 0/1",
        "TorchDynamo Cache Lookup",
        "## Call CompiledFxGraph ffh7 ##",
        "CompiledFunction",
        "CUDAGraphNode.record (dynamo_timed)",
        "graph_0_inductor_wrapper_call",
        "compile_model",
    ] {
        let mut running = framed(&[]);
        running.operator(event, 100, 9_000).expect_none("recompilation");
    }
}

#[test]
fn compilation_is_found_by_frames_and_by_events() {
    for (frame, subject) in [
        ("torch/_dynamo/convert_frame.py(1690): _compile", "torch/_dynamo/convert_frame.py(1690): _compile"),
        (
            r"C:\a\torch\_dynamo\convert_frame.py(9): _convert_frame",
            r"C:\a\torch\_dynamo\convert_frame.py(9): _convert_frame",
        ),
        (
            "/src/torch/_inductor/compile_fx.py(800): compile_fx_inner",
            "/src/torch/_inductor/compile_fx.py(800): compile_fx_inner",
        ),
        (
            "torch/_dynamo/convert_frame.py(7): _compile.<locals>.compile_inner",
            "torch/_dynamo/convert_frame.py(7): _compile.<locals>.compile_inner",
        ),
    ] {
        assert_eq!(framed(&[(frame, 21_000, 5_000)]).only("recompilation"), (subject.to_owned(), 5_000, 1));
    }
    for event in
        ["entire_frame_compile", "backward._backward_impl (dynamo_timed)", "_compile.compile_inner (dynamo_timed)"]
    {
        let mut compiling = framed(&[]);
        compiling.operator(event, 21_000, 5_000).operator("compile_fx_inner (dynamo_timed)", 21_100, 4_000);
        let (subject, cost, count) = compiling.only("recompilation");
        assert_eq!((subject, cost, count), (event.replace(" (dynamo_timed)", ""), 5_000, 1));
    }
}

#[test]
fn a_first_compilation_is_told_from_a_later_one() {
    let compiling = |id: &str| {
        let mut compiling = framed(&[]);
        compiling.operator("entire_frame_compile", 21_000, 5_000);
        compiling.annotation(&format!("inductor_compile_data: fn_name=compile_fx_inner, compile_id={id}"), 25_000, 1);
        compiling.found("recompilation").remove(0)
    };
    assert!(compiling("3/0").detail.contains("first time") && compiling("3/0").advice.contains("before the loop"));
    assert!(!compiling("3/1").detail.contains("first time") && compiling("3/1").advice.contains("mark_dynamic"));
}

/// A step of 1 ms with a closure of 900 µs and 12 updates of 8 µs in its last 100 µs. The backward
/// pass runs on another thread, as on devices.
fn closed(update: &str, backward_thread: i64) -> Scene {
    let mut scene = scene();
    scene.annotation("Optimizer.step#AdamW.step", 0, 1_000);
    for at in 0..12 {
        scene.operator("aten::add_", 20 + at * 20, 15);
    }
    scene.operator("aten::addmm", 300, 100);
    let backward = json!({"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddmmBackward0",
        "pid": 1, "tid": backward_thread, "ts": 420, "dur": 470, "args": {}});
    scene.events.push(backward);
    scene.operator("aten::_foreach_norm", 892, 4);
    for at in 0..12 {
        scene.operator(update, 900 + at * 8, 6);
    }
    scene
}

#[test]
fn passes_in_a_closure_are_no_update() {
    for thread in [2, 3] {
        let (subject, cost, count) = closed("aten::addcmul_", thread).only("unfused_optimizer");
        assert_eq!((subject.as_str(), cost, count), ("AdamW", 100, 1));
        // The additions in the passes are no updates.
        closed("aten::_foreach_addcdiv_", thread).expect_none("unfused_optimizer");
        closed("aten::_fused_adamw_", thread).expect_none("unfused_optimizer");
    }
    let found = closed("aten::addcmul_", 2).found("unfused_optimizer");
    assert!(found[0].detail.contains("closures"), "{}", found[0].detail);
}

#[test]
fn a_closure_is_told_by_its_frames_too() {
    for frame in ["train.py(9): closure", "pl/precision.py(7): _wrap_closure", "pl/module.py(7): training_step"] {
        let mut scene = scene();
        scene.annotation("Optimizer.step#SGD.step", 0, 1_000).host("python_function", frame, 10, 880);
        for at in 0..12 {
            scene.operator("aten::add_", 20 + at * 20, 15);
        }
        scene.expect_none("unfused_optimizer");
        for at in 0..12 {
            scene.operator("aten::add_", 900 + at * 8, 6);
        }
        assert_eq!(scene.only("unfused_optimizer"), (String::from("SGD"), 100, 1), "{frame}");
    }
}

#[test]
fn advice_for_inference_has_no_gradient_buckets() {
    let names = [
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long)",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)",
        "ncclDevKernel_AllGather_RING_LL(x)",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "ncclDevKernel_Generic(x)",
    ];
    let subjects = [
        "multimem_all_reduce_kernel",
        "all_reduce",
        "all_gather",
        "cross_device_reduce_1stage",
        "ncclDevKernel_Generic",
    ];
    for (name, subject) in names.iter().zip(subjects) {
        let mut serving = scene();
        serving.kernel(name, 10, 20, 40_000).kernel("sm90_xmma_gemm_bf16bf16", 13, 70, 100);
        let found = serving.found("exposed_communication");
        assert_eq!(found[0].subject, subject);
        assert!(!found[0].advice.contains("DDP") && !found[0].advice.contains("FSDP"), "{}", found[0].advice);
        serving.operator("autograd::engine::evaluate_function: MmBackward0", 0, 5);
        let found = serving.found("exposed_communication");
        assert!(found[0].advice.contains("DDP") || found[0].advice.contains("FSDP"), "{}", found[0].advice);
    }
    let mut experts = scene();
    experts.kernel("void dpsk::ep::internode::dispatch<false, 8>(int4*, long*)", 10, 20, 100);
    let found = experts.kernel("gemm", 13, 200, 100).found("exposed_communication");
    assert_eq!(found[0].subject, "internode::dispatch");
    assert!(found[0].advice.contains("another part of the batch"), "{}", found[0].advice);
}

#[test]
fn patterns_below_a_thousandth_are_listed_on_request_only() {
    let filling = |dur: i64| {
        let mut scene = scene();
        scene.host("python_function", "train.py(9): zero_grad", 0, 900).operator("aten::zero_", 10, dur);
        scene.operator("aten::mm", 1_000, 99_000).linked()
    };
    let names = |dur: i64, min_share: f64| {
        let linked = filling(dur);
        let found = findings(&Selection::all(&linked), min_share);
        found.iter().map(|found| found.name).filter(|name| *name == "gradients_zeroed").count()
    };
    assert_eq!([names(200, MIN_SHARE), names(50, MIN_SHARE), names(50, 0.0)], [1, 0, 1]);
}

#[test]
fn subjects_have_no_addresses() {
    let mut scene = scene();
    for (at, address) in [(0, "0x7f1b2c3d"), (1, "0x55d0c0ffee00")] {
        let start = at * 40_000;
        scene.kernel("gemm", start, start + 5, 100);
        let name = format!("<built-in method read of Loader object at {address}>");
        scene.host("python_function", &name, start + 200, 39_000);
    }
    scene.kernel("gemm", 80_000, 80_005, 100);
    let linked = scene.linked();
    let found = findings(&Selection::all(&linked), 0.0);
    assert!(found.iter().any(|found| found.name == "long_idle"), "{found:?}");
    for found in found {
        assert!(!found.subject.contains("0x"), "{}", found.subject);
    }
}

#[test]
fn idle_time_names_the_line_of_the_program() {
    let mut scene = scene();
    scene.host("python_function", "/w/serve.py(10): <module>", 0, 99_000);
    scene.kernel("gemm", 10, 15, 100);
    scene.host("python_function", "/w/data.py(33): load", 200, 80_000);
    scene.host("python_function", "json/decoder.py(344): decode", 210, 79_000);
    scene.host("python_function", "<built-in method scan of Scanner object at 0x7f1b2c3d>", 220, 78_000);
    let (subject, _, count) = scene.kernel("gemm", 80_300, 80_305, 100).only("long_idle");
    assert_eq!((subject.as_str(), count), ("/w/data.py(33): load", 1));
}

#[test]
fn frees_in_every_iteration_say_that_caching_seems_off() {
    let freeing = |call: &str, iterations: &[i64]| {
        let mut scene = scene();
        for at in 0..4 {
            scene.annotation(&format!("ProfilerStep#{at}"), at * 1_000, 1_000);
            scene.kernel("gemm", at * 1_000 + 1, at * 1_000 + 5, 500);
        }
        for at in iterations {
            scene.host("cuda_runtime", call, at * 1_000 + 600, 300);
        }
        scene.found("allocation_in_steady_state")
    };
    for call in ["hipFree", "cudaFree", "cudaFreeAsync", "cuMemUnmap", "urUSMFree"] {
        let found = freeing(call, &[1, 2, 3]);
        assert!(found[0].detail.contains("caching seems off"), "{call}: {}", found[0].detail);
        assert!(found[0].advice.contains("PYTORCH_NO_CUDA_MEMORY_CACHING"), "{call}");
    }
    for (call, iterations) in [("cudaFree", &[2][..]), ("cudaMalloc", &[1, 2, 3]), ("cudaFreeHost", &[1, 2, 3])] {
        let found = freeing(call, iterations);
        assert!(!found[0].detail.contains("caching"), "{call}: {}", found[0].detail);
    }
}

#[test]
fn overlapping_costs_are_told_and_counted_once() {
    let mut scene = scene();
    // The device idles while the host compiles: two findings, one time.
    scene.kernel("gemm", 0, 5, 100).operator("entire_frame_compile", 200, 30_000);
    let linked = scene.kernel("gemm", 30_300, 30_305, 395).linked();
    let found = findings(&Selection::all(&linked), MIN_SHARE);
    assert!(found.len() > 1, "{found:?}");
    let sum: i64 = found.iter().map(|found| found.cost_ns).sum();
    let union = summary(&Selection::all(&linked), 20).findings_cost_ns;
    assert!(0 < union && union < sum && union <= 31_000_000, "{union} of {sum}");
    for found in &found {
        assert!(found.overlap_ns.is_some_and(|shared| (0..=found.cost_ns).contains(&shared)), "{found:?}");
    }
    assert!(found.iter().any(|found| found.overlap_ns > Some(0)));
    let alone: i64 = found.iter().map(|found| found.cost_ns - found.overlap_ns.unwrap_or(0)).sum();
    assert!(alone <= union, "{alone} alone, {union} together");
}
