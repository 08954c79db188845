//! Tests laws that hold for every trace.

use kinetoscope::json::{Scanner, canonical};
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::time::ns_from_micros;
use kinetoscope::view::Session;
use kinetoscope::{Limits, LinkedTrace, WarningKind, write_snapshot};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// Any JSON value, a few levels deep.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // Of few binary digits: serde_json reads others only nearly as it wrote them.
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 64.0)),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-zA-Z \"\\\\]{0,8}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Complete events on few tracks, many of them overlapping.
pub(crate) fn events() -> impl Strategy<Value = Vec<Value>> {
    let kind = prop::sample::select(vec!["cpu_op", "kernel", "cuda_runtime", "user_annotation"]);
    let event = (0..3_u8, 0..60_i64, 0..30_i64, kind, 0..9_i64, value());
    let event = event.prop_map(|(thread, start, dur, category, correlation, extra)| {
        json!({
            "ph": "X", "pid": 0, "tid": thread, "cat": category, "name": format!("{category} {dur}"),
            "ts": start as f64 / 4.0, "dur": dur as f64 / 4.0,
            "args": {"correlation": correlation, "extra": extra},
        })
    });
    prop::collection::vec(event, 0..60)
}

pub(crate) fn linked(events: &[Value]) -> LinkedTrace {
    LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string()))
}

proptest! {
    #[test]
    fn the_scanner_passes_over_what_serde_writes(value in value()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let mut scanner = Scanner::new(text.as_bytes());
            let raw = scanner.skip_value().unwrap();
            prop_assert_eq!(raw.len(), text.len());
            prop_assert_eq!(serde_json::from_str::<Value>(&canonical(raw).text).unwrap(), value.clone());
        }
    }

    #[test]
    fn times_are_what_decimal_arithmetic_says(whole in 0..9_000_000_000_000_000_i64, thousandths in 0..1000_i64, digits in 0..4_usize) {
        let fraction = format!("{thousandths:03}")[..digits.min(3)].to_owned();
        let text = if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") };
        let expected = whole * 1000 + format!("{fraction:0<3}").parse::<i64>().unwrap();
        prop_assert_eq!(ns_from_micros(text.as_bytes()), Some(expected));
        prop_assert_eq!(ns_from_micros(format!("-{text}").as_bytes()), Some(-expected));
    }

    #[test]
    fn every_event_and_argument_survives_a_snapshot(events in events()) {
        let trace = files::trace(&json!({"traceEvents": &events, "metadata": {"n": events.len()}}).to_string());
        let again = read_snapshot(&write_snapshot(&trace).unwrap(), Limits::default()).unwrap();
        prop_assert_eq!(&again.events.start, &trace.events.start);
        prop_assert_eq!(&again.events.dur, &trace.events.dur);
        prop_assert_eq!(&again.events.kind, &trace.events.kind);
        prop_assert_eq!(again.metadata_json(), trace.metadata_json());
        for (row, event) in events.iter().enumerate() {
            let mut args = String::new();
            again.args.write_json(&again.strings, again.events.args(row), &mut args);
            prop_assert_eq!(&serde_json::from_str::<Value>(&args).unwrap(), &event["args"]);
            prop_assert_eq!(again.event_name(row), event["name"].as_str().unwrap());
        }
    }

    #[test]
    fn lanes_never_overlap_and_parents_contain(events in events()) {
        let linked = linked(&events);
        let (rows, nesting, lanes) = (&linked.trace.events, &linked.links.nesting, linked.lanes(&|_| true));
        let is_shown = |row: usize| !row.is_multiple_of(3);
        let some = linked.lanes(&is_shown);
        for a in 0..rows.len() {
            if let Some(parent) = nesting.parent.get(a) {
                let parent = parent as usize;
                prop_assert!(rows.start.at(parent) <= rows.start.at(a) && rows.end(parent) >= rows.end(a));
                prop_assert!(lanes[parent] < lanes[a]);
                prop_assert!(some[parent] <= some[a]);
            }
            for b in 0..a {
                if rows.track.at(a) == rows.track.at(b) && lanes[a] == lanes[b] {
                    prop_assert!(rows.end(a) <= rows.start.at(b) || rows.end(b) <= rows.start.at(a));
                }
                if is_shown(a) && is_shown(b) && rows.track.at(a) == rows.track.at(b) && some[a] == some[b] {
                    prop_assert!(rows.end(a) <= rows.start.at(b) || rows.end(b) <= rows.start.at(a));
                }
            }
        }
    }

    #[test]
    fn every_partial_overlap_is_counted(events in events()) {
        let linked = linked(&events);
        let rows = &linked.trace.events;
        let all = 0..rows.len();
        let outlasts = |a: usize, b: usize| {
            rows.track.at(a) == rows.track.at(b) && rows.start.at(b) < rows.start.at(a)
                && rows.start.at(a) < rows.end(b) && rows.end(b) < rows.end(a)
        };
        let count = all.clone().filter(|a| all.clone().any(|b| outlasts(*a, b))).count() as u64;
        prop_assert_eq!(linked.links.warnings.count(WarningKind::PartialOverlap), count);
    }

    #[test]
    fn tiles_stand_for_every_event(events in events(), pixels in 1..40_u32) {
        let session = Session::new(linked(&events));
        let tracks: Vec<_> = (0..files::shown(&session).trace.tracks.len()).collect();
        let request = json!({"type": "tiles", "tracks": tracks, "start": 0, "end": 1e6, "pixels": pixels});
        let counts = column(&session.query(request.to_string().as_bytes()), "count");
        prop_assert_eq!(counts.iter().sum::<u32>() as usize, events.len());
    }

    #[test]
    fn self_times_add_up_to_the_time_of_the_outermost(events in events()) {
        let linked = linked(&events);
        let outermost = (0..events.len()).filter(|row| linked.links.nesting.parent.get(*row).is_none());
        let total: i64 = outermost.map(|row| linked.trace.events.dur.at(row).0).sum();
        let own: i64 = (0..events.len())
            .map(|row| linked.trace.events.dur.at(row).0 - linked.children_ns()[row]).sum();
        prop_assert_eq!(own, total);
    }
}

/// A `u32` column of an answer.
fn column(answer: &[u8], name: &str) -> Vec<u32> {
    let header_size = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&answer[4..4 + header_size]).unwrap();
    let body = &answer[(4 + header_size).next_multiple_of(8)..];
    let entry = header["columns"].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
    let (offset, length) = (entry["offset"].as_u64().unwrap() as usize, entry["length"].as_u64().unwrap() as usize);
    body[offset..][..length * 4].as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

#[test]
fn what_fits_no_column_stays_in_args() {
    let trace = LinkedTrace::new(files::trace(
        r#"[{"ph": "X", "ts": 1, "dur": 1, "args": {"External id": 5, "external id": 6, "correlation": -1, "bytes": "many",
            "memory bandwidth (GB/s)": 1.5e-05, "registers per thread": 32.5, "Sequence number": 9223372036854775807,
            "Collective name": "allreduce", "device": 3, "Comms Id": 10159970886766084423}}]"#,
    ));
    let mut rest = String::new();
    trace.trace.args.rest_json(&trace.trace.strings, trace.trace.events.args(0), &mut rest);
    assert_eq!(
        rest,
        r#"{"external id":6,"correlation":-1,"bytes":"many","registers per thread":32.5,"device":3,"Comms Id":10159970886766084423}"#
    );
    let events = kinetoscope::table::table("events").unwrap();
    let value = |name: &str| events.columns.iter().find(|column| column.name == name).unwrap().values(&trace, 0..1);
    assert_eq!(value("bandwidth_gbps"), kinetoscope::table::ColumnValues::Float([Some(1.5e-05)].into_iter().collect()));
    assert_eq!(value("seq_num"), kinetoscope::table::ColumnValues::Int([Some(i64::MAX)].into_iter().collect()));
}

#[test]
fn thousands_of_arguments_are_kept() {
    let args: Vec<_> = (0..70_000).map(|at| format!(r#""k{at}": {at}"#)).collect();
    let trace = files::trace(&format!(r#"[{{"ph": "X", "ts": 1, "dur": 1, "args": {{{}}}}}]"#, args.join(",")));
    let mut text = String::new();
    trace.args.write_json(&trace.strings, trace.events.args(0), &mut text);
    assert!(text.ends_with(r#""k69999":69999}"#));
}
