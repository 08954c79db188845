//! Fuzzes Execution Traces: no panic in any table.
#![no_main]

use kinetoscope::table::TABLES;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = [b"{\"nodes\":[".as_slice(), bytes].concat();
    for bytes in [bytes, &text] {
        let Ok(trace) = read([Input::new(bytes)], Limits { max_bytes: 1 << 22, ..Limits::default() }) else { continue };
        let linked = LinkedTrace::new(trace);
        for table in TABLES {
            let rows = (table.num_rows)(&linked).min(100);
            table.columns.iter().for_each(|column| drop(column.values(&linked, 0..rows)));
        }
    }
});
