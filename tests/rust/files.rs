//! Reads the fixtures.

use std::path::PathBuf;

use std::io::Read as _;
use std::sync::Arc;

use kinetoscope::read::{ArchiveMember, ArchiveSource, for_each_member};
use kinetoscope::table::{TableRows, json_lines};
use kinetoscope::view::Session;
use kinetoscope::{Error, Input, Limits, LinkedTrace, Trace, read};

/// A place in the repository.
pub(crate) fn path(relative: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(relative)
}

/// A fixture's bytes.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path("tests/data").join(name)).expect("a fixture")
}

/// A fixture's Kineto trace with its Execution Trace.
pub(crate) fn pair(folder: &str) -> LinkedTrace {
    let kineto = bytes(&format!("{folder}/kineto_trace_0.json.gz"));
    let execution = bytes(&format!("{folder}/torch_et_0.json.gz"));
    let inputs = [Input::new(&kineto), Input::new(&execution)];
    LinkedTrace::new(read(inputs, Limits::default()).expect("a fixture that reads"))
}

/// The only trace of a session.
pub(crate) fn shown(session: &Session) -> &LinkedTrace {
    session.traces().next().unwrap()
}

/// A session over a fixture.
pub(crate) fn session(folder: &str) -> Session {
    Session::new(pair(folder))
}

/// The files in an archive; `None` when it is none.
pub(crate) fn members(archive: ArchiveSource<'_>, limits: Limits) -> Result<Option<Vec<ArchiveMember>>, Error> {
    let mut members = Vec::new();
    let is_archive = for_each_member(archive, "archive", limits, |member| {
        members.push(member);
        Ok(())
    })?;
    Ok(is_archive.then_some(members))
}

/// The files in an archive, each with its name and text; `None` when it is none.
pub(crate) fn texts(archive: Vec<u8>) -> Option<Vec<(String, Vec<u8>)>> {
    let members = members(ArchiveSource::InPlace(Arc::new(archive)), Limits::default()).ok()??;
    let text = |member: ArchiveMember| {
        let mut text = Vec::new();
        member.text(member.bytes().ok()?).ok()?.read_to_end(&mut text).ok()?;
        Some((member.name, text))
    };
    Some(members.into_iter().filter_map(text).collect())
}

/// The trace of a text.
pub(crate) fn trace(json: &str) -> Trace {
    read([Input::new(json.as_bytes())], Limits::default()).expect("a trace")
}

/// A fixture's text, inflated.
pub(crate) fn text(name: &str) -> Vec<u8> {
    use std::io::Read as _;
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes(name).as_slice()).read_to_end(&mut text).expect("gzip");
    text
}

/// The rows of a table as objects.
pub(crate) fn rows(table: &dyn TableRows) -> Vec<serde_json::Value> {
    let columns: Vec<_> = (0..table.num_columns()).collect();
    let mut lines = String::new();
    json_lines(table, &columns, 0..table.num_rows(), "", &mut lines);
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
