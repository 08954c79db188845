//! Converts the tables of `rocprofv3`.

use std::sync::Arc;

use super::known::RocmKnown;
use super::launch_shape::blocks_of;
use super::rocpd_set::{MAX_SETS, RocpdPlace, RocpdSet, message};
use super::words::{COPY_CATEGORY, MARKER, category_of_domain, work};
use crate::read::event_text::{EventText, write_bytes, write_shape};
use crate::read::json_object::JsonObject;
use crate::read::nsight::device_streams::{DeviceStreams, ProcessStream};
use crate::read::sqlite::{SqlDatabase, SqlTable};
use crate::read::table_export::TableStage;
use crate::read::table_row::TableRow;
use crate::sort;
#[cfg(feature = "kernel-counters")]
use crate::time::Ts;

const REGION: &[&str] =
    &["start", "end", "start_id", "end_id", "pid", "tid", "track_id", "event_id", "name_id", "extdata"];
const DISPATCH: &[&str] = &[
    "start",
    "end",
    "start_id",
    "end_id",
    "pid",
    "track_id",
    "event_id",
    "agent_id",
    "queue_id",
    "stream_id",
    "kernel_id",
    "grid_size_x",
    "grid_size_y",
    "grid_size_z",
    "workgroup_size_x",
    "workgroup_size_y",
    "workgroup_size_z",
    "group_segment_size",
    "private_segment_size",
];
const COPY: &[&str] = &[
    "start",
    "end",
    "start_id",
    "end_id",
    "pid",
    "track_id",
    "event_id",
    "dst_agent_id",
    "src_agent_id",
    "queue_id",
    "stream_id",
    "name_id",
    "size",
];

/// Tables of events; behind these words, their names have the process.
const REGIONS: &str = "rocpd_region";
const DISPATCHES: &str = "rocpd_kernel_dispatch";
const COPIES: &str = "rocpd_memory_copy";
#[cfg(feature = "kernel-counters")]
const SAMPLES: &str = "rocpd_sample";
const EVENTS: &[&str] = &[
    REGIONS,
    DISPATCHES,
    COPIES,
    #[cfg(feature = "kernel-counters")]
    SAMPLES,
];

/// Whether a table only adds to the rows of others.
pub(super) fn is_support(name: &str) -> bool {
    #[cfg(feature = "kernel-counters")]
    if name.starts_with(super::pmc::VALUES) {
        return true;
    }
    ["rocpd_event", "rocpd_track", "rocpd_timestamp", "rocpd_arg"].iter().any(|start| name.starts_with(start))
}

/// The tables whose rows become events; `sets` gets those that they refer to.
pub(super) fn stages(
    database: &SqlDatabase<'_>,
    tables: &[Arc<SqlTable>],
    sets: &mut Vec<RocpdSet>,
) -> Vec<TableStage<RocmKnown>> {
    // By the tables of events: any other table may be missing.
    let suffixes = sort::distinct(tables.iter().filter_map(|table| suffix_of(&table.name)));
    let mut stages = Vec::new();
    for suffix in suffixes.into_iter().take(MAX_SETS) {
        let set = sets.len();
        let stage = |name: &str, columns, write| {
            let table = tables.iter().find(|table| table.name.strip_prefix(name).is_some_and(|rest| rest == suffix))?;
            Some(TableStage::new(table, columns, set, write))
        };
        let found = [
            stage(REGIONS, REGION, write_region),
            stage(DISPATCHES, DISPATCH, write_dispatch),
            stage(COPIES, COPY, write_copy),
            // Last, so that ids of events are the same without them.
            #[cfg(feature = "kernel-counters")]
            stage(SAMPLES, SAMPLE, write_sample),
            #[cfg(feature = "kernel-counters")]
            stage(super::pmc::VALUES, &["event_id", "pmc_id"], check_counter),
        ];
        stages.extend(found.into_iter().flatten());
        sets.push(RocpdSet::new(database, tables, (set, suffix)));
    }
    stages
}

/// The end of the name of a table of events: nothing, or an underscore and a process.
pub(super) fn suffix_of(table: &str) -> Option<&str> {
    let suffix = EVENTS.iter().find_map(|name| table.strip_prefix(name))?;
    (suffix.is_empty() || suffix.starts_with('_')).then_some(suffix)
}

fn write_region(row: &TableRow<'_>, set: usize, known: &mut RocmKnown, events: &mut EventText) {
    let [.., more] = row.taken::<10>();
    let [start, end, start_id, end_id, process, thread, track, record, name] = row.numbers();
    let set = &mut known.sets[set];
    let Some(start) = set.time(row, [start, start_id]) else { return row.warn_invalid() };
    let end = set.time(row, [end, end_id]);
    let own = RocpdPlace { process, thread, ..RocpdPlace::default() };
    let place = set.place(row, own, track);
    let facts = set.facts(row, record);
    let category = category_of_domain(&facts.domain);
    let name = set.text(row, name);
    let told = (category == MARKER).then(|| facts.message.or_else(|| message(more))).flatten();
    let name = told.or(name);
    row.expect(name.is_some());
    let name = name.unwrap_or_default();
    events.element(|event| {
        row.write_span(event, start, end);
        event.text("cat", category.as_bytes());
        event.text("name", name.as_bytes());
        event.integer("pid", place.process.unwrap_or(0));
        event.integer("tid", place.thread.unwrap_or(0));
        event.object("args", |args| {
            if let Some(correlation) = facts.correlation.filter(|_| category != MARKER) {
                args.integer("correlation", correlation);
            }
            if !facts.domain.is_empty() {
                args.text("domain", facts.domain.as_bytes());
            }
            #[cfg(feature = "kernel-counters")]
            set.counters.write_args(record, args);
        });
    });
}

fn write_dispatch(row: &TableRow<'_>, set: usize, known: &mut RocmKnown, events: &mut EventText) {
    let [start, end, start_id, end_id, process, track, event, agent, queue, stream, kernel, sizes @ ..] =
        row.numbers::<19>();
    let RocmKnown { sets, streams, .. } = known;
    let set = &mut sets[set];
    let own = RocpdPlace { process, thread: None, agent, queue, stream };
    let work = RocpdWork { times: [start, end, start_id, end_id], own, track, event };
    let name = set.kernel(row, kernel);
    let [grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, scratch] = sizes;
    let block = [block_x, block_y, block_z];
    work.write((row, set, streams, events), "kernel", &name, |args, _| {
        write_shape(args, "grid", blocks_of([grid_x, grid_y, grid_z], block));
        write_shape(args, "block", block);
        for (key, size) in [("shared memory", shared), ("scratch memory", scratch)] {
            if let Some(size) = size {
                args.integer(key, size);
            }
        }
    });
}

fn write_copy(row: &TableRow<'_>, set: usize, known: &mut RocmKnown, events: &mut EventText) {
    let [start, end, start_id, end_id, process, track, event, to, from, queue, stream, name, size] = row.numbers();
    let RocmKnown { sets, streams, .. } = known;
    let set = &mut sets[set];
    let ends = [to, from];
    row.expect(ends.iter().flatten().all(|end| set.agent(Some(*end)).is_some()));
    // A copy belongs to the device at either end.
    let agent = ends.into_iter().find(|end| set.agent(*end).is_some_and(|agent| agent.is_gpu)).flatten();
    let own = RocpdPlace { process, thread: None, agent: agent.or(to).or(from), queue, stream };
    let copy = RocpdWork { times: [start, end, start_id, end_id], own, track, event };
    let kind = set.text(row, name);
    row.expect(kind.is_some());
    let kind = kind.unwrap_or_default();
    let (_, name) = work(&kind, "");
    copy.write((row, set, streams, events), COPY_CATEGORY, name.unwrap_or(kind).as_bytes(), |args, times| {
        write_bytes(args, [times[0], times[1], size]);
    });
}

/// Work of a device, by the columns that all kinds of it have.
struct RocpdWork {
    /// Start and end, and the rows of both in the table of times.
    times: [Option<i64>; 4],
    own: RocpdPlace,
    track: Option<i64>,
    event: Option<i64>,
}

impl RocpdWork {
    /// Adds an event, if it has a start and a device. `fill` gets its times.
    fn write(
        &self,
        (row, set, streams, events): (&TableRow<'_>, &mut RocpdSet, &mut DeviceStreams, &mut EventText),
        category: &str,
        name: &[u8],
        fill: impl FnOnce(&mut JsonObject<'_>, [Option<i64>; 2]),
    ) {
        let [start, end, start_id, end_id] = self.times;
        let Some(start) = set.time(row, [start, start_id]) else { return row.warn_invalid() };
        let end = set.time(row, [end, end_id]);
        let place = set.place(row, self.own, self.track);
        let agent = set.agent(place.agent);
        row.expect(agent.is_some_and(|agent| agent.is_valid));
        let Some(device) = agent.map(|agent| agent.index).or(place.agent) else { return };
        let facts = set.facts(row, self.event);
        let number = place.stream.or(place.queue);
        let at = ProcessStream { process: place.process, device: Some(device), number };
        events.element(|event| {
            row.write_span(event, start, end);
            event.text("cat", category.as_bytes());
            event.text("name", name);
            streams.write_stream(event, at);
            event.object("args", |args| {
                streams.write_args(args, at);
                if let Some(queue) = place.queue {
                    args.integer("queue", queue);
                }
                if let Some(correlation) = facts.correlation {
                    args.integer("correlation", correlation);
                }
                fill(args, [Some(start), end]);
                #[cfg(feature = "kernel-counters")]
                set.counters.write_args(self.event, args);
            });
        });
    }
}

#[cfg(feature = "kernel-counters")]
const SAMPLE: &[&str] = &["timestamp", "timestamp_id", "event_id", "track_id"];

/// Adds the counters of a sample.
#[cfg(feature = "kernel-counters")]
fn write_sample(row: &TableRow<'_>, set: usize, known: &mut RocmKnown, events: &mut EventText) {
    let [time, time_id, event, track] = row.numbers();
    let set = &mut known.sets[set];
    let Some(time) = set.time(row, [time, time_id]) else { return row.warn_invalid() };
    set.counters.set_written(event);
    let place = set.place(row, RocpdPlace::default(), track);
    for (counter, value) in set.counters.of(event) {
        let agent = set.agent(set.counters.agent(counter).or(place.agent)).filter(|agent| agent.is_gpu);
        events.element(|event| {
            event.text("ph", b"C");
            event.text("name", set.counters.name(counter).as_bytes());
            match agent {
                Some(gpu) => event.text("pid", format!("GPU {} Counters", gpu.index).as_bytes()),
                None => event.integer("pid", place.process.unwrap_or(0)),
            }
            event.micros("ts", Ts(time));
            event.object("args", |args| args.field("").extend_from_slice(format!("{value:?}").as_bytes()));
        });
    }
}

/// Counts a value that no event has, as its kernel is missing, or whose counter is unknown.
#[cfg(feature = "kernel-counters")]
fn check_counter(row: &TableRow<'_>, set: usize, known: &mut RocmKnown, _: &mut EventText) {
    let [event, counter] = row.numbers();
    let counters = &known.sets[set].counters;
    row.expect(event.zip(counter).is_some_and(|(event, counter)| counters.is_written(event, counter)));
}
