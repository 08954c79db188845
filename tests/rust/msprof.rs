//! Tests databases of `msprof` and `torch_npu`.

use kinetoscope::analyze::{VerdictState, verdict};
use kinetoscope::trace::kind::EventKind;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, WarningKind, read};
use serde_json::json;

use crate::files;
use crate::hostile::exercise;
use crate::nsight::{database, rows};

const TORCH: &str = "synthetic_msprof/ascend_pytorch_profiler_3.db";
const MSPROF: &str = "synthetic_msprof/msprof_20260513080000.db";
const START: i64 = 1_778_659_200_123_456_789;

fn linked(name: &str) -> LinkedTrace {
    LinkedTrace::new(read([Input::new(&files::bytes(name)).named(name)], Limits::default()).unwrap())
}

fn export(sql: &str) -> Trace {
    read([Input::new(&database(sql))], Limits::default()).unwrap()
}

fn row(linked: &LinkedTrace, name: &str) -> usize {
    (0..linked.trace.events.len()).find(|row| linked.trace.event_name(*row) == name).unwrap()
}

#[test]
fn events_have_the_kinds_of_the_json_trace() {
    let linked = linked(TORCH);
    assert_eq!(linked.trace.warnings.iter().len(), 0, "{:?}", linked.trace.warnings);
    let kind = |name: &str| linked.trace.events.kind[row(&linked, name)];
    for (name, expected) in [
        ("aten::matmul", EventKind::Operator),
        ("ProfilerStep#1", EventKind::Annotation),
        ("forward", EventKind::Annotation),
        ("AscendCL@aclrtMemcpyAsync", EventKind::Launch),
        ("Node@launch", EventKind::Launch),
        ("aclnnMatmul_MatMulV3", EventKind::Kernel),
        ("MEMCPY_ASYNC", EventKind::Copy),
        ("EVENT_WAIT", EventKind::Sync),
        ("Notify_Wait", EventKind::Sync),
        ("Memcpy", EventKind::Copy),
        ("hcom_allReduce__428_0_1", EventKind::Kernel),
    ] {
        assert_eq!(kind(name), expected, "{name}");
    }
    assert_eq!(linked.trace.instants.len(), 2);
    assert_eq!(linked.trace.counters.len(), 2);
}

#[test]
fn tasks_lead_to_their_calls_and_operators() {
    let linked = linked(TORCH);
    let launch =
        |name: &str| linked.links.launch.get(row(&linked, name)).map(|row| linked.trace.event_name(row as usize));
    let operator =
        |name: &str| linked.links.operator.get(row(&linked, name)).map(|row| linked.trace.event_name(row as usize));
    // Through the task queue: the operator enqueues, another thread makes the call.
    assert_eq!(launch("aclnnMatmul_MatMulV3"), Some("Node@launch"));
    assert_eq!(operator("aclnnMatmul_MatMulV3"), Some("aten::matmul"));
    assert_eq!(launch("MEMCPY_ASYNC"), Some("AscendCL@aclrtMemcpyAsync"));
    assert_eq!(operator("MEMCPY_ASYNC"), Some("aten::copy_"));
    assert_eq!(launch("hcom_allReduce__428_1_1"), Some("HCCL@hcom_allReduce_"));
}

#[test]
fn times_are_exact_and_streams_belong_to_their_device() {
    let linked = linked(TORCH);
    let kernel = row(&linked, "aclnnMatmul_MatMulV3");
    let (start, dur) = (linked.trace.events.start.at(kernel).0, linked.trace.events.dur.at(kernel).0);
    assert_eq!((start, dur), (START + 25_000, 12_003));
    let stream = linked.trace.track(linked.trace.events.track.at(kernel)).stream.unwrap();
    assert_eq!((stream.device, stream.stream), (Some(0), Some(2)));
    let shapes = rows(&linked, &["name", "input_shapes", "input_types", "bytes"], |row| row[1] != "-");
    assert_eq!(shapes[0][1..], ["[[64,128],[64,128],[]]", r#"["float","float","Scalar"]"#, "-"]);
    let copied = rows(&linked, &["name", "bytes"], |row| row[0] == "MEMCPY_ASYNC");
    assert_eq!(copied[0][1], "32768");
}

#[test]
fn collectives_have_their_group_and_size_but_no_address() {
    let linked = linked(TORCH);
    let columns = ["name", "collective", "dtype", "in_elems", "group_name"];
    let found = rows(&linked, &columns, |row| row[0].starts_with("hcom"));
    assert_eq!(found[0][1..], ["allreduce", "Float", "1048576", "group 0"]);
    let text = format!("{:?}", linked.trace.strings.iter().collect::<Vec<_>>());
    assert!(!text.contains("9.9.9.9") && !text.contains("someones-host"));
    assert_eq!(linked.collectives().rows.len(), 2);
}

#[test]
fn the_header_has_rank_device_and_unread_tables() {
    let trace = linked(TORCH).trace;
    assert_eq!(trace.rank(), Some(3));
    assert_eq!(trace.header_value("deviceProperties").unwrap(), json!([{"id": 0, "name": "Ascend910B4"}]));
    assert_eq!(trace.header_value("msprof").unwrap()["SCHEMA_VERSION"], "1.2.0");
    assert_eq!(trace.header_value("msprof_unread").unwrap(), json!({"NPU_MEM": 2}));
}

#[test]
fn a_database_of_msprof_alone_has_calls_and_tasks() {
    let linked = linked(MSPROF);
    assert_eq!(linked.trace.rank(), None);
    let kernel = row(&linked, "aclnnMatmul_MatMulV3");
    let launch = linked.links.launch.get(kernel).unwrap() as usize;
    assert_eq!(linked.trace.event_name(launch), "Node@launch");
    for name in [TORCH, MSPROF] {
        let verdict = verdict(&self::linked(name));
        assert_eq!(verdict.state, VerdictState::Complete, "{name}: {:?}", verdict.problems);
        assert!(verdict.problems.iter().any(|problem| problem.name == "foreign_recorder"), "{name}");
    }
}

#[test]
fn columns_may_come_in_any_order_and_may_be_missing() {
    let trace = export(
        "CREATE TABLE STRING_IDS (value TEXT, id INTEGER PRIMARY KEY);
        INSERT INTO STRING_IDS VALUES ('MatMul', 1), ('AI_CORE', 2), ('aten::mm', 3);
        CREATE TABLE TASK (later TEXT, streamId INTEGER, deviceId INTEGER, endNs INTEGER, taskType INTEGER,
            globalTaskId INTEGER, startNs INTEGER);
        INSERT INTO TASK VALUES ('x', 3, 1, 2000, 2, 8, 1000), ('x', 3, 1, 4000, 2, 9, 3000);
        CREATE TABLE COMPUTE_TASK_INFO (blockDim INTEGER, globalTaskId INTEGER, name INTEGER);
        INSERT INTO COMPUTE_TASK_INFO VALUES (24, 9, 1);
        CREATE TABLE PYTORCH_API (name INTEGER, globalTid INTEGER, startNs INTEGER);
        INSERT INTO PYTORCH_API VALUES (3, 17179873281, 500);",
    );
    let linked = LinkedTrace::new(trace);
    let found = rows(&linked, &["kind", "name", "device", "stream"], |_| true);
    assert_eq!(
        found,
        [["operator", "aten::mm", "-", "-"], ["kernel", "AI_CORE", "1", "3"], ["kernel", "MatMul", "1", "3"]]
    );
    let args = rows(&linked, &["name", "args"], |row| row[0] == "MatMul");
    assert!(args[0][1].contains(r#""Block Num":24"#), "{args:?}");
}

#[test]
fn rows_of_wrong_types_are_counted_and_others_are_read() {
    let trace = export(
        "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO STRING_IDS VALUES (1, 'AI_CORE'), (2, x'ff');
        CREATE TABLE TASK (startNs, endNs, deviceId, streamId, taskType, connectionId, globalTaskId, globalPid);
        INSERT INTO TASK VALUES ('soon', 2, 0, 1, 1, 1, 1, 1), (5, NULL, 0, 1, 1, 'x', NULL, x'00'),
            (7, 9, 0, NULL, 1, 1, 1, 1), (10, 12, 0, 1, 77, -1, 1, 1), (20, 3, 0, 1, 1, 1, 1, 1);
        CREATE TABLE CANN_API (startNs, endNs, type, globalTid, connectionId, name);
        INSERT INTO CANN_API VALUES (1, 2, 'acl', -1, NULL, 2), (NULL, 2, 1, 1, 1, 1);
        CREATE TABLE COMMUNICATION_OP (opName, startNs, endNs, groupName, count);
        INSERT INTO COMMUNICATION_OP VALUES (9, 50, 60, NULL, 'many');
        CREATE TABLE MSTX_EVENTS (startNs); INSERT INTO MSTX_EVENTS VALUES (5);
        CREATE TABLE CONNECTION_IDS (id, connectionId); INSERT INTO CONNECTION_IDS VALUES ('a', 1), (1, NULL);
        CREATE TABLE MEMCPY_INFO (globalTaskId NUMERIC PRIMARY KEY, size, memcpyOperation);
        INSERT INTO MEMCPY_INFO VALUES (1.5, 3, 4), (1, 'big', 'far');",
    );
    assert_eq!(trace.events.len(), 5);
    // A task without a start and one without a stream; a task, a call and a collective without
    // names; a call and a marker without a start or a thread. A task with a text as its connection,
    // and one whose copy has a text as its size. Two connections and a copy without a number.
    assert_eq!(trace.warnings.count(WarningKind::InvalidValue), 12);
}

#[test]
fn types_of_calls_are_known_without_their_table() {
    let linked = LinkedTrace::new(export(
        "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO STRING_IDS VALUES (1, 'launch'), (2, 'Enqueue@aclnnAdd'), (3, 'Model@execute');
        CREATE TABLE CANN_API (startNs, endNs, type, globalTid, connectionId, name);
        INSERT INTO CANN_API VALUES (5, 9, 10000, 17179873281, 1, 1), (10, 12, 15000, 17179873281, 2, 3);
        CREATE TABLE PYTORCH_API (startNs, endNs, globalTid, name, type);
        INSERT INTO PYTORCH_API VALUES (1, 2, 17179873281, 2, 50002);",
    ));
    let found = rows(&linked, &["name", "category"], |_| true);
    assert_eq!(found, [["Enqueue@aclnnAdd", "enqueue"], ["Node@launch", "-"], ["Model@execute", "-"]]);
}

#[test]
fn another_database_is_none_of_msprof() {
    let error = read([Input::new(&database("CREATE TABLE STRING_IDS (id, value)"))], Limits::default()).unwrap_err();
    assert!(error.to_string().contains("msprof"), "{error}");
}

#[test]
fn cut_and_damaged_databases_do_not_panic() {
    for name in [TORCH, MSPROF] {
        let bytes = files::bytes(name);
        for end in (16..bytes.len()).step_by(997) {
            let _ = exercise(&bytes[..end]);
        }
        for at in (0..bytes.len()).step_by(211) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xA5;
            let _ = exercise(&damaged);
        }
    }
}
