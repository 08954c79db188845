//! Fuzzes columns of snapshots: no panic in anything that can be done with the trace.
#![no_main]

use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::write::snapshot::{MAGIC, VERSION};
use kinetoscope_fuzz::{LIMITS, exercise_columns};
use libfuzzer_sys::fuzz_target;

/// A section that holds `text` as it is.
fn section(text: &[u8]) -> Vec<u8> {
    let mut checksum = flate2::Crc::new();
    checksum.update(text);
    let length = (text.len() as u64).to_le_bytes();
    [&length, &length, checksum.sum().to_le_bytes().as_slice(), text].concat()
}

// Four times the length of a section, four bytes, and its text.
fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    let mut snapshot = [MAGIC, &[VERSION]].concat();
    for _ in 0..4 {
        let Some((length, texts)) = rest.split_first_chunk() else { return };
        let (text, others) = texts.split_at((u32::from_le_bytes(*length) as usize).min(texts.len()));
        snapshot.extend(section(text));
        rest = others;
    }
    if let Ok(trace) = read_snapshot(&snapshot, LIMITS) {
        exercise_columns(trace, bytes);
    }
});
