//! Tests that dumps of the flight recorder become tables.

use std::sync::Arc;

use kinetoscope::analyze::{FlightJob, flight_job_tables};
use kinetoscope::read::{is_flight_dump, rank_of_dump};
use kinetoscope::table::FLIGHT_TABLES;
use kinetoscope::{Container, FlightRecorder, Input, Limits, Recording, read_file, sniff};
use serde_json::{Value, json};

use crate::files;

fn entry() -> Value {
    json!({"frames": [{"name": "step", "filename": "train.py", "line": 12}], "record_id": 4, "pg_id": 0,
           "process_group": ["0", "default_pg"], "collective_seq_id": 5, "p2p_seq_id": 0, "op_id": 6,
           "profiling_name": "nccl:all_reduce", "time_created_ns": 1_700_000_000_000_000_000_i64,
           "duration_ms": 1.5, "timeout_ms": 600_000, "is_p2p": false, "retired": true, "state": "started",
           "input_sizes": [[4, 2]], "input_dtypes": ["Float"], "time_discovered_started_ns": null, "thread_id": 9})
}

fn dump() -> Value {
    let status = json!({"last_enqueued_collective": 5, "last_started_collective": 5, "last_completed_collective": 4});
    json!({"version": "2.10", "nccl_version": "2.27.3",
           "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
           "pg_status": {"0": status}, "entries": [entry()]})
}

fn recorder(bytes: &[u8]) -> FlightRecorder {
    let recording = read_file(Input::new(bytes), Limits::default()).unwrap();
    let recorder = if let Recording::FlightRecorder(recorder) = recording { Some(*recorder) } else { None };
    recorder.expect("a flight recorder")
}

fn table(recorder: FlightRecorder, name: &str) -> Vec<Value> {
    let table = FLIGHT_TABLES.iter().find(|table| table.name == name).unwrap();
    files::rows(&*table.of(&Arc::new(recorder)))
}

fn put(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(b'N'),
        Value::Bool(flag) => out.push(if *flag { 0x88 } else { 0x89 }),
        Value::Number(number) => match number.as_i64() {
            Some(number) => {
                out.extend([0x8a, 8]);
                out.extend(number.to_le_bytes());
            }
            None => {
                out.push(b'G');
                out.extend(number.as_f64().unwrap().to_be_bytes());
            }
        },
        Value::String(text) => {
            out.push(b'X');
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text.bytes());
        }
        Value::Array(items) => {
            out.extend(b"](");
            items.iter().for_each(|item| put(item, out));
            out.push(b'e');
        }
        Value::Object(entries) => {
            out.extend(b"}(");
            for (key, value) in entries {
                put(&json!(key), out);
                put(value, out);
            }
            out.push(b'u');
        }
    }
}

/// A pickle with opcodes that the writer of the flight recorder uses.
fn pickled(value: &Value) -> Vec<u8> {
    let mut out = vec![0x80, 2];
    put(value, &mut out);
    out.push(b'.');
    out
}

#[test]
fn json_and_pickles_give_the_same_rows() {
    for bytes in [dump().to_string().into_bytes(), serde_json::to_vec_pretty(&dump()).unwrap(), pickled(&dump())] {
        let recorder = recorder(&bytes);
        assert_eq!(recorder.warnings.iter().count(), 0);
        let metadata: Value = serde_json::from_str(&recorder.metadata).unwrap();
        assert_eq!(metadata, json!({"version": "2.10", "nccl_version": "2.27.3"}));
        let row = table(recorder.clone(), "entries").remove(0);
        let wanted = json!({"name": "nccl:all_reduce", "state": "started", "group_desc": "default_pg", "collective_seq": 5,
                            "duration_ns": 1_500_000, "timeout_ns": 600_000_000_000_i64, "started_ns": null,
                            "is_retired": true, "input_shapes": [[4, 2]], "extra": {"thread_id": 9}});
        for (name, value) in wanted.as_object().unwrap() {
            assert_eq!(&row[name], value, "{name}");
        }
        let group = table(recorder.clone(), "groups").remove(0);
        let cells = [&group["ranks"], &group["last_enqueued_seq"], &group["last_completed_seq"]];
        assert_eq!(cells, [&json!([0, 1]), &json!(5), &json!(4)]);
        let frame = table(recorder, "frames").remove(0);
        assert_eq!((&frame["file"], &frame["line"]), (&json!("train.py"), &json!(12)));
    }
}

#[test]
fn dumps_of_other_versions_are_read() {
    let entry = json!({"seq_id": 3, "pg_id": "7", "profiling_name": "nccl:send 1->0"});
    let old = json!({"version": "1.2", "pg_config": {"0": [0, 1]}, "entries": [entry]}).to_string();
    let row = table(recorder(old.as_bytes()), "entries").remove(0);
    assert_eq!([&row["collective_seq"], &row["group_id"], &row["state"]], [&json!(3), &json!(7), &json!(null)]);
    assert_eq!(table(recorder(old.as_bytes()), "groups")[0]["ranks"], json!([0, 1]));
    // Sorted keys, as the JSON dump of the process group has them; and no entries at all.
    let sorted = r#"{"entries": [{"collective_seq_id": 1, "state": "completed"}], "version": "2.9"}"#;
    assert_eq!(table(recorder(sorted.as_bytes()), "entries").len(), 1);
    assert_eq!(table(recorder(br#"{"version": "2.10", "entries": []}"#), "entries").len(), 0);
}

#[test]
fn json_of_gloo_has_counters_as_texts_and_no_times_as_zero() {
    let mut entry = entry();
    entry["time_discovered_started_ns"] = json!(0);
    let status = json!({"last_enqueued_collective": "3", "last_started_collective": "-1"});
    let dump = json!({"version": "2.10", "pg_status": {"0": status}, "entries": [entry]}).to_string();
    let recorder = recorder(dump.as_bytes());
    assert_eq!(recorder.warnings.iter().count(), 0);
    assert_eq!((recorder.groups[0].last_enqueued, recorder.groups[0].last_started), (Some(3), Some(-1)));
    assert_eq!(recorder.entries[0].started_ns, None);
}

#[test]
fn names_and_heads_tell_dumps() {
    let ranks = ["nccl_trace_rank_3", "a/b/dump_12", "rank-2.pickle", "trace_4.json.gz", "dump", "5"].map(rank_of_dump);
    assert_eq!(ranks, [Some(3), Some(12), Some(2), Some(4), None, Some(5)]);
    assert_eq!(rank_of_dump("99999999999999999999"), None);
    assert!([dump().to_string().into_bytes(), pickled(&dump())].iter().all(|bytes| is_flight_dump(bytes)));
    assert!([&b"{}"[..], b"", &pickled(&json!({"segments": []}))].iter().all(|bytes| !is_flight_dump(bytes)));
}

/// A dump of so many entries, each with the next sequence number.
fn counted(num_entries: i64) -> Arc<FlightRecorder> {
    let entries: Vec<_> = (0..num_entries)
        .map(|number| {
            let mut entry = entry();
            entry["record_id"] = json!(number);
            entry["collective_seq_id"] = json!(number + 1);
            entry["state"] = json!("completed");
            entry
        })
        .collect();
    let mut dump = dump();
    dump["entries"] = json!(entries);
    Arc::new(recorder(dump.to_string().as_bytes()))
}

#[test]
fn compared_dumps_name_the_missing_rank() {
    let job = FlightJob::new(vec![(1, counted(2)), (0, counted(3)), (1, counted(9))]);
    assert_eq!((job.verdict(), job.ranks().collect::<Vec<_>>()), ("differ", vec![0, 1]));
    let wanted = "group 0 (default_pg), collective 3: rank 1 never enqueued all_reduce";
    assert_eq!(job.messages().collect::<Vec<_>>(), [wanted]);
    let tables = flight_job_tables(&Arc::new(job));
    let calls = files::rows(&**tables.iter().find(|table| table.name() == "calls").unwrap());
    assert_eq!(calls.len(), 6);
    let last: Vec<_> = calls[4..].iter().map(|row| (&row["rank"], &row["status"], &row["entry_id"])).collect();
    assert_eq!(last, [(&json!(0), &json!("enqueued"), &json!(2)), (&json!(1), &json!("missing"), &json!(null))]);
    assert_eq!(FlightJob::new(Vec::new()).verdict(), "unknown");
}

#[test]
fn other_files_are_no_flight_recorder() {
    let others =
        [r#"{"version": 1, "traceEvents": [], "entries": []}"#, r#"{"version": 1}"#, r#"{"schema": "1", "nodes": []}"#];
    for other in others {
        assert_eq!(sniff(other.as_bytes()), Container::Json, "{other}");
    }
    let global = b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR.";
    let error = read_file(Input::new(global), Limits::default()).unwrap_err().to_string();
    assert!(error.contains("runs code on load"), "{error}");
}

#[test]
fn odd_entries_are_counted() {
    let odd = json!({"version": "2.10", "pg_status": {"0": 5},
                     "entries": [5, {"record_id": "x", "duration_ms": "y", "frames": 3}, {"time_created_ns": 1e300}]});
    let recorder = recorder(odd.to_string().as_bytes());
    assert_eq!(recorder.entries.len(), 2);
    let counts: Vec<_> = recorder.warnings.iter().map(|warning| (warning.kind.name(), warning.count)).collect();
    assert_eq!(counts, [("not_an_entry", 2), ("unexpected_type", 4)]);
    // The first entry stands before both others.
    assert_eq!(recorder.unreadable, [0]);
}

#[test]
fn values_of_other_types_are_absent() {
    let keys = ["profiling_name", "state", "input_sizes", "input_dtypes", "output_sizes", "output_dtypes"];
    for odd in [json!(5), json!({"0": 1}), json!(true), json!([[[1]]])] {
        let mut entry = entry();
        keys.iter().for_each(|key| entry[*key] = odd.clone());
        let recorder = recorder(json!({"version": "2.10", "entries": [entry]}).to_string().as_bytes());
        assert_eq!(recorder.warnings.iter().map(|warning| warning.count).collect::<Vec<_>>(), [6], "{odd}");
        let row = table(recorder, "entries").remove(0);
        for column in ["name", "state", "input_shapes", "input_types", "output_shapes", "output_types"] {
            assert_eq!(row[column], Value::Null, "{column} of {odd}");
        }
    }
}

#[test]
fn groups_are_unknown_if_their_values_are_unreadable() {
    let is_unknown = |values: Value| {
        let dump = json!({"version": "2.10", "entries": [values]});
        recorder(dump.to_string().as_bytes()).entries[0].has_unknown_group
    };
    let known = [
        json!({"process_group": ["0", "default_pg"]}),
        json!({"process_group": [7]}),
        json!({"process_group": null, "pg_id": 0}),
        json!({"pg_id": "3"}),
        json!({"pg_id": {}, "pg_name": "0"}),
        json!({"state": "started"}),
    ];
    let unknown =
        [json!({"process_group": [{}, "default_pg"], "pg_id": 0}), json!({"pg_id": "x"}), json!({"pg_name": 1.5})];
    assert!(known.into_iter().all(|values| !is_unknown(values)));
    assert!(unknown.into_iter().all(is_unknown));
}
