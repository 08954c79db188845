//! Tests operations, bytes and roofs of operators.

use std::sync::Arc;

use kinetoscope::analyze::{AnalysisResult, analysis};
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

use crate::files::{self, rows};

/// The events of a call that launches a kernel.
pub(crate) fn call(at: i64, name: &str, args: &Value, kernel: &str, dur: i64) -> Vec<Value> {
    let start = at * 100;
    let device = json!({"device": 0, "stream": 7, "correlation": at + 1});
    vec![
        json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": 50, "args": args}),
        json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": start + 10,
            "dur": 5, "args": {"correlation": at + 1}}),
        json!({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": start + 20, "dur": dur,
            "args": device}),
    ]
}

/// Argument facts of an event.
pub(crate) fn args(dims: &Value, types: &Value, concrete: &Value) -> Value {
    json!({"Input Dims": dims, "Input type": types, "Concrete Inputs": concrete})
}

pub(crate) fn text(device: &str, events: &[Value]) -> String {
    json!({"deviceProperties": [{"id": 0, "name": device}], "traceEvents": events}).to_string()
}

pub(crate) fn roofline(json: &str, request: &str) -> AnalysisResult {
    let linked = Arc::new(LinkedTrace::new(files::trace(json)));
    analysis("roofline").unwrap().answer(&linked, request).unwrap()
}

/// Operations and bytes of a call.
pub(crate) fn cost(name: &str, args: &Value) -> Option<(i64, i64)> {
    let answer = roofline(&text("NVIDIA H100 80GB HBM3", &call(0, name, args, "kernel", 8)), "{}");
    let row = rows(&*answer.tables[0]).into_iter().next()?;
    Some((row["flops"].as_i64()?, row["bytes"].as_i64()?))
}

pub(crate) const BF16: &str = "c10::BFloat16";

#[test]
fn every_family_counts_what_it_computes_and_moves() {
    let none = json!([]);
    let half = |num_tensors: usize| json!(vec![BF16; num_tensors]);
    let cases = [
        ("aten::mm", args(&json!([[4, 8], [8, 16]]), &half(2), &none), (2 * 4 * 8 * 16, 2 * (32 + 128 + 64))),
        ("aten::linear", args(&json!([[3, 4, 8], [16, 8], [16]]), &half(3), &none), (3072, 2 * (96 + 128 + 16 + 192))),
        (
            "aten::_scaled_mm",
            args(
                &json!([[4, 8], [8, 16], [], [], [], [], [], []]),
                &json!(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"]),
                &json!(["", "", "", "", "", "", "15", "True"]),
            ),
            (1024, 32 + 128 + 4 + 4 + 2 * 64),
        ),
        (
            "aten::cudnn_convolution",
            args(
                &json!([[2, 4, 9, 8], [6, 2, 3, 3], [], [], [], []]),
                &json!(["float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar"]),
                &json!(["", "", "[1, 1]", "[2, 2]", "[1, 1]", "2"]),
            ),
            (2 * (2 * 6 * 5 * 4) * 18, 4 * (576 + 108 + 240)),
        ),
        (
            "aten::convolution_backward",
            args(
                &json!([[2, 6, 5, 4], [2, 4, 9, 8], [6, 4, 3, 3], [], [], [], [], [], [], [], []]),
                &json!(["float", "float", "float", "ScalarList", "", "", "", "Scalar", "", "Scalar", "ScalarList"]),
                &json!(["", "", "", "[6]", "", "", "", "False", "", "1", "[False, True, True]"]),
            ),
            (2 * 240 * 36, 4 * (240 + 576 + 216 + 216 + 6)),
        ),
        (
            "aten::_flash_attention_forward",
            args(
                &json!([[2, 4, 3, 8], [2, 6, 1, 8], [2, 6, 1, 8], [], [], [], [], [], []]),
                &json!([BF16, BF16, BF16, "", "", "Scalar", "Scalar", "Scalar", "Scalar"]),
                &json!(["", "", "", "", "", "4", "6", "0.", "True"]),
            ),
            (2 * 2 * 3 * 18 * 16, 2 * (192 + 96 + 96 + 192)),
        ),
        (
            "aten::native_layer_norm",
            args(
                &json!([[4, 8], [], [8], [8], []]),
                &json!([BF16, "ScalarList", BF16, BF16, "Scalar"]),
                &json!(["", "[8]", "", "", "1e-05"]),
            ),
            (5 * 32, 2 * (32 + 8 + 8 + 32) + 4 * 2 * 4),
        ),
        ("aten::add", args(&json!([[4, 1, 8], [3, 1]]), &json!(["float", BF16]), &none), (96, 4 * 32 + 2 * 3 + 4 * 96)),
        ("aten::mul_", args(&json!([[4, 8], []]), &json!([BF16, "double"]), &none), (32, 2 * 32 + 8 + 2 * 32)),
        ("aten::gt", args(&json!([[4, 8], []]), &json!(["float", "Scalar"]), &none), (32, 4 * 32 + 32)),
        (
            "aten::sum",
            args(
                &json!([[4, 8], [], [], []]),
                &json!(["float", "ScalarList", "Scalar", ""]),
                &json!(["", "[-1]", "False", ""]),
            ),
            (32, 4 * (32 + 4)),
        ),
        ("aten::_softmax", args(&json!([[4, 8], [], []]), &json!([BF16, "Scalar", "Scalar"]), &none), (160, 2 * 64)),
        ("aten::embedding", args(&json!([[100, 8], [5]]), &json!(["float", "long int"]), &none), (0, 4 * 80 + 8 * 5)),
        ("aten::copy_", args(&json!([[4, 8], [8], []]), &json!(["float", BF16, "Scalar"]), &none), (0, 4 * 32 + 2 * 8)),
    ];
    for (name, args, expected) in cases {
        assert_eq!(cost(name, &args), Some(expected), "{name}");
    }
}

const FLOATS: &str = "GenericList[Tensor(float),Tensor(float)]";

#[test]
fn what_results_are_written_to_is_no_argument() {
    let of = |name: &str, dims: Value, types: Value| cost(name, &args(&dims, &types, &json!([])));
    let image = json!([[4, 8], [], [4, 8]]);
    assert_eq!(of("aten::clamp_min", image, json!(["float", "Scalar", "float"])), Some((32, 4 * 2 * 32)), "out=");
    let bounds = json!([[4, 8], [4, 8]]);
    assert_eq!(of("aten::clamp_min", bounds, json!(["float", "float"])), Some((32, 4 * 3 * 32)), "a tensor of bounds");
    let sum = json!([[4, 8], [4, 8], [], [0]]);
    assert_eq!(
        of("aten::add", sum, json!(["float", "float", "Scalar", "float"])),
        Some((32, 4 * 3 * 32)),
        "not yet sized"
    );
    let product = json!([[4, 8], [8, 2], [4, 2]]);
    assert_eq!(of("aten::mm", product, json!(vec!["float"; 3])), Some((128, 4 * (32 + 16 + 8))));
    let linear = json!([[4, 8], [2, 8], [2]]);
    assert_eq!(
        of("aten::linear", linear, json!(vec!["float"; 3])),
        Some((128, 4 * (32 + 16 + 2 + 8))),
        "a bias is one"
    );
    let softmax = json!([[4, 8], [], [], [4, 8]]);
    assert_eq!(of("aten::_softmax", softmax, json!(["float", "Scalar", "Scalar", "float"])), Some((160, 4 * 2 * 32)));
}

#[test]
fn queries_see_the_keys_of_their_window() {
    let of = |queries: i64, keys: i64, said: [&str; 3]| {
        let none = json!([]);
        let dims = json!([[1, queries, 2, 8], [1, keys, 2, 8], [1, keys, 2, 8], none, none, none, none, none]);
        let types = json!([BF16, BF16, BF16, "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"]);
        let concrete = json!(["", "", "", "0.", "0.1", said[0], said[1], said[2]]);
        cost("flash_attn::_flash_attn_forward", &args(&dims, &types, &concrete)).unwrap().0 / (2 * 2 * 16)
    };
    assert_eq!(of(4, 4, ["False", "-1", "-1"]), 16);
    assert_eq!(of(4, 4, ["True", "-1", "-1"]), 10);
    assert_eq!(of(2, 5, ["True", "-1", "-1"]), 4 + 5, "the last query is beside the last key");
    assert_eq!(of(6, 6, ["True", "1", "0"]), 1 + 5 * 2, "its own key and the one before");
    assert_eq!(of(6, 6, ["False", "1", "1"]), 6 * 3 - 2);
}

#[test]
fn what_is_expanded_is_read_as_often_as_memory_holds_it() {
    let strided = |dims: Value, strides: Value| {
        let mut args = args(&dims, &json!(["float", "float"]), &json!([]));
        args["Input Strides"] = strides;
        args
    };
    let dims = || json!([[64, 128], [64, 128]]);
    let (elems, of) = (64 * 128, |strides| cost("aten::mul", &strided(dims(), strides)).unwrap());
    assert_eq!(of(json!([[128, 1], [128, 1]])), (elems, 4 * 3 * elems));
    assert_eq!(of(json!([[128, 1], [0, 1]])), (elems, 4 * (2 * elems + 128)), "a row that is repeated");
    assert_eq!(
        of(json!([[128, 1], [0, 0]])),
        (elems, 4 * (2 * elems + 1)),
        "one number, as the mean's gradient has it"
    );
    assert_eq!(of(json!([[128, 1], [0]])), (elems, 4 * 3 * elems), "strides that do not fit say nothing");
    let nothing = strided(json!([[64, 0], [64, 0]]), json!([[0, 0], [0, 0]]));
    assert_eq!(cost("aten::mul", &nothing), Some((0, 0)), "of nothing there is nothing to repeat");
}

#[test]
fn what_is_looked_up_put_and_pooled_counts_what_it_moves() {
    let none = json!([]);
    let pool = |ceil: &str| {
        args(
            &json!([[1, 2, 6, 6], [], [], [], [], []]),
            &json!(["float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar"]),
            &json!(["", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", ceil]),
        )
    };
    let cases = [
        (
            "aten::_embedding_bag_dense_backward",
            args(
                &json!([[4, 8], [10], [10], [4], [4], []]),
                &json!(["float", "long int", "long int", "long int", "long int", "Scalar"]),
                &json!(["", "", "", "", "", "100"]),
            ),
            (10 * 8, 4 * (4 * 8 + 100 * 8) + 8 * 10),
        ),
        (
            "aten::index",
            args(
                &json!([[6, 5, 7], [[2, 3], [1]]]),
                &json!(["float", "GenericList[Tensor(long int),Tensor(long int)]"]),
                &none,
            ),
            (0, 4 * 2 * (2 * 3 * 7) + 8 * 7),
        ),
        (
            "aten::scatter_add_",
            args(&json!([[50], [], [60], [60]]), &json!(["float", "Scalar", "long int", "float"]), &none),
            (60, 4 * 3 * 60 + 8 * 60),
        ),
        (
            "aten::index_put_",
            args(
                &json!([[9, 4], [[3]], [3, 4], []]),
                &json!(["c10::Half", "GenericList[Tensor(long int)]", "c10::Half", "Scalar"]),
                &json!(["", "", "", "True"]),
            ),
            (12, 2 * 3 * 12 + 8 * 3),
        ),
        (
            "aten::_index_put_impl_",
            args(&json!([[9, 4], [], [3, 4], []]), &json!(["c10::Half", "", "c10::Half", "Scalar"]), &none),
            (0, 2 * 2 * 12),
        ),
        ("aten::max_pool2d_with_indices", pool("False"), (2 * 9 * 9, 4 * 72 + 12 * 2 * 9)),
        ("aten::max_pool2d_with_indices", pool("True"), (2 * 16 * 9, 4 * 72 + 12 * 2 * 16)),
        (
            "aten::max_pool2d_with_indices_backward",
            args(
                &json!([[1, 2, 3, 3], [1, 2, 6, 6], [], [], [], [], [], [1, 2, 3, 3]]),
                &json!(["float", "float", "", "", "", "", "", "long int"]),
                &none,
            ),
            (18, 4 * (18 + 72) + 8 * 18),
        ),
        (
            "aten::upsample_bilinear2d",
            args(&json!([[2, 3, 4, 4], []]), &json!([BF16, "ScalarList"]), &json!(["", "[8, 8]"])),
            (7 * 6 * 64, 2 * (6 * 16 + 6 * 64)),
        ),
        (
            "aten::native_dropout",
            args(&json!([[4, 5], [], []]), &json!(["float", "Scalar", "Scalar"]), &none),
            (20, 9 * 20),
        ),
    ];
    for (name, args, expected) in cases {
        assert_eq!(cost(name, &args), Some(expected), "{name}");
    }
}

#[test]
fn losses_and_optimizers_count_what_they_read_and_write() {
    let none = json!([]);
    let lists = json!([[[4, 8], [8]], [[4, 8], [8]], [[4, 8], [8]], [[4, 8], [8]], [], []]);
    let cases = [
        (
            "aten::nll_loss_forward",
            args(&json!([[32, 1000], [32]]), &json!(["float", "long int"]), &none),
            (32, 4 * (32 + 1) + 8 * 32),
        ),
        (
            "aten::nll_loss_backward",
            args(&json!([[], [32, 1000], [32]]), &json!(["float", "float", "long int"]), &none),
            (32, 4 * (32 + 1) + 8 * 32),
        ),
        (
            "aten::mse_loss",
            args(&json!([[10, 100], [10, 100], []]), &json!([BF16, BF16, "Scalar"]), &json!(["", "", "1"])),
            (3000, 2 * (2000 + 1)),
        ),
        (
            "aten::_fused_adamw_",
            args(&lists, &json!([FLOATS, FLOATS, FLOATS, FLOATS, "", ""]), &none),
            (14 * 40, 4 * 40 * (2 * 3 + 1)),
        ),
        ("aten::_fused_sgd_", args(&lists, &json!([FLOATS, FLOATS, ""]), &none), (2 * 40, 4 * 40 * 3)),
        ("aten::_fused_sgd_", args(&lists, &json!([FLOATS, FLOATS, FLOATS]), &none), (4 * 40, 4 * 40 * 5)),
    ];
    for (name, args, expected) in cases {
        assert_eq!(cost(name, &args), Some(expected), "{name}");
    }
}

#[test]
fn of_sequences_of_unknown_lengths_operations_are_an_upper_bound() {
    let of = |is_causal: &str| {
        args(
            &json!([[8, 2, 16], [8, 2, 16], [8, 2, 16], [3], [3], [], [], [], [], []]),
            &json!([BF16, BF16, BF16, "int", "int", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"]),
            &json!(["", "", "", "", "", "4", "4", "0.", "0.25", is_causal]),
        )
    };
    // Two sequences of four: 32 pairs, 20 causal; per pair two heads, two products of 16 channels.
    let bytes = 4 * 2 * (8 * 2 * 16);
    assert_eq!(cost("flash_attn::_flash_attn_varlen_forward", &of("False")), Some((32 * 2 * 2 * 32, bytes)));
    assert_eq!(cost("flash_attn::_flash_attn_varlen_forward", &of("True")), Some((20 * 2 * 2 * 32, bytes)));
    let events = call(0, "flash_attn::_flash_attn_varlen_forward", &of("False"), "flash_fwd_kernel", 8);
    let answer = roofline(&text("NVIDIA H100 80GB HBM3", &events), "{}");
    assert_eq!(rows(&*answer.tables[0])[0]["family"], "variable_attention");
}

#[test]
fn what_cannot_be_modelled_says_why() {
    let list = args(&json!([[[4, 4], [4, 4]], []]), &json!(["TensorList", "Scalar"]), &json!([]));
    let events = [
        call(0, "aten::cat", &list, "k", 40),
        call(3, "Torch-Compiled Region", &json!({}), "triton_poi_fused_add_0", 30),
        call(6, "c10d::allreduce_", &json!({}), "ncclDevKernel_AllReduce", 20),
        call(9, "aten::unique_dim", &json!({}), "k", 10),
    ];
    let answer = roofline(&text("NVIDIA L4", &events.concat()), "{}");
    let reasons: Vec<_> =
        rows(&*answer.tables[1]).iter().map(|row| row["reason"].as_str().unwrap().to_owned()).collect();
    let expected = [
        "types of tensor lists are not recorded (an Execution Trace has them)",
        "generated kernel: its operations are not recorded",
        "communication (see collectives)",
        "no cost model",
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn a_call_is_below_the_roof_of_its_device() {
    let dims = args(&json!([[4096, 4096], [4096, 4096]]), &json!([BF16, BF16]), &json!([]));
    let events = [call(0, "aten::mm", &dims, "gemm", 200), call(3, "aten::mm", &dims, "gemm", 300)].concat();
    let answer = roofline(&text("NVIDIA H100 80GB HBM3", &events), "{}");
    let row = &rows(&*answer.tables[0])[0];
    let flops = 2.0 * 4096_f64.powi(3);
    assert_eq!((row["count"].as_i64(), row["total_ns"].as_i64()), (Some(2), Some(500_000)));
    assert_eq!((row["min_ns"].as_i64(), row["max_ns"].as_i64()), (Some(200_000), Some(300_000)));
    assert_eq!(row["bound"], "compute");
    let near = |key: &str, value: f64| assert!((row[key].as_f64().unwrap() / value - 1.0).abs() < 1e-12, "{key}");
    near("tflops", flops * 2.0 / 500_000.0 / 1e3);
    near("gbps", 3.0 * 2.0 * 4096_f64.powi(2) * 2.0 / 500_000.0);
    near("roofline_ns", flops / 989.4e3);
    near("roof_tflops", 989.4);
    near("share_of_peak", flops / 989.4e3 / 250_000.0);
    let device = &rows(&*answer.tables[3])[0];
    assert!(device["source"].as_str().unwrap().contains("H100"));
    assert!(device["reason"].is_null());
}

#[test]
fn the_roof_is_drawn_over_the_points_where_the_device_is_known() {
    let product = |id, size: i64| {
        let dims = args(&json!([[size, size], [size, size]]), &json!([BF16, BF16]), &json!([]));
        call(id, "aten::mm", &dims, "gemm", 200)
    };
    let events = [product(0, 64), product(3, 4096), product(6, 8192)].concat();
    let drawn = |device: &str| {
        let answer = roofline(&text(device, &events), "{}");
        kinetoscope::view::chart(&*answer.tables[0], answer.plot, answer.reason.as_deref())
    };
    let chart = drawn("NVIDIA H100 80GB HBM3");
    let line = |text: &str| -> Vec<Vec<f64>> {
        let points = text.split('"').next().unwrap().split(' ');
        points.map(|point| point.split(',').map(|number| number.parse().unwrap()).collect()).collect()
    };
    let lines: Vec<_> = chart.split("<polyline points=\"").skip(1).map(line).collect();
    let [rising, level] = &lines[..] else { panic!("{lines:?}") };
    // From side to side, around all points.
    assert!(rising[0][1] > rising[1][1] && rising[1] == level[0] && level[0][1..] == level[1][1..]);
    let circles = chart.split("<circle cx=\"").skip(1);
    let points: Vec<f64> = circles.map(|text| text.split('"').next().unwrap().parse().unwrap()).collect();
    assert!(points.len() == 3 && points.iter().all(|x| (rising[0][0]..=level[1][0]).contains(x)));
    assert!(chart.contains(">bfloat16: 989<"));
    assert!(!drawn("Thing 7").contains("<polyline"));
}

#[test]
fn of_an_unknown_device_there_are_no_shares_but_a_reason() {
    let dims = args(&json!([[64, 64], [64, 64]]), &json!(["float", "float"]), &json!([]));
    let json = text("AMD Radeon Graphics", &call(0, "aten::mm", &dims, "gemm", 10));
    let unknown = roofline(&json, "{}");
    let row = &rows(&*unknown.tables[0])[0];
    assert!(row["tflops"].as_f64().unwrap() > 0.0 && row["share_of_peak"].is_null() && row["bound"].is_null());
    assert!(rows(&*unknown.tables[3])[0]["reason"].is_string());
    let asked = roofline(&json, r#"{"device": "MI250X"}"#);
    assert!(rows(&*asked.tables[0])[0]["share_of_peak"].as_f64().unwrap() > 0.0);
}

#[test]
fn float32_is_rounded_to_tf32_only_where_a_kernel_says_so() {
    let dims = args(&json!([[64, 64], [64, 64]]), &json!(["float", "float"]), &json!([]));
    let events = [
        call(0, "aten::mm", &dims, "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", 10),
        call(3, "aten::mm", &dims, "ampere_sgemm_128x64_nn", 40),
    ];
    let answer = roofline(&text("NVIDIA A100-SXM4-80GB", &events.concat()), "{}");
    let found: Vec<_> = rows(&*answer.tables[0])
        .iter()
        .map(|row| (row["dtype"].as_str().unwrap().to_owned(), row["peak_tflops"].as_f64().unwrap()))
        .collect();
    assert_eq!(found, [("float32".to_owned(), 19.5), ("tf32".to_owned(), 156.0)]);
}

#[test]
fn what_has_no_model_is_counted_with_its_reason() {
    let shaped = args(&json!([[4, 4]]), &json!(["float"]), &json!([]));
    let mut events = [
        call(0, "my::operator", &shaped, "k", 10),
        call(3, "aten::mm", &json!({}), "k", 20),
        call(6, "aten::copy_", &shaped, "Memcpy HtoD (Pageable -> Device)", 30),
        call(9, "aten::mm", &args(&json!([[4, 4], [5, 5]]), &json!(["float", "float"]), &json!([])), "k", 40),
    ]
    .concat();
    events.push(json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5000, "dur": 50}));
    let answer = roofline(&text("NVIDIA L4", &events), "{}");
    assert!(answer.reason.unwrap().contains("record_shapes"));
    let found: Vec<_> = rows(&*answer.tables[1])
        .iter()
        .map(|row| (row["name"].as_str().unwrap().to_owned(), row["total_ns"].as_i64().unwrap()))
        .collect();
    let expected = [("unlinked", 50_000), ("aten::mm", 40_000), ("aten::copy_", 30_000), ("aten::mm", 20_000)];
    assert_eq!(found[..4], expected.map(|(name, ns)| (name.to_owned(), ns)));
    assert_eq!(found[4], ("my::operator".to_owned(), 10_000));
}

#[test]
fn shapes_are_those_of_the_node_where_the_event_has_none() {
    let kineto = json!({"traceEvents": call(0, "aten::mm", &json!({"Record function id": 5}), "gemm", 10)}).to_string();
    let tensor = |id: i64, size: i64| json!([id, id, 0, size, 4, "cuda:0"]);
    let execution = json!({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 2, "name": "aten::mm", "ctrl_deps": 1,
        "inputs": {"values": [tensor(1, 32), tensor(2, 128)], "shapes": [[4, 8], [8, 16]],
            "types": ["Tensor(float)", "Tensor(float)"]},
        "outputs": {"values": [], "shapes": [], "types": []},
        "attrs": [{"name": "rf_id", "type": "uint64", "value": 5}]}]})
    .to_string();
    let inputs = [Input::new(kineto.as_bytes()), Input::new(execution.as_bytes())];
    let linked = Arc::new(LinkedTrace::new(read(inputs, Limits::default()).unwrap()));
    let answer = analysis("roofline").unwrap().answer(&linked, "{}").unwrap();
    assert_eq!(rows(&*answer.tables[0])[0]["flops"], 1024);
}

#[test]
fn sizes_that_no_memory_holds_are_no_panic() {
    let huge = json!(i64::MAX);
    for name in [
        "aten::mm",
        "aten::bmm",
        "aten::add",
        "aten::sum",
        "aten::convolution_backward",
        "aten::embedding",
        "aten::_flash_attention_forward",
        "aten::native_layer_norm",
        "aten::convolution",
        "aten::_softmax",
        "aten::index",
        "aten::index_put_",
        "aten::scatter_add_",
        "aten::max_pool2d_with_indices",
        "aten::avg_pool2d_backward",
        "aten::upsample_bilinear2d",
        "aten::_embedding_bag_dense_backward",
        "aten::nll_loss_forward",
        "aten::_fused_adamw_",
        "flash_attn::_flash_attn_varlen_forward",
    ] {
        for dims in [
            json!([[huge, huge], [huge, huge], [huge]]),
            json!([[0, -1], [], [1, 1, 1, 1]]),
            json!("x"),
            json!([vec![huge.clone(); 4], vec![huge.clone(); 4], vec![huge.clone(); 4]]),
        ] {
            let concrete = json!(["", "[-9223372036854775808]", "[0]", "[0, 0]", "True", "[9223372036854775807]"]);
            cost(name, &args(&dims, &json!([BF16, BF16, BF16, "", "", ""]), &concrete));
        }
    }
}
