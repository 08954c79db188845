//! Tests damaged snapshots: a clear error or a load without a panic.

use kinetoscope::id::StrId;
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::trace::args::FieldValue;
use kinetoscope::view::Session;
use kinetoscope::write::execution::write_execution;
use kinetoscope::write::snapshot::{SavedArguments, SnapshotColumns};
use kinetoscope::{Input, Limits, LinkedTrace, read, write_snapshot};
use proptest::prelude::*;

use crate::files;

/// A snapshot's bytes before its first section: magic and version.
const HEAD: usize = 8;
/// A section's bytes before its stream: two lengths, a checksum.
const SECTION_HEAD: usize = 20;

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// Where each of a snapshot's sections starts.
fn section_starts(snapshot: &[u8]) -> Vec<usize> {
    let end = |at: &usize| at + SECTION_HEAD + number(&snapshot[at + 8..]) as usize;
    std::iter::successors(Some(HEAD), |at| Some(end(at)).filter(|end| *end < snapshot.len())).collect()
}

/// The content of a section.
fn section_text(bytes: &[u8]) -> Vec<u8> {
    let [length, body_length] = [0, 8].map(|at| number(&bytes[at..]) as usize);
    let body = &bytes[SECTION_HEAD..][..body_length];
    if length == body_length {
        return body.to_vec();
    }
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::DeflateDecoder::new(body), &mut text).unwrap();
    text
}

/// A section that holds `text`.
fn section(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, text).unwrap();
    let body = encoder.finish().unwrap();
    let mut checksum = flate2::Crc::new();
    checksum.update(text);
    let lengths = [text.len(), body.len()].map(|length| (length as u64).to_le_bytes()).concat();
    [&lengths, checksum.sum().to_le_bytes().as_slice(), &body].concat()
}

/// A snapshot with one of its sections changed.
fn changed(snapshot: &[u8], which: usize, change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let texts = section_starts(snapshot).into_iter().map(|start| section_text(&snapshot[start..])).enumerate();
    let sections = texts.map(|(at, text)| section(&if at == which { change(&text) } else { text }));
    [&snapshot[..HEAD], &sections.collect::<Vec<_>>().concat()].concat()
}

type Change = fn(&mut SnapshotColumns<'_>);

/// The result of reading a file with these bytes.
fn refusal(bytes: &[u8]) -> String {
    read::read_file(Input::new(bytes).named("run.kscope"), Limits::default()).unwrap_err().to_string()
}

#[test]
fn a_snapshot_that_names_a_text_that_is_not_there_is_refused() {
    const FAR: StrId = StrId(1 << 20);
    let changes: [(&str, Change); 6] = [
        ("the header", |columns| columns.header.push((StrId::EMPTY, FAR))),
        ("the header", |columns| columns.execution_header.push((FAR, StrId::EMPTY))),
        ("a track", |columns| columns.tracks[0].name = FAR),
        ("a process", |columns| columns.processes[0].labels = FAR),
        ("a node", |columns| columns.nodes[1].outputs.types = FAR),
        ("a flow", |columns| columns.flow_names.push((0, FAR))),
    ];
    let snapshot = write_snapshot(&files::pair("synthetic_cuda").trace).unwrap();
    for (whose, change) in changes {
        let wrong = changed(&snapshot, 0, |text| {
            let mut columns = postcard::from_bytes(text).unwrap();
            change(&mut columns);
            postcard::to_stdvec(&columns).unwrap()
        });
        let expected = format!("found a missing text of {whose} (run.kscope)");
        assert!(refusal(&wrong).ends_with(&expected), "{}", refusal(&wrong));
    }
    let wrong = changed(&snapshot, 2, |text| {
        let mut arguments: SavedArguments<'_> = postcard::from_bytes(text).unwrap();
        arguments.templates.iter_mut().flatten().next().unwrap().key = FAR;
        postcard::to_stdvec(&arguments).unwrap()
    });
    assert!(refusal(&wrong).contains("a missing text"), "{}", refusal(&wrong));
}

#[test]
fn a_snapshot_whose_header_lacks_its_base_time_is_refused() {
    let snapshot = write_snapshot(&files::pair("synthetic_cuda").trace).unwrap();
    let changes: [Change; 2] = [|columns| columns.header.clear(), |columns| columns.base_ns += 1];
    for change in changes {
        let wrong = changed(&snapshot, 0, |text| {
            let mut columns = postcard::from_bytes(text).unwrap();
            change(&mut columns);
            postcard::to_stdvec(&columns).unwrap()
        });
        assert!(refusal(&wrong).contains("a base time that the header lacks"), "{}", refusal(&wrong));
    }
}

#[test]
fn a_snapshot_with_a_broken_value_is_refused() {
    let snapshot = write_snapshot(&files::pair("synthetic_cuda").trace).unwrap();
    let changes: [(&str, Change); 5] = [
        ("the header", |columns| columns.header[0].1 = columns.header[0].0),
        ("the header", |columns| columns.header[0].1 = StrId::EMPTY),
        ("a node", |columns| columns.nodes[1].outputs.types = columns.nodes[1].name),
        ("a node", |columns| columns.nodes[1].layout = columns.nodes[1].name),
        ("a node", |columns| columns.nodes[1].layout = columns.nodes[1].outputs.types),
    ];
    for (whose, change) in changes {
        let wrong = changed(&snapshot, 0, |text| {
            let mut columns = postcard::from_bytes(text).unwrap();
            change(&mut columns);
            postcard::to_stdvec(&columns).unwrap()
        });
        assert!(refusal(&wrong).contains(&format!("a text of {whose} that is no JSON")), "{}", refusal(&wrong));
    }
    let wrong = changed(&snapshot, 2, |text| {
        let mut arguments: SavedArguments<'_> = postcard::from_bytes(text).unwrap();
        let fields = arguments.templates.iter_mut().flatten();
        let mut values = fields.map(|field| &mut field.value).filter(|value| matches!(value, FieldValue::Json(_)));
        *values.next().unwrap() = FieldValue::Json(StrId::EMPTY);
        postcard::to_stdvec(&arguments).unwrap()
    });
    assert!(refusal(&wrong).contains("a text of an argument that is no JSON"), "{}", refusal(&wrong));
}

#[test]
fn a_value_that_a_snapshot_lacks_is_written_as_null() {
    let snapshot = write_snapshot(&files::pair("synthetic_cuda").trace).unwrap();
    let without = changed(&snapshot, 0, |text| {
        let mut columns: SnapshotColumns<'_> = postcard::from_bytes(text).unwrap();
        for node in &mut columns.nodes {
            (node.inputs, node.outputs, node.rest) = Default::default();
        }
        postcard::to_stdvec(&columns).unwrap()
    });
    let trace = read_snapshot(&without, Limits::default()).unwrap();
    let mut written = Vec::new();
    write_execution(&trace, &mut written).unwrap();
    let written: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert!(written["nodes"][1]["inputs"]["strides"].is_null());
}

#[test]
fn a_snapshot_with_more_than_its_rows_have_is_refused() {
    let snapshot = write_snapshot(&files::pair("synthetic_cuda").trace).unwrap();
    for which in 0..4 {
        let wrong = changed(&snapshot, which, |text| [text, &[0]].concat());
        assert!(refusal(&wrong).contains("found extra bytes after the columns"), "{}", refusal(&wrong));
    }
    let wrong = changed(&snapshot, 2, |text| {
        let mut arguments: SavedArguments<'_> = postcard::from_bytes(text).unwrap();
        arguments.values.push((StrId::EMPTY, postcard::from_bytes(&[1, 5]).unwrap()));
        postcard::to_stdvec(&arguments).unwrap()
    });
    assert!(refusal(&wrong).contains("found more numbers than the rows have"), "{}", refusal(&wrong));
    let wrong = changed(&snapshot, 0, |text| {
        let mut columns: SnapshotColumns<'_> = postcard::from_bytes(text).unwrap();
        columns.flow_names.push((1 << 20, StrId::EMPTY));
        postcard::to_stdvec(&columns).unwrap()
    });
    assert!(refusal(&wrong).contains("found a missing flow id"), "{}", refusal(&wrong));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_snapshot_that_says_another_length_is_refused(length in any::<u64>(), cut in any::<prop::sample::Index>()) {
        let snapshot = write_snapshot(&files::pair("hostile").trace).unwrap();
        for at in section_starts(&snapshot).into_iter().flat_map(|start| [start, start + 8]) {
            prop_assume!(number(&snapshot[at..]) != length);
            let mutant = [&snapshot[..at], &length.to_le_bytes(), &snapshot[at + 8..]].concat();
            prop_assert!(read_snapshot(&mutant, Limits::default()).is_err());
        }
        prop_assert!(read_snapshot(&snapshot[..cut.index(snapshot.len())], Limits::default()).is_err());
    }

    #[test]
    fn mutated_snapshots_do_not_panic(
        edits in prop::collection::vec((0..4_usize, any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let snapshot = write_snapshot(&files::pair("hostile").trace).unwrap();
        let mut sections = section_starts(&snapshot).iter().map(|start| section_text(&snapshot[*start..])).collect::<Vec<_>>();
        for (which, place, byte) in edits {
            let section = &mut sections[which];
            let at = place.index(section.len());
            section[at] = byte;
        }
        let mutant = [&snapshot[..HEAD], &sections.iter().map(|text| section(text)).collect::<Vec<_>>().concat()].concat();
        if let Ok(trace) = read_snapshot(&mutant, Limits::default()) {
            let session = Session::new(LinkedTrace::new(trace));
            session.query(br#"{"type":"overview"}"#);
            session.query(br#"{"type":"summary"}"#);
            session.query(br#"{"type":"tiles","tracks":[0,1,2],"start":0,"end":1e9,"pixels":100}"#);
        }
    }
}
