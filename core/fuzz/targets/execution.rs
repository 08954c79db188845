//! Fuzzes Execution Traces: no panic in any table, and a written trace has the same nodes.
#![no_main]

use std::sync::Arc;

use kinetoscope::{Input, LinkedTrace, read};
use kinetoscope_fuzz::{LIMITS, tables, writers};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = [b"{\"nodes\":[".as_slice(), bytes].concat();
    for bytes in [bytes, &text] {
        let Ok(trace) = read([Input::new(bytes)], LIMITS) else { continue };
        let linked = Arc::new(LinkedTrace::new(trace));
        tables::exercise_all(&linked);
        writers::exercise(&linked);
    }
});
