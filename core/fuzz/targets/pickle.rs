//! Fuzzes pickles of memory snapshots and memory timelines: no panic, and bounded tables.
#![no_main]

use std::sync::Arc;

use kinetoscope::read::Recording;
use kinetoscope::table::{MEMORY_SNAPSHOT_TABLES, MEMORY_TIMELINE_TABLES, TableRows};
use kinetoscope::{Input, Limits, read_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for head in [&b""[..], b"\x80\x04", b"[[", br#"{"segments":"#] {
        let bytes = [head, bytes].concat();
        let tables: Vec<_> = match read_file(Input::new(&bytes), Limits { max_bytes: 1 << 22, ..Limits::default() }) {
            Ok(Recording::MemorySnapshot(snapshot)) => {
                assert!(serde_json::from_str::<serde_json::Value>(&snapshot.metadata).is_ok());
                let snapshot = Arc::new(*snapshot);
                MEMORY_SNAPSHOT_TABLES.iter().map(|table| table.of(&snapshot)).collect()
            }
            Ok(Recording::MemoryTimeline(timeline)) => {
                let timeline = Arc::new(timeline);
                MEMORY_TIMELINE_TABLES.iter().map(|table| table.of(&timeline)).collect()
            }
            _ => continue,
        };
        tables.iter().for_each(|table| exercise(&**table, bytes.len()));
    }
});

fn exercise(table: &dyn TableRows, num_bytes: usize) {
    assert!(table.num_rows() <= num_bytes);
    let rows = table.num_rows().min(100);
    (0..table.num_columns()).for_each(|column| drop(table.values(column, 0..rows)));
}
