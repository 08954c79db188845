//! Tests that the trace of another tool lies beside that of a rank, and is no rank.

use kinetoscope::edit::{Companion, CompanionAlignment, TrimExtent, beside, trim};
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::time::{TimeRange, Ts};
use kinetoscope::view::Session;
use kinetoscope::{Limits, LinkedTrace, Trace, write_snapshot};
use serde_json::{Value, json};

use crate::files;

fn events(category: &str, name: impl Fn(&str) -> String, starts: &[i64]) -> Value {
    let event = |(at, start): (usize, &i64)| {
        let name = name(if at % 2 == 0 { "load" } else { "step" });
        json!({"ph": "X", "cat": category, "name": name, "pid": 7, "tid": 7, "ts": start, "dur": 40 + at})
    };
    starts.iter().enumerate().map(event).collect()
}

fn main_trace(rank: i64) -> Trace {
    let events = events("user_annotation", str::to_owned, &[1_000, 1_100, 1_350, 1_700]);
    files::trace(&json!({"distributedInfo": {"rank": rank}, "traceEvents": events}).to_string())
}

fn other() -> Trace {
    let events = events("FEE", |name| format!("{name} (a.py:1)"), &[5_000, 5_100, 5_350, 5_700]);
    files::trace(&events.to_string())
}

fn overview(session: &Session) -> Value {
    let answer = session.query(br#"{"type": "overview"}"#);
    let size = u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]) as usize;
    serde_json::from_slice::<Value>(&answer[4..4 + size]).unwrap()["data"].clone()
}

#[test]
fn traces_of_ranks_come_first_in_whatever_order_they_are_added() {
    let companion = beside(&main_trace(1), &other(), CompanionAlignment::Any).unwrap();
    let mut session = Session::default();
    session.add("", Some(1), LinkedTrace::new(companion)).unwrap();
    assert_eq!(overview(&session)["parts"][0]["name"], "VizTracer", "alone, it is shown as any trace");
    session.add("", None, LinkedTrace::new(main_trace(0))).unwrap();
    session.add("", None, LinkedTrace::new(main_trace(1))).unwrap();
    let overview = overview(&session);
    let parts = overview["parts"].as_array().unwrap();
    let names: Vec<_> = parts.iter().map(|part| (&part["rank"], &part["companion"]["tool"])).collect();
    assert_eq!(names, [(&json!(0), &Value::Null), (&json!(1), &Value::Null), (&json!(1), &json!("VizTracer"))]);
    assert_eq!(parts[2]["companion"]["offset_ns"], -4_000_000);
    assert_eq!(parts.iter().map(|part| &part["first_id"]).collect::<Vec<_>>(), [&json!(0), &json!(4), &json!(8)]);
    assert!(overview["typical_part"].is_u64(), "two ranks are a job");
    assert_eq!(overview["duration"], 743_000.0, "all lie on one axis");
}

#[test]
fn a_snapshot_keeps_how_it_was_placed() {
    let moved = beside(&main_trace(0), &other(), CompanionAlignment::Any).unwrap();
    let again = read_snapshot(&write_snapshot(&moved).unwrap(), Limits::default()).unwrap();
    let companion = Companion::of(&again).unwrap();
    assert_eq!((companion.offset_ns, companion.spread_ns, companion.num_matches), (-4_000_000, Some(0), 4));
    assert_eq!(again.events.start.at(0), Ts(1_000_000));
}

#[test]
fn a_range_of_another_clock_does_not_count() {
    let range = TimeRange { start: Ts(5_050_000), end: Ts(5_400_000) };
    let cut = trim(&LinkedTrace::new(other()), range).trace;
    assert_eq!(TrimExtent::of(&cut).map(|extent| extent.range), Some(range));
    let moved = beside(&main_trace(0), &cut, CompanionAlignment::Offset(5)).unwrap();
    assert_eq!(TrimExtent::of(&moved), None);
}
