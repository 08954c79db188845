//! Tests compressed streams and archives.

use std::io::Write as _;

use kinetoscope::{Container, Input, Limits, WarningKind, read, sniff};

use crate::files;

const JSON: &[u8] = br#"{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}"#;

/// `JSON` as `xz -9` and `zstd -19` write it.
const XZ: &[u8] = include_bytes!("../data/containers/trace.json.xz");
const ZSTD: &[u8] = include_bytes!("../data/containers/trace.json.zst");

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn streams_are_told_by_their_content() {
    for (bytes, container) in [(gzip(JSON).as_slice(), Container::Gzip), (XZ, Container::Xz), (ZSTD, Container::Zstd)] {
        assert_eq!(sniff(bytes), container);
        let trace = read([Input::new(bytes)], Limits::default()).unwrap();
        assert_eq!((trace.events.len(), trace.events.dur[0].0), (1, 2_000));
        assert_eq!(trace.warnings.iter().len(), 0);
        let cut = read([Input::new(&bytes[..bytes.len() - 3])], Limits::default());
        let count = cut.map_or(1, |trace| trace.warnings.count(WarningKind::DamagedCompression));
        assert_eq!(count, 1, "{container:?}");
    }
}

#[test]
fn several_members_of_gzip_are_one_text() {
    let (head, tail) = JSON.split_at(30);
    let trace = read([Input::new(&[gzip(head), gzip(tail)].concat())], Limits::default()).unwrap();
    assert_eq!(trace.events.len(), 1);
}

#[test]
fn frames_of_zstd_are_one_text() {
    let empty = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], b"abcd"].concat();
    for frames in [[ZSTD, b" ", b" "].concat(), [&empty, ZSTD, &empty].concat(), [ZSTD, ZSTD].concat()] {
        let frames = frames.strip_suffix(b"  ").unwrap_or(&frames);
        let trace = read([Input::new(frames)], Limits::default()).unwrap();
        assert_eq!(trace.events.len(), 1);
        let is_twice = frames.len() == 2 * ZSTD.len();
        assert_eq!(trace.warnings.count(WarningKind::TrailingText), u64::from(is_twice));
        assert_eq!(trace.warnings.count(WarningKind::DamagedCompression), 0);
    }
}

#[test]
fn archives_give_their_files_without_shadows() {
    let files: &[(&str, &[u8])] =
        &[("run/rank-0.json", JSON), ("run/._rank-0.json", b"shadow"), ("run/rank-1.json.gz", b"x")];
    for archive in [tar(files), gzip(&tar(files)), zip(files)] {
        let found = files::members(&archive, Limits::default()).unwrap().unwrap();
        let names: Vec<_> = found.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["run/rank-0.json", "run/rank-1.json.gz"]);
        assert_eq!(found[0].bytes, JSON);
        let error = read([Input::new(&archive)], Limits::default()).unwrap_err().to_string();
        assert!(error.contains("archive"), "{error}");
        assert!(files::members(&archive, Limits { max_bytes: 20, ..Limits::default() }).is_err());
    }
    assert!(files::members(JSON, Limits::default()).unwrap().is_none());
    assert!(files::members(&tar(files)[..600], Limits::default()).is_err());
}

#[test]
fn fixtures_of_other_programs_are_named() {
    let words = |bytes: &[u8]| sniff(bytes).words();
    assert_eq!(
        words(b"version https://git-lfs.github.com/spec/v1"),
        "a Git LFS pointer (fetch the file with `git lfs pull`)"
    );
    assert_eq!(words(b"\x80\x04\x95"), "a Python pickle");
    assert_eq!(words(&files::bytes("hostile/kineto_trace_0.json.gz")), "a gzip stream");
}
