//! Tests compressed streams and archives.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use kinetoscope::read::{ArchiveMember, ArchiveSource};
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
        assert_eq!((trace.events.len(), trace.events.dur.at(0).0), (1, 2_000));
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
        assert_eq!(trace.warnings.count(WarningKind::SecondDocument), u64::from(is_twice));
        assert_eq!(trace.warnings.count(WarningKind::DamagedCompression), 0);
    }
}

/// The same archive in one place and as a stream.
fn sources(archive: &[u8]) -> Vec<ArchiveSource<'_>> {
    vec![ArchiveSource::InPlace(Arc::new(archive.to_vec())), ArchiveSource::Stream(Box::new(archive))]
}

fn members(source: ArchiveSource<'_>) -> Vec<ArchiveMember> {
    files::members(source, Limits::default()).unwrap().unwrap()
}

fn text(member: &ArchiveMember) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    member.text(member.bytes().unwrap()).unwrap().read_to_end(&mut text)?;
    Ok(text)
}

#[test]
fn archives_give_their_files_without_shadows() {
    let files: &[(&str, &[u8])] =
        &[("run/rank-0.json", JSON), ("run/._rank-0.json", b"shadow"), ("run/rank-1.json.gz", &gzip(JSON))];
    for archive in [tar(files), gzip(&tar(files)), zip(files)] {
        for source in sources(&archive) {
            let found = members(source);
            let names: Vec<_> = found.iter().map(|member| member.name.as_str()).collect();
            assert_eq!(names, ["run/rank-0.json", "run/rank-1.json.gz"]);
            assert_eq!([text(&found[0]).unwrap(), text(&found[1]).unwrap()], [JSON, JSON]);
        }
        let error = read([Input::new(&archive)], Limits::default()).unwrap_err().to_string();
        assert!(error.contains("archive"), "{error}");
    }
    for source in sources(JSON) {
        assert!(files::members(source, Limits::default()).unwrap().is_none());
    }
    for source in sources(&tar(files)[..600]) {
        assert!(files::members(source, Limits::default()).is_err());
    }
}

#[test]
fn all_members_share_one_limit() {
    let packed = gzip(JSON);
    let files: &[(&str, &[u8])] = &[("a.json", JSON), ("b.json.gz", &packed), ("c.txt", b"no trace")];
    for archive in [tar(files), gzip(&tar(files)), zip(files)] {
        for source in sources(&archive) {
            let max_bytes = 20_000 + 2 * JSON.len() as u64 - 1;
            let limits = Limits { max_bytes, ..Limits::default() };
            let found = files::members(source, limits).unwrap().unwrap();
            let long = |member: &ArchiveMember, num_blanks: usize| {
                let blanks = vec![b' '; num_blanks];
                let stream = member.bytes().unwrap();
                let mut text = Vec::new();
                let outcome = member.text(stream.chain(&blanks[..])).unwrap().read_to_end(&mut text);
                outcome.map_err(|error| error.to_string())
            };
            // A second read does not count.
            for _ in 0..3 {
                assert!(long(&found[0], 20_000).is_ok());
            }
            let error = long(&found[1], 0).unwrap_err();
            assert!(error.contains(&format!("at most {max_bytes} bytes of text")), "{error}");
            assert!(error.ends_with("(archive/b.json.gz)"), "{error}");
        }
    }
    let limits = Limits { max_bytes: 2_000, ..Limits::default() };
    let error = files::members(ArchiveSource::Stream(Box::new(&gzip(&tar(files))[..])), limits).unwrap_err();
    assert!(error.to_string().ends_with("found more (archive)"), "{error}");
}

#[test]
fn long_texts_of_a_compressed_archive_are_kept_compressed() {
    let blanks = vec![b' '; 40 << 20];
    let long = [JSON, &blanks, b"x"].concat();
    let archive = gzip(&tar(&[("a.json", &long), ("b.json", JSON)]));
    let found = members(ArchiveSource::Stream(Box::new(&archive[..])));
    let kept: Vec<_> = found.iter().map(ArchiveMember::num_kept_bytes).collect();
    assert!(kept[0] < 1 << 20, "{} bytes", kept[0]);
    assert_eq!(kept[1], JSON.len() as u64);
    assert_eq!(text(&found[0]).unwrap(), long);
    assert_eq!(text(&found[1]).unwrap(), JSON);
}

#[test]
fn damage_inside_an_archive_is_found() {
    let mut archive = zip(&[("a.json", JSON)]);
    let at = archive.windows(4).position(|bytes| bytes == [0x50, 0x4b, 0x01, 0x02]).unwrap();
    archive[at + 16] ^= 1; // the checksum in the directory
    let found = members(ArchiveSource::InPlace(Arc::new(archive)));
    assert!(text(&found[0]).unwrap_err().to_string().contains("checksum"));
    let whole = found[0].text(found[0].bytes().unwrap()).unwrap();
    let trace = read([Input::stream(whole)], Limits::default()).unwrap();
    assert_eq!((trace.events.len(), trace.warnings.count(WarningKind::DamagedCompression)), (1, 1));
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
