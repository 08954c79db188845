//! Fuzzes analyses after a read of a Kineto trace and an Execution Trace: no panic in anything that
//! can be done with the trace, and what is written reads back equal.
#![no_main]

use kinetoscope_fuzz::{exercise_trace, read_parts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(trace) = read_parts(bytes) {
        exercise_trace(trace, bytes);
    }
});
