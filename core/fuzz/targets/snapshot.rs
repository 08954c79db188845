//! Any columns as a snapshot: no panic, whatever they claim.
#![no_main]

use std::io::Write as _;

use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::view::Session;
use kinetoscope::write::snapshot::{MAGIC, VERSION};
use kinetoscope::{Limits, LinkedTrace};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("a vector takes all");
    let packed = encoder.finish().expect("a vector takes all");
    let snapshot = [MAGIC, &[VERSION], &(bytes.len() as u64).to_le_bytes(), &packed].concat();
    let Ok(trace) = read_snapshot(&snapshot, Limits { max_bytes: 1 << 22, ..Limits::default() }) else { return };
    let session = Session::new(LinkedTrace::new(trace));
    session.query(br#"{"type":"overview"}"#);
    session.query(br#"{"type":"summary"}"#);
    session.query(br#"{"type":"tiles","tracks":[0,1,2,3],"start":0,"end":1000000,"pixels":50}"#);
});
