//! Tests several traces on one screen.

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
    let drawn = picture("clocks");
    let drawn = drawn.as_str().unwrap();
    assert!(drawn.starts_with("<svg"));
    assert!(drawn.contains("class=\"ks-kind-communication\" fill=\"#61aaff\""), "{drawn}");
}

#[test]
fn a_copy_has_what_the_screen_shows_there() {
    let session = session(7);
    let names = |request: &Value| {
        let copy = session.copy(request.to_string().as_bytes()).unwrap();
        let of = |linked: &Arc<LinkedTrace>| {
            (linked.trace.rank(), linked.trace.events.start.iter().next_back().unwrap().0 / 1000)
        };
        (copy.traces().map(of).collect::<Vec<_>>(), ask(&copy, &json!({"type": "overview"}))["num_events"].clone())
    };
    // The second communication of both, whose clocks differ.
    let second = |align: &str| names(&json!({"align": align, "start": 100_000, "end": 110_000}));
    // Beside it, the kernel of the first with its launch.
    assert_eq!(second("clocks"), (vec![(None, 200), (None, 207)], json!(10)));
    assert_eq!(names(&json!({"start": 0})).1, json!(12));
    let error = session.copy(br#"{"start": "soon"}"#).unwrap_err().to_string();
    assert_eq!(error, "expected a number as start, found \"soon\"");
}

#[test]
fn a_copy_keeps_its_ranks_and_tells_nothing_private_where_it_is_redacted() {
    let mut session = Session::default();
    session.add("/data/alice/rank3.json", Some(3), ranks::trace(3, &[("allreduce", Some(4), 100, 10)]).1).unwrap();
    let parts = |request: &[u8]| ask(&session.copy(request).unwrap(), &json!({"type": "overview"}))["parts"][0].clone();
    assert_eq!((&parts(b"{}")["name"], &parts(b"{}")["rank"]), (&json!("/data/alice/rank3.json"), &json!(3)));
    let redacted = parts(br#"{"redacted": true}"#);
    assert_eq!((&redacted["name"], &redacted["rank"]), (&json!(""), &json!(3)));
}

#[test]
fn kernels_that_communicate_have_a_kind_of_their_own() {
    let session = session(0);
    let overview = ask(&session, &json!({"type": "overview"}));
    let tiles = ask(&session, &json!({"type": "tiles", "tracks": [0, 1], "start": 0.0, "end": 1e6, "pixels": 1000}));
    let kinds =
        tiles["kind"].as_array().unwrap().iter().map(|code| &overview["kinds"][code.as_u64().unwrap() as usize]);
    let kinds: Vec<_> = kinds.map(|kind| kind.as_str().unwrap()).collect();
    assert_eq!(kinds, ["operator", "operator", "launch", "launch", "communication", "communication"]);
    let event = ask(&session, &json!({"type": "event", "id": kernels(&session)[0]}));
    assert_eq!(event["kind"], "communication");
}

/// A step in a frame in a module in a frame, with an operator and a launch in it, and a thread of
/// frames alone.
fn with_frames() -> Session {
    let event = |(category, name, thread, start, dur): (&str, &str, i64, i64, i64)| json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": dur});
    let events = [
        ("user_annotation", "ProfilerStep#1", 1, 0, 100),
        ("python_function", "train.py(1): step", 1, 1, 98),
        ("python_function", "nn.Module: Linear_0", 1, 2, 90),
        ("python_function", "linear.py(2): forward", 1, 3, 80),
        ("cpu_op", "aten::linear", 1, 4, 70),
        ("cpu_op", "aten::add", 1, 80, 2),
        ("python_function", "threading.py(3): wait", 2, 0, 100),
    ];
    let text = json!({"traceEvents": events.map(event)}).to_string();
    Session::new(LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap()))
}

#[test]
fn without_frames_nothing_but_functions_of_python_is_gone() {
    let session = with_frames();
    let ask = |mut request: Value, frames: bool| {
        request["frames"] = json!(frames);
        ask(&session, &request)
    };
    let lanes = |frames| {
        let overview = ask(json!({"type": "overview"}), frames);
        let tracks = overview["tracks"].as_array().unwrap().clone();
        let of = |track: &Value| (track["num_lanes"].as_u64().unwrap(), track["num_events"].as_u64().unwrap());
        (tracks.iter().map(of).collect::<Vec<_>>(), overview["num_frames"].clone(), overview["num_events"].clone())
    };
    assert_eq!(lanes(true), (vec![(5, 6), (1, 1)], json!(3), json!(7)));
    assert_eq!(lanes(false), (vec![(3, 4)], json!(3), json!(7)));
    let shown = |frames| {
        let tiles = ask(json!({"type": "tiles", "tracks": [0, 1], "start": 0.0, "end": 1e6, "pixels": 1000}), frames);
        let names = tiles["name"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| tiles["names"][name.as_u64().unwrap() as usize].as_str().unwrap().to_owned());
        names.zip(tiles["lane"].as_array().unwrap().iter().map(|lane| lane.as_u64().unwrap())).collect::<Vec<_>>()
    };
    let expected = [("ProfilerStep#1", 0), ("nn.Module: Linear_0", 1), ("aten::linear", 2), ("aten::add", 2)];
    assert_eq!(shown(false), expected.map(|(name, lane)| (name.to_owned(), lane)));
    assert_eq!(shown(true).len(), 7);
    // Whatever tells a lane tells the same one.
    let found = ask(json!({"type": "search", "text": "linear", "limit": 9}), false);
    assert_eq!((&found["count"], &found["lane"]), (&json!(2), &json!([1, 2])));
    let of_frames = |frames| ask(json!({"type": "search", "text": "forward", "limit": 9}), frames);
    let told = |found: &Value| (found["count"].as_u64().unwrap(), found["num_hidden"].as_u64().unwrap());
    assert!(told(&of_frames(true)).0 > 0);
    assert_eq!(told(&of_frames(false)), (0, told(&of_frames(true)).0));
    let at = ask(json!({"type": "at", "track": 0, "lane": 2, "time": 10_000.0, "tolerance": 0.0}), false);
    assert_eq!((&at["event"]["name"], &at["event"]["lane"]), (&json!("aten::linear"), &json!(2)));
}

#[test]
fn who_steps_through_what_is_shown_meets_no_frame() {
    let session = with_frames();
    let step = |id: u64, direction: &str| {
        let request = json!({"type": "neighbour", "id": id, "direction": direction, "frames": false});
        ask(&session, &request)["event"]["name"].as_str().map(str::to_owned)
    };
    assert_eq!(step(4, "parent").as_deref(), Some("nn.Module: Linear_0"));
    assert_eq!(step(2, "parent").as_deref(), Some("ProfilerStep#1"));
    assert_eq!(step(0, "child").as_deref(), Some("nn.Module: Linear_0"));
    assert_eq!(step(2, "child").as_deref(), Some("aten::linear"));
    assert_eq!(step(4, "next").as_deref(), Some("aten::add"));
    assert_eq!(step(4, "child"), None);
    let is_shown = |id: u64| ask(&session, &json!({"type": "event", "id": id, "frames": false}))["is_shown"].clone();
    assert_eq!((is_shown(2), is_shown(3)), (json!(true), json!(false)));
}

#[test]
fn groups_keep_their_numbers_when_a_process_of_frames_alone_is_hidden() {
    let json = br#"[
        {"ph": "X", "cat": "python_function", "name": "loader.py(1): wait", "pid": 1, "tid": 1, "ts": 0, "dur": 9},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 2, "tid": 2, "ts": 0, "dur": 9}
    ]"#;
    let session = Session::new(LinkedTrace::new(read([Input::new(json)], Limits::default()).unwrap()));
    let shown = |frames: bool| {
        let overview = ask(&session, &json!({"type": "overview", "frames": frames}));
        let group = |track: &Value| {
            let group = track["group"].as_u64().unwrap() as usize;
            (group, overview["groups"][group]["name"].clone())
        };
        overview["tracks"].as_array().unwrap().iter().map(group).collect::<Vec<_>>()
    };
    assert_eq!(shown(true), [(0, json!("Process 1")), (1, json!("Process 2"))]);
    assert_eq!(shown(false), [(1, json!("Process 2"))]);
}

#[test]
fn the_picture_of_a_job_shows_all_ranks_by_their_busiest_tracks() {
    let mut session = Session::default();
    for rank in 0..12 {
        session.add("", Some(rank), ranks::trace(rank, &[("allreduce", Some(4), 100, 10)]).1).unwrap();
    }
    let picture = ask(&session, &json!({"type": "picture", "width": 800}));
    let picture = picture["svg"].as_str().unwrap();
    for rank in 0..12 {
        assert!(picture.contains(&format!(">rank {rank}<")), "{rank}");
    }
    assert!(picture.contains("more tracks"));
}

#[test]
fn an_annotation_is_told_as_such_and_not_as_an_operator() {
    let session = Session::new(LinkedTrace::new(files::trace(
        r#"{"traceEvents":[
        {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":50},
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9},
        {"ph":"X","cat":"cpu_op","name":"aten::empty","pid":1,"tid":1,"ts":2,"dur":3}]}"#,
    )));
    let told = |id| {
        let event = ask(&session, &json!({"type": "event", "id": id}));
        ["operator", "annotation"].map(|key| event[key]["name"].as_str().map(String::from))
    };
    let step = || Some(String::from("ProfilerStep#1"));
    assert_eq!(told(1), [None, step()]);
    assert_eq!(told(2), [Some(String::from("aten::mm")), step()]);
}

#[test]
fn traces_too_far_apart_to_be_seen_together_begin_together() {
    let starts = |apart_s: u64, ranks: [i64; 2]| {
        let mut session = Session::default();
        for (rank, start) in [(ranks[0], 0), (ranks[1], apart_s * 1_000_000)] {
            let json =
                format!(r#"[{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{start},"dur":1000000}}]"#);
            session.add("", Some(rank), LinkedTrace::new(files::trace(&json))).unwrap();
        }
        ask(&session, &json!({"type": "search", "text": "a", "limit": 9}))["start"].clone()
    };
    assert_eq!(starts(1_000, [0, 1]), json!([0.0, 1e12]), "seconds, within minutes");
    assert_eq!(starts(1_000_000, [0, 1]), json!([0.0, 0.0]), "days");
    assert_eq!(starts(1_000_000, [0, 0]), json!([0.0, 1e15]), "one rank, days later");
}

/// Two iterations with a kernel each; the second kernel takes so long.
fn steps(second_dur: i64) -> LinkedTrace {
    let step = |number: i64, ts: i64| json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{number}"), "pid": 1, "tid": 1, "ts": ts, "dur": 100});
    let work = |id: i64, ts: i64, dur: i64| {
        let launch = json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts, "dur": 2, "args": {"correlation": id}});
        let kernel = json!({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": ts + 5, "dur": dur, "args": {"correlation": id, "stream": 7}});
        [launch, kernel]
    };
    let events = [vec![step(1, 0), step(2, 100)], work(1, 10, 20).to_vec(), work(2, 110, second_dur).to_vec()].concat();
    LinkedTrace::new(read([Input::new(json!(events).to_string().as_bytes())], Limits::default()).unwrap())
}

#[test]
fn two_ranges_of_a_trace_are_compared() {
    let session = Session::new(steps(50));
    let asked = json!({"type": "compare", "start": 0, "end": 100_000, "other_start": 100_000, "other_end": 200_000});
    let answer = ask(&session, &asked);
    let table = answer["tables"].as_array().unwrap().iter().find(|table| table["name"] == "diff_kernels").unwrap();
    let place =
        |name: &str| table["columns"].as_array().unwrap().iter().position(|column| column["name"] == name).unwrap();
    let row = &table["rows"][0];
    assert_eq!((&row[place("before_ns")], &row[place("after_ns")]), (&json!(20_000), &json!(50_000)));
    assert_eq!(row[place("after_id")], 5, "a link to the kernel");
}

#[test]
fn an_event_of_a_compared_trace_leads_to_its_counterpart() {
    let mut session = Session::default();
    session.add("before", None, steps(50)).unwrap();
    session.add("after", None, steps(70)).unwrap();
    let second = ask(&session, &json!({"type": "event", "id": 5}));
    assert_eq!(second["counterpart"]["role"], "after");
    assert_eq!(second["counterpart"]["event"]["dur"], 70_000.0);
    let back = ask(&session, &json!({"type": "event", "id": second["counterpart"]["event"]["id"]}));
    assert_eq!((&back["counterpart"]["role"], &back["counterpart"]["event"]["id"]), (&json!("before"), &json!(5)));
    let whole = ask(&session, &json!({"type": "compare"}));
    assert_eq!(whole["tables"][0]["name"], "diff");
    let page =
        ask(&session, &json!({"type": "report", "title": "t", "facts": [["before", "a.json"]], "comparison": {}}));
    let html = page["html"].as_str().unwrap();
    assert!(html.contains("The step takes as long as before") && html.contains("<b>before</b> a.json"), "{html}");
}
