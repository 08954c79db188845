//! Fuzzes Chakra traces, in protobuf and in JSON: no panic, and a written graph has the same nodes.
#![no_main]

use kinetoscope::read::Recording;
use kinetoscope::write::chakra::write_chakra;
use kinetoscope::{Input, read_file};
use kinetoscope_fuzz::{LIMITS, tables};
use libfuzzer_sys::fuzz_target;

/// Nothing; the empty metadata of a trace and a node that has an id; the start of a graph in JSON.
const HEADS: [&[u8]; 3] = [b"", &[0, 2, 8, 1], br#"{"workload_graph": ["#];

fuzz_target!(|bytes: &[u8]| {
    for head in HEADS {
        let bytes = [head, bytes].concat();
        let Ok(recording) = read_file(Input::new(&bytes), LIMITS) else { continue };
        if let Recording::Chakra(chakra) = &recording {
            let mut written = Vec::new();
            write_chakra(chakra, &mut written).expect("a vector takes all");
            // A graph is recognised by its first node, which needs an id or a name.
            let Ok(Recording::Chakra(again)) = read_file(Input::new(&written), LIMITS) else { continue };
            assert_eq!(again.nodes.len(), chakra.nodes.len());
        }
        tables::exercise_recording(recording);
    }
});
