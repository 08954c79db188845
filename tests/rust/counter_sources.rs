//! Tests counters that databases of other profilers have.

use std::sync::Arc;

use kinetoscope::analyze::analysis;
use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, read};
use serde_json::{Value, json};

use crate::files;
use crate::nsight::export;

/// Process, name, nanoseconds and value of each counter.
fn counters(trace: &Trace) -> Vec<(&str, &str, i64, f64)> {
    let text = |id| trace.strings.text(id);
    let counter = |row: &kinetoscope::trace::flow::Counter| {
        (text(trace.track(row.track).process), text(row.name), row.time.0, row.value)
    };
    trace.counters.iter().map(counter).collect()
}

fn means(trace: Trace, request: &Value) -> Vec<Value> {
    let linked = Arc::new(LinkedTrace::new(trace));
    files::rows(&*analysis("counter_means").unwrap().answer(&linked, &request.to_string()).unwrap().tables[0])
}

const NSIGHT: &str = "
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'gemm');
    CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);
    INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (2, 0, 42);
    CREATE TABLE TARGET_INFO_GPU (id, name, cuDevice, pwGpuId);
    INSERT INTO TARGET_INFO_GPU VALUES (2, 'A100', 0, 7);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, globalPid, correlationId, shortName, demangledName);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 3000, 0, 7, 704643072, 1, 1, 1);
    CREATE TABLE TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES (519, 1, 'General', 1, 'SMs Active [Throughput %]');
    CREATE TABLE GPU_METRICS (rawTimestamp, timestamp, typeId, metricId, value);
    INSERT INTO GPU_METRICS VALUES
        (0, -500, 519, 1, 10), (0, 500, 519, 1, 20), (0, 1500, 519, 1, 40), (0, 2500, 519, 1, 80),
        (0, 0, 519, 9, 1.5), (0, NULL, 519, 1, 5), (0, 3500, 519, 1, 'x'), (0, 3600, 'x', 'y', NULL);";

#[test]
fn metrics_of_nsight_are_counters_of_the_gpu_that_they_mean() {
    let trace = export(NSIGHT);
    let found = counters(&trace);
    let active = "SMs Active [Throughput %]";
    assert_eq!(found[..2], [("GPU 2 Counters", active, -500, 10.0), ("GPU 2 Counters", active, 500, 20.0)]);
    assert_eq!(found[4], ("GPU 2 Counters", "metric 9", 0, 1.5));
    assert!(found[5..].iter().all(|(.., value)| value.is_nan()), "{found:?}");
    // 20 for 0.5 µs, 40 for 1 µs, 80 for 0.5 µs.
    let [row] = &means(trace, &json!({"counter": "SMs*"}))[..] else { panic!("one row") };
    let columns = ["name", "device", "unit", "mean", "sampled_share"].map(|column| row[column].clone());
    assert_eq!(columns, [json!("gemm"), json!(2), json!("%"), json!(45.0), json!(1.0)]);
}

#[test]
fn counters_stand_with_the_streams_of_their_device() {
    let session = Session::new(LinkedTrace::new(export(NSIGHT)));
    let ask = |request: &Value| -> Value {
        let answer = session.query(request.to_string().as_bytes());
        let len = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
        serde_json::from_slice::<Value>(&answer[4..4 + len]).unwrap()["data"].clone()
    };
    let groups = ask(&json!({"type": "overview"}))["groups"].clone();
    let all = ask(&json!({"type": "counters"}))["counters"].clone();
    let counter = all.as_array().unwrap().iter().find(|one| one["name"] == "SMs Active [Throughput %]").unwrap();
    let group = &groups[counter["group"].as_u64().unwrap() as usize];
    assert_eq!(group["kind"], "device", "{groups}");
}

const ROCM: &str = "
    CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, guid, string);
    INSERT INTO rocpd_string_a VALUES (1, 'a', 'KERNEL_DISPATCH');
    CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, pid, command);
    INSERT INTO rocpd_info_process_a VALUES (1, 4000, 'python');
    CREATE TABLE rocpd_info_agent_a (id INTEGER PRIMARY KEY, type, type_index, name);
    INSERT INTO rocpd_info_agent_a VALUES (5, 'GPU', 3, 'MI300X'), (6, 'CPU', 0, 'EPYC');
    CREATE TABLE rocpd_info_kernel_symbol_a (id INTEGER PRIMARY KEY, kernel_name, display_name);
    INSERT INTO rocpd_info_kernel_symbol_a VALUES (1, 'k', 'gemm');
    CREATE TABLE rocpd_event_a (id INTEGER PRIMARY KEY, category_id, stack_id);
    INSERT INTO rocpd_event_a VALUES (11, 1, 1), (12, 1, 2), (13, NULL, NULL), (14, NULL, NULL);
    CREATE TABLE rocpd_kernel_dispatch_a (id INTEGER PRIMARY KEY, pid, agent_id, kernel_id, queue_id, stream_id, start, end, event_id);
    INSERT INTO rocpd_kernel_dispatch_a VALUES (1, 1, 5, 1, 1, 1, 1000, 2000, 11), (2, 1, 5, 1, 1, 1, 3000, 6000, 12);
    CREATE TABLE rocpd_info_pmc_a (id INTEGER PRIMARY KEY, name, symbol, units, agent_id);
    INSERT INTO rocpd_info_pmc_a VALUES (1, 'SQ_WAVES', 'SQ_WAVES', '', 5), (2, 'Power', NULL, 'W', 5), (3, 'Load', 'l', '%', 6);
    CREATE TABLE rocpd_pmc_event_a (id INTEGER PRIMARY KEY, event_id, pmc_id, value);
    INSERT INTO rocpd_pmc_event_a VALUES
        (1, 12, 1, 7.0), (2, 11, 1, 1.0), (3, 11, 1, 2.0), (4, 13, 2, 300.0), (5, 14, 2, 500.0), (6, 14, 3, 90),
        (7, 11, 9, 'x'), (8, NULL, 1, 5.0), (9, 12, 4, 1e999);
    CREATE TABLE rocpd_sample_a (id INTEGER PRIMARY KEY, track_id, timestamp, event_id);
    INSERT INTO rocpd_sample_a VALUES (1, 1, 0, 13), (2, 1, 3000, 14), (3, 1, NULL, 14);";

#[test]
fn counters_of_rocprofv3_are_values_of_kernels_and_samples_of_agents() {
    let trace = export(ROCM);
    let expected = [("GPU 3 Counters", "Power (W)", 0, 300.0), ("GPU 3 Counters", "Power (W)", 3000, 500.0)];
    let found = counters(&trace);
    assert_eq!((&found[..2], found[2].1, found[2].3), (&expected[..], "Load (%)", 90.0));
    assert!(!trace.metadata_json().contains("rocpd_pmc_event"), "{}", trace.metadata_json());
    let found = means(trace, &json!({}));
    let row = |counter: &str| {
        let row = found.iter().find(|row| row["counter"] == counter).unwrap();
        ["name", "source", "device", "count", "mean", "sampled_share"].map(|column| row[column].clone())
    };
    // Values of several units add up: 3 for 1 µs and 7 for 3 µs.
    assert_eq!(row("SQ_WAVES"), [json!("gemm"), json!("events"), json!(3), json!(2), json!(6.0), json!(1.0)]);
    assert_eq!(row("Power (W)"), [json!("gemm"), json!("samples"), json!(3), json!(2), json!(450.0), json!(1.0)]);
}

#[test]
fn a_recording_of_pytorch_has_means_in_both_formats() {
    let of = |name: &str| {
        let name = format!("synthetic_perfetto/{name}");
        let trace = read([Input::new(&files::bytes(&name)).named(&name)], Limits::default()).unwrap();
        means(trace, &json!({"counter": "SM Active (%)"}))
    };
    let [json, perfetto] = ["trace.json.gz", "trace.pftrace"].map(of);
    assert_eq!(json, perfetto);
    let sampled: Vec<_> = json.iter().filter(|row| row["sampled_ns"].as_i64() > Some(0)).collect();
    assert!(!sampled.is_empty() && sampled.iter().all(|row| row["unit"] == "%" && row["device"] == 0), "{json:?}");
}
