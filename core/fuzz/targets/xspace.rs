//! Fuzzes profiles of XLA: no panic in the reader, nor in what is done with the trace.
#![no_main]

use kinetoscope_fuzz::exercise_file;
use libfuzzer_sys::fuzz_target;

/// The start of a file with a plane, whose name is short.
const HEAD: &[u8] = b"\x0a\xff\xff\x7f\x12\x09/host:CPU";

fuzz_target!(|bytes: &[u8]| {
    // Whole files, and the insides of one plane, whose length need not be right.
    if bytes.first() == HEAD.first() {
        exercise_file(bytes);
    }
    exercise_file(&[HEAD, bytes].concat());
});
