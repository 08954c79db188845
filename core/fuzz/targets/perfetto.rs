//! Fuzzes traces of Perfetto: no panic in the reader, nor in what is done with the trace.
#![no_main]

use kinetoscope_fuzz::exercise_file;
use libfuzzer_sys::fuzz_target;

/// The first byte of every packet.
const TAG: u8 = 0x0a;

fuzz_target!(|bytes: &[u8]| {
    if bytes.first() == Some(&TAG) {
        exercise_file(bytes);
    }
});
