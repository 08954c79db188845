//! Any columns as a snapshot: no panic, whatever they claim.
#![no_main]

use std::io::Write as _;

use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::view::Session;
use kinetoscope::write::snapshot::{MAGIC, VERSION};
use kinetoscope::{Limits, LinkedTrace};
use libfuzzer_sys::fuzz_target;

/// A section that holds `text`.
fn section(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("a vector takes all");
    let body = encoder.finish().expect("a vector takes all");
    let mut checksum = flate2::Crc::new();
    checksum.update(text);
    let lengths = [text.len(), body.len()].map(|length| (length as u64).to_le_bytes()).concat();
    [&lengths, checksum.sum().to_le_bytes().as_slice(), &body].concat()
}

// The length of the first section, four bytes; then the first section's text, and the second's.
fuzz_target!(|bytes: &[u8]| {
    let Some((length, texts)) = bytes.split_first_chunk() else { return };
    let (columns, arguments) = texts.split_at((u32::from_le_bytes(*length) as usize).min(texts.len()));
    let snapshot = [MAGIC, &[VERSION], &section(columns), &section(arguments)].concat();
    let Ok(trace) = read_snapshot(&snapshot, Limits { max_bytes: 1 << 22, ..Limits::default() }) else { return };
    let session = Session::new(LinkedTrace::new(trace));
    session.query(br#"{"type":"overview"}"#);
    session.query(br#"{"type":"summary"}"#);
    session.query(br#"{"type":"tiles","tracks":[0,1,2,3],"start":0,"end":1000000,"pixels":50}"#);
});
