//! Tables of one process in a database of `rocprofv3`.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::words::{MARKER, category_of_domain};
use crate::read::event_text::EventText;
use crate::read::json_object::{JsonObject, object};
use crate::read::sqlite::{MAX_TEXT_BYTES, SqlContent, SqlDatabase, SqlRecord, SqlTable, TextTable};
use crate::read::table_row::{KeyedLookup, TableColumns, TableRow, integer, text};

/// Rows of a table of processes, threads or agents that are read.
const MAX_ROWS: usize = 100_000;
/// A device with a higher number has no name: names are in a list, each at its device's place.
const MAX_DEVICE: i64 = 1023;
/// Processes that are read: several times as many as a node has devices.
pub(super) const MAX_SETS: usize = 256;
/// Linux numbers no process as high.
const PID_LIMIT: i64 = 1 << 22;

/// Tables that the events of a process refer to.
pub(in crate::read) struct RocpdSet {
    /// The number of the set.
    number: usize,
    texts: TextTable,
    processes: FxHashMap<i64, i64>,
    threads: FxHashMap<i64, i64>,
    agents: FxHashMap<i64, RocpdAgent>,
    /// Number and program of each process.
    programs: Vec<(i64, Vec<u8>)>,
    /// Number, process and name of each thread with a name.
    thread_names: Vec<(i64, i64, Vec<u8>)>,
    kernels: Option<KeyedLookup>,
    tracks: Option<KeyedLookup>,
    times: Option<KeyedLookup>,
    events: Option<KeyedLookup>,
    #[cfg(feature = "kernel-counters")]
    pub(super) counters: super::pmc::RocpdCounters,
}

/// A processor.
#[derive(Debug)]
pub(super) struct RocpdAgent {
    /// Its number among those of its kind.
    pub(super) index: i64,
    pub(super) is_gpu: bool,
    /// Whether no number is of a wrong type.
    pub(super) is_valid: bool,
    name: Vec<u8>,
}

/// The processor and the program that an event belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RocpdPlace {
    pub(super) process: Option<i64>,
    pub(super) thread: Option<i64>,
    pub(super) agent: Option<i64>,
    pub(super) queue: Option<i64>,
    pub(super) stream: Option<i64>,
}

/// The domain of an event, the number that it shares with its call, and its text, if it is a
/// marker.
#[derive(Debug, Default)]
pub(super) struct RocpdFacts {
    pub(super) domain: String,
    pub(super) correlation: Option<i64>,
    pub(super) message: Option<String>,
}

impl RocpdSet {
    /// The tables whose names end with the suffix, which are those of a process.
    pub(super) fn new(database: &SqlDatabase<'_>, tables: &[Arc<SqlTable>], (number, suffix): (usize, &str)) -> Self {
        let table =
            |name: &str| tables.iter().find(|table| table.name.strip_prefix(name).is_some_and(|rest| rest == suffix));
        let lookup =
            |name: &str, columns: &[&str]| table(name).map(|table| KeyedLookup::new(database, table, "id", columns));
        let mut set = Self {
            number,
            texts: table("rocpd_string")
                .map(|table| TextTable::new(database, table, ["id", "string"]))
                .unwrap_or_default(),
            processes: FxHashMap::default(),
            threads: FxHashMap::default(),
            agents: FxHashMap::default(),
            programs: Vec::new(),
            thread_names: Vec::new(),
            kernels: lookup("rocpd_info_kernel_symbol", &["display_name", "kernel_name"]),
            tracks: lookup("rocpd_track", &["pid", "tid", "agent_id", "queue_id", "stream_id"]),
            times: lookup("rocpd_timestamp", &["value"]),
            events: lookup("rocpd_event", &["category_id", "stack_id", "extdata"]),
            #[cfg(feature = "kernel-counters")]
            counters: super::pmc::RocpdCounters::new(database, table(super::pmc::NAMES), table(super::pmc::VALUES)),
        };
        let each = |name: &str, columns: &[&str], take: &mut dyn FnMut(&TableColumns, &SqlRecord)| {
            let Some(table) = table(name) else { return };
            let (columns, mut rows) = (TableColumns::new(table, columns), database.rows(table, i64::MIN));
            // Rows before a fault are known; later ones have no names.
            for _ in 0..MAX_ROWS {
                let Ok(Some(row)) = rows.next() else { break };
                take(&columns, row);
            }
        };
        each("rocpd_info_process", &["id", "pid", "command"], &mut |columns, row| set.add_process(columns.of(row)));
        each("rocpd_info_thread", &["id", "pid", "tid", "name"], &mut |columns, row| set.add_thread(columns.of(row)));
        let agent =
            ["id", "type", "type_index", "logical_index", "absolute_index", "product_name", "model_name", "name"];
        each("rocpd_info_agent", &agent, &mut |columns, row| set.add_agent(columns.of(row)));
        set
    }

    fn add_process(&mut self, [id, process, command]: [SqlContent<'_>; 3]) {
        let (Some(id), Some(process)) = (integer(id), integer(process)) else { return };
        self.processes.insert(id, process);
        // Arguments may hold secrets, folders too.
        let program = text(command).unwrap_or_default().split(u8::is_ascii_whitespace).find(|word| !word.is_empty());
        let program = program.and_then(|program| program.rsplit(|byte| *byte == b'/').next());
        self.programs.extend(program.map(|program| (process, program.to_vec())));
    }

    fn add_thread(&mut self, [id, process, thread, name]: [SqlContent<'_>; 4]) {
        let (Some(id), Some(thread)) = (integer(id), integer(thread)) else { return };
        self.threads.insert(id, thread);
        let process = integer(process).and_then(|process| self.processes.get(&process).copied());
        let named = text(name).zip(process).map(|(name, process)| (thread, process, name.to_vec()));
        self.thread_names.extend(named);
    }

    fn add_agent(&mut self, [id, kind, of_kind, logical, absolute, names @ ..]: [SqlContent<'_>; 8]) {
        let Some(id) = integer(id) else { return };
        let numbers = [of_kind, logical, absolute];
        let index = numbers.into_iter().find_map(integer).unwrap_or(id);
        let is_valid = numbers.iter().all(|number| *number == SqlContent::Null || integer(*number).is_some());
        let name = names.into_iter().find_map(text).unwrap_or_default().to_vec();
        self.agents.insert(id, RocpdAgent { index, is_gpu: text(kind) == Some(b"GPU"), is_valid, name });
    }

    pub(super) fn agent(&self, id: Option<i64>) -> Option<&RocpdAgent> {
        self.agents.get(&id?)
    }

    /// The text that a row refers to.
    pub(super) fn text(&mut self, row: &TableRow<'_>, id: Option<i64>) -> Option<String> {
        row.text(&mut self.texts, id).map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    /// The name of a row's kernel.
    pub(super) fn kernel(&self, row: &TableRow<'_>, id: Option<i64>) -> Vec<u8> {
        let found = row.referred(self.kernels.as_ref(), id);
        let name = found.and_then(|(record, columns)| {
            let names: [SqlContent<'_>; 2] = columns.of(&record);
            let is_short = |name: &&[u8]| name.len() <= MAX_TEXT_BYTES;
            names.into_iter().filter_map(|name| row.words(name)).find(is_short).map(<[u8]>::to_vec)
        });
        row.expect(name.is_some());
        name.unwrap_or_default()
    }

    /// A time: the value itself, or that of a row in the table of times.
    pub(super) fn time(&self, row: &TableRow<'_>, [value, id]: [Option<i64>; 2]) -> Option<i64> {
        let of_row = || {
            let (record, columns) = row.referred(self.times.as_ref(), id)?;
            let [value] = row.numbers_in(columns, &record);
            value
        };
        value.or_else(of_row)
    }

    /// The place of an event, by its own columns or by those of its track.
    pub(super) fn place(&self, row: &TableRow<'_>, own: RocpdPlace, track: Option<i64>) -> RocpdPlace {
        let of_track = row.referred(self.tracks.as_ref(), track).map(|(record, columns)| {
            let [process, thread, agent, queue, stream] = row.numbers_in(columns, &record);
            RocpdPlace { process, thread, agent, queue, stream }
        });
        let found = of_track.unwrap_or_default();
        let thread = own.thread.or(found.thread).map(|id| {
            let thread = self.threads.get(&id).copied();
            row.expect(thread.is_some());
            thread.unwrap_or(id)
        });
        RocpdPlace {
            process: Some(self.process(row, own.process.or(found.process))),
            thread,
            agent: own.agent.or(found.agent),
            queue: own.queue.or(found.queue),
            stream: own.stream.or(found.stream),
        }
    }

    /// The number of a process. One that the file lacks gets a number that no other set has.
    fn process(&self, row: &TableRow<'_>, id: Option<i64>) -> i64 {
        let found = match id {
            Some(id) => self.processes.get(&id),
            None if self.processes.len() == 1 => self.processes.values().next(),
            None => None,
        };
        row.expect(found.is_some() || id.is_none());
        // No row has the id 0.
        let stand_in = id.unwrap_or(0).saturating_mul(MAX_SETS as i64).saturating_add(self.number as i64);
        found.copied().unwrap_or_else(|| stand_in.saturating_add(PID_LIMIT))
    }

    /// The facts of a row's event.
    pub(super) fn facts(&mut self, row: &TableRow<'_>, event: Option<i64>) -> RocpdFacts {
        let Some((record, columns)) = row.referred(self.events.as_ref(), event) else {
            return RocpdFacts::default();
        };
        let [category, correlation, more] = columns.of(&record);
        let [category, correlation] = [category, correlation].map(|content| row.number(content));
        let domain = self.text(row, category).unwrap_or_default();
        // Only markers have a text; a parser for the others would take time at each event.
        let message = (category_of_domain(&domain) == MARKER).then(|| message(more)).flatten();
        RocpdFacts { domain, correlation, message }
    }

    /// Writes the names of processes and threads.
    pub(super) fn write_names(&self, events: &mut EventText) {
        for (process, program) in &self.programs {
            events.metadata("process_name", (*process, 0), program);
        }
        for (thread, process, name) in &self.thread_names {
            events.metadata("thread_name", (*process, *thread), name);
        }
    }
}

/// Writes the devices that the processes know.
pub(super) fn write_devices(sets: &[RocpdSet], header: &mut JsonObject<'_>) {
    let agents = || sets.iter().flat_map(|set| set.agents.values());
    let gpus = || agents().filter(|agent| agent.is_gpu && (0..=MAX_DEVICE).contains(&agent.index));
    let Some(last) = gpus().map(|agent| agent.index).max() else { return };
    let out = header.field("deviceProperties");
    for index in 0..=last {
        out.push(if index == 0 { b'[' } else { b',' });
        let name = gpus().find(|agent| agent.index == index).map_or(&b""[..], |agent| &agent.name);
        object(out, |device| {
            device.integer("id", index);
            device.text("name", name);
        });
    }
    out.push(b']');
}

/// The text of a marker, in the facts of its event.
pub(super) fn message(more: SqlContent<'_>) -> Option<String> {
    let more = text(more).filter(|more| more.len() <= MAX_TEXT_BYTES)?;
    let value: Value = serde_json::from_slice(more).ok()?;
    value.get("message")?.as_str().map(str::to_owned)
}
