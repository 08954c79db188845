//! Tests ten-line traces of past bugs.

use kinetoscope::table::{ColumnValues, table};
use kinetoscope::view::Session;
use kinetoscope::write::chrome::write_chrome;
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
    assert!(trace.events.position.iter().rev().take(2).eq([3, 2]));
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
    assert_eq!(linked(0).links.nodes.node_of_event.num_set(), 40);
    let foreign = linked(1);
    assert_eq!(foreign.links.nodes.node_of_event.num_set(), 0);
    assert_eq!(foreign.links.warnings.count(WarningKind::ForeignExecutionTrace), 1);
}

#[test]
fn quotes_that_kineto_writes_in_another_way_do_not_part_a_pair() {
    let kineto = r#"[{"ph": "X", "cat": "user_annotation", "name": "embed['table']", "ts": 1, "dur": 1,
        "args": {"Record function id": 3}}]"#;
    let execution = r#"{"schema": "1.0.1", "nodes": [{"id": 9, "name": "embed["table"]", "parent": 1, "rf_id": 3}]}"#;
    let inputs = [kineto, execution].map(|text| Input::new(text.as_bytes()));
    let linked = LinkedTrace::new(read(inputs, Limits::default()).unwrap());
    assert_eq!(linked.links.nodes.node_of_event.get(0), Some(0));
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
    assert_eq!(files::trace(&json).events.start.at(1).0, 1_759_300_075_000_000_500);
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

#[test]
fn whole_ids_written_as_decimals_link() {
    let trace = LinkedTrace::new(files::trace(
        r#"[{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
             "args": {"correlation": 5.0}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3, "dur": 1,
             "args": {"correlation": 5.0, "device": 0.0, "stream": 7.0}}]"#,
    ));
    assert_eq!(trace.links.launch.get(1), Some(0));
    assert_eq!(trace.warnings().filter(|warning| warning.kind == WarningKind::MissingLaunch).count(), 0);
}

#[test]
fn keys_of_other_phases_are_kept() {
    let text = r#"[{"ph": "X", "ts": 2, "dur": 1},
        {"ph": "M", "name": "process_name", "pid": 1, "ts": 1.5, "cat": "__metadata", "args": {"name": "x"}},
        {"ph": "C", "name": "c", "cat": "gpu", "ts": 1, "args": {"v": 1}},
        {"ph": "i", "name": "i", "ts": 1, "dur": 4.50}]"#;
    let mut written = Vec::new();
    write_chrome(&files::trace(text), &mut written).unwrap();
    let written = String::from_utf8(written).unwrap();
    for kept in [r#""cat":"__metadata""#, r#""cat":"gpu""#, r#""dur":4.50"#, r#""ts":1.500"#] {
        assert!(written.contains(kept), "{kept} in {written}");
    }
}

#[test]
fn times_without_a_point_may_be_fine() {
    let mut written = Vec::new();
    write_chrome(&files::trace(r#"[{"ph": "X", "name": "a", "ts": 25e-1, "dur": 1}]"#), &mut written).unwrap();
    assert_eq!(files::trace(std::str::from_utf8(&written).unwrap()).events.start.at(0).0, 2500);
}

#[test]
fn ends_close_what_was_begun_at_their_place() {
    let thread = files::trace(
        r#"[{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1, "tid": 7, "pid": 0},
            {"ph": "B", "cat": "cpu_op", "name": "h", "ts": 1, "tid": 7, "pid": 0},
            {"ph": "E", "ts": 9, "tid": 7, "pid": 0}]"#,
    );
    assert_eq!(thread.events.dur.at(1).0, 8000);
    let stream = files::trace(
        r#"[{"ph": "E", "ts": 3, "tid": 7, "pid": 0},
            {"ph": "B", "name": "k", "cat": "kernel", "ts": 1, "tid": 7, "pid": 0}]"#,
    );
    assert_eq!(stream.events.dur.at(0).0, 2000);
    assert_eq!(stream.warnings.iter().len(), 0);
}

#[test]
fn an_end_adds_what_its_begin_does_not_say() {
    let trace = files::trace(
        r#"[{"ph": "B", "name": "h", "ts": 1, "args": {"a": 1}}, {"ph": "E", "ts": 2, "args": {"a": 2, "b": 3}}]"#,
    );
    let mut args = String::new();
    trace.args.write_json(&trace.strings, trace.events.args(0), &mut args);
    assert_eq!(args, r#"{"a":1,"b":3}"#);
    assert_eq!(trace.warnings.count(WarningKind::EndArguments), 1);
}

#[test]
fn a_base_time_may_be_written_as_a_float() {
    for base in ["1735632360000000000", "1735632360000000000.0", "1.73563236e18", "\"1735632360000000000\""] {
        let text = format!(r#"{{"baseTimeNanoseconds": {base}, "traceEvents": [{{"ph": "X", "ts": 1.5, "dur": 1}}]}}"#);
        assert_eq!(files::trace(&text).events.start.at(0).0, 1_735_632_360_000_001_500, "{base}");
    }
}

#[test]
fn an_element_like_an_earlier_one_has_to_be_valid_too() {
    let trace = files::trace(r#"[{"ph": "X", "ts": 1, "dur": 1}, {"ph": "X", "ts": .5, "dur": 1}]"#);
    assert_eq!(trace.events.len(), 1);
    assert_eq!(trace.warnings.count(WarningKind::MalformedElement), 1);
}

#[test]
fn nodes_that_were_linked_before_have_times() {
    let trace = LinkedTrace::new(files::trace(
        r#"{"schema": "1.0.2-chakra.0.0.4", "nodes": [
            {"id": 2, "name": "aten::mm", "ctrl_deps": 1, "ts": "1712195495519689.047", "dur": 5.5, "inputs": {"values": []}},
            {"id": 3, "name": "gemm", "ctrl_deps": 2, "ph": "X", "cat": "kernel", "ts": 1712195495519690.123, "dur": 2}]}"#,
    ));
    let nodes = table("nodes").unwrap();
    let values = |name: &str| nodes.columns.iter().find(|column| column.name == name).unwrap().values(&trace, 0..2);
    assert_eq!(
        values("start_ns"),
        ColumnValues::Int([Some(1_712_195_495_519_689_047), Some(1_712_195_495_519_690_123)].into_iter().collect())
    );
    assert_eq!(values("dur_ns"), ColumnValues::Int([Some(5500), Some(2000)].into_iter().collect()));
    let ColumnValues::Text { bytes, .. } = values("kind") else { panic!() };
    assert_eq!(bytes, "operatorkernel");
}

#[test]
fn metadata_is_read_by_its_keys() {
    let trace = files::trace(
        r#"[{"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 1},
            {"ph": "M", "name": "thread_sort_index", "pid": 1, "tid": 2, "args": {"foo": 3, "sort_index": 5}},
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"foo": 3, "name": 17}},
            {"ph": "M", "name": "process_sort_index", "pid": 1, "args": {"sort_index": 1.5}}]"#,
    );
    assert_eq!(trace.tracks[0].sort_index, Some(5));
    assert_eq!(trace.strings.text(trace.tracks[0].name), "17");
    assert_eq!(trace.processes[0].sort_index, None);
}
