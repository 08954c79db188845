//! Tests that no private text leaves with a redacted trace.

use kinetoscope::edit::{Redaction, redact};
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::write::execution::write_execution;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, read, write_snapshot};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{files, shared};

/// Every text of a trace, and all that is written of it.
fn leaves(trace: &Trace) -> String {
    let mut out: Vec<u8> = trace.strings.iter().collect::<Vec<_>>().join("\n").into_bytes();
    write_chrome(trace, &mut out).unwrap();
    write_execution(trace, &mut out).unwrap();
    out.extend(format!("{:?} {:?}", trace.warnings, trace.metadata_json()).into_bytes());
    String::from_utf8(out).unwrap()
}

/// Private texts of all sorts, each with the marker in it.
fn marker() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "zebra",
        "/data/zebra/train.py(12): main",
        "D:\\work\\zebra\\x.py",
        "file:///srv/zebra/a b.txt",
        "zebra@node17.zebra.example.com:~/x",
        "text with /opt/zebra/lib inside",
        "--token=zebra",
        "ZEBRA_KEY=zebra",
        "nn.Module: Zebra_0",
        "## zebra ##",
        "zebra::op",
        "Optimizer.step#Zebra.step",
        "<zebra>",
        "{\"zebra\": \"zebra\"}",
        "[\"zebra\"]",
        "zebra\u{e9}\u{200b}",
        "zebra\"quoted\\",
    ])
    .prop_map(String::from)
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(marker(), 40..41)
}

/// A trace with a private text in every place that may hold one.
fn planted(texts: &[String]) -> [String; 2] {
    let mut texts = texts.iter().cycle();
    let mut text = || texts.next().unwrap().clone();
    let kinds = [
        "cpu_op",
        "user_annotation",
        "python_function",
        "cuda_runtime",
        "gpu_memcpy",
        "gpu_memset",
        "cuda_sync",
        "overhead",
        "other",
    ];
    let mut events: Vec<Value> = kinds
        .iter()
        .enumerate()
        .map(|(at, kind)| {
            json!({"ph": "X", "cat": kind, "name": text(), "pid": 1, "tid": 2, "ts": at, "dur": 1, text(): text(),
                "args": {text(): text(), "Concrete Inputs": [text(), "False"], "Call stack": text(), "kernel_file": text(),
                    "Input type": [text()], "dtype": text(), "Process Group Name": text(), "stream": text(), "nested": {text(): [text()]}}})
        })
        .collect();
    events.push(json!({"ph": "X", "cat": "kernel", "name": format!("f{{lambda at /x/{}}}", text()), "pid": 0, "tid": 7, "ts": 1, "dur": 1}));
    events.push(json!({"ph": "X", "cat": text(), "name": text(), "pid": text(), "tid": text(), "ts": 1, "dur": 1, "args": text()}));
    events.push(json!({"ph": "i", "cat": text(), "name": text(), "pid": text(), "tid": text(), "ts": 1, "args": {"name": text()}}));
    events.push(json!({"ph": "C", "name": text(), "pid": 1, "tid": 1, "ts": 1, "args": {text(): 3}}));
    events.push(json!({"ph": "s", "id": text(), "cat": text(), "name": text(), "pid": 1, "tid": 1, "ts": 1}));
    for name in ["process_name", "process_labels", "thread_name", "zebra"] {
        events.push(
            json!({"ph": "M", "name": name, "pid": text(), "tid": 1, "args": {"name": text(), "labels": text()}}),
        );
    }
    let kineto = json!({
        "traceName": text(), "host_name": text(), "username": text(), "env": {text(): text()}, text(): 5,
        "deviceProperties": [{"id": 0, "name": text(), text(): text()}],
        "distributedInfo": {"rank": 0, "backend": text(), "hosts": [text()], "pg_config": [{"pg_name": text(), "pg_desc": text()}]},
        "kinetoscope": {"torch": text(), "argv": [text()]}, "traceEvents": events,
    });
    let values = |text: String| json!({"values": [text], "shapes": [[]], "types": [text], "strides": [[]]});
    let node = |id: usize, name: String, more: [String; 8]| {
        let [schema, file, backend, key, value, input, output, group] = more;
        let group = json!([{"pg_name": group, "pg_desc": group, "ranks": []}]).to_string();
        let input = if name.starts_with("## process_group:init") { group } else { input };
        json!({"id": id, "name": name, "ctrl_deps": 1, "inputs": values(input), "outputs": values(output), "attrs": [
            {"name": "rf_id", "type": "uint64", "value": id}, {"name": "scope", "type": "uint64", "value": 7 * (id % 2)},
            {"name": "op_schema", "type": "string", "value": schema}, {"name": "kernel_file", "type": "string", "value": file},
            {"name": "kernel_backend", "type": "string", "value": backend}, {"name": key.clone(), "type": key, "value": value}]})
    };
    let mut more = || [(); 8].map(|()| text());
    let (first, second, third, fourth) = (more(), more(), more(), more());
    let nodes = [
        node(2, String::from("zebra::op"), first),
        node(3, String::from("## zebra ##"), second),
        node(4, String::from("aten::add"), third),
        node(5, String::from("## process_group:init ##"), fourth),
    ];
    let execution = json!({"schema": "1.1.1-chakra.0.0.4", "host": "zebra", "nodes": nodes});
    [kineto.to_string(), execution.to_string()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_planted_text_is_left(texts in texts()) {
        let [kineto, execution] = planted(&texts);
        let inputs = [Input::new(kineto.as_bytes()), Input::new(execution.as_bytes())];
        let trace = read(inputs.map(|input| input.named("/data/zebra/run.json")), Limits::default()).unwrap();
        let redacted = redact([&trace], Redaction::default()).remove(0);
        let text = leaves(&redacted);
        let at = text.to_lowercase().find("zebra");
        prop_assert!(at.is_none(), "…{}…", at.map_or("", |at| &text[text.floor_char_boundary(at.saturating_sub(150))..text.ceil_char_boundary(at + 40)]));
        prop_assert_eq!(&redacted.events.position, &trace.events.position);
        prop_assert_eq!(redacted.nodes.len(), trace.nodes.len());
        write_snapshot(&redact([&trace], Redaction { keeps_modules: true, ..Redaction::default() }).remove(0)).unwrap();
    }
}

#[test]
fn a_strict_redaction_replaces_kernels_that_no_library_has() {
    let names = ["void at::native::add<zebra::Type>(int)", "void zebra::add<float>(int)", "ampere_sgemm_128x64_nn"];
    let event = |name: &&str| json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"kernel": name}});
    let trace = files::trace(&json!(names.iter().map(event).collect::<Vec<_>>()).to_string());
    let kernels = |is_strict: bool| {
        let redacted = redact([&trace], Redaction { is_strict, ..Redaction::default() }).remove(0);
        assert_eq!(leaves(&redacted).contains("zebra"), !is_strict);
        (0..3).map(|row| redacted.event_name(row).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kernels(false), names);
    let strict = kernels(true);
    assert!(strict[0].starts_with("void at::native::add<type_") && strict[1].starts_with("kernel_"), "{strict:?}");
    assert_eq!(strict[2], names[2]);
}

#[test]
fn links_of_a_redacted_trace_are_those_before() {
    for folder in ["synthetic_cuda", "transformer_cpu", "mlp_gloo"] {
        let linked = files::pair(folder);
        let redacted = LinkedTrace::new(redact([&linked.trace], Redaction::default()).remove(0));
        assert_eq!(redacted.edge_list(), linked.edge_list(), "{folder}");
        assert_eq!(redacted.links.iteration, linked.links.iteration, "{folder}");
        assert_eq!(redacted.collectives().rows.len(), linked.collectives().rows.len(), "{folder}");
    }
}

#[test]
fn what_everyone_has_stays() {
    let linked = files::pair("synthetic_cuda");
    let redacted = redact([&linked.trace], Redaction::default()).remove(0);
    for name in ["ProfilerStep#2", "aten::addmm", "cudaLaunchKernel"] {
        let has = |trace: &Trace| trace.strings.get(name.as_bytes()).is_some();
        assert_eq!(has(&redacted), has(&linked.trace), "{name}");
    }
}

#[test]
fn ranks_of_a_job_have_the_same_pseudonyms() {
    let trace = |names: [&str; 2]| {
        let event =
            |name: &str| json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 1});
        files::trace(&json!(names.map(event)).to_string())
    };
    let both = redact([&trace(["a::x", "a::y"]), &trace(["a::y", "a::x"])], Redaction::default());
    assert_eq!(both[0].event_name(0), both[1].event_name(1));
    assert_eq!(both[0].event_name(1), both[1].event_name(0));
}

/// Names of people, machines and folders in the real traces.
const PRIVATE: [&str; 12] = [
    "/home/",
    "/usr/",
    "site-packages",
    "anaconda",
    "facebook.com",
    "mojif",
    "ajassani",
    "yangu",
    "torchx",
    "wisc.cloudlab",
    "mast_hpc",
    ".py(",
];

#[test]
fn nothing_private_is_left_in_real_traces() {
    for (name, trace) in shared::traces() {
        let text = leaves(&redact([&trace], Redaction::default()).remove(0));
        for word in PRIVATE {
            assert!(!text.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn what_is_written_of_a_redacted_trace_reads_as_it_was() {
    let categories = [
        "cpu_op",
        "Operator",
        "kernel",
        "concurrent_kernel",
        "gpu_memcpy",
        "gpu_memset",
        "cuda_sync",
        "gpu_user_annotation",
        "user_annotation",
        "python_function",
        "overhead",
        "cuda_runtime",
        "acme_driver",
        "zebra",
    ];
    let event = |(at, category): (usize, &&str)| json!({"ph": "X", "cat": category, "name": format!("ProfilerStep#{at}"), "pid": 1, "tid": at, "ts": at, "dur": 1});
    let events: Vec<_> = categories.iter().enumerate().map(event).collect();
    let trace = files::trace(&json!(events).to_string());
    let redacted = redact([&trace], Redaction::default()).remove(0);
    let mut written = Vec::new();
    write_chrome(&redacted, &mut written).unwrap();
    let again = read([Input::new(&written)], Limits::default()).unwrap();
    assert_eq!(again.events.kind, trace.events.kind);
}

#[test]
fn texts_of_nodes_are_counted() {
    let trace = files::trace(&fixture_of_nodes());
    let redacted = redact([&trace], Redaction::default()).remove(0);
    // A name, a value, and the schema that was made for the name.
    assert!(redacted.warnings.count(kinetoscope::WarningKind::Redacted) >= 2, "{:?}", redacted.warnings);
}

/// An Execution Trace with one private operator, whose argument is private too.
fn fixture_of_nodes() -> String {
    let node = json!({"id": 2, "name": "zebra::op", "ctrl_deps": 1, "attrs": [{"name": "rf_id", "type": "uint64", "value": 1}],
        "inputs": {"values": ["zebra"], "shapes": [[]], "types": ["String"]}, "outputs": {"values": [], "shapes": [], "types": []}});
    json!({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [node]}).to_string()
}

#[test]
fn a_namespace_of_pytorch_makes_no_sentence_public() {
    let event = json!({"ph": "X", "cat": "user_annotation", "name": "torch:zebra experiment 7", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
        "args": {"note": "torch:zebra secret"}});
    let redacted = redact([&files::trace(&json!([event]).to_string())], Redaction::default()).remove(0);
    assert!(!leaves(&redacted).contains("zebra"));
}
