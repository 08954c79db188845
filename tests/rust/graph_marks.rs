//! Tests names that kernels of replayed graphs carry themselves.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{Selection, annotations, modules};
use kinetoscope::table::{TABLES, table};
use serde_json::{Value, json};

use crate::files;

/// One launch of a graph with a kernel of 500 µs for each of the given arguments.
fn replay(marks: &[Value]) -> Arc<LinkedTrace> {
    let mut events = vec![json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1,
                                 "ts": 0, "dur": 100, "args": {"correlation": 1}})];
    for (at, mark) in marks.iter().enumerate() {
        let mut args = json!({"device": 0, "stream": 7, "correlation": 1});
        args.as_object_mut().unwrap().extend(mark.as_object().unwrap().clone());
        events.push(json!({"ph": "X", "cat": "kernel", "name": "nvjet", "pid": 0, "tid": 7,
                           "ts": 200 + at * 520, "dur": 500, "args": args}));
    }
    Arc::new(LinkedTrace::new(files::trace(&json!(events).to_string())))
}

fn cells(linked: &Arc<LinkedTrace>, column: &str) -> Vec<Value> {
    assert!(TABLES.iter().any(|table| table.name == "events"));
    let rows = files::rows(&*table("events").unwrap().of(linked));
    rows.iter().filter(|row| row["kind"] == "kernel").map(|row| row[column].clone()).collect()
}

#[test]
fn kernels_of_a_graph_have_columns_for_their_node_module_and_annotation() {
    let node = |id: u64, layer: u64| {
        json!({"graph id": 2, "graph node id": id, "fqn": format!("model.layers.{layer}.mlp"),
                                            "annotation": format!("layer {layer}")})
    };
    let linked = replay(&[node(8_589_934_592, 0), node(8_589_934_593, 1), node(8_589_934_594, 1)]);
    assert_eq!(cells(&linked, "graph_id"), [2, 2, 2]);
    assert_eq!(cells(&linked, "graph_node_id"), [8_589_934_592_u64, 8_589_934_593, 8_589_934_594]);
    assert_eq!(cells(&linked, "module"), ["model.layers.0.mlp", "model.layers.1.mlp", "model.layers.1.mlp"]);
    assert_eq!(cells(&linked, "annotation"), ["layer 0", "layer 1", "layer 1"]);
    let rows = modules(&Selection::all(&linked));
    let told: Vec<_> =
        rows.iter().map(|row| (row.module.as_str(), row.device_self_ns, row.num_device_events)).collect();
    assert_eq!(told, [("model.layers.1.mlp", 1_000_000, 2), ("model.layers.0.mlp", 500_000, 1)]);
    assert!(rows.iter().all(|row| row.forward_ns.is_none() && row.longest_id.is_none()));
    let rows = annotations(&Selection::all(&linked));
    let told: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.side, row.count, row.total_ns)).collect();
    assert_eq!(told, [("layer 1", "kernel", 2, 1_000_000), ("layer 0", "kernel", 1, 500_000)]);
}

#[test]
fn a_module_has_the_work_of_the_paths_inside_it() {
    let linked = replay(&["model", "model.a", "model.a.b", "model.ab"].map(|path| json!({"fqn": path})));
    let rows = modules(&Selection::all(&linked));
    let total = |module: &str| rows.iter().find(|row| row.module == module).unwrap().device_total_ns;
    assert_eq!(
        (total("model"), total("model.a"), total("model.a.b"), total("model.ab")),
        (2_000_000, 1_000_000, 500_000, 500_000)
    );
}

#[test]
fn marks_in_other_forms_are_read() {
    let forms = [
        (json!({"module_fqn": "m.a"}), json!("m.a"), json!(null)),
        (json!({"fqn": ["m", "m.a"]}), json!("m.a"), json!(null)),
        (json!({"fqn": "[\"m\", \"m.b\"]"}), json!("m.b"), json!(null)),
        (json!({"annotation": ["outer", "inner"]}), json!(null), json!("outer/inner")),
        (json!({"annotation": [{"name": "outer", "stream": 3}, {"str": "inner"}]}), json!(null), json!("outer/inner")),
        (json!({"annotation": {"module_fqn": "m.c"}}), json!("m.c"), json!(null)),
        (json!({"annotation": "{\"name\": \"mlp\", \"fqn\": \"m.d\"}"}), json!("m.d"), json!("mlp")),
        (json!({"graph node id": 9, "name": "mark"}), json!(null), json!("mark")),
        (json!({"name": "no mark"}), json!(null), json!(null)),
        (json!({"fqn": "", "annotation": null}), json!(null), json!(null)),
        (json!({"fqn": 5, "annotation": "[broken"}), json!("5"), json!("[broken")),
    ];
    for (mark, module, annotation) in forms {
        let linked = replay(std::slice::from_ref(&mark));
        assert_eq!(
            (cells(&linked, "module").remove(0), cells(&linked, "annotation").remove(0)),
            (module, annotation),
            "{mark}"
        );
    }
}

#[test]
fn number_0_is_no_graph() {
    let linked = replay(&[json!({"graph id": 0, "graph node id": 0})]);
    assert_eq!((cells(&linked, "graph_id"), cells(&linked, "graph_node_id")), (vec![json!(null)], vec![json!(null)]));
    assert!(modules(&Selection::all(&linked)).is_empty() && annotations(&Selection::all(&linked)).is_empty());
}
