//! Loads a snapshot (see [`write::snapshot`](crate::write::snapshot)); nothing in it is believed unchecked.

use std::io::Read as _;
use std::sync::Arc;

use flate2::read::ZlibDecoder;
use rustc_hash::FxHashMap;

use super::Limits;
use crate::error::{Error, ErrorKind, Position};
use crate::id::{StrId, TemplateId, TrackId};
use crate::strings::Strings;
use crate::time::{Dur, Ts};
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, FieldValue, Template};
use crate::trace::event::EventRow;
use crate::trace::flow::{Counter, Flow, FlowId, Instant, Metadata};
use crate::trace::kind::{EventKind, category_kind};
use crate::write::snapshot::{Columns, MetadataColumns, PointColumns, SavedWarning, VERSION};

pub use crate::write::snapshot::MAGIC;

/// The trace of a snapshot.
///
/// # Errors
/// When the bytes are no snapshot of this version, when they contradict themselves, or when a limit is passed.
pub fn read_snapshot(bytes: &[u8], limits: Limits) -> Result<Trace, Error> {
    let body = bytes.strip_prefix(MAGIC).ok_or_else(|| fault("other bytes"))?;
    let (version, body) = body.split_first().ok_or_else(|| fault("its end"))?;
    if *version != VERSION {
        return Err(fault(&format!("version {version}")));
    }
    let mut columns = Vec::new();
    let mut decoder = ZlibDecoder::new(body).take(limits.max_bytes.saturating_add(1));
    decoder.read_to_end(&mut columns).map_err(|error| fault(&format!("damaged compression ({error})")))?;
    if columns.len() as u64 > limits.max_bytes {
        return Err(
            ErrorKind::Limit { unit: "bytes of decompressed snapshot (max_bytes)", limit: limits.max_bytes }.into()
        );
    }
    let columns: Columns = postcard::from_bytes(&columns).map_err(|error| fault(&format!("bad columns ({error})")))?;
    Loader::new(columns)?.load()
}

fn fault(found: &str) -> Error {
    ErrorKind::Snapshot { expected: u32::from(VERSION), found: found.to_owned() }.into()
}

struct Loader {
    columns: Columns,
    trace: Trace,
    values: FxHashMap<StrId, (std::vec::IntoIter<i64>, i64)>,
    kinds: FxHashMap<StrId, EventKind>,
}

impl Loader {
    fn new(mut columns: Columns) -> Result<Self, Error> {
        let mut strings = Strings::default();
        for (at, text) in std::mem::take(&mut columns.strings).iter().enumerate() {
            if strings.intern(text).index() != at {
                return Err(fault("a string that stands twice"));
            }
        }
        let values = std::mem::take(&mut columns.values);
        let values = values.into_iter().map(|(key, stream)| (key, (stream.into_iter(), 0))).collect();
        let trace =
            Trace { strings, has_coarse_times: columns.has_coarse_times, base_ns: columns.base_ns, ..Trace::default() };
        Ok(Self { columns, trace, values, kinds: FxHashMap::default() })
    }

    fn load(mut self) -> Result<Trace, Error> {
        self.load_header();
        self.load_templates()?;
        self.load_events()?;
        self.load_instants()?;
        self.load_flows()?;
        self.load_counters()?;
        self.load_metadata()?;
        self.load_rest();
        Ok(self.trace)
    }

    fn check(&self, id: StrId) -> Result<StrId, Error> {
        if id.index() < self.trace.strings.len() { Ok(id) } else { Err(fault("a string that is not there")) }
    }

    fn load_header(&mut self) {
        let columns = &mut self.columns;
        self.trace.header = std::mem::take(&mut columns.header);
        self.trace.execution_header = std::mem::take(&mut columns.execution_header);
        self.trace.tracks = std::mem::take(&mut columns.tracks);
        self.trace.processes = std::mem::take(&mut columns.processes);
    }

    fn load_templates(&mut self) -> Result<(), Error> {
        for fields in std::mem::take(&mut self.columns.templates) {
            let num_slots = fields.iter().filter(|field| matches!(field.value, FieldValue::Slot(_))).count();
            if num_slots > usize::from(u16::MAX) {
                return Err(fault("too many arguments"));
            }
            let template = Template::new(fields, &self.trace.strings);
            self.trace.args.push(template);
        }
        Ok(())
    }

    /// The arguments of the next row: its numbers are the next of each key's stream.
    fn args(&mut self, template: u32) -> Result<ArgsRef, Error> {
        let template = TemplateId(template);
        let found = self.trace.args.templates().get(template.index());
        let fields = found.ok_or_else(|| fault("a template that is not there"))?.fields();
        let mut numbers = Vec::with_capacity(fields.len());
        for field in fields.iter().filter(|field| matches!(field.value, FieldValue::Slot(_))) {
            let stream = self.values.get_mut(&field.key).ok_or_else(|| fault("a key without numbers"))?;
            let difference = stream.0.next().ok_or_else(|| fault("too few numbers"))?;
            stream.1 = stream.1.wrapping_add(difference);
            numbers.push(stream.1);
        }
        Ok(ArgsRef { template, start: self.trace.args.push_values(&numbers) })
    }

    fn load_events(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.events.points);
        let durs = std::mem::take(&mut self.columns.events.durs);
        same_lengths(points.names.len(), &[durs.len()])?;
        for (row, dur) in self.points(&points, Ascent::Strict)?.into_iter().zip(durs) {
            let (strings, category) = (&self.trace.strings, row.category);
            let kind = *self.kinds.entry(category).or_insert_with(|| category_kind(strings.text(category)).0);
            let Point { position, name, category, track, time, args } = row;
            let dur = Dur(dur.max(0));
            self.trace.events.push(EventRow { position, name, category, kind, track, start: time, dur, args });
        }
        Ok(())
    }

    fn load_instants(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.instants);
        for row in self.points(&points, Ascent::Strict)? {
            let Point { position, name, category, track, time, args } = row;
            self.trace.instants.push(Instant { position, name, category, track, time, args });
        }
        Ok(())
    }

    fn load_counters(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.counters);
        let series = std::mem::take(&mut self.columns.counter_series);
        same_lengths(points.names.len(), &[series.len()])?;
        for (row, (series, value)) in self.points(&points, Ascent::Level)?.into_iter().zip(series) {
            let Point { position, name, track, time, args, .. } = row;
            let series = self.check(series)?;
            self.trace.counters.push(Counter { position, name, series, track, time, value, args });
        }
        Ok(())
    }

    fn load_metadata(&mut self) -> Result<(), Error> {
        let MetadataColumns { positions, names, places, times, templates } = std::mem::take(&mut self.columns.metadata);
        let lengths = [positions.len(), places.len(), times.len(), templates.len()];
        same_lengths(names.len(), &lengths)?;
        for (row, position) in added_up(&positions, Ascent::Strict)?.into_iter().enumerate() {
            let (process, thread) = places[row];
            let metadata = Metadata {
                position,
                name: self.check(names[row])?,
                process: self.check(process)?,
                thread: self.check(thread)?,
                time: times[row].map(Ts),
                args: self.args(templates[row])?,
            };
            self.trace.metadata.push(metadata);
        }
        Ok(())
    }

    fn load_flows(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.flows);
        let (phases, ids) = (std::mem::take(&mut self.columns.flow_phases), std::mem::take(&mut self.columns.flow_ids));
        let names: FxHashMap<u32, StrId> = std::mem::take(&mut self.columns.flow_names).into_iter().collect();
        same_lengths(points.names.len(), &[phases.len(), ids.len()])?;
        let mut last = 0_i64;
        let rows = self.points(&points, Ascent::Strict)?;
        for (at, ((row, phase), id)) in rows.into_iter().zip(phases).zip(ids).enumerate() {
            last = last.wrapping_add(id);
            let id = names.get(&(at as u32)).map_or(FlowId::Number(last as u64), |name| FlowId::Text(*name));
            let Point { position, name, category, track, time, args } = row;
            self.trace.flows.push(Flow { position, name, category, track, time, phase, id, args });
        }
        Ok(())
    }

    fn load_rest(&mut self) {
        self.trace.nodes = std::mem::take(&mut self.columns.nodes);
        for SavedWarning { kind, count, file, byte, event } in std::mem::take(&mut self.columns.warnings) {
            let first = Position { file: file.map(Arc::from), byte, event };
            self.trace.warnings.push_many(kind, count, || first);
        }
    }

    fn check_track(&self, track: TrackId) -> Result<TrackId, Error> {
        if track.index() < self.trace.tracks.len() { Ok(track) } else { Err(fault("a track that is not there")) }
    }

    /// Rows with their differences added up and their handles checked.
    fn points(&mut self, columns: &PointColumns, ascent: Ascent) -> Result<Vec<Point>, Error> {
        let PointColumns { positions, names, categories, tracks, times, templates } = columns;
        let lengths = [positions.len(), categories.len(), tracks.len(), times.len(), templates.len()];
        same_lengths(names.len(), &lengths)?;
        let mut last: FxHashMap<TrackId, i64> = FxHashMap::default();
        let mut rows = Vec::with_capacity(names.len());
        for (row, position) in added_up(positions, ascent)?.into_iter().enumerate() {
            let track = self.check_track(tracks[row])?;
            let time = last.entry(track).or_insert(0);
            *time = time.wrapping_add(times[row]);
            rows.push(Point {
                position,
                name: self.check(names[row])?,
                category: self.check(categories[row])?,
                track,
                time: Ts(*time),
                args: self.args(templates[row])?,
            });
        }
        Ok(rows)
    }
}

/// Positions from the differences between them.
fn added_up(differences: &[u32], ascent: Ascent) -> Result<Vec<u32>, Error> {
    let mut last: Option<u32> = None;
    let add = |step: &u32| {
        let is_up = *step > 0 || ascent == Ascent::Level;
        let next = last.map_or(Some(*step), |last| last.checked_add(*step).filter(|_| is_up));
        last = next;
        next.ok_or_else(|| fault("positions that do not ascend"))
    };
    differences.iter().map(add).collect()
}

/// How positions go from row to row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ascent {
    /// Each is larger than the one before.
    Strict,
    /// Several rows may be of one element.
    Level,
}

fn same_lengths(length: usize, others: &[usize]) -> Result<(), Error> {
    let is_same = others.iter().all(|other| *other == length);
    if is_same { Ok(()) } else { Err(fault("columns of different lengths")) }
}

struct Point {
    position: u32,
    name: StrId,
    category: StrId,
    track: TrackId,
    time: Ts,
    args: ArgsRef,
}
