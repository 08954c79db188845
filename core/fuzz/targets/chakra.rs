//! Fuzzes Chakra traces: no panic in any table.
#![no_main]

use std::sync::Arc;

use kinetoscope::read::Recording;
use kinetoscope::table::{CHAKRA_TABLES, chakra_metadata};
use kinetoscope::{Input, Limits, read_file};
use libfuzzer_sys::fuzz_target;

/// The metadata of a trace, empty, and a node that has an id.
const HEAD: &[u8] = &[0, 2, 8, 1];

fuzz_target!(|bytes: &[u8]| {
    for head in [&b""[..], HEAD] {
        let bytes = [head, bytes].concat();
        let limits = Limits { max_bytes: 1 << 22, ..Limits::default() };
        let Ok(Recording::Chakra(chakra)) = read_file(Input::new(&bytes), limits) else { continue };
        assert!(serde_json::from_str::<serde_json::Value>(&chakra_metadata(&chakra)).is_ok());
        assert!(chakra.nodes.len() + chakra.dependencies.len() <= bytes.len());
        let chakra = Arc::new(chakra);
        for table in CHAKRA_TABLES.iter().map(|table| table.of(&chakra)) {
            let rows = table.num_rows().min(100);
            (0..table.num_columns()).for_each(|column| drop(table.values(column, 0..rows)));
        }
    }
});
