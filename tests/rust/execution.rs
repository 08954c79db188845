//! Tests that Execution Traces are written as they were read.

use kinetoscope::json::canonical;
use kinetoscope::write::execution::write_execution;
use kinetoscope::{Trace, WarningKind};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// The Execution Trace as text.
pub(crate) fn written(trace: &Trace) -> String {
    let mut out = Vec::new();
    write_execution(trace, &mut out).expect("memory to write to");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// The trace's Execution Trace, written and without white space between tokens.
fn canonically(trace: &Trace) -> String {
    canonical(written(trace).as_bytes()).text
}

/// A file of the nodes given.
fn file(nodes: &str) -> String {
    format!(r#"{{"schema":"1.1.1-chakra.0.0.4","pid":1,"nodes":[{nodes}],"finish_ts":9}}"#)
}

fn assert_kept(text: &str) {
    assert_eq!(canonically(&files::trace(text)), canonical(text.as_bytes()).text);
}

#[test]
fn fixtures_are_written_as_they_were_read() {
    for folder in ["minimal_cpu", "synthetic_cuda", "transformer_cpu", "mlp_gloo", "hostile"] {
        let text = files::text(&format!("{folder}/torch_et_0.json.gz"));
        let trace = files::trace(&String::from_utf8_lossy(&text));
        assert!(!trace.nodes.is_empty());
        if trace.warnings.iter().next().is_none() {
            assert_eq!(canonically(&trace), canonical(&text).text, "{folder}");
        }
        let again = files::trace(&written(&trace));
        assert_eq!(written(&again), written(&trace), "{folder}");
    }
}

#[test]
fn every_layout_is_kept() {
    for node in [
        r#"{"name":"flat","id":7,"rf_id":5,"parent":1,"fw_parent":0,"seq_id":-1,"scope":0,"tid":1,"fw_tid":0,"inputs":[1.50,[2]],"input_shapes":[[],[[]]],"input_types":["Double","GenericList[Int]"],"outputs":[],"output_shapes":[],"output_types":[]}"#,
        r#"{"id":7,"name":"c","ctrl_deps":1,"inputs":{"values":[1e3,1.0],"shapes":[],"types":[]},"outputs":{"values":[],"shapes":[],"types":[],"strides":[]},"attrs":[{"name":"rf_id","type":"uint64","value":5},{"name":"pg","type":"uint64","value":18446744073709551615},{"name":"op_schema","type":"string","value":"a \"b\" é"}]}"#,
        r#"{"id":7,"name":"linked","ctrl_deps":1,"attrs":[],"cat":"kernel","ts":1712195495519689.047,"dur":0.10,"stream":null}"#,
    ] {
        assert_kept(&file(node));
    }
}

#[test]
fn values_of_other_types_are_kept() {
    for node in [
        r#"{"id":"7","name":"quoted","ctrl_deps":"1","rf_id":0}"#,
        r#"{"id":7,"name":"odd","ctrl_deps":"+1","rf_id":"007","parent":"-0"}"#,
        r#"{"id":7,"name":"several","ctrl_deps":[1,2],"tid":{"a":1},"op_schema":null}"#,
        r#"{"id":7,"name":"","attrs":[{"value":3,"name":"late"},{"value":4},{"name":"name","value":"x"},{"name":"empty"},{"doc":1.0,"name":"tid","value":2}]}"#,
        r#"{"id":7,"name":"n","inputs":{"values":[],"layout":["strided"]},"outputs":3,"parent":-1}"#,
    ] {
        assert_kept(&file(node));
    }
}

#[test]
fn an_attribute_that_has_two_values_is_still_json() {
    let trace = files::trace(&file(r#"{"id":7,"name":"n","attrs":[{"name":"tid","value":1,"value":2,"name":"x"}]}"#));
    let text = written(&trace);
    assert_eq!(written(&files::trace(&text)), text);
}

#[test]
fn what_was_not_finished_is_finished() {
    let cut = r#"{"schema":"1.0.1","nodes":[{"name":"a","id":2,"parent":1},"#;
    let trace = files::trace(cut);
    assert!(trace.warnings.iter().any(|warning| warning.kind == WarningKind::UnfinishedExecutionTrace));
    assert_eq!(canonically(&trace), r#"{"schema":"1.0.1","nodes":[{"name":"a","id":2,"parent":1}]}"#);
}

/// Values of an Execution Trace, with names that need to be escaped.
fn node() -> impl Strategy<Value = Value> {
    let number = prop_oneof![any::<u64>().prop_map(Value::from), any::<i64>().prop_map(Value::from)];
    let value = prop_oneof![number, ".{0,8}".prop_map(Value::from), Just(Value::Null), Just(json!([[1, [2.5]], "x"]))];
    let key = prop::sample::select(vec![
        "ctrl_deps",
        "parent",
        "rf_id",
        "seq_id",
        "scope",
        "tid",
        "op_schema",
        "inputs",
        "outputs",
        "input_types",
        "ts",
        "\u{1}\n",
    ]);
    let fields = prop::collection::btree_map(key, value, 0..8);
    (any::<u64>(), ".{0,8}", fields.clone(), fields).prop_map(|(id, name, own, attrs)| {
        let attrs: Vec<_> = attrs.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let mut node = json!({"id": id, "name": name, "attrs": attrs});
        node.as_object_mut().unwrap().extend(own.into_iter().map(|(key, value)| (key.to_owned(), value)));
        node
    })
}

proptest! {
    #[test]
    fn every_node_is_written_as_it_was_read(nodes in prop::collection::vec(node(), 1..6)) {
        let text = json!({"schema": "1.1.1", "nodes": nodes}).to_string();
        let again: Value = serde_json::from_str(&written(&files::trace(&text))).unwrap();
        prop_assert_eq!(again, serde_json::from_str::<Value>(&text).unwrap());
    }
}
