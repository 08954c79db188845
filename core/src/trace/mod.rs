//! A trace: the recording of one rank, in columns.

pub mod arg_key;
pub mod args;
pub mod collective;
pub(crate) mod counter_place;
pub mod decimal;
pub mod event;
pub mod flow;
mod graph_mark;
pub mod group;
pub mod iteration;
pub(crate) mod kept_defects;
pub mod kind;
pub mod layout;
pub mod node;
pub mod number_pool;
pub mod pipeline_action;
mod producer;
pub mod schema;
pub mod step_name;
pub mod tensor;
pub mod track;
mod unknown_kind;

use serde_json::Value;

use crate::error::{Error, ErrorKind};
use crate::id::{StrId, TrackId};
use crate::json::write_string;
use crate::strings::Strings;
use crate::time::{TimeRange, Ts};
use crate::vendor;
use crate::warning::Warnings;
use arg_key::ArgKey;
use args::Args;
use event::EventTable;
use flow::{Counter, Flow, Instant, Metadata};
use group::DISTRIBUTED;
use node::Node;
use track::{Process, Track};

/// The key of the time at which the clock of a file is 0, since 1970.
const BASE_TIME: &str = "baseTimeNanoseconds";

/// Kineto's instant for the end of its processing; nothing is recorded in the time before it.
const WINDOW_END: &str = "Record Window End";

/// The recording of one rank: a Kineto trace, an Execution Trace, or both.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// All texts.
    pub strings: Strings,
    /// All arguments.
    pub args: Args,
    /// Header of the Kineto file: keys with their values as JSON, in the order of the file.
    pub header: Vec<(StrId, StrId)>,
    /// Header of the Execution Trace, likewise.
    pub execution_header: Vec<(StrId, StrId)>,
    /// Threads and streams, in the order of first sight.
    pub tracks: Vec<Track>,
    /// Processes and devices, from metadata.
    pub processes: Vec<Process>,
    /// Events.
    pub events: EventTable,
    /// Points in time.
    pub instants: Vec<Instant>,
    /// Values over time.
    pub counters: Vec<Counter>,
    /// Ends of flows.
    pub flows: Vec<Flow>,
    /// Metadata events of processes and threads.
    pub metadata: Vec<Metadata>,
    /// Nodes of the Execution Trace, in the order of the file.
    pub nodes: Vec<Node>,
    /// The base time added to all times (`baseTimeNanoseconds`), in nanoseconds.
    pub base_ns: i64,
    /// Whether times are whole microseconds, so that ends are off by up to two of them.
    pub has_coarse_times: bool,
    /// Defects survived.
    pub warnings: Warnings,
}

impl Trace {
    /// A header value of the Kineto file.
    pub fn header_value(&self, key: &str) -> Option<Value> {
        let (_, json) = self.header.iter().find(|(name, _)| self.strings.text(*name) == key)?;
        serde_json::from_str(self.strings.text(*json)).ok()
    }

    /// `baseTimeNanoseconds` of the header, or of a tool's own object in it.
    pub(crate) fn header_base_ns(&self) -> Option<i64> {
        let own = || {
            let mut keys = self.header.iter().map(|(key, _)| self.strings.text(*key));
            self.header_value(keys.find(|key| vendor::holds_base_time(key))?)?.get_mut(BASE_TIME).map(Value::take)
        };
        let base = self.header_value(BASE_TIME).or_else(own)?;
        let base = base.as_i64().or_else(|| base.as_str()?.parse().ok()).or_else(|| whole(base.as_f64()?));
        base.filter(|base| *base > 0)
    }

    /// Both headers as one JSON object: `{"kineto": {…}, "execution": {…}}`.
    pub fn metadata_json(&self) -> String {
        let object = |header: &[(StrId, StrId)]| {
            let entry = |(key, value): &(StrId, StrId)| {
                let mut out = String::new();
                write_string(&mut out, self.strings.text(*key));
                format!("{out}:{}", self.strings.text(*value))
            };
            header.iter().map(entry).collect::<Vec<_>>().join(",")
        };
        format!(r#"{{"kineto":{{{}}},"execution":{{{}}}}}"#, object(&self.header), object(&self.execution_header))
    }

    /// The rank, from `distributedInfo`.
    pub fn rank(&self) -> Option<i64> {
        self.header_value(DISTRIBUTED)?.get("rank")?.as_i64()
    }

    /// How many ranks the job has, from `distributedInfo`.
    pub fn num_ranks(&self) -> Option<i64> {
        self.header_value(DISTRIBUTED)?.get("world_size")?.as_i64()
    }

    /// Names of the devices, from `deviceProperties`.
    pub fn device_names(&self) -> Vec<String> {
        let name = |device: &Value| Some(device.get("name")?.as_str()?.to_owned());
        self.device_properties().iter().filter_map(name).collect()
    }

    /// Device properties (`deviceProperties`), in file order.
    pub fn device_properties(&self) -> Vec<Value> {
        match self.header_value("deviceProperties") {
            Some(Value::Array(devices)) => devices,
            _ => Vec::new(),
        }
    }

    /// Adds to all times.
    pub(crate) fn shift(&mut self, ns: i64) {
        let shift = |time: &mut Ts| time.0 = time.0.saturating_add(ns);
        self.events.start.map(|time| Ts(time.0.saturating_add(ns)));
        self.instants.iter_mut().for_each(|row| shift(&mut row.time));
        self.counters.iter_mut().for_each(|row| shift(&mut row.time));
        self.flows.iter_mut().for_each(|row| shift(&mut row.time));
        self.metadata.iter_mut().filter_map(|row| row.time.as_mut()).for_each(shift);
    }

    /// From the first to the last time in the trace, over events, instants and counters, but for
    /// the instant at which the profiler was done with its own work after the recording.
    pub fn range(&self) -> TimeRange {
        let events = self.events.range();
        let is_recorded = |row: &&Instant| events.is_none() || self.strings.text(row.name) != WINDOW_END;
        let instants = self.instants.iter().filter(is_recorded);
        let points = instants.map(|row| row.time).chain(self.counters.iter().map(|row| row.time));
        let (mut first, mut last): (Option<Ts>, Option<Ts>) = (None, None);
        for time in points.chain(events.into_iter().flat_map(|range| [range.start, range.end])) {
            first = Some(first.map_or(time, |first| first.min(time)));
            last = Some(last.map_or(time, |last| last.max(time)));
        }
        TimeRange { start: first.unwrap_or_default(), end: last.unwrap_or_default() }
    }

    /// Makes sure that there is an Execution Trace, though it may have no nodes.
    ///
    /// # Errors
    /// When none was read.
    pub fn expect_execution(&self) -> Result<(), Error> {
        if !self.nodes.is_empty() || !self.execution_header.is_empty() {
            return Ok(());
        }
        let [expected, found] = ["an Execution Trace", "a trace without an Execution Trace"].map(String::from);
        Err(ErrorKind::Request { expected, found }.into())
    }

    /// Name of an event.
    #[inline]
    pub fn event_name(&self, row: usize) -> &str {
        self.strings.text(self.events.name.at(row))
    }

    /// The number that an event shares with its node in the Execution Trace; 0 is none.
    pub fn record_id(&self, row: usize) -> Option<u64> {
        self.args.identifier(&self.strings, self.events.args(row), ArgKey::RecordId).filter(|id| *id != 0)
    }

    /// The number of the device that an event is on, where the file gives one.
    pub fn device(&self, row: usize) -> Option<i64> {
        self.track(self.events.track.at(row)).stream?.device
    }

    /// The number that a launch shares with its device work (`correlation`); 0 is none.
    pub fn correlation_id(&self, row: usize) -> Option<u64> {
        self.args.identifier(&self.strings, self.events.args(row), ArgKey::Correlation).filter(|id| *id != 0)
    }

    /// Whether an event ran on a device's stream.
    #[inline]
    pub fn is_on_device(&self, row: usize) -> bool {
        self.track(self.events.track.at(row)).stream.is_some()
    }

    /// The process of an event, as it is written.
    #[inline]
    pub fn process_of(&self, row: usize) -> StrId {
        self.track(self.events.track.at(row)).process
    }

    /// A track.
    #[inline]
    pub fn track(&self, track: TrackId) -> &Track {
        &self.tracks[track.index()]
    }
}

/// A float that stands for a whole number.
fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() < i64::MAX as f64;
    is_whole.then_some(number as i64)
}
