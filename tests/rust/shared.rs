//! Tests real traces of other people, where they are available.

use std::path::{Path, PathBuf};

use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::table::TABLES;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, read, write_snapshot};

use crate::files;

/// A file below the shared folder.
fn path(relative: &str) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "where the traces are is for the person who runs the tests to say")]
    let folder = std::env::var_os("KINETOSCOPE_SHARED").map_or_else(|| files::path("../shared"), PathBuf::from);
    folder.join("data").join(relative)
}

/// The trace in one file below the shared folder; none where the folder is not.
pub(crate) fn trace(relative: &str) -> Option<Trace> {
    let bytes = std::fs::read(path(relative)).ok()?;
    Some(read([Input::new(&bytes)], Limits::default()).unwrap())
}

/// Every trace below the shared folder, with its name; none where the folder is not.
pub(crate) fn traces() -> Vec<(String, Trace)> {
    let mut paths = Vec::new();
    list(&path(""), &mut paths);
    paths.sort();
    let is_there = !paths.is_empty();
    let mut traces = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.display().to_string();
        let files = match files::texts(bytes.clone()) {
            Some(files) => files.into_iter().map(|(file, text)| (format!("{name}: {file}"), text)).collect(),
            None => vec![(name, bytes)],
        };
        traces.extend(files.into_iter().filter_map(|(name, bytes)| {
            let trace = read([Input::new(&bytes)], Limits::default()).ok()?;
            Some((name, trace))
        }));
    }
    assert!(!is_there || traces.len() > 60, "only {} traces read", traces.len());
    traces
}

/// The traces in an archive, in their order; none where the folder is not.
pub(crate) fn archived(relative: &str) -> Option<Vec<Trace>> {
    let bytes = std::fs::read(path(relative)).ok()?;
    let files = files::texts(bytes).unwrap();
    let traces = files.iter().map(|(_, text)| read([Input::new(text)], Limits::default()).unwrap());
    Some(traces.collect())
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { list(&path, paths) } else { paths.push(path) }
    }
}

/// Everything that a user can see of a trace but its health, which tells of the file.
pub(crate) fn seen(linked: &LinkedTrace) -> Vec<String> {
    let tables = TABLES.iter().filter(|table| table.name != "health" && table.name != "tensors");
    let columns = tables.flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let text = |(table, column): (&&kinetoscope::table::Table, &kinetoscope::table::Column)| {
        format!("{} {} {:?}", table.name, column.name, column.values(linked, 0..(table.num_rows)(linked)))
    };
    columns.map(text).collect()
}

pub(crate) fn assert_same(name: &str, how: &str, before: &[String], after: Trace) {
    for (before, after) in before.iter().zip(seen(&LinkedTrace::new(after))) {
        assert!(*before == after, "{name}: {how} changed {}", &before[..before.len().min(30)]);
    }
}

#[test]
fn what_is_written_reads_back_equal() {
    for (name, mut trace) in
        traces().into_iter().chain([(String::from("synthetic"), files::pair("synthetic_cuda").trace)])
    {
        trace.nodes.clear();
        let snapshot = write_snapshot(&trace).unwrap();
        let mut json = Vec::new();
        write_chrome(&trace, &mut json).unwrap();
        assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&json).is_ok(), "{name}: not strict JSON");
        let before = seen(&LinkedTrace::new(trace));
        let again = read([Input::new(&json)], Limits::default()).unwrap();
        assert_same(&name, "Chrome's JSON", &before, again);
        assert_same(&name, "the snapshot", &before, read_snapshot(&snapshot, Limits::default()).unwrap());
    }
}
