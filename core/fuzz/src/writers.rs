//! Writes a trace in every format, and reads it back where it is read.

use std::io;
use std::sync::Arc;

use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::replay::{plan, write_param_comms};
use kinetoscope::write::chakra::{chakra_from_trace, comm_groups};
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::write::et_plus::{EtPlusRules, write_et_plus};
use kinetoscope::write::execution::write_execution;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, read, write_snapshot};
use serde_json::value::RawValue;

use super::tables::exercise_recording;

/// Writes a trace in all formats.
pub type Write = fn(&Arc<LinkedTrace>);

/// Writes all formats.
pub fn exercise(linked: &Arc<LinkedTrace>) {
    expect_same_events(linked, true);
    expect_same_nodes(&linked.trace);
    exercise_columns(linked);
}

/// Writes all formats of a part of a trace.
pub fn exercise_part(linked: &Arc<LinkedTrace>) {
    expect_same_events(linked, false);
    expect_same_nodes(&linked.trace);
    exercise_columns(linked);
}

/// Writes all formats of a trace that no reader made: keys and times may be others when it is read.
pub fn exercise_columns(linked: &Arc<LinkedTrace>) {
    expect_same_snapshot(&linked.trace);
    expect_json(|out| write_param_comms(linked, out).map(drop));
    let _ = (plan(linked), comm_groups(linked, None), comm_groups(linked, Some(4)));
    if linked.trace.nodes.is_empty() {
        return;
    }
    expect_json(|out| write_et_plus(linked, EtPlusRules::Exact, out).map(drop));
    written(|out| write_et_plus(linked, EtPlusRules::LikeChakra, out).map(drop));
    if let Ok(chakra) = chakra_from_trace(linked) {
        exercise_recording(kinetoscope::Recording::Chakra(chakra));
    }
}

fn written(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes all");
    out
}

fn expect_json(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
    let out = written(write);
    // A number beyond those of a float and half of a surrogate pair are JSON, too: they are written
    // as they were read.
    let error = serde_json::from_slice::<Box<RawValue>>(&out).err();
    let error = error.filter(|error| !error.to_string().contains("recursion"));
    assert!(error.is_none(), "{error:?} in {}", String::from_utf8_lossy(&out));
}

/// A snapshot loads as the trace that was saved: both are written in the same bytes.
fn expect_same_snapshot(trace: &Trace) {
    let Ok(saved) = write_snapshot(trace) else { return };
    let loaded = read_snapshot(&saved, Limits::default()).expect("a snapshot that was just saved");
    let texts = |trace: &Trace| [written(|out| write_chrome(trace, out)), written(|out| write_execution(trace, out))];
    assert!(texts(&loaded) == texts(trace), "the snapshot differs");
}

/// A written trace has the same events when it is read. The reader guesses from most times
/// whether they count from a base, and which are unknown, so that those of a part may differ.
fn expect_same_events(linked: &LinkedTrace, is_whole: bool) {
    if linked.trace.events.is_empty() {
        return;
    }
    let json = written(|out| write_chrome(&linked.trace, out));
    let again = LinkedTrace::new(read([Input::new(&json)], Limits::default()).expect("a trace that was just written"));
    let (before, after) = (&linked.trace, &again.trace);
    assert_eq!(after.events.position, before.events.position);
    for row in 0..before.events.len() {
        assert_eq!(after.event_name(row), before.event_name(row));
    }
    if is_whole {
        assert_eq!(after.events.start, before.events.start);
        assert_eq!(after.events.dur, before.events.dur);
    }
}

/// A written Execution Trace has the same nodes when it is read; an upgraded node without a parent
/// has the parent 0.
fn expect_same_nodes(trace: &Trace) {
    if trace.nodes.is_empty() {
        return;
    }
    let json = written(|out| write_execution(trace, out));
    let again = read([Input::new(&json)], Limits::default()).expect("an Execution Trace that was just written");
    let ids =
        |trace: &Trace| trace.nodes.iter().map(|node| (node.id, node.parent.unwrap_or_default())).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(trace));
}
