//! Fuzzes databases of other profilers: no panic in the reader, nor in what is done with the trace.
#![no_main]

use kinetoscope_fuzz::exercise_file;
use libfuzzer_sys::fuzz_target;

/// The first bytes of every database.
const HEAD: &[u8] = b"SQLite format 3\0";

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(HEAD) {
        exercise_file(bytes);
    }
});
