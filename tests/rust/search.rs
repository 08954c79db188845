//! Tests that a search reaches all hits.

use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

use crate::screen::ask;

/// On each of two threads `count` events of 1 µs, one every 2 µs, of which every other one is a
/// `gemm`.
fn session(count: i64) -> Session {
    let event = |thread: i64, at: i64| {
        let name = if at % 2 == 0 { "gemm" } else { "relu" };
        json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": 2 * at, "dur": 1})
    };
    let events: Vec<_> = (1..=2).flat_map(|thread| (0..count).map(move |at| event(thread, at))).collect();
    let trace = read([Input::new(json!(events).to_string().as_bytes())], Limits::default()).unwrap();
    Session::new(LinkedTrace::new(trace))
}

fn numbers(column: &Value) -> Vec<u64> {
    column.as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as u64).collect()
}

#[test]
fn hits_come_page_by_page_in_the_order_of_time() {
    let session = session(100);
    let page = |more: Value| {
        let mut request = json!({"type": "search", "text": "GEMM", "limit": 30});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask(&session, &request)
    };
    let mut ids = Vec::new();
    for from in [0, 30, 60, 90] {
        let answer = page(json!({"from": from}));
        assert_eq!((&answer["count"], &answer["first"]), (&json!(100), &json!(from)), "counted as ever");
        ids.extend(numbers(&answer["id"]));
    }
    let expected: Vec<u64> = (0..100).step_by(2).flat_map(|at| [at, at + 100]).collect();
    assert_eq!(ids, expected);
    assert_eq!(page(json!({"from": 1000}))["first"], 100, "beyond the last there is none");
}

#[test]
fn hits_from_a_time_on_say_how_many_come_before() {
    let session = session(100);
    let answer = ask(&session, &json!({"type": "search", "text": "gemm", "limit": 2, "start": 40_001.0}));
    assert_eq!((&answer["first"], numbers(&answer["start"])), (&json!(22), vec![44_000, 44_000]));
    let late = ask(&session, &json!({"type": "search", "text": "gemm", "limit": 2, "start": 1e12}));
    assert_eq!((&late["first"], numbers(&late["id"])), (&json!(100), vec![]));
}

#[test]
fn marks_are_few_when_far_and_all_of_them_when_near() {
    let session = session(10_000);
    let marks = |start: f64, end: f64, pixels: u32| {
        ask(&session, &json!({"type": "marks", "text": "gemm", "start": start, "end": end, "pixels": pixels}))
    };
    let far = marks(0.0, 20_000_000.0, 100);
    assert_eq!(far["start"].as_array().unwrap().len(), 200, "one for each pixel and thread");
    assert!(numbers(&far["start"]).iter().any(|start| *start >= 19_800_000), "to the last pixel");
    let near = marks(19_900_000.0, 20_000_000.0, 100);
    assert_eq!(near["start"].as_array().unwrap().len(), 50, "each of them");
    let nothing = ask(&session, &json!({"type": "marks", "text": "", "start": 0.0, "end": 9.0, "pixels": 9}));
    assert_eq!(nothing["start"], json!([]));
}

#[test]
fn a_hit_that_is_wide_has_a_mark_of_its_own() {
    let event = |(start, dur): &(i64, i64)| json!({"ph": "X", "cat": "cpu_op", "name": "gemm", "pid": 1, "tid": 1, "ts": start, "dur": dur});
    let events: Vec<_> = [(0, 1), (2, 1), (4, 50), (60, 1), (62, 1)].iter().map(event).collect();
    let trace = read([Input::new(json!(events).to_string().as_bytes())], Limits::default()).unwrap();
    let request = json!({"type": "marks", "text": "gemm", "start": 0.0, "end": 100_000.0, "pixels": 10});
    let marks = ask(&Session::new(LinkedTrace::new(trace)), &request);
    assert_eq!(numbers(&marks["start"]), [0, 4_000, 60_000]);
}

#[test]
fn what_a_bar_shows_is_found_as_it_is_shown() {
    let name = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, A>(int)";
    let event = json!([{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 1, "dur": 1}]);
    let trace = read([Input::new(event.to_string().as_bytes())], Limits::default()).unwrap();
    let session = Session::new(LinkedTrace::new(trace));
    for (text, count) in
        [("cudafunctor_add · vectorized_elementwise_kernel", 1), ("at::native::CUDAFunctor_add", 1), ("add · CUDA", 0)]
    {
        assert_eq!(ask(&session, &json!({"type": "search", "text": text, "limit": 9}))["count"], count, "{text}");
    }
}

/// Ids of the events that a text finds.
fn found(session: &Session, text: &str) -> Vec<u64> {
    let answer = ask(session, &json!({"type": "search", "text": text, "limit": 99}));
    let mut ids = numbers(&answer["id"]);
    ids.sort_unstable();
    let marks = ask(session, &json!({"type": "marks", "text": text, "start": 0.0, "end": 100_000.0, "pixels": 1000}));
    let mut marked = numbers(&marks["id"]);
    marked.sort_unstable();
    assert_eq!(marked, ids, "{text}: marks are those of hits");
    ids
}

#[test]
fn an_event_has_all_terms_that_are_asked_for() {
    let event = |at: i64, cat: &str, name: &str, dur: f64, args: Value| {
        let tid = if cat == "kernel" { 7 } else { 1 };
        json!({"ph": "X", "cat": cat, "name": name, "pid": tid, "tid": tid, "ts": 10 * at, "dur": dur, "args": args})
    };
    let events = json!([
        event(0, "cpu_op", "aten::add", 2.0, json!({"External id": 12, "Input type": "Float"})),
        event(1, "kernel", "ncclDevKernel_AllReduce", 5.0, json!({"stream": 7, "correlation": 3})),
        event(2, "kernel", "void gemm<int>(int, int)", 0.25, json!({"stream": 7, "correlation": 30})),
        event(3, "cpu_op", "step lr=0.1", 1.0, json!({"lr": 0.5, "stream": "é"})),
    ]);
    let trace = read([Input::new(events.to_string().as_bytes())], Limits::default()).unwrap();
    let session = Session::new(LinkedTrace::new(trace));
    let cases: [(&str, &[u64]); 20] = [
        ("dur>1us", &[0, 1]),
        ("dur>=1us", &[0, 1, 3]),
        ("dur<=250", &[2]),
        ("kind:kernel", &[2]),
        ("kind:communication", &[1]),
        ("cat:kernel dur<1us", &[2]),
        ("id:3", &[3]),
        ("stream=7", &[1, 2]),
        ("STREAM=É", &[3]),
        ("correlation=3", &[1]),
        ("\"External id\"=12", &[0]),
        ("\"input type\"=float", &[0]),
        ("lr=0.1", &[3]),
        ("lr=0.5", &[3]),
        ("void gemm<int>(int, int)", &[2]),
        ("int, int stream=7", &[2]),
        ("gemm dur>abc", &[]),
        ("aten::add", &[0]),
        ("\"stream=7\"", &[]),
        ("\"\"", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(found(&session, text), expected, "{text}");
    }
}

#[test]
fn hits_are_summed_up_and_listed() {
    let mut session = session(100);
    let long = json!([{"ph": "X", "cat": "cpu_op", "name": "gemm", "pid": 1, "tid": 1, "ts": 0, "dur": 5}]);
    let other = read([Input::new(long.to_string().as_bytes())], Limits::default()).unwrap();
    let alone = ask(&session, &json!({"type": "hits", "text": "gemm", "limit": 2}));
    assert_eq!((&alone["count"], &alone["total_ns"], &alone["mean_ns"]), (&json!(100), &json!(100_000), &json!(1000)));
    let [by_name, all] = &alone["tables"].as_array().unwrap()[..] else { panic!("two tables") };
    assert_eq!((&by_name["num_rows"], &by_name["rows"][0][1]), (&json!(1), &json!(100)));
    assert_eq!((&all["num_rows"], all["rows"].as_array().unwrap().len()), (&json!(100), 2));
    session.add("", None, LinkedTrace::new(other)).unwrap();
    let both = ask(
        &session,
        &json!({"type": "hits", "text": "gemm", "order": {"table": "hits", "column": "dur_ns", "descends": true}}),
    );
    assert_eq!((&both["count"], &both["max_ns"]), (&json!(101), &json!(5000)));
    assert_eq!(both["tables"][1]["parts"][0], 1, "the longest is of the second trace");
    let none = ask(&session, &json!({"type": "hits", "text": "no such name"}));
    assert_eq!((&none["count"], &none["mean_ns"], &none["max_ns"]), (&json!(0), &Value::Null, &Value::Null));
}
