//! Tests calls inside another call of the same name: their time counts once.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{OperatorRow, PartRequest, Selection, SelectionRequest, analysis, annotations, operators};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;
use crate::scene::Scene;

fn row(linked: &Arc<LinkedTrace>, name: &str) -> OperatorRow {
    operators(&Selection::all(linked)).into_iter().find(|row| row.name == name).expect("the operator")
}

#[test]
fn a_call_inside_one_of_its_name_counts_once_in_totals_and_twice_in_count() {
    let mut scene = Scene::default();
    scene.operator("aten::arange", 0, 100).operator("aten::arange", 20, 60).operator("aten::resize_", 30, 10);
    scene.operator("aten::arange", 200, 50);
    let row = row(&scene.linked(), "aten::arange");
    assert_eq!((row.count, row.total_ns, row.self_ns), (3, 150_000, 140_000));
    assert_eq!(row.mean_ns, 70_000);
}

#[test]
fn other_operators_and_frames_in_between_do_not_matter() {
    let mut scene = Scene::default();
    scene.operator("aten::to", 0, 100).operator("aten::_to_copy", 10, 80).host("python_function", "a.py(1): f", 15, 70);
    scene.operator("aten::to", 20, 60).operator("aten::to", 30, 20);
    let linked = scene.linked();
    assert_eq!((row(&linked, "aten::to").count, row(&linked, "aten::to").total_ns), (3, 100_000));
}

#[test]
fn the_same_name_on_another_thread_is_no_nesting() {
    let event = |tid: i64, start: i64, dur: i64| json!({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": tid, "ts": start, "dur": dur});
    let linked = Arc::new(LinkedTrace::new(files::trace(&json!([event(1, 0, 100), event(2, 10, 50)]).to_string())));
    assert_eq!(row(&linked, "aten::mm").total_ns, 150_000);
}

#[test]
fn device_time_counts_once_too() {
    let mut scene = Scene::default();
    scene.operator("aten::copy_", 0, 100).operator("aten::copy_", 10, 80).kernel("copy", 20, 200, 40);
    let row = row(&scene.linked(), "aten::copy_");
    assert_eq!((row.device_total_ns, row.device_self_ns), (Some(40_000), Some(40_000)));
}

#[test]
fn an_outer_call_outside_the_selection_does_not_hide_the_inner_one() {
    let mut scene = Scene::default();
    scene.operator("aten::arange", 0, 100).operator("aten::arange", 50, 40);
    let linked = scene.linked();
    let wanted = SelectionRequest {
        part: PartRequest { start_ns: Some(50_000), end_ns: Some(95_000), ..PartRequest::default() },
        is_unclipped: true,
        ..SelectionRequest::default()
    };
    let rows = operators(&Selection::of(&linked, &wanted).unwrap());
    assert_eq!((rows[0].count, rows[0].total_ns), (1, 40_000));
}

#[test]
fn annotations_and_modules_count_once_too() {
    let mut scene = Scene::default();
    scene.annotation("forward", 0, 100).annotation("forward", 20, 50);
    scene.host("python_function", "nn.Module: Block_0", 200, 100).host(
        "python_function",
        "nn.Module: Block_0",
        210,
        40,
    );
    scene.operator("aten::mm", 215, 20).kernel("gemm", 220, 400, 30);
    let linked = scene.linked();
    let forward = annotations(&Selection::all(&linked)).into_iter().find(|row| row.name == "forward").unwrap();
    assert_eq!((forward.count, forward.total_ns, forward.mean_ns), (2, 100_000, 75_000));
    let answer = analysis("modules").unwrap().answer(&linked, "{}").unwrap();
    let module: Value = files::rows(&*answer.tables[0]).remove(0);
    assert_eq!((&module["count"], &module["total_ns"]), (&json!(2), &json!(100_000)));
    assert_eq!((&module["device_total_ns"], &module["num_device_events"]), (&json!(30_000), &json!(1)));
}

#[test]
fn modules_of_one_class_count_once_where_they_are_nested() {
    let mut scene = Scene::default();
    scene.host("python_function", "nn.Module: Block_0", 0, 100);
    scene.host("python_function", "nn.Module: Block_1", 10, 40);
    scene.host("python_function", "nn.Module: Linear_12", 20, 10);
    scene.operator("aten::mm", 22, 5).kernel("gemm", 23, 200, 30);
    scene.host("python_function", "nn.Module: Block_0", 120, 30);
    let answer = analysis("modules").unwrap().answer(&scene.linked(), "{}").unwrap();
    let classes: Vec<Value> = files::rows(&*answer.tables[1]);
    let of = |class: &str| classes.iter().find(|row| row["class"] == class).unwrap();
    let [block, linear] = [of("Block"), of("Linear")];
    assert_eq!((&block["num_modules"], &block["count"], &block["total_ns"]), (&json!(2), &json!(3), &json!(130_000)));
    assert_eq!((&block["device_total_ns"], &block["device_self_ns"]), (&json!(30_000), &json!(0)));
    assert_eq!((&linear["num_modules"], &linear["device_self_ns"]), (&json!(1), &json!(30_000)));
}

/// Nested or consecutive calls of two names on one thread: name, start, duration.
fn calls() -> impl Strategy<Value = Vec<(usize, i64, i64)>> {
    prop::collection::vec((0..2_usize, 0..60_i64, 1..40_i64), 1..30)
}

proptest! {
    #[test]
    fn the_total_of_a_name_is_no_longer_than_the_time_of_its_calls(calls in calls()) {
        let mut scene = Scene::default();
        // Rounded to powers of two, ranges nest or are apart.
        for (name, start, dur) in &calls {
            let dur = 1 << (*dur as u64).ilog2();
            scene.operator(["aten::a", "aten::b"][*name], start / dur * dur, dur);
        }
        for found in operators(&Selection::all(&scene.linked())) {
            let mut busy = [false; 256];
            for event in scene.events.iter().filter(|event| event["name"] == found.name.as_str()) {
                let (start, dur) = (event["ts"].as_i64().unwrap(), event["dur"].as_i64().unwrap());
                (start..start + dur).for_each(|at| busy[at as usize] = true);
            }
            let union_ns = busy.iter().filter(|is_busy| **is_busy).count() as i64 * 1_000;
            prop_assert_eq!(found.total_ns, union_ns, "{}", found.name);
        }
    }
}
