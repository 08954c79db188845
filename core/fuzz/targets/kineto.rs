//! Fuzzes Kineto traces: no panic, and a written trace reads back equal.
#![no_main]

use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::view::Session;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{Input, Limits, LinkedTrace, WarningKind, read, write_snapshot};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { max_bytes: 1 << 22, max_threads: 1 };

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = read([Input::new(bytes)], LIMITS) else { return };
    let streamed = read([Input::stream(bytes)], LIMITS).expect("a stream gives what the bytes give");
    // How much a decompressor gives before it finds damage depends on how much it is asked for.
    if trace.warnings.count(WarningKind::DamagedCompression) == 0 {
        assert_eq!(streamed.events, trace.events);
    }
    let again = read_snapshot(&write_snapshot(&trace).expect("encodes"), Limits::default()).expect("loads");
    assert_eq!(again.events.start, trace.events.start);
    assert_eq!(again.events.name, trace.events.name);
    let mut json = Vec::new();
    write_chrome(&trace, &mut json).expect("a vector takes all");
    let again = read([Input::new(&json)], Limits::default()).expect("what is written reads");
    assert_eq!(again.events.position, trace.events.position);
    assert_eq!(again.events.dur, trace.events.dur);
    let session = Session::new(LinkedTrace::new(trace));
    for request in [
        &br#"{"type":"overview"}"#[..],
        br#"{"type":"summary"}"#,
        br#"{"type":"tiles","tracks":[0,1,2,3],"start":0,"end":1000000,"pixels":50}"#,
        br#"{"type":"search","text":"a","limit":5}"#,
    ] {
        session.query(request);
    }
    for id in session.linked.trace.events.position.iter().take(5) {
        session.query(format!(r#"{{"type":"event","id":{id}}}"#).as_bytes());
    }
    session.picture(400);
});
