//! Tests requests beside rectangles: findings, context, counters, critical path, changes.

use std::sync::Arc;

use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

use crate::screen::ask;
use crate::{files, ranks};

fn linked(events: &Value) -> Arc<LinkedTrace> {
    Arc::new(LinkedTrace::new(read([Input::new(events.to_string().as_bytes())], Limits::default()).unwrap()))
}

fn host(cat: &str, name: &str, ts: i64, dur: i64, args: &Value) -> Value {
    json!({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args})
}

fn kernel(name: &str, ts: i64, dur: i64, correlation: i64) -> Value {
    let args = json!({"device": 0, "stream": 7, "correlation": correlation});
    json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur, "args": args})
}

/// A forward call in a module, from a line of a script, and its backward call; each launches a
/// kernel.
fn program() -> Value {
    let seq = |thread: i64| json!({"Sequence number": 1, "Fwd thread id": thread});
    json!([
        host("python_function", "train.py(3): step", 0, 60, &json!({})),
        host("python_function", "nn.Module: Net_0", 5, 50, &json!({})),
        host("python_function", "nn.Module: Linear_0", 10, 40, &json!({})),
        host("python_function", "torch/nn/modules/linear.py(124): forward", 12, 36, &json!({})),
        host("cpu_op", "aten::addmm", 20, 20, &seq(0)),
        host("cuda_runtime", "cudaLaunchKernel", 25, 5, &json!({"correlation": 1})),
        kernel("gemm", 40, 20, 1),
        json!({"ph": "X", "cat": "cpu_op", "name": "AddmmBackward0", "pid": 1, "tid": 2, "ts": 61, "dur": 18, "args": seq(1)}),
        json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 62, "dur": 3,
               "args": {"correlation": 2}}),
        kernel("gemm_backward", 70, 10, 2),
    ])
}

fn names(refs: &Value) -> Vec<&str> {
    refs.as_array().unwrap().iter().map(|event| event["name"].as_str().unwrap()).collect()
}

#[test]
fn a_kernel_is_for_a_module_a_line_and_a_partner() {
    let session = Session::new(linked(&program()));
    let forward = ask(&session, &json!({"type": "event", "id": 6}));
    assert_eq!(names(&forward["modules"]), ["nn.Module: Linear_0", "nn.Module: Net_0"]);
    assert_eq!(forward["frame"]["name"], "train.py(3): step");
    assert_eq!(forward["partners"][0]["role"], "backward");
    assert_eq!(forward["partners"][0]["event"]["name"], "AddmmBackward0");
    let backward = ask(&session, &json!({"type": "event", "id": 9}));
    assert_eq!(names(&backward["modules"]), ["nn.Module: Linear_0", "nn.Module: Net_0"]);
    assert_eq!(backward["frame"]["name"], "train.py(3): step", "the line of the forward operator");
    assert_eq!(backward["partners"][0]["event"]["name"], "aten::addmm");
    assert_eq!(backward["partners"][0]["of"]["name"], "AddmmBackward0");
    let module = ask(&session, &json!({"type": "event", "id": 2}));
    assert_eq!((&module["num_device_events"], &module["launched_ns"]), (&json!(1), &json!("20000")));
    assert_eq!(names(&module["device_events"]), ["gemm"], "a module leads to what it had the device do");
    assert_eq!(names(&module["modules"]), ["nn.Module: Net_0"], "it is not for itself");
}

#[test]
fn rectangles_tell_what_they_are_for() {
    let session = Session::new(linked(&program()));
    let request =
        json!({"type": "tiles", "tracks": [0, 1, 2], "start": 0.0, "end": 100_000.0, "pixels": 1000, "by": "module"});
    let tiles = ask(&session, &request);
    let owners: Vec<_> =
        tiles["owner"].as_array().unwrap().iter().map(|code| code.as_u64().unwrap() as usize).collect();
    let of = |id: u64| {
        let at = tiles["id"].as_array().unwrap().iter().position(|other| other.as_u64() == Some(id)).unwrap();
        tiles["owners"][owners[at]].as_str().unwrap()
    };
    assert_eq!([of(0), of(2), of(6), of(9)], ["", "Linear_0", "Linear_0", "Linear_0"]);
    let by_operator = ask(
        &session,
        &json!({"type": "tiles", "tracks": [0, 1, 2], "start": 0.0, "end": 100_000.0, "pixels": 1000, "by": "operator"}),
    );
    assert_eq!(by_operator["owners"], json!(["", "aten::addmm", "AddmmBackward0"]));
    let plain = ask(&session, &json!({"type": "tiles", "tracks": [0], "start": 0.0, "end": 100.0, "pixels": 10}));
    assert!(plain["owners"].is_null() && plain["owner"].is_null());
}

#[test]
fn a_finding_has_its_events_and_when_they_were() {
    let loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    let events = json!([host("user_annotation", loader, 10, 80, &json!({})), kernel("gemm", 100, 10, 1)]);
    let findings = ask(&Session::new(linked(&events)), &json!({"type": "findings"}));
    let finding = &findings["findings"][0];
    assert_eq!(finding["finding"], "data_loading_without_workers");
    assert_eq!((&finding["start"], &finding["end"]), (&json!(0.0), &json!(80_000.0)));
    assert_eq!(names(&finding["evidence"]), [loader]);
    assert_eq!((&finding["cost_ns"], &finding["part"]), (&json!(80_000), &json!(0)));
}

#[test]
fn the_path_leads_from_lane_to_lane() {
    let session = Session::new(linked(&program()));
    let path = |pixels: u32| ask(&session, &json!({"type": "path", "start": 0.0, "end": 100_000.0, "pixels": pixels}));
    let fine = path(1000);
    let ends = fine["track"].as_array().unwrap().iter().zip(fine["end_track"].as_array().unwrap());
    assert!(ends.clone().any(|(from, to)| from != to), "a launch leads to its device: {fine}");
    let total: f64 = fine["shares"].as_array().unwrap().iter().map(|share| share["share"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-5);
    let answer = ask(&session, &json!({"type": "analyze", "name": "critical_path"}));
    let bound =
        answer["tables"].as_array().unwrap().iter().find(|table| table["name"] == "critical_path_bound").unwrap();
    let of_analysis: Vec<_> = bound["rows"].as_array().unwrap().iter().map(|row| (&row[0], &row[1])).collect();
    let shown: Vec<_> =
        fine["shares"].as_array().unwrap().iter().map(|share| (&share["bound"], &share["total_ns"])).collect();
    assert_eq!(shown, of_analysis, "as the analysis has it");
    assert!(path(1)["track"].as_array().unwrap().len() <= ends.len());
    let later = ask(&session, &json!({"type": "path", "start": 90_000.0, "end": 100_000.0, "pixels": 10}));
    assert_eq!(later["track"], json!([]), "nothing of it is there");
}

/// The columns of a counter over 100 µs.
fn counter(session: &Session, name: &str, pixels: u32) -> [Vec<f64>; 4] {
    let list = ask(session, &json!({"type": "counters"}));
    let all = list["counters"].as_array().unwrap();
    let found = all.iter().find(|counter| counter["name"] == name).expect("a counter of that name");
    let request =
        json!({"type": "counter", "counter": found["counter"], "start": 0.0, "end": 100_000.0, "pixels": pixels});
    let answer = ask(session, &request);
    ["start", "least", "greatest", "last"]
        .map(|column| answer[column].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect())
}

#[test]
fn devices_are_busy_and_queues_grow() {
    let session = Session::new(linked(&program()));
    let [starts, _, _, shares] = counter(&session, "busy", 10);
    assert_eq!(starts, [0.0, 40_000.0, 60_000.0, 70_000.0, 80_000.0]);
    assert_eq!(shares, [0.0, 1.0, 0.0, 1.0, 0.0]);
    let [starts, _, _, lengths] = counter(&session, "queue of stream 7", 1000);
    assert_eq!(starts, [25_000.0, 40_000.0, 62_000.0, 70_000.0]);
    assert_eq!(lengths, [1.0, 0.0, 1.0, 0.0]);
    let [_, least, greatest, _] = counter(&session, "queue of stream 7", 1);
    assert_eq!((least, greatest), (vec![0.0], vec![1.0]), "in one pixel, how far it went");
}

#[test]
fn a_counter_ends_where_its_trace_does() {
    let session = Session::new(linked(&program()));
    let list = ask(&session, &json!({"type": "counters"}));
    for counter in 0..list["counters"].as_array().unwrap().len() {
        let request = json!({"type": "counter", "counter": counter, "start": -9e6, "end": 9e6, "pixels": 1000});
        let answer = ask(&session, &request);
        assert_eq!(answer["until"], 80_000.0, "though the window goes on");
        let starts: Vec<_> = answer["start"].as_array().unwrap().iter().map(|start| start.as_f64().unwrap()).collect();
        assert!(starts.iter().all(|start| (-18_000.0..=80_000.0).contains(start)), "{starts:?}");
    }
}

#[test]
fn memory_and_the_files_own_counters_are_told() {
    let memory = |ts: i64, bytes: i64, total: i64| {
        let args = json!({"Device Type": 1, "Device Id": 0, "Bytes": bytes, "Addr": 5, "Total Allocated": total});
        json!({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": args})
    };
    let power =
        |ts: i64, watts: f64| json!({"ph": "C", "name": "power", "pid": 0, "tid": 0, "ts": ts, "args": {"W": watts}});
    let mut events = program();
    events.as_array_mut().unwrap().extend([
        memory(10, 512, 1024),
        memory(50, -512, 512),
        power(5, 300.0),
        power(30, 250.0),
    ]);
    let session = Session::new(linked(&events));
    let [starts, _, _, bytes] = counter(&session, "memory allocated", 1000);
    assert_eq!((starts, bytes), (vec![10_000.0, 50_000.0], vec![1024.0, 512.0]));
    assert_eq!(counter(&session, "power · W", 1000)[3], [300.0, 250.0]);
    let list = ask(&session, &json!({"type": "counters"}));
    let overview = ask(&session, &json!({"type": "overview"}));
    let group = |name: &str| {
        let counter = list["counters"].as_array().unwrap().iter().find(|counter| counter["name"] == name).unwrap();
        overview["groups"][counter["group"].as_u64().unwrap() as usize]["kind"].clone()
    };
    assert_eq!([group("memory allocated"), group("busy")], ["device", "device"]);
}

#[test]
fn what_changed_by_more_than_chance_is_told() {
    let steps = |gemm: i64| {
        let step = |at: i64| {
            let name = format!("ProfilerStep#{at}");
            let start = at * 1000;
            [
                host("user_annotation", &name, start, 900, &json!({})),
                host("cuda_runtime", "cudaLaunchKernel", start + 5, 5, &json!({"correlation": 10 * at})),
                host("cuda_runtime", "cudaLaunchKernel", start + 15, 5, &json!({"correlation": 10 * at + 1})),
                kernel("gemm", start + 100, gemm + at, 10 * at),
                kernel("softmax", start + 500, 100 + at % 2, 10 * at + 1),
            ]
        };
        linked(&json!((1..5).flat_map(step).collect::<Vec<_>>()))
    };
    let mut session = Session::default();
    session.add("before", None, steps(200)).unwrap();
    session.add("after", None, steps(300)).unwrap();
    let changes = ask(&session, &json!({"type": "changes"}));
    let told: Vec<_> = changes["changes"].as_array().unwrap().iter().map(|change| change["name"].clone()).collect();
    assert_eq!(told, ["gemm"]);
    let gemm = &changes["changes"][0];
    assert_eq!((&gemm["before_ns"], &gemm["after_ns"]), (&json!(202_500), &json!(302_500)));
    let name = |id: &Value| ask(&session, &json!({"type": "event", "id": id}))["part"].clone();
    assert_eq!([name(&gemm["before"]), name(&gemm["after"])], [0, 1], "ids of the screen");
    assert_eq!(ask(&Session::new(steps(200)), &json!({"type": "changes"}))["changes"], json!([]));
}

#[test]
fn traces_that_are_compared_are_no_ranks_of_a_job() {
    let program = |dur: i64| {
        let step = |at: i64| kernel("gemm", 1000 * at, dur, at);
        let host = (0..9).map(|at| host("cuda_runtime", "cudaLaunchKernel", 1000 * at, 5, &json!({"correlation": at})));
        let mut copy = kernel("Memcpy HtoD (Pageable -> Device)", 9000, 5000, 8);
        copy["cat"] = json!("gpu_memcpy");
        linked(&json!(host.chain((0..8).map(step)).chain([copy]).collect::<Vec<_>>()))
    };
    let told = |ranks: [Option<i64>; 2]| {
        let mut session = Session::default();
        session.add("", ranks[0], program(100)).unwrap();
        session.add("", ranks[1], program(900)).unwrap();
        let found = ask(&session, &json!({"type": "findings"}));
        let found = found["findings"].as_array().unwrap().clone();
        found.iter().map(|one| (one["finding"].as_str().unwrap().to_owned(), one["part"].clone())).collect::<Vec<_>>()
    };
    let compares = |told: &[(String, Value)]| told.iter().any(|(name, _)| name == "imbalanced_ranks");
    assert!(compares(&told([Some(0), Some(1)])));
    let compared = told([None, None]);
    assert!(!compares(&compared), "{compared:?}");
    assert!([0, 1].iter().all(|part| compared.iter().any(|(_, of)| of == &json!(part))), "{compared:?}");
}

#[test]
fn rows_of_an_analysis_lead_to_events_of_their_part() {
    let mut session = Session::default();
    for rank in [0, 1] {
        session.add("", Some(rank), ranks::trace(rank, &[("allreduce", Some(4), 100, 10)]).1).unwrap();
    }
    let answer = ask(&session, &json!({"type": "analyze", "name": "kernels"}));
    let table = &answer["tables"][0];
    let columns = table["columns"].as_array().unwrap();
    let at = columns.iter().position(|column| column["name"] == "longest_id").unwrap();
    assert_eq!((&columns[at]["role"], &table["parts"]), (&json!("event"), &json!([0, 1])));
    for (row, part) in [(0, 0), (1, 1)] {
        let event = ask(&session, &json!({"type": "event", "id": table["rows"][row][at]}));
        assert_eq!((&event["part"], &event["kind"]), (&json!(part), &json!("communication")));
    }
}

/// All rows are looked at, not only those that are sent.
#[test]
fn rows_come_in_the_order_of_a_column() {
    let session = Session::new(files::pair("synthetic_cuda"));
    let cells = |order: Value, limit: usize, column: &str| {
        let request = json!({"type": "analyze", "name": "launches", "limit": limit, "order": order});
        let table = ask(&session, &request)["tables"][0].clone();
        let at = table["columns"].as_array().unwrap().iter().position(|other| other["name"] == column).unwrap();
        table["rows"].as_array().unwrap().iter().map(|row| row[at].clone()).collect::<Vec<_>>()
    };
    let by = |column: &str, descends: bool| json!({"table": "launches", "column": column, "descends": descends});
    let mut delays: Vec<_> =
        cells(Value::Null, 1_000, "delay_ns").iter().map(|delay| delay.as_i64().unwrap()).collect();
    delays.sort_unstable();
    assert!(delays.len() > 5 && !delays.is_sorted_by(|a, b| a == b));
    assert_eq!(cells(by("delay_ns", false), 2, "delay_ns"), [json!(delays[0]), json!(delays[1])]);
    assert_eq!(cells(by("delay_ns", true), 1, "delay_ns"), [json!(delays[delays.len() - 1])]);
    let names = cells(by("device_event_name", false), 1_000, "device_event_name");
    assert!(names.is_sorted_by_key(|name| name.as_str().unwrap().to_ascii_lowercase()));
    // Of another table, nothing changes.
    let other = json!({"table": "other", "column": "delay_ns", "descends": true});
    assert_eq!(cells(other, 1_000, "id"), cells(Value::Null, 1_000, "id"));
}

#[test]
fn all_that_can_be_asked_for_is_listed() {
    let session = Session::new(files::pair("synthetic_cuda"));
    let answer = ask(&session, &json!({"type": "analyses"}));
    let all: Vec<_> = answer["analyses"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(all, kinetoscope::analyze::ANALYSES.iter().map(|analysis| analysis.name).collect::<Vec<_>>());
    for name in all {
        let request = json!({"type": "analyze", "name": name, "start": 0.0, "end": 1e6, "limit": 3});
        assert_eq!(ask(&session, &request)["name"], name);
    }
}

#[test]
fn what_is_on_no_stream_is_on_a_track_that_says_so() {
    let wait = json!({"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": -1, "ts": 60, "dur": 5,
                      "args": {"device": 0, "stream": -1}});
    let session = Session::new(linked(&json!([kernel("gemm", 40, 20, 1), wait])));
    let overview = ask(&session, &json!({"type": "overview"}));
    let tracks: Vec<_> = overview["tracks"].as_array().unwrap().iter().map(|track| &track["name"]).collect();
    assert_eq!(tracks, ["no stream (-1)", "stream 7"]);
}
