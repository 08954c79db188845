//! Several traces on one screen.

use std::sync::Arc;

use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

use crate::{files, ranks};

/// A rank whose clock is so many microseconds ahead, with two communications of both ranks.
fn session(ahead: i64) -> Session {
    let mut session = Session::default();
    for (rank, ahead) in [(0, 0), (1, ahead)] {
        let calls = [("allreduce", Some(4), 100 + ahead, 10), ("allreduce", Some(5), 200 + ahead, 10)];
        session.add("", Some(rank), ranks::trace(rank, &calls).1).unwrap();
    }
    session
}

pub(crate) fn ask(session: &Session, request: &Value) -> Value {
    let answer = session.query(request.to_string().as_bytes());
    let header_size = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&answer[4..4 + header_size]).unwrap();
    assert_eq!(header["ok"], true, "{header}");
    let mut data = header["data"].clone();
    let body = &answer[(4 + header_size).next_multiple_of(8)..];
    for column in header["columns"].as_array().unwrap() {
        let (offset, length) =
            (column["offset"].as_u64().unwrap() as usize, column["length"].as_u64().unwrap() as usize);
        let values: Value = match column["type"].as_str() {
            Some("u32") => body[offset..][..length * 4]
                .as_chunks()
                .0
                .iter()
                .map(|bytes| json!(u32::from_le_bytes(*bytes)))
                .collect(),
            Some("f64") => body[offset..][..length * 8]
                .as_chunks()
                .0
                .iter()
                .map(|bytes| json!(f64::from_le_bytes(*bytes)))
                .collect(),
            _ => body[offset..][..length].iter().map(|byte| json!(byte)).collect(),
        };
        data[column["name"].as_str().unwrap()] = values;
    }
    data
}

/// The kernels, by their ids.
fn kernels(session: &Session) -> Vec<u64> {
    let found = ask(session, &json!({"type": "search", "text": "ncclDev", "limit": 9, "align": "recorded"}));
    let mut ids: Vec<_> = found["id"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn groups_are_a_tree_of_traces_and_their_processes_and_devices() {
    let overview = ask(&session(0), &json!({"type": "overview"}));
    let groups: Vec<_> = overview["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (&group["name"], &group["parent"], &group["kind"]))
        .collect();
    let (null, first, second) = (Value::Null, json!(0), json!(3));
    let [rank_0, rank_1, process, device] = ["rank 0", "rank 1", "Process 1", "Device 0"].map(Value::from);
    let kinds = ["trace", "host", "device"].map(Value::from);
    let expected = [
        (&rank_0, &null, &kinds[0]),
        (&process, &first, &kinds[1]),
        (&device, &first, &kinds[2]),
        (&rank_1, &null, &kinds[0]),
        (&process, &second, &kinds[1]),
        (&device, &second, &kinds[2]),
    ];
    assert_eq!(groups, expected);
    let tracks: Vec<_> =
        overview["tracks"].as_array().unwrap().iter().map(|track| track["track"].as_u64().unwrap()).collect();
    assert_eq!(tracks.len(), 4);
    assert!(tracks.windows(2).all(|pair| pair[0] < pair[1]), "{tracks:?}");
    let parts: Vec<_> = overview["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| (part["rank"].clone(), part["num_events"].clone()))
        .collect();
    assert_eq!(parts, [(json!(0), json!(6)), (json!(1), json!(6))]);
    assert_eq!(overview["num_events"], 12);
}

#[test]
fn the_only_trace_has_no_group_around_its_own() {
    let session = Session::new(files::pair("synthetic_cuda"));
    let overview = ask(&session, &json!({"type": "overview"}));
    assert!(
        overview["groups"]
            .as_array()
            .unwrap()
            .iter()
            .all(|group| group["parent"].is_null() && group["kind"] != "trace")
    );
}

#[test]
fn clocks_are_compared_unless_times_are_wanted_as_recorded() {
    let session = session(7);
    let starts = |align: &Value| {
        let start =
            |id: &u64| ask(&session, &json!({"type": "event", "id": id, "align": align}))["start"].as_f64().unwrap();
        kernels(&session).iter().map(start).collect::<Vec<_>>()
    };
    assert_eq!(starts(&json!("clocks")), [5_000.0, 105_000.0, 5_000.0, 105_000.0]);
    assert_eq!(starts(&json!("recorded")), [5_000.0, 105_000.0, 12_000.0, 112_000.0]);
    assert_eq!(starts(&json!("start")), [5_000.0, 105_000.0, 5_000.0, 105_000.0]);
}

#[test]
fn a_communication_leads_to_itself_on_other_ranks() {
    let session = session(3);
    let kernels = kernels(&session);
    let links = ask(&session, &json!({"type": "links", "id": kernels[1]}));
    let others: Vec<_> =
        links["links"].as_array().unwrap().iter().filter(|link| link["kind"] == "collective").collect();
    assert_eq!(others.len(), 1);
    assert_eq!(others[0]["target"]["id"], kernels[3]);
    let there = ask(&session, &json!({"type": "event", "id": kernels[3]}));
    assert_eq!((&there["part"], &there["name"]), (&json!(1), &json!("ncclDevKernel_Generic()")));
    assert_eq!(there["track"], others[0]["target"]["track"]);
}

#[test]
fn iterations_of_two_traces_are_laid_over_each_other() {
    let trace = |start: i64, first: i64| {
        let step = |number: i64, at: i64| {
            json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{number}"),
            "pid": 1, "tid": 1, "ts": start + at, "dur": 50})
        };
        let text = json!([step(first, 0), step(first + 1, 60)]).to_string();
        Arc::new(LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap()))
    };
    let mut session = Session::default();
    session.add("before", None, trace(1_000, 3)).unwrap();
    session.add("after", None, trace(9_000, 4)).unwrap();
    let align = json!({"iteration": 4});
    let overview = ask(&session, &json!({"type": "overview", "align": align}));
    assert_eq!(overview["groups"][0]["name"], "before");
    assert_eq!(overview["duration"], 170_000.0);
    let starts: Vec<_> =
        overview["parts"].as_array().unwrap().iter().map(|part| part["iterations"][0]["start"].clone()).collect();
    assert_eq!(starts, [json!(0.0), json!(60_000.0)]);
}

#[test]
fn an_analysis_looks_at_the_same_stretch_of_the_screen_in_every_trace() {
    let session = session(7);
    let rows = |align: &str| {
        let request = json!({"type": "analyze", "name": "kernels", "start": 0.0, "end": 20_000.0, "align": align});
        let answer = ask(&session, &request);
        answer["tables"][0]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row[0].clone(), row[3].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows("clocks").len(), 2);
    let one = json!({"type": "analyze", "name": "kernels", "part": 1});
    assert_eq!(ask(&session, &one)["tables"][0]["num_rows"], 1);
}

#[test]
fn a_trace_of_points_in_time_alone_begins_with_the_first() {
    let counter = |ts: i64| json!({"ph": "C", "name": "power", "pid": 1, "tid": 1, "ts": ts, "args": {"watts": 3}});
    let text = json!([counter(5_000_000), counter(5_000_040)]).to_string();
    let linked = LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap());
    let range = linked.trace.range();
    let overview = ask(&Session::new(linked), &json!({"type": "overview"}));
    assert_eq!(overview["origin_ns"], range.start.0.to_string());
    assert_eq!(overview["duration"], range.dur().0 as f64);
    assert!(range.start.0 > 0);
}

#[test]
fn a_picture_lays_times_over_each_other_as_asked() {
    let session = session(7);
    let picture = |align: &str| ask(&session, &json!({"type": "picture", "width": 600, "align": align}))["svg"].clone();
    assert_ne!(picture("recorded"), picture("clocks"));
    assert!(picture("clocks").as_str().unwrap().starts_with("<svg"));
}
