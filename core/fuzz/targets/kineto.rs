//! Fuzzes Kineto traces, plain and compressed: no panic, streams give what bytes give, and a
//! written trace reads back equal.
#![no_main]

use std::sync::Arc;

use kinetoscope::{Input, LinkedTrace, WarningKind, read};
use kinetoscope_fuzz::{LIMITS, screens, writers};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = read([Input::new(bytes)], LIMITS) else { return };
    let streamed = read([Input::stream(bytes)], LIMITS).expect("a stream gives what the bytes give");
    // How much a decompressor gives before it finds damage depends on how much it is asked for.
    if trace.warnings.count(WarningKind::DamagedCompression) == 0 {
        assert_eq!(streamed.events, trace.events);
    }
    let linked = Arc::new(LinkedTrace::new(trace));
    writers::exercise(&linked);
    screens::exercise(&linked);
});
