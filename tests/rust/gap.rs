//! Tests explanations of idle moments.

use std::sync::Arc;

use kinetoscope::view::Session;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

use crate::screen::ask;

fn event(category: &str, name: &str, thread: i64, (start, dur): (i64, i64), args: &Value) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": i64::from(thread < 7), "tid": thread, "ts": start, "dur": dur, "args": args})
}

fn session(events: &[Value]) -> Session {
    let text = json!({"traceEvents": events}).to_string();
    Session::new(LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap()))
}

fn work(stream: i64, correlation: i64, time: (i64, i64)) -> Value {
    event("kernel", "mm", stream, time, &json!({"device": 0, "stream": stream, "correlation": correlation}))
}

fn launch(correlation: i64, start: i64) -> Value {
    event("cuda_runtime", "cudaLaunchKernel", 1, (start, 2), &json!({"correlation": correlation}))
}

/// Two streams: the first waits for the host, for nothing, and for an unknown cause. Times in µs.
fn streams() -> Session {
    session(&[
        event("cpu_op", "aten::item", 1, (0, 40), &json!({})),
        event("cpu_op", "aten::add", 2, (41, 40), &json!({})),
        launch(1, 1),
        work(7, 1, (10, 10)),
        launch(2, 35),
        work(7, 2, (40, 10)),
        launch(3, 37),
        work(7, 3, (70, 10)),
        work(8, 9, (45, 10)),
        work(8, 10, (60, 15)),
    ])
}

/// The track of a stream, by its number.
fn track(session: &Session, stream: i64) -> Value {
    let overview = ask(session, &json!({"type": "overview"}));
    let tracks = overview["tracks"].as_array().unwrap();
    let name = format!("stream {stream}");
    tracks.iter().find(|track| track["name"] == name).unwrap()["track"].clone()
}

fn gap_at(session: &Session, stream: i64, time: f64) -> Value {
    ask(session, &json!({"type": "gap", "track": track(session, stream), "time": time}))["gap"].clone()
}

#[test]
fn it_is_from_the_work_before_to_the_work_after_and_says_why() {
    let session = streams();
    let gap = gap_at(&session, 7, 25_000.0);
    assert_eq!(
        (&gap["start"], &gap["dur"], &gap["category"]),
        (&json!(20_000.0), &json!(20_000.0), &json!("host_wait"))
    );
    assert_eq!((&gap["before"]["id"], &gap["after"]["id"], &gap["launch"]["id"]), (&json!(3), &json!(5), &json!(4)));
    assert_eq!(
        gap["why"],
        "the host launched the next work 15.0 µs after the previous work ended; the work began 5.0 µs later"
    );
    assert_eq!(gap["host"]["names"][0]["event"]["name"], "aten::item");
    assert_eq!(gap["host"]["names"][0]["self"], 16_000.0);
    assert_eq!(gap["elsewhere"], 0.0);
}

#[test]
fn what_was_launched_before_waited_for_something_else() {
    let gap = gap_at(&streams(), 7, 50_000.0);
    assert_eq!((&gap["category"], &gap["dur"]), (&json!("other"), &json!(20_000.0)));
    assert_eq!(gap["why"], "the next work was launched 13.0 µs earlier and waited for something that was not recorded");
    // The other stream worked from 50 to 55 and from 60 to 70.
    assert_eq!(gap["elsewhere"], 15_000.0);
    // Of the host only the other thread did anything then.
    assert_eq!(gap["host"]["names"][0]["event"]["name"], "aten::add");
}

#[test]
fn before_the_first_work_and_after_the_last_it_reaches_to_the_ends_of_the_trace() {
    let session = streams();
    let first = gap_at(&session, 7, 0.0);
    assert_eq!((&first["start"], &first["dur"], &first["before"]), (&json!(0.0), &json!(10_000.0), &Value::Null));
    assert_eq!(
        first["why"],
        "the host launched the next work 1.0 µs after the trace began; the work began 9.0 µs later"
    );
    let last = gap_at(&session, 7, 80_500.0);
    assert_eq!((&last["start"], &last["dur"], &last["after"]), (&json!(80_000.0), &json!(1_000.0), &Value::Null));
    assert_eq!((&last["category"], &last["why"]), (&Value::Null, &json!("no later work was recorded on this stream")));
}

#[test]
fn where_the_launch_is_not_known_that_is_why() {
    let gap = gap_at(&streams(), 8, 57_000.0);
    assert_eq!(gap["why"], "launch time of the next work is unknown: its launch is not in the file");
    assert_eq!((&gap["launch"], &gap["host"]), (&Value::Null, &Value::Null));
}

#[test]
fn there_is_none_where_the_stream_works_on_threads_and_beside_the_trace() {
    let session = streams();
    assert_eq!(gap_at(&session, 7, 15_000.0), Value::Null);
    for (track, time) in [(0, 60_000.0), (99, 0.0), (2, -5.0), (2, 1e300)] {
        let answer = ask(&session, &json!({"type": "gap", "track": track, "time": time}));
        assert_eq!(answer["gap"], Value::Null, "{track} at {time}");
    }
}

#[test]
fn an_event_tells_how_long_its_stream_was_idle_before_it() {
    let session = streams();
    let idle_before = |id: u32| ask(&session, &json!({"type": "event", "id": id}))["idle_before"].clone();
    assert_eq!(idle_before(5), json!({"start": 20_000.0, "dur": 20_000.0}));
    assert_eq!(idle_before(3), json!({"start": 0.0, "dur": 10_000.0}));
    assert_eq!(idle_before(4), Value::Null);
}

#[test]
fn of_several_traces_it_is_in_the_right_one() {
    let mut session = streams();
    let events = [launch(1, 0), work(7, 1, (5, 5)), launch(2, 20), work(7, 2, (30, 5))];
    let text = json!({"traceEvents": events}).to_string();
    let other = Arc::new(LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap()));
    session.add("other", None, other).unwrap();
    let overview = ask(&session, &json!({"type": "overview", "align": "start"}));
    let tracks = overview["tracks"].as_array().unwrap();
    let stream = tracks.iter().rfind(|track| track["name"] == "stream 7").unwrap()["track"].clone();
    let answer = ask(&session, &json!({"type": "gap", "track": stream, "time": 15_000.0, "align": "start"}));
    let gap = &answer["gap"];
    assert_eq!((&gap["part"], &gap["track"], &gap["dur"]), (&json!(1), &stream, &json!(20_000.0)));
    let after = ask(&session, &json!({"type": "event", "id": gap["after"]["id"], "align": "start"}));
    assert_eq!((&after["part"], &after["start"]), (&json!(1), &json!(30_000.0)));
}
