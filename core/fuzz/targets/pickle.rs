//! Fuzzes pickles and JSON of memory snapshots, memory timelines and flight recorders: no panic.
#![no_main]

use kinetoscope::{Input, read_file};
use kinetoscope_fuzz::{LIMITS, tables};
use libfuzzer_sys::fuzz_target;

const HEADS: [&[u8]; 6] = [
    b"",
    b"\x80\x04",
    b"[[",
    br#"{"segments":"#,
    br#"{"device_traces":"#,
    br#"{"entries":[],"version":"2","pg_config":"#,
];

fuzz_target!(|bytes: &[u8]| {
    for head in HEADS {
        let bytes = [head, bytes].concat();
        if let Ok(recording) = read_file(Input::new(&bytes), LIMITS) {
            tables::exercise_recording(recording);
        }
    }
});
