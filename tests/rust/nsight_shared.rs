//! Tests which facts of an Nsight Systems export a trace carries, and ranges that `PyTorch` emits.

use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::write::snapshot::write_snapshot;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, read};
use serde_json::{Value, json};

use crate::nsight::{database, export, rows};

const PRIVATE: &str = "
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
    INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'CPU', 'CpuCores', 3, '64'),
        (1, 'DeviceEnvironment', 'HF_TOKEN', 4, 'zq-token'), (1, 'x', 'Hostname', 5, 'zq-host'),
        (1, 'x', 'OsVersion', 6, '22.04'), (1, 'x', 'IpAddress', 7, '10.1.2.3'), (1, 'x', 'Owner', 8, 'zq-owner'),
        (1, 'x', 'UserId', 9, '4711');
    CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
    INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT', 'A=zq-env'),
        ('PROCESS_0:COMMAND', 'python3 train.py --key=zq-key'), ('PRODUCT_VERSION', '2025.3.1.0-zz'), ('RATE', '1000');
    CREATE TABLE TARGET_INFO_NETWORK (name TEXT, value TEXT);
    INSERT INTO TARGET_INFO_NETWORK VALUES ('eth0', 'zq-mac');
    CREATE TABLE DeviceEnvironment (name TEXT, value TEXT);
    INSERT INTO DeviceEnvironment VALUES ('WANDB_API_KEY', 'zq-wandb');
    CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, comment TEXT);
    INSERT INTO ANALYSIS_DETAILS VALUES (1, 77, 'zq-comment');
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, uuid TEXT);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 'Synthetic GPU', 132, 'zq-uuid');
    CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
    INSERT INTO PROCESSES VALUES (16777216, 1, '/opt/zq-user/bin/python3 train.py --key=zq-key');
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
    INSERT INTO NVTX_EVENTS VALUES (1, 5, 59, 'step', 16777217);";

fn opened(include_environment: bool) -> Trace {
    let limits = Limits { include_environment, ..Limits::default() };
    read([Input::new(&database(PRIVATE)).named("x.sqlite")], limits).unwrap()
}

/// All that leaves the program with a trace.
fn written(trace: &Trace) -> String {
    let mut chrome = Vec::new();
    write_chrome(trace, &mut chrome).unwrap();
    let snapshot = write_snapshot(trace).unwrap();
    let again = read_snapshot(&snapshot, Limits::default()).unwrap();
    [trace.metadata_json(), String::from_utf8_lossy(&chrome).into_owned(), again.metadata_json()].concat()
}

#[test]
fn the_environment_of_an_export_stays_out() {
    let trace = opened(false);
    assert!(!written(&trace).contains("zq-"), "{}", written(&trace));
    assert!(!written(&trace).contains("10.1.2.3") && !written(&trace).contains("4711"));
    let about = trace.header_value("nsight").unwrap();
    let names = |table: &str| -> Vec<Value> {
        about[table].as_array().unwrap().iter().map(|row| json!([row["name"], row["value"]])).collect()
    };
    assert_eq!(names("TARGET_INFO_SYSTEM_ENV"), [json!(["CpuCores", "64"]), json!(["OsVersion", "22.04"])]);
    assert_eq!(names("META_DATA_CAPTURE"), [json!(["PRODUCT_VERSION", "2025.3.1.0-zz"]), json!(["RATE", "1000"])]);
    assert_eq!(about["ANALYSIS_DETAILS"][0]["duration"], 77);
    assert_eq!(trace.device_properties()[0]["numSms"], 132);
    let process = trace.processes.first().unwrap();
    assert_eq!(trace.strings.text(process.name), "python3");
    let unread = trace.header_value("nsight_unread").unwrap();
    let expected = json!({"DeviceEnvironment": 1, "META_DATA_CAPTURE, environment": 2, "TARGET_INFO_NETWORK": 1,
                          "TARGET_INFO_SYSTEM_ENV, environment": 5});
    assert_eq!(unread, expected);
}

#[test]
fn the_environment_comes_when_it_is_asked_for() {
    let text = written(&opened(true));
    for part in ["zq-token", "zq-host", "zq-env", "zq-key", "zq-mac", "zq-comment", "zq-uuid", "zq-user"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn headers_of_kineto_traces_lose_their_environment_too() {
    let json = json!({"record_shapes": 1, "with_stack": 1, "traceName": "/a/b.json", "host_name": "zq-host",
        "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"pg_name": "0"}]},
        "deviceProperties": [{"id": 0, "name": "Synthetic GPU"}], "username": "zq-user", "HF_TOKEN": "zq-token",
        "metadata": {"env": {"A": "zq-env"}, "torch": "2.9", "run": {"PATH": "zq-path", "HOME": "zq-home"}},
        "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]});
    let opened = |include_environment| {
        let limits = Limits { include_environment, ..Limits::default() };
        read([Input::new(json.to_string().as_bytes())], limits).unwrap()
    };
    let trace = opened(false);
    assert!(!written(&trace).contains("zq-"), "{}", written(&trace));
    for key in ["record_shapes", "with_stack", "traceName", "distributedInfo", "deviceProperties"] {
        assert_eq!(trace.header_value(key).as_ref(), Some(&json[key]), "{key}");
    }
    assert_eq!(trace.rank(), Some(3));
    assert_eq!(trace.header_value("metadata").unwrap()["torch"], "2.9");
    let left_out = trace.header_value("environment_left_out").unwrap();
    let mut paths: Vec<_> = left_out.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["HF_TOKEN", "host_name", "metadata.env", "metadata.run", "username"]);
    let whole = opened(true);
    assert_eq!(whole.header_value("username"), Some(json!("zq-user")));
    assert_eq!(whole.header_value("environment_left_out"), None);
}

/// An export with these ranges: text, thread, start and end.
fn ranges(ranges: &[(&str, i64, i64, i64)]) -> LinkedTrace {
    let thread = |thread: i64| (1 << 24) + thread;
    let rows: Vec<_> = ranges
        .iter()
        .map(|(text, on, start, end)| format!("({start}, {end}, 59, '{text}', {})", thread(*on)))
        .collect();
    LinkedTrace::new(export(&format!(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
        INSERT INTO NVTX_EVENTS VALUES {};",
        rows.join(", ")
    )))
}

#[test]
fn emitted_ranges_are_operators_with_numbers_and_shapes() {
    let linked = ranges(&[
        ("ProfilerStep#2, op_id = 1", 1, 0, 100),
        ("aten::mm, op_id = 7, seq = 3, sizes = [[2, 3], [3, 4]], input_op_ids = [(5,0), (6,0)]", 1, 10, 20),
        ("aten::relu, seq = 4", 1, 21, 30),
        ("aten::empty", 1, 31, 40),
        ("loss, lr = 3, and more", 1, 41, 50),
        ("forward, op_id = 9", 1, 51, 60),
    ]);
    let columns = ["kind", "name", "seq_num", "input_shapes", "record_id"];
    let found = rows(&linked, &columns, |_| true);
    let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
    assert_eq!(
        found,
        [
            row(["annotation", "ProfilerStep#2", "-", "-", "1"]),
            row(["operator", "aten::mm", "3", "[[2,3],[3,4]]", "7"]),
            row(["operator", "aten::relu", "4", "-", "-"]),
            row(["operator", "aten::empty", "-", "-", "-"]),
            row(["annotation", "loss, lr = 3, and more", "-", "-", "-"]),
            row(["annotation", "forward", "-", "-", "9"]),
        ]
    );
    assert_eq!(linked.links.iterations.len(), 1);
}

#[test]
fn forward_and_backward_are_linked_by_their_numbers() {
    let linked = ranges(&[
        ("aten::linear, seq = 3", 1, 0, 10),
        ("aten::addmm, seq = 3", 1, 1, 9),
        ("aten::relu, seq = 4", 1, 11, 20),
        ("autograd::engine::evaluate_function: ReluBackward0, seq = 4", 2, 30, 40),
        ("ReluBackward0, seq = 4", 2, 31, 39),
        ("autograd::engine::evaluate_function: AddmmBackward0, seq = 3", 2, 41, 60),
        ("AddmmBackward0, seq = 3", 2, 42, 50),
        ("aten::mm", 2, 43, 49),
    ]);
    let name = |row: u32| linked.trace.event_name(row as usize);
    let pairs: Vec<_> =
        linked.forward_backward().iter().map(|pair| (name(pair.forward), name(pair.backward))).collect();
    assert_eq!(pairs, [("aten::addmm", "AddmmBackward0"), ("aten::relu", "ReluBackward0")]);
}

#[test]
fn reasons_for_missing_launches_are_those_of_the_process() {
    // Process 1 traced its calls, process 2 did not; a correlation id is in both.
    let linked = LinkedTrace::new(export(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'gemm');
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
            nameId INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1100, 16777217, 5, 1);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 2100, 0, 7, 5, 16777216, 2),
            (2200, 2300, 0, 7, 2, 16777216, 2), (2400, 2500, 0, 7, 9, 16777216, 2), (2600, 2700, 0, 7, 5, 33554432, 2),
            (900, 950, 0, 7, 1, 33554432, 2);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
        INSERT INTO NVTX_EVENTS VALUES (1, 5000, 59, 'step', 33554433);",
    ));
    let linked = std::sync::Arc::new(linked);
    let answer = kinetoscope::analyze::analysis("idle").unwrap().answer(&linked, "{}").unwrap();
    assert!(answer.reason.is_none());
    let session = kinetoscope::view::Session::new((*linked).clone());
    let why = |id: usize| {
        let reply = session.query(json!({"type": "event", "id": id}).to_string().as_bytes());
        String::from_utf8_lossy(&reply).into_owned()
    };
    let reasons =
        ["launched before the recording began", "its launch is not in the file", "no launches of its process"];
    for (id, reason) in [(2, reasons[0]), (3, reasons[1]), (4, reasons[2]), (5, reasons[2])] {
        assert!(why(id).contains(reason), "{id}: {}", why(id));
    }
    assert!(reasons.iter().all(|reason| !why(1).contains(reason)));
}
