//! Loads a snapshot (see [`write::snapshot`](crate::write::snapshot)); nothing in it is believed unchecked.

use std::io::Read as _;
use std::sync::Arc;

use flate2::read::DeflateDecoder;
use rustc_hash::FxHashMap;

use super::Limits;
use crate::error::{Error, ErrorKind, Position};
use crate::id::{StrId, TemplateId, TrackId};
use crate::strings::Strings;
use crate::time::{Dur, Ts};
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, FieldValue, Template};
use crate::trace::event::EventRow;
use crate::trace::flow::{Flow, FlowId, Instant};
use crate::trace::kind::{EventKind, category_kind};
use crate::write::snapshot::{Columns, PointColumns, SavedWarning, VERSION};

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
    let mut decoder = DeflateDecoder::new(body).take(limits.max_bytes.saturating_add(1));
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
        let trace = Trace { strings, has_coarse_times: columns.has_coarse_times, ..Trace::default() };
        Ok(Self { columns, trace, values, kinds: FxHashMap::default() })
    }

    fn load(mut self) -> Result<Trace, Error> {
        self.load_header();
        self.load_templates()?;
        self.load_events()?;
        self.load_instants()?;
        self.load_flows()?;
        self.load_rest()?;
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
            if fields.len() > usize::from(u16::MAX) {
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
        if durs.len() != points.names.len() || points.templates.len() != points.names.len() {
            return Err(fault("columns of different lengths"));
        }
        let rows = self.points(&points)?;
        for ((row, template), dur) in rows.into_iter().zip(points.templates).zip(durs) {
            let (strings, category) = (&self.trace.strings, row.category);
            let kind = *self.kinds.entry(category).or_insert_with(|| category_kind(strings.text(category)).0);
            let args = self.args(template)?;
            let Point { position, name, category, track, time } = row;
            let dur = Dur(dur.max(0));
            self.trace.events.push(EventRow { position, name, category, kind, track, start: time, dur, args });
        }
        Ok(())
    }

    fn load_instants(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.instants);
        if points.templates.len() != points.names.len() {
            return Err(fault("columns of different lengths"));
        }
        for (row, template) in self.points(&points)?.into_iter().zip(points.templates) {
            let args = self.args(template)?;
            let Point { position, name, category, track, time } = row;
            self.trace.instants.push(Instant { position, name, category, track, time, args });
        }
        Ok(())
    }

    fn load_flows(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.flows);
        let (phases, ids) = (std::mem::take(&mut self.columns.flow_phases), std::mem::take(&mut self.columns.flow_ids));
        let names: FxHashMap<u32, StrId> = std::mem::take(&mut self.columns.flow_names).into_iter().collect();
        if phases.len() != points.names.len() || ids.len() != points.names.len() {
            return Err(fault("columns of different lengths"));
        }
        let mut last = 0_i64;
        for (at, ((row, phase), id)) in self.points(&points)?.into_iter().zip(phases).zip(ids).enumerate() {
            last = last.wrapping_add(id);
            let id = names.get(&(at as u32)).map_or(FlowId::Number(last as u64), |name| FlowId::Text(*name));
            let Point { position, name, category, track, time } = row;
            self.trace.flows.push(Flow { position, name, category, track, time, phase, id });
        }
        Ok(())
    }

    fn load_rest(&mut self) -> Result<(), Error> {
        self.trace.nodes = std::mem::take(&mut self.columns.nodes);
        for counter in std::mem::take(&mut self.columns.counters) {
            self.check_track(counter.track)?;
            self.trace.counters.push(counter);
        }
        for SavedWarning { kind, count, file, byte, event } in std::mem::take(&mut self.columns.warnings) {
            let first = Position { file: file.map(Arc::from), byte, event };
            self.trace.warnings.push_many(kind, count, || first);
        }
        Ok(())
    }

    fn check_track(&self, track: TrackId) -> Result<TrackId, Error> {
        if track.index() < self.trace.tracks.len() { Ok(track) } else { Err(fault("a track that is not there")) }
    }

    /// Rows with their differences added up and their handles checked.
    fn points(&self, columns: &PointColumns) -> Result<Vec<Point>, Error> {
        let num_rows = columns.names.len();
        let lengths = [columns.positions.len(), columns.categories.len(), columns.tracks.len(), columns.times.len()];
        if lengths.iter().any(|length| *length != num_rows) {
            return Err(fault("columns of different lengths"));
        }
        let mut position: Option<u32> = None;
        let mut last: FxHashMap<TrackId, i64> = FxHashMap::default();
        let mut rows = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let step = columns.positions[row];
            let next = position.map_or(Some(step), |position| position.checked_add(step).filter(|_| step > 0));
            position = Some(next.ok_or_else(|| fault("positions that do not ascend"))?);
            let track = self.check_track(columns.tracks[row])?;
            let time = last.entry(track).or_insert(0);
            *time = time.wrapping_add(columns.times[row]);
            rows.push(Point {
                position: position.unwrap_or_default(),
                name: self.check(columns.names[row])?,
                category: self.check(columns.categories[row])?,
                track,
                time: Ts(*time),
            });
        }
        Ok(rows)
    }
}

struct Point {
    position: u32,
    name: StrId,
    category: StrId,
    track: TrackId,
    time: Ts,
}
