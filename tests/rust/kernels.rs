//! Tests launch configurations and occupancy of kernels.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::analysis;
use serde_json::{Value, json};

use crate::files::{self, rows};

/// A device of ten multiprocessors, each of which holds 1000 threads.
fn trace(kernels: &[Value]) -> Arc<LinkedTrace> {
    let device = json!({"id": 3, "name": "?", "numSms": 10, "maxThreadsPerMultiprocessor": 1000});
    let json = json!({"deviceProperties": [device], "traceEvents": kernels});
    Arc::new(LinkedTrace::new(files::trace(&json.to_string())))
}

fn kernel(name: &str, at: i64, dur: i64, args: &Value) -> Value {
    let mut args = args.clone();
    (args["device"], args["stream"]) = (json!(3), json!(7));
    json!({"ph": "X", "cat": "kernel", "name": name, "pid": 3, "tid": 7, "ts": at, "dur": dur, "args": args})
}

fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-9)
}

#[test]
fn sizes_are_those_of_the_longest_run_and_shares_means_over_time() {
    let small = json!({"grid": [5, 1, 1], "block": [100, 1, 1], "registers per thread": 32, "shared memory": 64,
        "blocks per SM": 0.5, "est. achieved occupancy %": 5});
    let large = json!({"grid": [15, 10, 1], "block": [50, 4, 1], "registers per thread": 40, "shared memory": 128, "cluster": [2, 2, 1],
        "blocks per SM": 15, "est. achieved occupancy %": 80});
    let linked = trace(&[kernel("k", 0, 10, &small), kernel("k", 20, 30, &large)]);
    let row = &rows(&*analysis("kernels").unwrap().answer(&linked, "{}").unwrap().tables[0])[0];
    let sizes = ["blocks", "threads", "cluster_size", "registers", "shared_memory_bytes"];
    let sizes = sizes.map(|name| row[name].as_i64().unwrap());
    assert_eq!(sizes, [150, 200, 4, 40, 128]);
    assert!(near(&row["occupancy"], (5.0 * 10.0 + 80.0 * 30.0) / 40.0), "{row}");
    assert!(near(&row["sm_efficiency"], (0.5 * 10.0 + 30.0) / 40.0), "{row}");
    // A multiprocessor holds 80 % of 1000 threads, that is four blocks of 200.
    assert!(near(&row["waves"], 15.0 / 4.0), "{row}");
}

#[test]
fn a_grid_that_the_device_holds_at_once_is_one_wave() {
    // Blocks of a multiprocessor, threads of each, the occupancy told (of 1000 threads), waves.
    let cases = [
        (1.4, 700, 98, 1.0),
        (3.2, 100, 32, 1.0),
        (1.068, 128, 14, 1.0),
        (4.0, 250, 100, 1.0),
        (4.1, 250, 100, 4.1 / 4.0),
        (3.2, 100, 20, 3.2 / 2.0),
        (1.4, 700, 70, 1.4),
        (12.0, 32, 26, 12.0 / 8.0),
    ];
    for (per_sm, threads, percent, waves) in cases {
        let args = json!({"grid": [(per_sm * 10.0) as i64, 1, 1], "block": [threads, 1, 1], "blocks per SM": per_sm,
            "est. achieved occupancy %": percent});
        let linked = trace(&[kernel("k", 0, 10, &args)]);
        let row = &rows(&*analysis("kernels").unwrap().answer(&linked, "{}").unwrap().tables[0])[0];
        let found = row["waves"].as_f64().unwrap();
        assert!((found - waves).abs() < 1e-6, "{per_sm} blocks of {threads} threads at {percent} %: {found}");
    }
}

#[test]
fn what_the_file_does_not_say_comes_from_the_device_or_is_null() {
    let few = json!({"grid": [5, 1, 1], "block": [64, 1, 1]});
    let many = json!({"grid": [500, 1, 1], "block": [64, 1, 1], "est. achieved occupancy %": 0});
    let linked = trace(&[kernel("few", 0, 10, &few), kernel("many", 20, 9, &many), kernel("bare", 40, 8, &json!({}))]);
    let found = rows(&*analysis("kernels").unwrap().answer(&linked, "{}").unwrap().tables[0]);
    assert!(near(&found[0]["sm_efficiency"], 0.5) && near(&found[0]["waves"], 1.0) && found[0]["occupancy"].is_null());
    assert!(near(&found[1]["sm_efficiency"], 1.0) && found[1]["waves"].is_null());
    let bare = ["blocks", "threads", "registers", "occupancy", "sm_efficiency", "waves"];
    assert!(bare.iter().all(|name| found[2][name].is_null()));
}

#[test]
fn classes_are_counted_with_and_without_tensor_cores() {
    let none = json!({});
    let linked = trace(&[
        kernel("sm90_xmma_gemm_bf16bf16_bf16f32_f32", 0, 50, &none),
        kernel("ampere_sgemm_128x64_nn", 60, 20, &none),
        kernel("ncclDevKernel_AllReduce", 100, 30, &none),
    ]);
    let answer = analysis("kernels").unwrap().answer(&linked, "{}").unwrap();
    let found: Vec<_> = rows(&*answer.tables[1])
        .iter()
        .map(|row| (row["class"].as_str().unwrap().to_owned(), row["tensor_cores"].as_bool(), row["share"].as_f64()))
        .collect();
    let expected = [("computation", true, 0.5), ("communication", false, 0.3), ("computation", false, 0.2)];
    assert_eq!(found, expected.map(|(class, cores, share)| (class.to_owned(), Some(cores), Some(share))));
}
