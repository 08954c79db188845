//! Fuzzes metrics beside a trace: no panic, and a written trace has the same counters.
#![no_main]

use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{Input, read};
use kinetoscope_fuzz::LIMITS;
use libfuzzer_sys::fuzz_target;

const HEAD: &[u8] = b"{\"kinetoscope_metrics\"";
const TRACE: &[u8] = br#"{"baseTimeNanoseconds": 1000000, "traceEvents": [
    {"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 100, "dur": 10},
    {"ph": "X", "name": "b", "pid": 1, "tid": 2, "ts": 140, "dur": 10}]}"#;

fuzz_target!(|bytes: &[u8]| {
    let metrics = if bytes.starts_with(HEAD) { bytes.to_vec() } else { [HEAD, b": 1}\n", bytes].concat() };
    let Ok(trace) = read([Input::new(TRACE), Input::new(&metrics)], LIMITS) else { return };
    let mut json = Vec::new();
    write_chrome(&trace, &mut json).expect("a vector takes all");
    let again = read([Input::new(&json)], LIMITS).expect("what is written reads");
    let counters =
        |trace: &kinetoscope::Trace| trace.counters.iter().map(|row| (row.position, row.time)).collect::<Vec<_>>();
    assert_eq!(counters(&again), counters(&trace));
});
