//! Loads a snapshot (see [`write::snapshot`](crate::write::snapshot)); nothing in it is believed unchecked.

use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};
use rustc_hash::FxHashMap;

use super::Limits;
use crate::error::{Error, ErrorKind, Position};
use crate::id::{StrId, TemplateId, TrackId};
use crate::strings::Strings;
use crate::time::{Dur, Ts};
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, Field, FieldValue, Template};
use crate::trace::event::EventTable;
use crate::trace::flow::{Counter, Flow, FlowId, Instant, Metadata};
use crate::trace::kind::{EventKind, category_kind};
use crate::write::packed::{Numbers, Packed, signed};
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
    let columns = decompressed(body, limits)?;
    let columns: Columns<'_> =
        postcard::from_bytes(&columns).map_err(|error| fault(&format!("bad columns ({error})")))?;
    Loader::new(columns)?.load()
}

/// Deflate makes nothing smaller than this.
const MAX_RATIO: usize = 1032;

/// The columns' bytes, in one piece of memory from the start: they are its largest.
fn decompressed(body: &[u8], limits: Limits) -> Result<Vec<u8>, Error> {
    let (length, body) = body.split_first_chunk().ok_or_else(|| fault("its end"))?;
    let length = u64::from_le_bytes(*length);
    if length > limits.max_bytes {
        let unit = "bytes of decompressed snapshot (max_bytes)";
        return Err(ErrorKind::Limit { unit, limit: limits.max_bytes }.into());
    }
    if length > body.len().saturating_mul(MAX_RATIO) as u64 {
        return Err(fault("fewer bytes than it says"));
    }
    let mut columns = Vec::with_capacity(length as usize);
    let status = Decompress::new(true).decompress_vec(body, &mut columns, FlushDecompress::Finish);
    let status = status.map_err(|error| fault(&format!("damaged compression ({error})")))?;
    if status != Status::StreamEnd || columns.len() as u64 != length {
        return Err(fault("damaged compression (another length than it says)"));
    }
    Ok(columns)
}

fn fault(found: &str) -> Error {
    ErrorKind::Snapshot { expected: u32::from(VERSION), found: found.to_owned() }.into()
}

struct Loader<'a> {
    columns: Columns<'a>,
    trace: Trace,
    streams: Vec<Stream<'a>>,
    /// Of each template, the stream of each number in it; none where the key has none.
    slots: Vec<Vec<Option<u32>>>,
    /// The numbers of one row, here so that their room is asked for once.
    numbers: Vec<i64>,
    kinds: Vec<Option<EventKind>>,
}

/// The numbers of a key that are still to be taken, as differences, and the last one.
struct Stream<'a> {
    differences: Numbers<'a>,
    last: i64,
}

impl<'a> Loader<'a> {
    fn new(mut columns: Columns<'a>) -> Result<Self, Error> {
        let mut strings = Strings::default();
        for (at, text) in std::mem::take(&mut columns.strings).iter().enumerate() {
            if strings.intern(text).index() != at {
                return Err(fault("a string that stands twice"));
            }
        }
        let trace =
            Trace { strings, has_coarse_times: columns.has_coarse_times, base_ns: columns.base_ns, ..Trace::default() };
        Ok(Self { columns, trace, streams: Vec::new(), slots: Vec::new(), numbers: Vec::new(), kinds: Vec::new() })
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
        let mut by_key: FxHashMap<StrId, u32> = FxHashMap::default();
        for (at, (key, differences)) in std::mem::take(&mut self.columns.values).into_iter().enumerate() {
            by_key.insert(key, at as u32);
            let differences = differences.into_numbers().ok_or_else(|| fault("numbers elsewhere"))?;
            self.streams.push(Stream { differences, last: 0 });
        }
        for fields in std::mem::take(&mut self.columns.templates) {
            let is_slot = |field: &&Field| matches!(field.value, FieldValue::Slot(_));
            let slots: Vec<_> = fields.iter().filter(is_slot).map(|field| by_key.get(&field.key).copied()).collect();
            if slots.len() > usize::from(u16::MAX) {
                return Err(fault("too many arguments"));
            }
            self.slots.push(slots);
            let template = Template::new(fields, &self.trace.strings);
            self.trace.args.push(template);
        }
        Ok(())
    }

    /// The numbers of the next row's arguments, which are the next of each key's stream; where they start in the pool.
    fn numbers(&mut self, template: TemplateId) -> Result<u32, Error> {
        let slots = self.slots.get(template.index()).ok_or_else(|| fault("a template that is not there"))?;
        self.numbers.clear();
        for slot in slots {
            let at = slot.ok_or_else(|| fault("a key without numbers"))?;
            let stream = &mut self.streams[at as usize];
            let difference = stream.differences.take_signed().ok_or_else(|| fault("too few numbers"))?;
            stream.last = stream.last.wrapping_add(difference);
            self.numbers.push(stream.last);
        }
        Ok(self.trace.args.push_values(&self.numbers))
    }

    fn load_events(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.events.points);
        let durs = signed_numbers(&self.columns.events.durs)?;
        let points = self.points(&points, Ascent::Strict)?;
        same_lengths(points.names.len(), &[durs.len()])?;
        let kinds = points.categories.iter().map(|category| self.kind(*category)).collect();
        self.trace.events = EventTable {
            position: points.positions,
            name: points.names,
            category: points.categories,
            kind: kinds,
            track: points.tracks,
            start: points.times,
            dur: durs.into_iter().map(|dur| Dur(dur.max(0))).collect(),
            template: points.templates,
            values: points.values,
        };
        Ok(())
    }

    fn kind(&mut self, category: StrId) -> EventKind {
        let strings = &self.trace.strings;
        if self.kinds.len() <= category.index() {
            self.kinds.resize(category.index() + 1, None);
        }
        *self.kinds[category.index()].get_or_insert_with(|| category_kind(strings.text(category)).0)
    }

    fn load_instants(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.instants);
        let points = self.points(&points, Ascent::Strict)?;
        let instant = |Point { position, name, category, track, time, args }| Instant {
            position,
            name,
            category,
            track,
            time,
            args,
        };
        self.trace.instants = points.rows().map(instant).collect();
        Ok(())
    }

    fn load_counters(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.counters);
        let series = std::mem::take(&mut self.columns.counter_series);
        let points = self.points(&points, Ascent::Level)?;
        same_lengths(points.names.len(), &[series.len()])?;
        for (row, (series, value)) in points.rows().zip(series) {
            let Point { position, name, track, time, args, .. } = row;
            let series = self.check(series)?;
            self.trace.counters.push(Counter { position, name, series, track, time, value, args });
        }
        Ok(())
    }

    fn load_metadata(&mut self) -> Result<(), Error> {
        let MetadataColumns { positions, names, places, times, templates } = std::mem::take(&mut self.columns.metadata);
        let (positions, names, templates) = (handles(&positions)?, handles(&names)?, handles(&templates)?);
        let lengths = [positions.len(), places.len(), times.len(), templates.len()];
        same_lengths(names.len(), &lengths)?;
        for (row, position) in added_up(positions, Ascent::Strict)?.into_iter().enumerate() {
            let (process, thread) = places[row];
            let template = TemplateId(templates[row]);
            let metadata = Metadata {
                position,
                name: self.check(StrId(names[row]))?,
                process: self.check(process)?,
                thread: self.check(thread)?,
                time: times[row].map(Ts),
                args: ArgsRef { template, start: self.numbers(template)? },
            };
            self.trace.metadata.push(metadata);
        }
        Ok(())
    }

    fn load_flows(&mut self) -> Result<(), Error> {
        let points = std::mem::take(&mut self.columns.flows);
        let (phases, ids) = (std::mem::take(&mut self.columns.flow_phases), signed_numbers(&self.columns.flow_ids)?);
        let names: FxHashMap<u32, StrId> = std::mem::take(&mut self.columns.flow_names).into_iter().collect();
        let points = self.points(&points, Ascent::Strict)?;
        same_lengths(points.names.len(), &[phases.len(), ids.len()])?;
        let mut last = 0_i64;
        for (at, ((row, phase), id)) in points.rows().zip(phases).zip(ids).enumerate() {
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

    /// Columns with their differences added up and their handles checked.
    fn points(&mut self, columns: &PointColumns<'_>, ascent: Ascent) -> Result<Points, Error> {
        let positions = handles(&columns.positions)?;
        let (names, categories) = (column(&columns.names, StrId)?, column(&columns.categories, StrId)?);
        let (tracks, templates) = (column(&columns.tracks, TrackId)?, column(&columns.templates, TemplateId)?);
        let times = signed_numbers(&columns.times)?;
        let lengths = [positions.len(), categories.len(), tracks.len(), times.len(), templates.len()];
        same_lengths(names.len(), &lengths)?;
        for name in names.iter().chain(&categories) {
            self.check(*name)?;
        }
        let mut last = vec![0_i64; self.trace.tracks.len()];
        if tracks.iter().any(|track| track.index() >= last.len()) {
            return Err(fault("a track that is not there"));
        }
        let add = |(difference, track): (i64, &TrackId)| {
            let time = &mut last[track.index()];
            *time = time.wrapping_add(difference);
            Ts(*time)
        };
        let times = times.into_iter().zip(&tracks).map(add).collect();
        let values = templates.iter().map(|template| self.numbers(*template)).collect::<Result<_, _>>()?;
        Ok(Points { positions: added_up(positions, ascent)?, names, categories, tracks, times, templates, values })
    }
}

/// A column of handles.
fn column<T>(packed: &Packed<'_>, handle: impl Fn(u32) -> T) -> Result<Vec<T>, Error> {
    let handle = |number| u32::try_from(number).ok().map(&handle);
    packed.unpacked(handle).ok_or_else(|| fault("a number that is cut or too large"))
}

fn handles(packed: &Packed<'_>) -> Result<Vec<u32>, Error> {
    column(packed, |handle| handle)
}

fn signed_numbers(packed: &Packed<'_>) -> Result<Vec<i64>, Error> {
    packed.unpacked(|number| Some(signed(number))).ok_or_else(|| fault("a number that is cut"))
}

/// Positions from the differences between them.
fn added_up(differences: Vec<u32>, ascent: Ascent) -> Result<Vec<u32>, Error> {
    let mut last: Option<u32> = None;
    let add = |step: u32| {
        let is_up = step > 0 || ascent == Ascent::Level;
        let next = last.map_or(Some(step), |last| last.checked_add(step).filter(|_| is_up));
        last = next;
        next.ok_or_else(|| fault("positions that do not ascend"))
    };
    differences.into_iter().map(add).collect()
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

/// Columns of what has a place and a time, as they are in the trace.
struct Points {
    positions: Vec<u32>,
    names: Vec<StrId>,
    categories: Vec<StrId>,
    tracks: Vec<TrackId>,
    times: Vec<Ts>,
    templates: Vec<TemplateId>,
    values: Vec<u32>,
}

impl Points {
    fn rows(&self) -> impl Iterator<Item = Point> {
        (0..self.names.len()).map(|row| Point {
            position: self.positions[row],
            name: self.names[row],
            category: self.categories[row],
            track: self.tracks[row],
            time: self.times[row],
            args: ArgsRef { template: self.templates[row], start: self.values[row] },
        })
    }
}

struct Point {
    position: u32,
    name: StrId,
    category: StrId,
    track: TrackId,
    time: Ts,
    args: ArgsRef,
}
