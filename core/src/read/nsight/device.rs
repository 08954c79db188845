//! Converts device work: the fields that all kinds share, and waits and graphs.

use super::device_streams::{ProcessStream, process};
use super::export_state::ExportState;
use super::row::SqlRow;
use super::row_kind::RowKind;
use crate::read::event_text::write_span;
use crate::read::json_object::JsonObject;

/// The names of synchronisations, as Kineto has them, by their codes.
const SYNCS: [&str; 5] = ["Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"];

/// The codes of those that wait for an event.
const EVENT_SYNC: i64 = 1;
const WAIT_EVENT: i64 = 2;

pub(super) const SYNC: RowKind = RowKind {
    table: "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    takes: &["start", "end", "deviceId", "streamId", "globalPid", "syncType", "eventId"],
    has_rest: true,
    write: |row, state| {
        let [.., sort, awaited] = row.taken::<7>();
        let sort = sort.integer();
        let name = word(&SYNCS, "ENUM_CUPTI_SYNC_TYPE", sort, state);
        event(row, state, ("cuda_sync", &name), |args| {
            args.text("cuda_sync_kind", &name);
            if matches!(sort, Some(EVENT_SYNC | WAIT_EVENT)) {
                awaited.write_plain("wait_on_cuda_event_id", args);
            }
        });
    },
};

pub(super) const GRAPH: RowKind = RowKind {
    table: "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    takes: &["start", "end", "deviceId", "streamId", "globalPid", "graphId"],
    has_rest: true,
    write: |row, state| {
        let [.., graph] = row.taken::<6>();
        let id = graph.integer();
        let name = id.map_or_else(|| String::from("CUDA Graph"), |id| format!("CUDA Graph {id}"));
        event(row, state, ("cuda_graph", name.as_bytes()), |args| {
            if let Some(id) = id {
                args.integer("graph id", id);
            }
        });
    },
};

/// Adds an event on a stream. The row's kind starts with `start`, `end`, `deviceId`, `streamId` and
/// `globalPid`; `fill` writes the others.
pub(super) fn event(
    row: &SqlRow<'_>,
    state: &mut ExportState,
    (category, name): (&str, &[u8]),
    fill: impl FnOnce(&mut JsonObject<'_>),
) {
    let [start, end, device, stream, global_pid] = row.taken();
    let process = global_pid.integer().map(process);
    let at = ProcessStream { process, device: device.integer(), number: stream.integer() };
    state.element(|event, known| {
        write_span(event, start.integer(), end.integer());
        event.text("cat", category.as_bytes());
        event.text("name", name);
        known.places.write_stream(event, at);
        event.object("args", |args| {
            known.places.write_args(args, at);
            fill(args);
            row.write_rest(&mut known.names, args);
        });
    });
}

/// The meaning of a code: our word, else the export's label, else its number.
pub(super) fn word(words: &[&str], labels: &str, code: Option<i64>, state: &ExportState) -> Vec<u8> {
    let Some(code) = code else { return b"Unknown".to_vec() };
    let known = usize::try_from(code).ok().and_then(|at| words.get(at)).map(|word| word.as_bytes());
    known
        .or_else(|| state.known.names.label(labels, code))
        .map_or_else(|| code.to_string().into_bytes(), <[u8]>::to_vec)
}
