//! Tests links on whole traces.

use std::collections::BTreeMap;

use kinetoscope::WarningKind;
use kinetoscope::analyze::coverage;
use kinetoscope::column::Chunked;
use kinetoscope::edit::{Redaction, redact};
use kinetoscope::link::LinkMethod;
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::table::ColumnValues;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{EventKind, Limits, LinkedTrace, write_snapshot};
use serde_json::{Value, json};

use crate::files;

#[test]
fn every_recorded_operator_finds_its_node() {
    for folder in ["transformer_cuda", "minimal_cpu", "synthetic_cuda"] {
        let linked = files::pair(folder);
        let coverage = coverage(&linked);
        for share in [&coverage.operators, &coverage.nodes] {
            assert!(share.count > 100, "{folder}: {coverage:?}");
            assert_eq!(share.linked.get(&LinkMethod::RecordId), Some(&share.count), "{folder}: {coverage:?}");
        }
        for row in 0..linked.trace.events.len() {
            if let Some(node) = linked.links.nodes.node_of_event.get(row) {
                assert_eq!(linked.trace.nodes[node as usize].name, linked.trace.events.name.at(row));
            }
        }
    }
}

#[test]
fn kernels_are_launched_before_they_start_and_owned_by_what_launched_them() {
    let linked = files::pair("synthetic_cuda");
    let events = &linked.trace.events;
    let mut num_owned = 0;
    for row in (0..events.len()).filter(|row| events.kind[*row] == EventKind::Kernel) {
        let Some(launch) = linked.links.launch.get(row) else { continue };
        assert!(events.start.at(launch as usize) <= events.start.at(row));
        let owner = linked.links.operator.get(row).unwrap() as usize;
        assert!(events.start.at(owner) <= events.start.at(launch as usize));
        assert!(events.end(owner) >= events.end(launch as usize));
        num_owned += 1;
    }
    assert!(num_owned > 50);
}

#[test]
fn record_id_zero_is_none() {
    let kineto = r#"{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
        "args": {"Record function id": 0}}]}"#;
    let execution = r#"{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 2, "name": "b", "ctrl_deps": 2,
        "inputs": {"values": [], "shapes": [], "types": []}, "outputs": {"values": [], "shapes": [], "types": []},
        "attrs": [{"name": "rf_id", "type": "uint64", "value": 0}]}]}"#;
    let inputs = [kineto, execution].map(|text| kinetoscope::Input::new(text.as_bytes()));
    let linked = LinkedTrace::new(kinetoscope::read(inputs, Limits::default()).unwrap());
    assert_eq!(linked.trace.nodes.len(), 1);
    assert_eq!(linked.links.nodes.node_of_event.get(0), None);
}

#[test]
fn both_layouts_of_nodes_read_alike() {
    let flat = r#"{"schema": "1.0.1", "nodes": [{"name": "aten::add", "id": 5, "rf_id": 7, "parent": 2, "fw_parent": 0,
        "seq_id": 3, "scope": 0, "tid": 1, "fw_tid": 0, "op_schema": "add(Tensor a)", "inputs": [[4, 3, 0, 6, 4, "cpu"]],
        "input_shapes": [[2, 3]], "input_types": ["Tensor(float)"], "outputs": [], "output_shapes": [], "output_types": []}]}"#;
    let later = r#"{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 5, "name": "aten::add", "ctrl_deps": 2,
        "inputs": {"values": [[4, 3, 0, 6, 4, "cpu"]], "shapes": [[2, 3]], "types": ["Tensor(float)"]},
        "outputs": {"values": [], "shapes": [], "types": []},
        "attrs": [{"name": "rf_id", "type": "uint64", "value": 7}, {"name": "fw_parent", "type": "uint64", "value": 0},
        {"name": "seq_id", "type": "int64", "value": 3}, {"name": "scope", "type": "uint64", "value": 0},
        {"name": "tid", "type": "uint64", "value": 1}, {"name": "fw_tid", "type": "uint64", "value": 0},
        {"name": "op_schema", "type": "string", "value": "add(Tensor a)"}]}]}"#;
    let columns = |text| {
        let linked = LinkedTrace::new(files::trace(text));
        let table = kinetoscope::table::table("nodes").unwrap();
        table.columns.iter().map(|column| (column.name, column.values(&linked, 0..1))).collect::<Vec<_>>()
    };
    assert_eq!(columns(flat), columns(later));
    let tensors = LinkedTrace::new(files::trace(flat)).tensors().to_vec();
    assert_eq!((tensors[0].tensor_id, tensors[0].dtype.as_str(), tensors[0].shape.as_str()), (4, "float", "[2,3]"));
}

#[test]
fn the_base_time_is_added_wherever_it_stands() {
    let before = r#"{"baseTimeNanoseconds": 1759300074000000000, "traceEvents": [{"ph": "X", "name": "a", "ts": 5.125, "dur": 1}]}"#;
    let after = r#"{"traceEvents": [{"ph": "X", "name": "a", "ts": 5.125, "dur": 1}], "baseTimeNanoseconds": 1759300074000000000}"#;
    for text in [before, after] {
        assert_eq!(files::trace(text).events.start.at(0).0, 1_759_300_074_000_005_125);
    }
    let absolute = r#"{"traceEvents": [{"ph": "X", "name": "a", "ts": 1759300075000000.5, "dur": 1}], "baseTimeNanoseconds": 1759300074000000000}"#;
    assert_eq!(files::trace(absolute).events.start.at(0).0, 1_759_300_075_000_000_500);
}

#[test]
fn whole_microseconds_do_not_push_children_out_of_their_parents() {
    // The child's start and duration were both cut, so it seems to end after its parent.
    let text = r#"[{"ph": "X", "cat": "cpu_op", "name": "parent", "pid": 1, "tid": 1, "ts": 10, "dur": 10},
        {"ph": "X", "cat": "cpu_op", "name": "child", "pid": 1, "tid": 1, "ts": 15, "dur": 6},
        {"ph": "X", "cat": "cuda_runtime", "name": "late", "pid": 1, "tid": 1, "ts": 30, "dur": 3},
        {"ph": "X", "cat": "cpu_op", "name": "ended", "pid": 1, "tid": 1, "ts": 29, "dur": 3},
        {"ph": "X", "cat": "cpu_op", "name": "next", "pid": 1, "tid": 1, "ts": 22, "dur": 1}]"#;
    let linked = LinkedTrace::new(files::trace(text));
    assert_eq!(linked.links.nesting.parent.get(1), Some(0));
    assert_eq!(linked.links.nesting.parent.get(2), None);
    assert_eq!(linked.links.nesting.parent.get(4), None);
}

/// A column's values over all rows.
fn column(linked: &LinkedTrace, table: &str, name: &str) -> ColumnValues {
    let table = kinetoscope::table::table(table).unwrap();
    let column = table.columns.iter().find(|column| column.name == name).unwrap();
    column.values(linked, 0..(table.num_rows)(linked))
}

#[test]
fn process_groups_are_those_of_both_files() {
    assert_eq!(
        column(&files::pair("mlp_gloo"), "process_groups", "group_size"),
        ColumnValues::Int([Some(2), Some(2)].into_iter().collect())
    );
}

#[test]
fn communication_attributes_are_columns() {
    let json = r#"{"nodes": [{"id": 5, "name": "record_param_comms", "ctrl_deps": 2, "attrs": [
        {"name": "collective_name", "type": "string", "value": "allreduce"},
        {"name": "in_msg_nelems", "type": "uint64", "value": 64}, {"name": "pg_name", "type": "string", "value": "0"},
        {"name": "in_split_size", "type": "string", "value": "[1, 2]"}, {"name": "pg_size", "type": "uint64", "value": 8}]}]}"#;
    let linked = LinkedTrace::new(files::trace(json));
    let text = |name| match column(&linked, "nodes", name) {
        ColumnValues::Text { bytes, .. } => bytes,
        other => panic!("no texts: {other:?}"),
    };
    assert_eq!([text("collective"), text("group_name"), text("in_split")], ["allreduce", "0", "[1, 2]"]);
    assert_eq!(column(&linked, "nodes", "in_elems"), ColumnValues::Int([Some(64)].into_iter().collect()));
    assert_eq!(column(&linked, "nodes", "group_size"), ColumnValues::Int([Some(8)].into_iter().collect()));
}

/// A launch and its kernel, of one `correlation`, 10 µs later.
fn launched(process: i64, device: i64, start: i64, external: Option<i64>) -> Vec<Value> {
    let mut args = json!({"correlation": 5});
    if let Some(id) = external {
        args["External id"] = json!(id);
    }
    let mut on_device = args.clone();
    (on_device["device"], on_device["stream"]) = (json!(device), json!(7));
    vec![
        json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": process, "tid": process, "ts": start, "dur": 5,
            "args": args}),
        // The driver's call of the same number inside is no other launch.
        json!({"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": process, "tid": process, "ts": start + 1, "dur": 3,
            "args": args}),
        json!({"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": 7, "ts": start + 10, "dur": 2, "args": on_device}),
    ]
}

#[test]
fn a_number_that_is_used_again_is_that_of_the_launch_before() {
    let launches = |events: [Vec<Value>; 2]| {
        let linked = LinkedTrace::new(files::trace(&json!({"traceEvents": events.concat()}).to_string()));
        let events = &linked.trace.events;
        let kernels = (0..events.len()).filter(|row| linked.trace.events.kind[*row] == EventKind::Kernel);
        let starts = kernels.map(|row| events.start.at(linked.links.launch.get(row).unwrap() as usize).0 / 1_000);
        starts.collect::<Vec<_>>()
    };
    assert_eq!(launches([launched(1, 0, 100, None), launched(1, 0, 500, None)]), [100, 500], "the ids wrapped");
    assert_eq!(launches([launched(1, 0, 100, None), launched(2, 1, 500, None)]), [100, 500], "two processes");
    assert_eq!(launches([launched(1, 0, 100, Some(1)), launched(2, 1, 105, Some(2))]), [100, 105], "External id");
}

/// Ranks in one file. Each launches kernels from its own process, with the same correlation ids.
/// Some mergers write the events `sorted` by time.
fn merged(processes: &[(&str, &str)], num_launches: i64, sorted: bool) -> Vec<Value> {
    let mut events = Vec::new();
    for (rank, (process, device)) in processes.iter().enumerate() {
        for id in 1..=num_launches {
            let start = id * 1_000 + 5 * rank as i64;
            events.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": process, "tid": 1,
                "ts": start, "dur": 3, "args": {"correlation": id}}));
            events.push(json!({"ph": "X", "cat": "kernel", "name": format!("k{rank}"), "pid": device, "tid": 7,
                "ts": start + 100, "dur": 50, "args": {"correlation": id, "device": 0, "stream": 7}}));
        }
    }
    if sorted {
        events.sort_by_key(|event| event["ts"].as_i64());
    }
    events
}

/// The process of the launch of each kernel, by the kernel's name.
fn launching_processes(events: &[Value]) -> BTreeMap<(String, Option<String>), usize> {
    let linked = LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string()));
    let (trace, mut counts) = (&linked.trace, BTreeMap::new());
    for row in (0..trace.events.len()).filter(|row| trace.events.kind[*row] == EventKind::Kernel) {
        let launch = linked.links.launch.get(row);
        let process = launch.map(|launch| trace.strings.text(trace.process_of(launch as usize)).to_owned());
        *counts.entry((trace.event_name(row).to_owned(), process)).or_default() += 1;
    }
    counts
}

#[test]
fn merged_ranks_launch_their_own_kernels() {
    let files = [
        (["[TP00] 42", "[TP01] 42"], ["[TP00] 0", "[TP01] 0"], [false, true]),
        (["[DP1-TP0] 42", "[DP0-TP0] 43"], ["[DP1-TP0] 3", "[DP0-TP0] 3"], [false, true]),
        (["1000", "1001"], ["0", "1"], [false, true]),
        // A device may have the number of a process.
        (["1", "2"], ["0", "1"], [false, true]),
        // In order of time, nothing tells these apart.
        (["1000", "1001"], ["0", "0"], [false, false]),
    ];
    for (processes, devices, orders) in files {
        for sorted in orders {
            let pairs = [(processes[0], devices[0]), (processes[1], devices[1])];
            let counts = launching_processes(&merged(&pairs, 20, sorted));
            let expected = [0, 1].map(|rank| ((format!("k{rank}"), Some(processes[rank].to_owned())), 20));
            assert_eq!(counts, BTreeMap::from(expected), "{processes:?} {devices:?} {sorted}");
        }
    }
}

#[test]
fn arrows_of_merged_ranks_lead_to_no_other_rank() {
    let mut events = merged(&[("[TP00] 42", "[TP00] 0"), ("[TP01] 42", "[TP01] 0")], 20, false);
    let arrows: Vec<_> = events
        .iter()
        .map(|event| {
            let phase = if event["cat"] == "kernel" { "f" } else { "s" };
            json!({"ph": phase, "id": event["args"]["correlation"], "pid": event["pid"], "tid": event["tid"], "ts": event["ts"],
                "cat": "ac2g", "name": "ac2g", "bp": "e"})
        })
        .collect();
    // A launch of the first rank is lost; its kernel keeps its arrow.
    events.remove(6);
    events.extend(arrows);
    let counts = launching_processes(&events);
    let of =
        |kernel: &str, process: Option<&str>| counts.get(&(kernel.to_owned(), process.map(str::to_owned))).copied();
    assert_eq!(
        [of("k0", Some("[TP00] 42")), of("k0", None), of("k1", Some("[TP01] 42"))],
        [Some(19), Some(1), Some(20)]
    );
}

#[test]
fn a_kernel_of_a_process_without_launches_has_none() {
    let kernel = |process: i64| {
        let args = json!({"correlation": 1, "device": 0, "stream": 7, "process id": process});
        json!({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100, "dur": 5, "args": args})
    };
    let launch = json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 3,
        "args": {"correlation": 1}});
    for (process, expected) in [(1, Some(0)), (2, None)] {
        let linked = LinkedTrace::new(files::trace(&json!({"traceEvents": [launch, kernel(process)]}).to_string()));
        assert_eq!(linked.links.launch.get(1), expected, "process {process}");
    }
}

/// Launches of single kernels at these times, with ids from 100, and kernels with these times and
/// ids.
fn repeated(launches: &[i64], kernels: &[(i64, i64)]) -> LinkedTrace {
    let mut events = Vec::new();
    for (at, start) in launches.iter().enumerate() {
        events.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1,
            "ts": start, "dur": 3, "args": {"correlation": 100 + at}}));
    }
    for (at, (start, id)) in kernels.iter().enumerate() {
        events.push(json!({"ph": "X", "cat": "kernel", "name": format!("k{at}"), "pid": 0, "tid": 7 + at,
            "ts": start, "dur": 9, "args": {"correlation": id, "device": 0, "stream": 7 + at}}));
    }
    LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string()))
}

/// The number of each kernel's launch, and how many kernels are ambiguous.
fn launches_of(linked: &LinkedTrace) -> (Vec<Option<u64>>, u64) {
    let kernels = (0..linked.trace.events.len()).filter(|row| linked.trace.events.kind[*row] == EventKind::Kernel);
    let number = |row: usize| linked.trace.correlation_id(linked.links.launch.get(row)? as usize);
    (
        kernels.map(number).collect(),
        linked.warnings().find(|one| one.kind == WarningKind::AmbiguousLaunch).map_or(0, |one| one.count),
    )
}

#[test]
fn kernels_that_repeat_a_number_go_to_the_launches_that_lack_theirs() {
    let linked = repeated(&[0, 100, 200, 1_000], &[(50, 100), (250, 100), (350, 100), (1_100, 103)]);
    assert_eq!(launches_of(&linked), (vec![Some(100), Some(101), Some(102), Some(103)], 0));
    assert_eq!(linked.links.launched.how(5), LinkMethod::LaunchOrder);
    // A launch too many, a launch too few, and a kernel that began before its launch: nobody knows.
    let ambiguous = [
        (vec![0, 100, 200], vec![(50, 100), (250, 100)]),
        (vec![0, 100], vec![(50, 100), (150, 100), (250, 100)]),
        (vec![0, 100], vec![(50, 100), (60, 100)]),
    ];
    for (launches, kernels) in ambiguous {
        let (numbers, count) = launches_of(&repeated(&launches, &kernels));
        assert_eq!((numbers, count), (vec![None; kernels.len()], kernels.len() as u64), "{launches:?}");
    }
}

#[test]
fn an_external_id_of_one_launch_alone_links() {
    let event = |category: &str, name: &str, pid: i64, start: i64, id: i64| json!({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": 1, "ts": start, "dur": 5, "args": {"External id": id}});
    let work = |id: i64| {
        [event("cuda_runtime", "hipLaunchKernel", 1, id * 100, id), event("kernel", "k", 2, id * 100 + 20, id)]
    };
    let mut events = [work(1), work(2), work(3)].concat();
    // The third id has two launches; the fourth kernel begins before its launch, as clocks differ.
    events.push(event("cuda_runtime", "hipLaunchKernel", 1, 310, 3));
    events.extend([event("cuda_runtime", "hipLaunchKernel", 1, 450, 4), event("kernel", "k", 2, 430, 4)]);
    let linked = LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string()));
    let launches = [1, 3, 5, 8].map(|row| linked.links.launch.get(row));
    assert_eq!(launches, [Some(0), Some(2), None, Some(7)]);
    assert_eq!(linked.links.launched.how(1), LinkMethod::ExternalId);
}

#[test]
fn what_the_legacy_profiler_calls_functions_of_the_host_are_operators() {
    let event = |pid: &str, name: &str, ts: i64, dur: i64| json!({"name": name, "ph": "X", "ts": ts, "dur": dur, "tid": 1, "pid": pid, "args": {}});
    let host = |name, ts, dur| event("CPU functions", name, ts, dur);
    let events = [
        host("aten::linear", 0, 90),
        host("aten::addmm", 10, 50),
        event("CUDA functions", "aten::addmm", 20, 50),
        event("7", "aten::addmm", 0, 10),
    ];
    let linked = LinkedTrace::new(files::trace(&json!(events).to_string()));
    let expected: Chunked<EventKind> =
        [EventKind::Operator, EventKind::Operator, EventKind::Other, EventKind::Other].into_iter().collect();
    assert_eq!(linked.trace.events.kind, expected);
    assert_eq!((linked.links.nesting.parent.get(1), linked.links.operator.get(1)), (Some(0), Some(0)));
    let saved = write_snapshot(&linked.trace).unwrap();
    assert_eq!(read_snapshot(&saved, Limits::default()).unwrap().events.kind, expected);
    let redacted = redact([&linked.trace], Redaction::default());
    let mut written = Vec::new();
    write_chrome(&redacted[0], &mut written).unwrap();
    assert_eq!(files::trace(&String::from_utf8(written).unwrap()).events.kind, expected);
}
