//! Tests that traces with odd values, once edited and written, read back equal.

use kinetoscope::edit::{Redaction, redact};
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::write::execution::write_execution;
use kinetoscope::{Trace, time::Dur};

use crate::files;

fn chrome(trace: &Trace) -> Trace {
    let mut json = Vec::new();
    write_chrome(trace, &mut json).unwrap();
    files::trace(std::str::from_utf8(&json).unwrap())
}

#[test]
fn a_begin_with_a_duration_lasts_until_its_end() {
    let trace = files::trace(
        r#"[{"ph": "B", "name": "a", "ts": 1, "dur": 9}, {"ph": "E", "ts": 4}, {"ph": "X", "name": "b", "ts": 5, "dur": 1}]"#,
    );
    assert!(trace.events.dur.iter().eq([Dur(3_000), Dur(1_000)]));
    assert_eq!(chrome(&trace).events.dur, trace.events.dur);
}

#[test]
fn numbers_in_quotes_are_no_texts_to_redact() {
    let trace = files::trace(
        r#"{"nodes": [{"id": "7", "name": "mine", "ctrl_deps": "7", "attrs": [{"name": "rf_id", "value": "3"}]}]}"#,
    );
    let redacted = &redact([&trace], Redaction::default())[0];
    let mut json = Vec::new();
    write_execution(redacted, &mut json).unwrap();
    let json = String::from_utf8(json).unwrap();
    assert!(!json.contains("mine") && json.contains(r#""id":"7""#), "{json}");
    let node = &files::trace(&json).nodes[0];
    assert_eq!((node.id, node.parent, node.record_id), (7, Some(7), 3));
}
