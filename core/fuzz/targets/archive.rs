//! Fuzzes tar and zip archives, in place and as streams: no panic, bounded texts, and members that
//! are the same either way.
#![no_main]

use std::io::{Cursor, Read as _};
use std::sync::Arc;

use kinetoscope::read::{ArchiveSource, for_each_member};
use kinetoscope::{Input, Limits, read_file};
use kinetoscope_fuzz::LIMITS;
use libfuzzer_sys::fuzz_target;

const TEXT: Limits = Limits { max_bytes: 1 << 18, ..LIMITS };

/// The names of the members, and whether the whole archive is read.
fn members(source: ArchiveSource<'_>) -> (Vec<String>, bool) {
    let (mut names, mut total) = (Vec::new(), 0);
    let outcome = for_each_member(source, "archive", TEXT, |member| {
        names.push(member.name.clone());
        let _ = member.head(16);
        let mut text = Vec::new();
        let Ok(reader) = member.bytes().and_then(|bytes| member.text(bytes)) else { return Ok(()) };
        if reader.take(1 << 20).read_to_end(&mut text).is_ok() {
            total += text.len() as u64;
            assert!(total <= TEXT.max_bytes, "more text than the limit");
            let _ = read_file(Input::new(&text), TEXT);
        }
        Ok(())
    });
    (names, outcome.is_ok_and(|is_archive| is_archive))
}

fuzz_target!(|bytes: &[u8]| {
    let (in_place, is_whole) = members(ArchiveSource::InPlace(Arc::new(bytes.to_vec())));
    let (streamed, is_whole_stream) = members(ArchiveSource::Stream(Box::new(Cursor::new(bytes))));
    if is_whole && is_whole_stream {
        assert_eq!(in_place, streamed);
    }
});
