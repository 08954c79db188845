//! Ten-line traces of what once went wrong.

use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, WarningKind, read};
use serde_json::Value;

use crate::files;

/// Ten complete events, with the fourth replaced.
fn with_fourth(element: &str) -> Trace {
    let event = |at: usize| format!(r#"{{"ph": "X", "name": "e{at}", "pid": 1, "tid": 1, "ts": {at}, "dur": 1}}"#);
    let elements: Vec<_> = (0..10).map(|at| if at == 3 { element.to_owned() } else { event(at) }).collect();
    files::trace(&format!("{{\"traceEvents\": [{}], \"rank\": 7}}", elements.join(",\n")))
}

#[test]
fn one_bad_element_costs_no_other() {
    for bad in [
        r#"{"ph": "X", "name": "q", "ts": 3, "dur": 1, "args": {"l": ["a, b]}}"#,
        r#"{"ph": "X", "name": @, "args": {"ph": "X"}}"#,
        r#"{"ph": "X", "name": "cut", "ts":"#,
    ] {
        let trace = with_fourth(bad);
        assert_eq!(trace.events.len(), 9, "{bad}");
        assert_eq!(trace.warnings.count(WarningKind::MalformedElement), 1, "{bad}");
        assert_eq!(trace.header_value("rank"), Some(Value::from(7)), "{bad}");
    }
}

#[test]
fn the_next_element_is_found_whatever_it_opens_with() {
    let json = r#"[{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "python"}},
        {"ph": "X", "name": "bad" "x", "ts": 1, "dur": 1},
        {"name": "b", "ph": "X", "ts": 2, "dur": 1}, {"ph": "X", "name": "c", "ts": 3, "dur": 1}]"#;
    let trace = files::trace(json);
    assert_eq!(trace.events.position[trace.events.len() - 2..], [2, 3]);
    let first_is_bad = r#"[{"name": @}, {"name": "b", "ph": "X", "ts": 2, "dur": 1}]"#;
    assert_eq!(files::trace(first_is_bad).events.len(), 1);
}

#[test]
fn a_stray_bracket_does_not_end_the_events() {
    let json = r#"{"traceEvents": [{"ph": "X", "ts": 1, "dur": 1}], {"ph": "X", "ts": 2, "dur": 1}], "rank": 1}"#;
    let trace = files::trace(json);
    assert_eq!(trace.events.len(), 2);
    assert_eq!(trace.warnings.count(WarningKind::IrregularJson), 1);
}

#[test]
fn names_with_brackets_and_quotes_are_repaired_in_nodes() {
    for name in [r#"embed["table"]"#, r#"x{"k"}"#, r#"say "hi", now"#] {
        let json = format!(
            r#"{{"schema": "1.1.1-chakra.0.0.4", "nodes": [
            {{"id": 2, "name": "a", "ctrl_deps": 1, "attrs": [{{"name": "rf_id", "type": "uint64", "value": 4}}]}},
            {{"id": 3, "name": "{name}", "ctrl_deps": 2, "attrs": [{{"name": "rf_id", "type": "uint64", "value": 5}}]}},
            {{"id": 4, "name": "c", "ctrl_deps": 3, "attrs": []}}]}}"#
        );
        let trace = files::trace(&json);
        let names: Vec<_> = trace.nodes.iter().map(|node| trace.strings.text(node.name)).collect();
        assert_eq!(names, ["a", name, "c"]);
        assert_eq!(trace.nodes[1].record_id, 5);
    }
}

#[test]
fn record_ids_of_another_run_link_nothing() {
    let event = |id: u64| {
        format!(r#"{{"ph":"X","cat":"cpu_op","name":"k{id}","ts":{id},"dur":1,"args":{{"Record function id":{id}}}}}"#)
    };
    let node =
        |id: u64, shift: u64| format!(r#"{{"id": {id}, "name": "k{}", "parent": 1, "rf_id": {id}}}"#, id + shift);
    let linked = |shift: u64| {
        let kineto = format!("[{}]", (1..=40).map(event).collect::<Vec<_>>().join(","));
        let nodes = (1..=40).map(|id| node(id, if id > 10 { shift } else { 0 })).collect::<Vec<_>>().join(",");
        let execution = format!(r#"{{"schema": "1.0.1", "nodes": [{nodes}]}}"#);
        let inputs = [kineto, execution].map(String::into_bytes);
        LinkedTrace::new(read(inputs.iter().map(|text| Input::new(text)), Limits::default()).unwrap())
    };
    assert_eq!(linked(0).links.record.node_of_event.num_set(), 40);
    let foreign = linked(1);
    assert_eq!(foreign.links.record.node_of_event.num_set(), 0);
    assert_eq!(foreign.links.warnings.count(WarningKind::ForeignExecutionTrace), 1);
}

#[test]
fn quotes_that_kineto_writes_in_another_way_do_not_part_a_pair() {
    let kineto = r#"[{"ph": "X", "cat": "user_annotation", "name": "embed['table']", "ts": 1, "dur": 1,
        "args": {"Record function id": 3}}]"#;
    let execution = r#"{"schema": "1.0.1", "nodes": [{"id": 9, "name": "embed["table"]", "parent": 1, "rf_id": 3}]}"#;
    let inputs = [kineto, execution].map(|text| Input::new(text.as_bytes()));
    let linked = LinkedTrace::new(read(inputs, Limits::default()).unwrap());
    assert_eq!(linked.links.record.node_of_event.get(0), Some(0));
}

#[test]
fn a_number_that_comes_again_is_another_iteration() {
    let step =
        |start: u32| format!(r#"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#0","ts":{start},"dur":10}}"#);
    let json = format!("[{},{},{}]", step(0), step(20), step(0));
    assert_eq!(LinkedTrace::new(files::trace(&json)).links.iterations.len(), 2);
}

#[test]
fn what_is_no_trace_is_refused() {
    for json in [r#"[{"a": 1}]"#, r#"{"nodes": [{"x": 1}], "links": []}"#, r#"{"nodes": [1, 2]}"#, r#"{"nodes": []}"#] {
        let error = read([Input::new(json.as_bytes())], Limits::default()).unwrap_err().to_string();
        assert!(error.starts_with("expected an object with `traceEvents` or `nodes`"), "{json}: {error}");
    }
    assert_eq!(files::trace("[]").events.len(), 0);
    assert_eq!(files::trace(r#"{"schema": "1.0.1", "nodes": []}"#).nodes.len(), 0);
}

#[test]
fn what_is_not_strict_json_is_counted() {
    let count = |args: &str| {
        let json = format!(r#"[{{"ph": "X", "ts": 1, "dur": 1, "args": {args}}}, {{"ph": "X", "ts": 2, "dur": 1}}]"#);
        files::trace(&json).warnings.count(WarningKind::IrregularJson)
    };
    for args in [r#"{"x": NaN}"#, r#"{"y": [1,,2]}"#, r#"{"a": 1,}"#, r#"{"a": 1, "a": 2}"#, r#"{"p": "C:\dir"}"#] {
        assert_eq!(count(args), 1, "{args}");
    }
    assert_eq!(count(r#"{"x": [1, "\u00e9", null]}"#), 0);
}

#[test]
fn counters_keep_what_is_no_number() {
    let trace = files::trace(
        r#"[{"ph": "C", "name": "c", "ts": 1, "cname": "red", "args": {"a": 1, "b": "text"}}, {"ph": "C", "name": "d", "ts": 2}]"#,
    );
    let series: Vec<_> = trace.counters.iter().map(|row| trace.strings.text(row.series)).collect();
    assert_eq!(series, ["a", "b", ""]);
    assert!(trace.counters[1].value.is_nan());
    let mut args = String::new();
    trace.args.write_json(&trace.strings, trace.counters[1].args, &mut args);
    assert_eq!(args, r#"{"cname":"red","a":1,"b":"text"}"#);
}

#[test]
fn one_event_at_time_zero_does_not_move_the_others() {
    let event = |ts: &str| format!(r#"{{"ph": "X", "ts": {ts}, "dur": 1}}"#);
    let later = "1759300075000000.5";
    let json = format!(
        r#"{{"baseTimeNanoseconds": "1759300074000000000", "traceEvents": [{}, {}, {}]}}"#,
        event("0"),
        event(later),
        event(later)
    );
    assert_eq!(files::trace(&json).events.start[1].0, 1_759_300_075_000_000_500);
}

#[test]
fn a_range_may_be_open_at_one_end() {
    let session = Session::new(LinkedTrace::new(with_fourth(r#"{"ph": "X", "name": "e3", "ts": 3, "dur": 1}"#)));
    let count = |request: &str| {
        let answer = session.query(request.as_bytes());
        let size = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
        serde_json::from_slice::<Value>(&answer[4..4 + size]).unwrap()["data"]["num_events"].as_u64().unwrap()
    };
    assert_eq!(count(r#"{"type": "summary", "start": 5000}"#), 5);
    assert_eq!(count(r#"{"type": "summary", "end": 5000}"#), 5);
    assert_eq!(count(r#"{"type": "summary"}"#), 10);
}

#[test]
fn a_snapshot_with_one_bit_wrong_is_refused() {
    let snapshot = kinetoscope::write_snapshot(&files::pair("minimal_cpu").trace).unwrap();
    for at in (8..snapshot.len()).step_by(97) {
        let mut wrong = snapshot.clone();
        wrong[at] ^= 4;
        assert!(read::snapshot::read_snapshot(&wrong, Limits::default()).is_err(), "byte {at}");
    }
}

#[test]
fn hostile_sizes_take_no_quadratic_time() {
    let header: Vec<_> = (0..50_000).map(|at| format!("\"k{at}\": {at}")).collect();
    let device = |at: usize| format!(r#"{{"ph":"X","cat":"kernel","name":"k","pid":{at},"tid":{at},"ts":1,"dur":1}}"#);
    let devices: Vec<_> = (0..30_000).map(device).collect();
    let json = format!("{{{}, \"traceEvents\": [{}]}}", header.join(","), devices.join(","));
    let session = Session::new(LinkedTrace::new(files::trace(&json)));
    assert!(!session.query(br#"{"type": "summary"}"#).is_empty());
}
