//! Tests operations of iterations, and how much of the computation they cover.

use serde_json::json;

use crate::files::rows;
use crate::roofline::{BF16, args, call, roofline, text};

#[test]
fn an_iteration_has_the_operations_that_were_called_in_it() {
    let dims = args(&json!([[512, 512], [512, 512]]), &json!([BF16, BF16]), &json!([]));
    let step = |number: i64, start: i64| {
        json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{number}"), "pid": 1, "tid": 1,
            "ts": start, "dur": 100})
    };
    let calls = [call(0, "aten::mm", &dims, "gemm", 150), call(1, "aten::mm", &dims, "gemm", 2)].concat();
    let events = [vec![step(3, 0), step(4, 100)], calls].concat();
    let answer = roofline(&text("NVIDIA H100 80GB HBM3", &events), "{}");
    let iterations = rows(&*answer.tables[2]);
    let flops = 2.0 * 512_f64.powi(3);
    assert_eq!(iterations.len(), 2);
    for iteration in &iterations {
        assert!((iteration["flops"].as_f64().unwrap() - flops).abs() < 1.0);
        assert!((iteration["share_of_peak"].as_f64().unwrap() - flops / 989.4e3 / 100_000.0).abs() < 1e-9);
        assert_eq!(iteration["covered_share"], 1.0);
    }
    let one = roofline(&text("NVIDIA H100 80GB HBM3", &events), r#"{"iteration": 3}"#);
    assert_eq!(rows(&*one.tables[0])[0]["total_ns"], 150_000);
}

#[test]
fn an_iteration_says_how_much_of_its_computation_is_counted() {
    let dims = args(&json!([[512, 512], [512, 512]]), &json!([BF16, BF16]), &json!([]));
    let step = json!({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 0, "dur": 1000});
    let calls = [call(0, "aten::mm", &dims, "gemm", 30), call(3, "my::operator", &dims, "k", 60)].concat();
    let communication = call(6, "nccl:all_reduce", &dims, "ncclDevKernel_AllReduce", 500);
    let answer = roofline(&text("NVIDIA H100 80GB HBM3", &[vec![step], calls, communication].concat()), "{}");
    let covered = rows(&*answer.tables[2])[0]["covered_share"].as_f64().unwrap();
    assert!((covered - 1.0 / 3.0).abs() < 1e-9, "{covered}: communication has no part in it");
}

#[test]
fn without_iterations_the_selection_has_a_row() {
    let dims = args(&json!([[512, 512], [512, 512]]), &json!([BF16, BF16]), &json!([]));
    let calls = [call(0, "aten::mm", &dims, "gemm", 30), call(1, "aten::mm", &dims, "gemm", 30)].concat();
    let answer = roofline(&text("NVIDIA H100 80GB HBM3", &calls), r#"{"start_ns": 0, "end_ns": 200000}"#);
    let all = rows(&*answer.tables[2]);
    assert_eq!((all.len(), &all[0]["iteration"], &all[0]["dur_ns"]), (1, &json!(null), &json!(200_000)));
    let flops = 2.0 * 2.0 * 512_f64.powi(3);
    assert!((all[0]["share_of_peak"].as_f64().unwrap() - flops / 989.4e3 / 200_000.0).abs() < 1e-9);
}

#[test]
fn modules_have_the_operations_of_all_inside_them() {
    let dims = args(&json!([[512, 512], [512, 512]]), &json!([BF16, BF16]), &json!([]));
    let module = |name: &str, start: i64, dur: i64| {
        json!({"ph": "X", "cat": "python_function", "name": format!("nn.Module: {name}"), "pid": 1, "tid": 1,
            "ts": start, "dur": dur})
    };
    let frames = vec![module("Block_0", 0, 190), module("Linear_3", 0, 60), module("Linear_4", 100, 60)];
    let calls = [
        call(0, "aten::mm", &dims, "gemm", 30),
        call(1, "aten::mm", &dims, "gemm", 30),
        call(2, "my::operator", &dims, "k", 60),
    ];
    let answer = roofline(&text("NVIDIA H100 80GB HBM3", &[frames, calls.concat()].concat()), "{}");
    let modules = rows(&*answer.tables[4]);
    let flops = 2 * 512_i64.pow(3);
    let facts = |at: usize| [&modules[at]["class"], &modules[at]["flops"], &modules[at]["total_ns"]];
    assert_eq!(modules.len(), 2);
    assert_eq!(facts(0), [&json!("Block"), &json!(2 * flops), &json!(60_000)]);
    assert_eq!(facts(1), [&json!("Linear"), &json!(2 * flops), &json!(60_000)]);
    assert_eq!(modules[0]["covered_share"], 1.0);
}
