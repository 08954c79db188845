//! Tests that a trimmed trace gives the results of its range in the original.

use kinetoscope::analyze::allocator_history;
use kinetoscope::edit::{trim, with_memory};
use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, Recording, Trace, read_file};
use serde_json::{Value, json};

use crate::screen::ask;
use crate::trim::second;
use crate::{files, shared};

/// The requests of the report.
const ASKED: [(&str, &str); 11] = [
    ("breakdown", r#"{"per":"selection"}"#),
    ("breakdown", "{}"),
    ("findings", "{}"),
    ("idle", "{}"),
    ("critical_path", "{}"),
    ("kernels", "{}"),
    ("operators", "{}"),
    ("modules", "{}"),
    ("overlap", "{}"),
    ("memory", "{}"),
    ("roofline", "{}"),
];

/// Values that are not compared: ids, which differ in a part, and device work of calls that the
/// ends cut.
fn is_compared(column: &Value) -> bool {
    const OUTSIDE: [&str; 5] = ["device_total_ns", "device_self_ns", "forward_ns", "backward_ns", "num_device_events"];
    let name = column["name"].as_str().unwrap();
    column["role"] != "event" && !name.ends_with("_id") && name != "evidence" && !OUTSIDE.contains(&name)
}

/// The rows of each table, sorted, as the tables' order depends partly on skipped values.
fn told(session: &Session, (name, options): (&str, &str), more: &Value) -> Vec<(String, Vec<String>)> {
    let options: Value = serde_json::from_str(options).unwrap();
    let mut request = json!({"type": "analyze", "name": name, "options": options, "limit": 10_000});
    more.as_object().unwrap().iter().for_each(|(key, value)| request[key] = value.clone());
    let rows = |table: &Value| {
        let columns = table["columns"].as_array().unwrap();
        let row = |row: &Value| {
            let cells = row.as_array().unwrap().iter().zip(columns).filter(|(_, column)| is_compared(column));
            cells.map(|(cell, _)| cell.to_string()).collect::<Vec<_>>().join(", ")
        };
        let mut rows: Vec<_> = table["rows"].as_array().unwrap().iter().map(row).collect();
        rows.sort_unstable();
        (table["name"].as_str().unwrap().to_owned(), rows)
    };
    let answer = ask(session, &request);
    // Edges of the graph, named by the ids of their ends.
    let tables = answer["tables"].as_array().unwrap().iter().filter(|table| table["name"] != "critical_path_edges");
    tables.map(rows).collect()
}

fn assert_as_in_the_whole(name: &str, trace: Trace) {
    let whole = LinkedTrace::new(trace);
    let range = second(&whole);
    let part = Session::new(LinkedTrace::new(trim(&whole, range).trace));
    let zero = whole.trace.range().start;
    let (start, end) = (range.start.since(zero).0, range.end.since(zero).0);
    let session = Session::new(whole);
    for asked in ASKED {
        let expected = told(&session, asked, &json!({"start": start, "end": end}));
        assert_eq!(told(&part, asked, &json!({"trimmed": true})), expected, "{name}: {asked:?}");
    }
    let marked = ask(&part, &json!({"type": "findings"}))["findings"].as_array().unwrap().len();
    let listed = ask(&part, &json!({"type": "analyze", "name": "findings", "trimmed": true, "limit": 10_000}));
    assert_eq!(listed["tables"][0]["num_rows"], marked, "{name}: what the timeline marks");
}

#[test]
fn figures_of_a_part_of_a_fixture_are_those_of_its_range() {
    for folder in ["synthetic_cuda", "transformer_cpu", "minimal_cpu", "mlp_gloo"] {
        assert_as_in_the_whole(folder, files::pair(folder).trace);
    }
}

#[test]
fn memory_in_use_as_a_part_begins_is_that_of_the_whole() {
    let bytes =
        ["kineto_trace_0.json.gz", "trained.pickle.gz"].map(|file| files::bytes(&format!("memory_cuda/{file}")));
    let [linked, snapshot] = bytes.each_ref().map(|bytes| read_file(Input::new(bytes), Limits::default()).unwrap());
    let (Recording::Trace(linked), Recording::MemorySnapshot(snapshot)) = (linked, snapshot) else {
        panic!("expected a trace and a memory snapshot")
    };
    let trace = with_memory(&LinkedTrace::new(*linked), allocator_history(&snapshot)).unwrap();
    assert_as_in_the_whole("memory_cuda", trace);
}

/// More take long, and add nothing.
const MAX_EVENTS: usize = 50_000;

#[test]
fn figures_of_a_part_of_a_real_trace_are_those_of_its_range() {
    for (name, trace) in shared::traces().into_iter().filter(|(_, trace)| trace.events.len() < MAX_EVENTS) {
        assert_as_in_the_whole(&name, trace);
    }
}
