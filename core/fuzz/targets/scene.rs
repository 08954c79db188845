//! Fuzzes analyses with traces that are built from the bytes: six of them make an event or a node.
//! So mutations change times, ids and places instead of the syntax of JSON.
#![no_main]

use kinetoscope_fuzz::{exercise_trace, read_parts};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const CATEGORIES: [&str; 12] = [
    "cpu_op",
    "kernel",
    "cuda_runtime",
    "gpu_memcpy",
    "gpu_memset",
    "user_annotation",
    "python_function",
    "gpu_user_annotation",
    "cuda_sync",
    "cuda_driver",
    "ac2g",
    "fwdbwd",
];
const NAMES: [&str; 24] = [
    "aten::mm",
    "aten::add_",
    "autograd::engine::evaluate_function: MmBackward0",
    "cudaLaunchKernel",
    "cudaGraphLaunch",
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaEventRecord",
    "cudaMemcpyAsync",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    "record_param_comms",
    "nccl:all_reduce",
    "sm80_xmma_gemm_f32",
    "Memcpy HtoD (Pinned -> Device)",
    "Memset (Device)",
    "ProfilerStep#1",
    "ProfilerStep#2",
    "nn.Module: Linear_0",
    "model.py(3): forward",
    "[pytorch|profiler|execution_trace|thread]",
    "Optimizer.step#SGD.step",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "[memory]",
];
const TIMES: [&str; 8] = ["0", "-1", "0.001", "9223372036854775.807", "1e300", "-9223372036854775", "1e15", "\"7\""];
const IDS: [&str; 8] =
    ["0", "-1", "4294967295", "4294967296", "9223372036854775807", "18446744073709551615", "1.5", "\"a\""];
const PHASES: [&str; 8] = ["B", "E", "i", "C", "s", "f", "M", "X"];

/// A small number, or one of the extreme ones.
fn number(byte: u8, extremes: &[&str; 8]) -> Value {
    let extreme = || serde_json::from_str(extremes[usize::from(byte & 7)]).expect("JSON");
    if byte < 0xF8 { json!(byte) } else { extreme() }
}

fn arguments([_, kind, .., id, flags]: [u8; 6]) -> Value {
    let id_value = number(id, &IDS);
    let mut args = json!({});
    let mut put = |bit: u8, key: &str, value: Value| {
        if flags & bit != 0 {
            args[key] = value;
        }
    };
    put(1, "correlation", id_value.clone());
    put(2, "External id", id_value.clone());
    put(4, "Record function id", id_value.clone());
    put(8, "stream", json!(kind >> 5));
    put(8, "device", json!(id & 1));
    put(16, "Sequence number", id_value.clone());
    put(16, "Fwd thread id", json!(id & 3));
    put(32, "Python id", id_value.clone());
    put(32, "Python parent id", json!(id.wrapping_sub(1)));
    put(64, "Collective name", json!(if id & 1 == 0 { "allreduce" } else { "all_to_allv" }));
    put(64, "In msg nelems", id_value.clone());
    put(64, "dtype", json!("Float"));
    put(64, "Process Group Name", json!((id & 3).to_string()));
    put(64, "Process Group Ranks", json!(if id & 4 == 0 { "[0, 1]" } else { "[]" }));
    put(64, "Group size", json!(id & 7));
    put(128, "bytes", id_value.clone());
    put(128, "Total Allocated", id_value);
    put(128, "Input Dims", json!([[id, 2], []]));
    put(128, "Input type", json!(["float", ""]));
    put(128, "grid", json!([id, 1, 1]));
    put(128, "block", json!([128, 1, flags]));
    put(128, "registers per thread", json!(id));
    args
}

fn event(code: [u8; 6]) -> Value {
    let [name, kind, start, dur, id, _] = code;
    let args = arguments(code);
    let phase = if name >> 5 == 7 { PHASES[usize::from(kind & 7)] } else { "X" };
    json!({
        "ph": phase, "cat": CATEGORIES[usize::from(kind & 15) % CATEGORIES.len()],
        "name": NAMES[usize::from(name & 31) % NAMES.len()], "ts": number(start, &TIMES), "dur": number(dur, &TIMES),
        "pid": (kind >> 4) & 1, "tid": kind >> 5, "id": id, "bp": "e", "args": args,
    })
}

fn node([name, kind, start, parent, id, flags]: [u8; 6]) -> Value {
    let tensor = json!([start & 15, parent & 3, id & 1, 4, 4, "cuda:0"]);
    let side = |has: bool| match has {
        true => json!({"values": [tensor], "shapes": [[2, 2]], "types": ["Tensor(float)"]}),
        false => json!({"values": [], "shapes": [], "types": []}),
    };
    json!({
        "id": number(id, &IDS), "name": NAMES[usize::from(name & 31) % NAMES.len()], "ctrl_deps": parent & 31,
        "inputs": side(flags & 1 != 0), "outputs": side(flags & 2 != 0),
        "attrs": [
            {"name": "rf_id", "type": "uint64", "value": number(if flags & 4 != 0 { start } else { id }, &IDS)},
            {"name": "fw_parent", "type": "uint64", "value": 0}, {"name": "seq_id", "type": "int64", "value": kind},
            {"name": "scope", "type": "uint64", "value": flags >> 4}, {"name": "tid", "type": "uint64", "value": kind & 3},
            {"name": "fw_tid", "type": "uint64", "value": kind & 1}, {"name": "op_schema", "type": "string", "value": ""},
        ],
    })
}

fuzz_target!(|bytes: &[u8]| {
    let codes = bytes.as_chunks::<6>().0;
    let (nodes, events): (Vec<[u8; 6]>, Vec<[u8; 6]>) = codes.iter().copied().partition(|code| code[0] >> 5 == 6);
    let events: Vec<_> = events.into_iter().map(event).collect();
    let nodes: Vec<_> = nodes.into_iter().map(node).collect();
    let mut text = json!({"traceEvents": events, "distributedInfo": {"rank": 0, "world_size": 2, "backend": "nccl"},
        "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "numSms": 132}]})
    .to_string();
    if !nodes.is_empty() {
        text.push('\0');
        text.push_str(&json!({"schema": "1.1.1-chakra.0.0.4", "pid": 0, "start_ts": 0, "nodes": nodes}).to_string());
    }
    // For who looks at one input.
    if std::env::var_os("FUZZ_SHOW").is_some() {
        eprintln!("{}", text.replace('\0', "\n"));
    }
    if let Ok(trace) = read_parts(text.as_bytes()) {
        exercise_trace(trace, bytes);
    }
});
