//! Tests costs of the operators of serving engines against closed formulas, with arguments as
//! traces of vLLM and `SGLang` have them.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::analysis;
use serde_json::{Value, json};

use crate::files::{self, rows};
use crate::roofline::{BF16, args, call, cost, text};

fn half(num_tensors: usize) -> Value {
    json!(vec![BF16; num_tensors])
}

#[test]
fn products_count_two_operations_for_each_factor() {
    let none = json!([]);
    // SGLang on ROCm: the result is new.
    let linear = args(&json!([[32, 4096], [6144, 4096], [], [], []]), &json!([BF16, BF16, "", "Scalar", ""]), &none);
    let bytes = 2 * (32 * 4096 + 6144 * 4096 + 32 * 6144);
    assert_eq!(cost("aiter::gemm_a16w16", &linear), Some((2 * 32 * 4096 * 6144, bytes)));
    assert_eq!(cost("vllm::rocm_unquantized_gemm", &linear), Some((2 * 32 * 4096 * 6144, bytes)));
    // vLLM with FP8: the result comes first, scales follow.
    let fp8 = "c10::Float8_e4m3fn";
    let scaled =
        args(&json!([[4, 16], [4, 8], [8, 16], [4, 1], [1, 16]]), &json!([BF16, fp8, fp8, "float", "float"]), &none);
    let bytes = 2 * 64 + 32 + 128 + 4 * (4 + 16);
    assert_eq!(cost("_C::cutlass_scaled_mm", &scaled), Some((2 * 4 * 8 * 16, bytes)));
    // NVFP4: two elements in a byte.
    let packed = args(
        &json!([[4, 16], [4, 8], [16, 8], [4, 1]]),
        &json!([BF16, "unsigned char", "unsigned char", "c10::Float8_e4m3fn"]),
        &none,
    );
    assert_eq!(cost("_C::cutlass_scaled_fp4_mm", &packed), Some((2 * 4 * 16 * 16, 2 * 64 + 32 + 128 + 4)));
    let unfit = args(&json!([[32, 4096], [6144, 4095]]), &half(2), &none);
    assert_eq!(cost("aiter::gemm_a16w16", &unfit), None);
}

#[test]
fn norms_move_what_they_read_and_write() {
    let (none, (rows, width)) = (json!([]), (32, 4096));
    let num = rows * width;
    let plain = args(&json!([[rows, width], [rows, width], [width], []]), &json!([BF16, BF16, BF16, "Scalar"]), &none);
    for name in ["_C::rms_norm", "sgl_kernel::rmsnorm", "aiter::rmsnorm"] {
        assert_eq!(cost(name, &plain), Some((5 * num, 2 * (2 * num + width))), "{name}");
    }
    let in_place = args(&json!([[rows, width], [rows, width], [width]]), &half(3), &none);
    assert_eq!(cost("_C::fused_add_rms_norm", &in_place), Some((6 * num, 2 * (4 * num + width))));
    let dims = json!([[rows, width], [rows, width], [rows, width], [rows, width], [width], []]);
    let apart = args(&dims, &json!([BF16, BF16, BF16, BF16, BF16, "Scalar"]), &none);
    assert_eq!(cost("aiter::add_rmsnorm", &apart), Some((6 * num, 2 * (4 * num + width))));
}

#[test]
fn gates_and_rotations_count_each_element() {
    let none = json!([]);
    // SwiGLU: silu(x) · y for each element of the result.
    let gate = args(&json!([[32, 12288], [32, 24576]]), &half(2), &none);
    assert_eq!(cost("sgl_kernel::silu_and_mul", &gate), Some((2 * 32 * 12288, 2 * 3 * 32 * 12288)));
    let rotated = args(
        &json!([[32], [32, 4096], [32, 1024], [], [41216, 128], []]),
        &json!(["long int", BF16, BF16, "Scalar", BF16, "Scalar"]),
        &json!(["", "", "", "128", "", "True"]),
    );
    let num = 32 * (4096 + 1024);
    assert_eq!(cost("sgl_kernel::rotary_embedding", &rotated), Some((3 * num, 4 * num + 2 * 32 * 128 + 8 * 32)));
}

#[test]
fn a_cache_moves_what_is_stored_and_not_all_that_it_holds() {
    let stored = args(
        &json!([[32, 1024], [32, 1024], [835_874, 1024], [835_874, 1024], [32], [], []]),
        &json!([BF16, BF16, BF16, BF16, "long int", "Scalar", "Scalar"]),
        &json!([]),
    );
    assert_eq!(cost("sglang::store_cache", &stored), Some((0, 2 * 2 * 2 * 32 * 1024 + 8 * 32)));
}

#[test]
fn names_of_other_namespaces_are_unknown() {
    let gate = args(&json!([[32, 12288], [32, 24576]]), &half(2), &json!([]));
    assert_eq!(cost("mine::silu_and_mul", &gate), None);
}

/// Operations and bytes of attention in a step, or why they are unknown.
fn attention(step: &str) -> Result<(i64, i64), String> {
    let dims = json!([[4, 32, 128], [4, 8, 128], [4, 8, 128], [4, 32, 128], []]);
    let inside = args(&dims, &json!([BF16, BF16, BF16, BF16, ""]), &json!([]));
    let mut events = call(0, "vllm::unified_attention_with_output", &inside, "paged_attention", 8);
    events.push(json!({"ph": "X", "cat": "user_annotation", "name": step, "pid": 1, "tid": 1, "ts": 0, "dur": 90}));
    let linked = Arc::new(LinkedTrace::new(files::trace(&text("NVIDIA H100 80GB HBM3", &events))));
    let answer = analysis("roofline").unwrap().answer(&linked, "{}").unwrap();
    match rows(&*answer.tables[0]).into_iter().next() {
        Some(row) => Ok((row["flops"].as_i64().unwrap(), row["bytes"].as_i64().unwrap())),
        None => Err(rows(&*answer.tables[1])[0]["reason"].as_str().unwrap().to_owned()),
    }
}

#[test]
fn paged_attention_takes_context_lengths_from_the_step() {
    // Four requests of one token each, with 1,000 cached tokens together.
    let found = attention("execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk1000sqsq4sqsk1000)");
    let result = 4 * 32 * 128;
    assert_eq!(found, Ok((1000 * 32 * 2 * 256, 2 * (result + 1000 * 8 * 256 + result))));
    let reason = attention("execute_context_0(0)_generation_4(4)").unwrap_err();
    assert!(reason.contains("context lengths are not recorded"), "{reason}");
}
