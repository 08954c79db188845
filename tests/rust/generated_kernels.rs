//! Tests the roofline of kernels that Inductor generated.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{AnalysisResult, SourceFile, analysis};
use kinetoscope::edit::with_captures;
use serde_json::{Value, json};

use crate::files::{self, rows};
use crate::roofline::{call, cost, roofline, text};
use crate::shared;

const DEVICE: &str = "NVIDIA H100 80GB HBM3";

/// Arguments of a launch: tensors by shape and type, then numbers.
fn launch(tensors: &[(&[i64], &str)], numbers: &[i64]) -> Value {
    let dims: Vec<_> = tensors.iter().map(|(shape, _)| json!(shape)).chain(numbers.iter().map(|_| json!([]))).collect();
    let types: Vec<_> = tensors.iter().map(|(_, name)| *name).chain(numbers.iter().map(|_| "Scalar")).collect();
    let concrete: Vec<_> =
        tensors.iter().map(|_| String::new()).chain(numbers.iter().map(ToString::to_string)).collect();
    json!({"Input Dims": dims, "Input type": types, "Concrete Inputs": concrete,
           "kernel_file": "inductor/ab/cabc.py", "kernel_backend": "triton"})
}

/// A source as Inductor writes it: pointers and numbers with types, a body, and counts.
fn source(name: &str, parameters: &[(&str, &str)], body: &str, counts: &str) -> String {
    let signature: Vec<_> = parameters.iter().map(|(name, dtype)| format!("'{name}': '{dtype}'")).collect();
    let names: Vec<_> = parameters.iter().map(|(name, _)| *name).collect();
    let mut text = format!(
        "import triton\n\n@triton_heuristics.pointwise(\n    size_hints={{'x': 64}},\n    triton_meta={{'signature': \
         {{{}, 'XBLOCK': 'constexpr'}}, 'constants': {{}}}},\n    inductor_meta={{'kernel_name': '{name}'{counts}}},\n)\n\
         @triton.jit\ndef {name}({}, XBLOCK : tl.constexpr):\n",
        signature.join(", "),
        names.join(", ")
    );
    for line in body.trim().lines() {
        writeln!(text, "    {line}").unwrap();
    }
    text
}

fn answered(json: &str, sources: &[(&str, &str)], request: &str) -> AnalysisResult {
    let file = |(name, text): &(&str, &str)| SourceFile { name: (*name).to_owned(), text: (*text).to_owned() };
    let linked = LinkedTrace::new(files::trace(json)).with_sources(sources.iter().map(file).collect());
    analysis("roofline").unwrap().answer(&Arc::new(linked), request).unwrap()
}

/// Operations and bytes of a launch of a kernel with this source; else why there are none.
fn counted(name: &str, args: &Value, source: &str) -> Result<(Option<i64>, i64), String> {
    let events = call(0, name, args, name, 8);
    let answer = answered(&text(DEVICE, &events), &[("deep/cabc.py", source)], "{}");
    match rows(&*answer.tables[0]).first() {
        Some(row) => Ok((row["flops"].as_i64(), row["bytes"].as_i64().unwrap())),
        None => Err(rows(&*answer.tables[1])[0]["reason"].as_str().unwrap().to_owned()),
    }
}

const HEAD: &str =
    "xoffset = tl.program_id(0) * XBLOCK\nxindex = xoffset + tl.arange(0, XBLOCK)[:]\nxmask = xindex < xnumel\n";

/// `x + bias`, with 32 rows of 256.
fn broadcast_add() -> String {
    let body = format!(
        "xnumel = 8192\n{HEAD}x2 = xindex\nx0 = (xindex % 256)\n\
         tmp0 = tl.load(in_ptr0 + (x2), None).to(tl.float32)\n\
         tmp1 = tl.load(in_ptr1 + (x0), None, eviction_policy='evict_last').to(tl.float32)\n\
         tmp2 = tmp0 + tmp1\ntl.store(out_ptr0 + (x2), tmp2, None)"
    );
    let parameters = [("in_ptr0", "*bf16"), ("in_ptr1", "*bf16"), ("out_ptr0", "*bf16"), ("xnumel", "i32")];
    source("triton_poi_fused_add_0", &parameters, &body, "")
}

const BF16: &str = "c10::BFloat16";

#[test]
fn an_addition_counts_what_it_counts_without_compilation() {
    let name = "triton_poi_fused_add_0";
    let args = launch(&[(&[32, 256], BF16), (&[256], BF16), (&[32, 256], BF16)], &[8192]);
    let expected = (8192, 2 * (8192 + 256 + 8192));
    assert_eq!(counted(name, &args, &broadcast_add()), Ok((Some(expected.0), expected.1)));
    let eager = json!({"Input Dims": [[32, 256], [256]], "Input type": [BF16, BF16], "Concrete Inputs": ["", ""]});
    assert_eq!(cost("aten::add", &eager), Some(expected));
    // Without the source, the bytes are the same, but the operations are unknown.
    assert_eq!(counted(name, &args, "import torch"), Ok((None, expected.1)));
    // Without shapes, the source states the sizes.
    assert_eq!(counted(name, &json!({}), &broadcast_add()), Ok((Some(expected.0), expected.1)));
    // Of a larger tensor, no more moves than the indices reach.
    let slice = launch(&[(&[64, 256], BF16), (&[1024], BF16), (&[32, 256], BF16)], &[8192]);
    assert_eq!(counted(name, &slice, &broadcast_add()), Ok((Some(expected.0), expected.1)));
}

#[test]
fn a_tensor_that_is_updated_is_read_and_written() {
    let body = format!(
        "{HEAD}x0 = xindex\ntmp0 = tl.load(in_out_ptr0 + (x0), xmask)\ntmp3 = tl.load(in_ptr0 + (x0), xmask)\n\
         tmp1 = 0.5\ntmp2 = tmp0 * tmp1\ntmp4 = libdevice.exp(-tmp3)\ntmp5 = tmp2 + tmp4\n\
         tl.store(in_out_ptr0 + (x0), tmp5, xmask)"
    );
    let parameters = [("in_out_ptr0", "*fp32"), ("in_ptr0", "*fp32"), ("xnumel", "i32")];
    let source = source("triton_poi_fused_add_exp_mul_0", &parameters, &body, "");
    let args = launch(&[(&[1000], "float"), (&[1000], "float")], &[1000]);
    assert_eq!(counted("triton_poi_fused_add_exp_mul_0", &args, &source), Ok((Some(4 * 1000), 3 * 4000)));
    // Dynamic sizes are not in the source.
    let reason = "generated kernel: neither its trace nor its source tells all sizes";
    assert_eq!(counted("triton_poi_fused_add_exp_mul_0", &json!({}), &source), Err(reason.to_owned()));
}

/// `RMSNorm` of 64 rows of 256, kept in registers or in a loop that reads its input again.
fn norm(is_looped: bool) -> String {
    let persistent = "r0_index = tl.arange(0, R0_BLOCK)[None, :]\nr0_offset = 0\nr0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]\n\
        roffset = r0_offset\nrindex = r0_index\nr0_1 = r0_index\nx0 = xindex\n\
        tmp0 = tl.load(in_ptr0 + (r0_1 + 256*x0), xmask, other=0.0).to(tl.float32)\n\
        tmp14 = tl.load(in_ptr1 + (r0_1), None, eviction_policy='evict_last').to(tl.float32)\n\
        tmp1 = tmp0.to(tl.float32)\ntmp2 = tmp1 * tmp1\ntmp3 = tl.broadcast_to(tmp2, [XBLOCK, R0_BLOCK])\n\
        tmp5 = tl.where(xmask, tmp3, 0)\ntmp6 = tl.sum(tmp5, 1)[:, None].to(tl.float32)\n";
    let looped = "r0_base = tl.arange(0, R0_BLOCK)[None, :]\nrbase = r0_base\nx0 = xindex\n\
        _tmp6 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)\nfor r0_offset in range(0, r0_numel, R0_BLOCK):\n    \
        r0_index = r0_offset + r0_base\n    r0_mask = r0_index < r0_numel\n    roffset = r0_offset\n    rindex = r0_index\n    \
        r0_1 = r0_index\n    tmp0 = tl.load(in_ptr0 + (r0_1 + 256*x0), r0_mask & xmask, other=0.0).to(tl.float32)\n    \
        tmp1 = tmp0.to(tl.float32)\n    tmp2 = tmp1 * tmp1\n    tmp3 = tl.broadcast_to(tmp2, [XBLOCK, R0_BLOCK])\n    \
        tmp5 = _tmp6 + tmp3\n    _tmp6 = tl.where(r0_mask & xmask, tmp5, _tmp6)\ntmp6 = tl.sum(_tmp6, 1)[:, None]\n\
        for r0_offset in range(0, r0_numel, R0_BLOCK):\n    r0_index = r0_offset + r0_base\n    r0_mask = r0_index < r0_numel\n    \
        r0_1 = r0_index\n    tmp0 = tl.load(in_ptr0 + (r0_1 + 256*x0), r0_mask & xmask, other=0.0).to(tl.float32)\n    \
        tmp14 = tl.load(in_ptr1 + (r0_1), r0_mask).to(tl.float32)\n    tmp1 = tmp0.to(tl.float32)\n";
    let rest = "tmp7 = tl.full([1, 1], 256.0, tl.float32)\ntmp8 = (tmp6 / tmp7)\ntmp9 = tl.full([1, 1], 1e-06, tl.float32)\n\
        tmp10 = tmp8 + tmp9\ntmp11 = libdevice.rsqrt(tmp10)\ntmp12 = tmp1 * tmp11\ntmp13 = tmp12.to(tl.float32)\n\
        tmp15 = tmp13 * tmp14\ntl.store(out_ptr1 + (r0_1 + 256*x0), tmp15, xmask)";
    let body = format!(
        "xnumel = 64\nr0_numel = 256\nR0_BLOCK: tl.constexpr = 256\nrnumel = r0_numel\nRBLOCK: tl.constexpr = R0_BLOCK\n\
         {HEAD}{}{rest}",
        if is_looped { looped } else { persistent }
    );
    let parameters =
        [("in_ptr0", "*bf16"), ("in_ptr1", "*bf16"), ("out_ptr1", "*bf16"), ("xnumel", "i32"), ("r0_numel", "i32")];
    source("triton_red_fused_mean_mul_pow_rsqrt_0", &parameters, &body, "")
}

#[test]
fn a_norm_counts_elements_and_rows() {
    let name = "triton_red_fused_mean_mul_pow_rsqrt_0";
    let args = launch(&[(&[64, 256], BF16), (&[256], BF16), (&[64, 256], BF16)], &[64, 256]);
    // Square, sum, and two products for each element; mean, epsilon and root for each row.
    let expected = (Some(4 * 64 * 256 + 3 * 64), 2 * (2 * 64 * 256 + 256));
    for is_looped in [false, true] {
        assert_eq!(counted(name, &args, &norm(is_looped)), Ok(expected), "{is_looped}");
        assert_eq!(counted(name, &json!({}), &norm(is_looped)), Ok(expected), "{is_looped}");
    }
    assert_eq!(counted(name, &args, ""), Ok((None, expected.1)));
}

#[test]
fn a_lookup_moves_its_rows_and_not_its_table() {
    let name = "triton_poi_fused_embedding_0";
    let body = format!(
        "{HEAD}x1 = xindex // 64\nx0 = (xindex % 64)\nx2 = xindex\n\
         tmp0 = tl.load(in_ptr0 + (x1), xmask, eviction_policy='evict_last')\n\
         tmp1 = tl.full([XBLOCK], 5000, tl.int32)\ntmp2 = tmp0 + tmp1\ntmp3 = tmp0 < 0\n\
         tmp4 = tl.where(tmp3, tmp2, tmp0)\n\
         tl.device_assert(((0 <= tmp4) & (tmp4 < 5000)) | ~(xmask), \"index out of bounds: 0 <= tmp4 < 5000\")\n\
         tmp6 = tl.load(in_ptr1 + (x0 + 64*tmp4), xmask)\ntl.store(out_ptr0 + (x2), tmp6, xmask)"
    );
    let parameters = [("in_ptr0", "*i64"), ("in_ptr1", "*fp32"), ("out_ptr0", "*fp32"), ("xnumel", "i32")];
    let source = source(name, &parameters, &body, "");
    let args = |num_rows: i64| launch(&[(&[10], "long int"), (&[num_rows, 64], "float"), (&[10, 64], "float")], &[640]);
    // Places cost no operations.
    let expected = (0, 10 * 8 + 2 * 4 * 640);
    assert_eq!(counted(name, &args(5000), &source), Ok((Some(expected.0), expected.1)));
    let eager = json!({"Input Dims": [[5000, 64], [10], [], [], []], "Input type": ["float", "long int", "Scalar", "Scalar",
        "Scalar"], "Concrete Inputs": ["", "", "-1", "False", "False"]});
    assert_eq!(cost("aten::embedding", &eager), Some(expected));
    // A table of fewer rows is read once.
    assert_eq!(counted(name, &args(3), &source), Ok((Some(0), 10 * 8 + 4 * (3 * 64 + 640))));
    // Data choose the rows: without the size of the table, the bytes are unknown.
    let fixed = source.replace("    xoffset", "    xnumel = 640\n    xoffset");
    let reason = "generated kernel: neither its trace nor its source tells all sizes";
    assert_eq!(counted(name, &json!({}), &fixed), Err(reason.to_owned()));
    // Inductor's own count of bytes remains; it does not count the operations.
    let stated = fixed.replace("'kernel_name'", "'kernel_num_gb': 0.00001, 'kernel_name'");
    assert_eq!(counted(name, &json!({}), &stated), Ok((Some(0), 10_000)));
}

#[test]
fn a_product_counts_two_operations_for_each_factor() {
    let name = "triton_tem_fused_addmm_relu_0";
    let body = "M = 64\nN = 128\nK = 256\nacc = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC_TYPE)\n\
        for k_idx in range(0, tl.cdiv(K, BLOCK_K)):\n    a = tl.load(A + (rk[None, :]))\n    acc += tl.dot(a, b)\n\
        tl.store(out_ptr0 + (xindex), acc, mask)";
    let plain = [("arg_A", "*fp16"), ("arg_B", "*fp16"), ("out_ptr0", "*fp16")];
    let (half, flops) = ("c10::Half", 2 * 64 * 128 * 256);
    let bytes = 2 * (64 * 256 + 256 * 128 + 64 * 128);
    let args = launch(&[(&[64, 256], half), (&[256, 128], half), (&[64, 128], half)], &[]);
    let written = source(name, &plain, body, "");
    for args in [&args, &json!({})] {
        assert_eq!(counted(name, args, &written), Ok((Some(flops), bytes)));
    }
    assert_eq!(counted(name, &args, ""), Ok((Some(flops), bytes)));
    let eager = json!({"Input Dims": [[64, 256], [256, 128]], "Input type": [half, half], "Concrete Inputs": ["", ""]});
    assert_eq!(cost("aten::mm", &eager), Some((flops, bytes)));
    // With a bias, which is read.
    let added = [("in_ptr0", "*fp16"), ("arg_A", "*fp16"), ("arg_B", "*fp16"), ("out_ptr0", "*fp16")];
    let args = launch(&[(&[128], half), (&[64, 256], half), (&[256, 128], half), (&[64, 128], half)], &[]);
    for text in [source(name, &added, body, ""), String::new()] {
        assert_eq!(counted(name, &args, &text), Ok((Some(flops), bytes + 2 * 128)));
    }
    // Two products of one kernel are not told apart by shapes.
    let both = launch(&[(&[8, 4], half), (&[4, 8], half), (&[8, 2], half), (&[2, 8], half), (&[8, 8], half)], &[]);
    let four = [("arg_A", "*fp16"), ("arg_B", "*fp16"), ("arg_C", "*fp16"), ("arg_D", "*fp16"), ("out_ptr0", "*fp16")];
    let flops = 2 * 64 * (4 + 2);
    assert_eq!(counted(name, &both, &source(name, &four, body, "")).unwrap().0, Some(flops));
    let reason = "generated kernel: its arguments do not determine the cost";
    assert_eq!(counted(name, &both, ""), Err(reason.to_owned()));
    assert_eq!(counted("triton_tem_fused_flex_attention_0", &args, ""), Err(reason.to_owned()));
}

#[test]
fn rows_are_below_the_roof_and_in_iterations_and_modules() {
    let name = "triton_poi_fused_add_0";
    let args = launch(&[(&[32, 256], BF16), (&[256], BF16), (&[32, 256], BF16)], &[8192]);
    let mut events = call(0, name, &args, name, 8);
    events
        .push(json!({"ph": "X", "cat": "python_function", "name": "nn.Module: Block_0", "pid": 1, "tid": 1, "ts": -1,
        "dur": 90, "args": {"Python id": 1, "Python module id": 0}}));
    events.push(json!({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": -2,
        "dur": 95}));
    let json = text(DEVICE, &events);
    let source = broadcast_add();
    let answer = answered(&json, &[("cabc.py", &source)], "{}");
    let row = &rows(&*answer.tables[0])[0];
    assert_eq!((&row["family"], &row["bound"], &row["dtype"]), (&json!("fused"), &json!("memory"), &json!("bfloat16")));
    let share = 33_280.0 / 3350.0 / 8000.0;
    assert!((row["share_of_peak"].as_f64().unwrap() / share - 1.0).abs() < 1e-9, "{row}");
    for at in [2, 4] {
        let sum = &rows(&*answer.tables[at])[0];
        assert_eq!((sum["flops"].as_i64(), sum["bytes"].as_i64()), (Some(8192), Some(33_280)), "{sum}");
        assert_eq!(sum["covered_share"].as_f64(), Some(1.0), "{sum}");
    }
    // Operations that are unknown are not covered.
    let answer = roofline(&json, "{}");
    let row = &rows(&*answer.tables[0])[0];
    assert_eq!((&row["flops"], &row["bound"], &row["tflops"]), (&Value::Null, &Value::Null, &Value::Null));
    assert!((row["share_of_peak"].as_f64().unwrap() / share - 1.0).abs() < 1e-9, "{row}");
    for at in [2, 4] {
        let sum = &rows(&*answer.tables[at])[0];
        assert_eq!((sum["bytes"].as_i64(), sum["covered_share"].as_f64()), (Some(33_280), Some(0.0)), "{sum}");
    }
}

fn recorded(folder: &str) -> LinkedTrace {
    files::pair(&format!("inference_cuda/{folder}"))
}

fn kept_sources() -> Vec<SourceFile> {
    let folder = files::path("tests/data/inference_cuda/compiled/torch_et_0.json_resources");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    paths.map(|path| SourceFile { name: name(&path), text: std::fs::read_to_string(&path).unwrap() }).collect()
}

/// Operations, bytes and calls of the generated kernels, by name.
fn generated(linked: LinkedTrace, request: &str) -> Vec<(String, Option<i64>, i64, i64)> {
    let answer = analysis("roofline").unwrap().answer(&Arc::new(linked), request).unwrap();
    let of = |row: &Value| {
        let number = |key: &str| row[key].as_i64();
        (row["name"].as_str().unwrap().to_owned(), number("flops"), number("bytes").unwrap(), number("count").unwrap())
    };
    let mut found: Vec<_> = rows(&*answer.tables[0]).iter().map(of).collect();
    found.retain(|(name, ..)| name.starts_with("triton_"));
    found.sort();
    found
}

const NORM: &str = "triton_per_fused__to_copy_add_mean_mul_pow_rsqrt_0";
const GATE: &str = "triton_poi_fused_mul_silu_1";

#[test]
fn recorded_kernels_count_what_their_sources_do() {
    let norm = (NORM.to_owned(), Some(4 * 16384 + 3 * 64), 2 * (2 * 16384 + 256));
    // Negation, exponential, sum, quotient and product; the gate is written in place.
    let gate = (GATE.to_owned(), Some(5 * 65536), 2 * 3 * 65536);
    let with = |count: i64| [(norm.0.clone(), norm.1, norm.2, count), (gate.0.clone(), gate.1, gate.2, count)];
    assert_eq!(generated(recorded("compiled").with_sources(kept_sources()), "{}"), with(4));
    // Replayed graphs of which no capture is known, and those with one.
    let replayed = recorded("replayed").with_sources(kept_sources());
    assert_eq!(
        generated(replayed, "{}").iter().map(|row| (row.1, row.2)).collect::<Vec<_>>(),
        [(norm.1, norm.2), (gate.1, gate.2)]
    );
    let (replay, capture) = (Arc::new(recorded("replayed")), Arc::new(recorded("captured")));
    let captured = LinkedTrace::new(with_captures(&replay, &[capture]));
    let without: Vec<_> = generated(captured.clone(), "{}").into_iter().map(|row| (row.1, row.2)).collect();
    assert_eq!(without, [(None, norm.2), (None, 2 * 2 * 65536)]);
    let all: Vec<_> =
        generated(captured.with_sources(kept_sources()), "{}").into_iter().map(|row| (row.1, row.2)).collect();
    assert_eq!(all, [(norm.1, norm.2), (gate.1, gate.2)]);
}

#[test]
fn shared_traces_have_models_where_shapes_are_recorded() {
    let folder = "AMD-AGI__TraceLens/tests/traces/torch_compile_triton/trace.json.gz";
    let Some(trace) = shared::trace(folder) else { return };
    let found = generated(LinkedTrace::new(trace), "{}");
    let moved = |name: &str| found.iter().filter(|row| row.0.contains(name)).map(|row| row.2).collect::<Vec<_>>();
    assert_eq!(moved("silu"), [2 * 2 * 8 * 4096 * 8192]);
    let (norm, weight) = (8 * 4096 * 2048, 2048);
    assert_eq!(moved("mean"), [2 * (3 * norm + weight), 2 * (2 * norm + weight)]);
}

#[test]
fn kernels_of_a_phase_have_their_own_rows() {
    let name = "triton_poi_fused_add_0";
    let args = launch(&[(&[32, 256], BF16), (&[256], BF16), (&[32, 256], BF16)], &[8192]);
    let mut events = call(0, name, &args, name, 8);
    events.extend(call(2, name, &args, name, 16));
    for (at, step) in
        ["execute_context_2(512)_generation_0(0)", "execute_context_0(0)_generation_4(4)"].iter().enumerate()
    {
        events.push(json!({"ph": "X", "cat": "user_annotation", "name": step, "pid": 1, "tid": 1,
            "ts": at * 200, "dur": 90}));
    }
    let source = broadcast_add();
    let answer = answered(&text(DEVICE, &events), &[("cabc.py", &source)], r#"{"by": "phase"}"#);
    let found = rows(&*answer.tables[0]);
    let of_phase: Vec<_> = found.iter().map(|row| (row["phase"].as_str(), row["total_ns"].as_i64())).collect();
    assert_eq!(of_phase, [(Some("prefill"), Some(8000)), (Some("decode"), Some(16000))]);
    assert!(found.iter().all(|row| row["flops"] == 8192 && row["bytes"] == 33_280));
}

#[test]
fn kernels_of_one_name_and_two_sources_are_told_apart_by_file() {
    let name = "triton_poi_fused_add_0";
    let args = launch(&[(&[32, 256], BF16), (&[256], BF16), (&[32, 256], BF16)], &[8192]);
    let other = broadcast_add().replace("tmp0 + tmp1", "tmp0 + tmp1 * tmp1");
    let events = text(DEVICE, &call(0, name, &args, name, 8));
    let flops = |files: &[(&str, &str)]| rows(&*answered(&events, files, "{}").tables[0])[0]["flops"].as_i64();
    let own = broadcast_add();
    assert_eq!(flops(&[("cabc.py", &own), ("cxyz.py", &other)]), Some(8192));
    assert_eq!(flops(&[("c1.py", &own), ("cxyz.py", &other)]), None);
    assert_eq!(flops(&[("c1.py", &own), ("c2.py", &own)]), Some(8192));
}

#[test]
fn hostile_sources_neither_panic_nor_take_long() {
    let name = "triton_poi_fused_add_0";
    let args = launch(&[(&[i64::MAX, i64::MAX], BF16), (&[i64::MAX], BF16), (&[0], BF16)], &[i64::MAX]);
    let good = broadcast_add();
    let with = |from: &str, to: &str| good.replace(from, to);
    let deep = "(".repeat(5000);
    let cases = [
        with("(x2)", &deep),
        with("tmp0 + tmp1", &format!("{}1", "-".repeat(3000))),
        with("tmp0 + tmp1", &"tmp0 + ".repeat(100_000)),
        with("xindex % 256", "xindex % 0"),
        with("xindex % 256", "xindex // -9223372036854775808"),
        with("xnumel = 8192", "xnumel = 9223372036854775807"),
        with("xnumel = 8192", "xnumel = -5"),
        with("in_ptr0 + (x2)", "é + (ü)"),
        with("tmp2 = tmp0", "tmp2 = 'é\" + tmp0"),
        with("(x2), tmp2, None)", "(x2"),
        with("'signature': {", "'signature': "),
        format!("{good}    tmp9 = tl.load(\n"),
        good.replace(
            "x0 = (xindex % 256)\n",
            &(0..200).fold(String::new(), |text, at| format!("{text}x{at} = xindex // {}\n    ", at + 1)),
        ),
        "def triton_(".to_owned(),
        "def triton_poi_fused_add_0(a,,): \n  =".to_owned(),
        "'kernel_num_gb': 1e400, 'kernel_flop': nan\n".to_owned() + &good,
    ];
    for case in &cases {
        let _ = counted(name, &args, case);
    }
    let long = with("x2 = xindex\n", &"x2 = xindex\n    ".repeat(200_000));
    let mut many = String::new();
    for at in 0..20_000 {
        writeln!(many, "triton_{at} = async_compile.triton('triton_{at}', '''\ndef triton_(a):\n    x = 1\n''')")
            .unwrap();
    }
    #[expect(clippy::disallowed_methods, reason = "a test of how long it takes")]
    let start = Instant::now();
    for case in [&long, &many] {
        assert_eq!(counted(name, &args, case).map(|(flops, _)| flops), Ok(None));
    }
    assert!(start.elapsed() < Duration::from_secs(20));
    let events: Vec<_> = (0..500)
        .flat_map(|at| call(at, name, &launch(&[(&[at, 2], BF16), (&[2], BF16), (&[at, 2], BF16)], &[at]), name, 8))
        .collect();
    let answer = answered(&text(DEVICE, &events), &[("cabc.py", &good)], "{}");
    assert_eq!(rows(&*answer.tables[0]).len(), 500);
}
