//! Builds a trace: sorts elements into tables one by one.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::container::Container;
use super::element::{TraceElement, unquoted};
use super::element_shape::{ElementShape, ElementShapes, MatchedElement, OwnValues, flow_id, is_fine};
use super::far_times;
use super::pairs::DurationPairs;
use super::trace_array::TraceArray;
use super::tracks::{TrackFinder, TrackKey};
use crate::error::{Error, ErrorKind, Position};
use crate::id::{StrId, TemplateId, TrackId};
use crate::json::JsonText;
use crate::time::{Dur, Ts, ns_from_micros};
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, FieldValue};
use crate::trace::decimal::Decimal;
use crate::trace::event::EventRow;
use crate::trace::flow::{Counter, Flow, FlowId, FlowPhase, Instant};
use crate::trace::kept_defects;
use crate::trace::kind::{EventKind, category_kind, is_legacy_operator};
use crate::warning::WarningKind;

/// Events more than an hour after the base of a file do not continue it.
const HOUR: Ts = Ts(3_600_000_000_000);
/// The year 2000: later times count from 1970.
const CENTURY: Ts = Ts(946_684_800_000_000_000);

/// A trace in the making.
#[derive(Debug, Default)]
pub(super) struct TraceBuilder {
    pub(super) trace: Trace,
    pub(super) tracks: TrackFinder,
    pub(super) pairs: DurationPairs,
    /// Where the element now read stands.
    pub(super) position: u32,
    /// The current array. Ids of nodes are not positions, so the byte locates nodes.
    pub(super) section: TraceArray,
    pub(super) byte: Option<u64>,
    /// The track of the element now read, where several are one row; begins and ends are of one.
    pub(super) lane: u64,
    pub(super) file: Option<Arc<str>>,
    /// Whether a file of that sort was read.
    pub(super) has_kineto: bool,
    pub(super) has_execution: bool,
    /// Kinds of the categories seen, by their string ids.
    kinds: Vec<Option<(EventKind, bool)>>,
    /// Values of the element now read that are not strict JSON, and templates that hold such
    /// values.
    pub(super) irregular: u32,
    pub(super) irregular_templates: FxHashSet<TemplateId>,
    flow_places: Vec<TrackKey>,
    /// Shapes of the elements so far.
    shapes: ElementShapes,
    num_warned: u64,
    missing_starts: Vec<usize>,
    /// The text of a file of metrics.
    pub(super) metrics: Vec<u8>,
    pub(super) has_fine_times: bool,
}

/// An element whose texts are in the arena.
#[derive(Debug, Clone, Copy)]
pub(super) struct InternedElement {
    pub(super) shape: ElementShape,
    name: StrId,
    own: OwnValues,
    pub(super) args: ArgsRef,
}

impl TraceBuilder {
    /// Counts a defect at the element now read.
    pub(super) fn warn(&mut self, kind: WarningKind) {
        self.num_warned += 1;
        let event = (self.section == TraceArray::Events).then_some(u64::from(self.position));
        let (file, byte) = (&self.file, self.byte);
        self.trace.warnings.push(kind, || Position { file: file.clone(), byte, event, node: None });
    }

    /// Counts a defect at an element that was read before.
    pub(super) fn warn_at(&mut self, position: u32, kind: WarningKind) {
        self.position = position;
        (self.byte, self.section) = (None, TraceArray::Events);
        self.warn(kind);
    }

    /// The id of a text; bad bytes are replaced and counted.
    #[inline]
    pub(super) fn intern(&mut self, text: JsonText<'_>) -> StrId {
        if !text.escaped
            && let Some(id) = self.trace.strings.get(text.raw)
        {
            return id;
        }
        match text.decode() {
            Some(plain) => self.trace.strings.intern(&plain),
            None => {
                let is_utf8 = std::str::from_utf8(text.raw).is_ok();
                self.warn(if is_utf8 { WarningKind::IrregularJson } else { WarningKind::InvalidUtf8 });
                self.trace.strings.intern(&text.decode_lossy())
            }
        }
    }

    /// The id of a name or a category, which an element may lack.
    fn label(&mut self, text: Option<JsonText<'_>>) -> StrId {
        text.map_or(StrId::EMPTY, |text| self.intern(text))
    }

    /// Sorts an element into its table when it is like an earlier one; the length of its text.
    #[inline]
    pub(super) fn push_alike(&mut self, text: &[u8]) -> Option<usize> {
        let MatchedElement { size, shape, own } = self.shapes.find(&self.trace.strings, text)?;
        let args = ArgsRef { template: shape.template, start: self.trace.args.push_values(self.shapes.values()) };
        self.put_alike(shape, own, args);
        Some(size)
    }

    /// Adds the row of an element with the shape of an earlier one.
    #[inline]
    pub(super) fn put_alike(&mut self, shape: ElementShape, own: OwnValues, args: ArgsRef) {
        self.has_fine_times |= own.is_fine;
        self.put(InternedElement { shape, name: own.name.unwrap_or(shape.name), own, args });
    }

    /// Sorts an element into its table and remembers its shape when `text` is given, all of it;
    /// false for one that has no phase.
    pub(super) fn push(&mut self, element: &TraceElement<'_>, text: Option<&[u8]>) -> bool {
        if !matches!(element.phase, b'X' | b'B' | b'E' | b'i' | b'I' | b's' | b't' | b'f' | b'C') {
            return self.push_other(element);
        }
        if let Some((row, text)) = self.push_row(element).zip(text)
            && row.own.flow_text.is_none()
        {
            self.shapes.learn(text, element, row.name, row.shape);
        }
        true
    }

    /// Sorts an element that becomes a row into its table. The row, unless there is a defect:
    /// elements with warnings are read again, so that each is counted.
    pub(super) fn push_row(&mut self, element: &TraceElement<'_>) -> Option<InternedElement> {
        let num_warned = self.num_warned;
        let row = match element.phase {
            b'X' => self.complete(element),
            b'B' => self.event(element, Dur(0)),
            b'E' => self.end(element)?,
            b'i' | b'I' => self.instant(element)?,
            b's' | b't' | b'f' => self.flow(element)?,
            b'C' => self.counter(element)?,
            _ => return None,
        };
        self.put(row);
        (self.num_warned == num_warned).then_some(row)
    }

    fn push_other(&mut self, element: &TraceElement<'_>) -> bool {
        match element.phase {
            b'M' => self.push_metadata(element),
            0 => self.warn(WarningKind::NotAnEvent),
            _ => self.warn(WarningKind::UnknownPhase),
        }
        element.phase != 0
    }

    fn complete(&mut self, element: &TraceElement<'_>) -> InternedElement {
        let dur = if element.dur.is_empty() {
            self.warn(WarningKind::MissingDuration);
            0
        } else {
            self.nanoseconds(element.dur).unwrap_or(0)
        };
        if dur < 0 {
            self.warn(WarningKind::NegativeDuration);
        }
        self.event(element, Dur(dur.max(0)))
    }

    /// An event's row, whose duration may be set later.
    pub(super) fn event(&mut self, element: &TraceElement<'_>, dur: Dur) -> InternedElement {
        let row = self.trace.events.len();
        let time = self.start(element, WarningKind::MissingStart).unwrap_or_else(|| {
            self.missing_starts.push(row);
            Ts(0)
        });
        self.row(element, OwnValues { time: time.0, dur: dur.0, ..OwnValues::default() })
    }

    /// An end; its duration tells when its begin was.
    fn end(&mut self, element: &TraceElement<'_>) -> Option<InternedElement> {
        let Some(time) = ns_from_micros(element.time) else {
            self.warn(WarningKind::InvalidNumber);
            return None;
        };
        self.has_fine_times |= is_fine(element.time, time);
        let dur = ns_from_micros(element.dur).unwrap_or(0).max(0);
        Some(self.row(element, OwnValues { time, dur, ..OwnValues::default() }))
    }

    fn instant(&mut self, element: &TraceElement<'_>) -> Option<InternedElement> {
        let time = self.start(element, WarningKind::MissingTime)?;
        Some(self.row(element, OwnValues { time: time.0, ..OwnValues::default() }))
    }

    fn flow(&mut self, element: &TraceElement<'_>) -> Option<InternedElement> {
        let time = self.start(element, WarningKind::MissingTime)?;
        let raw = unquoted(element.flow_id);
        let number = flow_id(raw);
        let mut row = self.row(element, OwnValues { time: time.0, flow: number.unwrap_or(0), ..OwnValues::default() });
        if number.is_none() {
            row.own.flow_text = Some(self.intern(JsonText { raw, escaped: raw.contains(&b'\\') }));
        }
        Some(row)
    }

    fn row(&mut self, element: &TraceElement<'_>, own: OwnValues) -> InternedElement {
        let name = self.label(element.name);
        let category = self.label(element.category);
        let args = self.keep_args(&element.args);
        let place = self.place(element);
        let shape = ElementShape { phase: element.phase, name, category, place, template: args.template };
        InternedElement { shape, name, own, args }
    }

    /// Adds a row to its table.
    #[inline]
    pub(super) fn put(&mut self, row: InternedElement) {
        let InternedElement { shape: ElementShape { phase, category, place, .. }, name, own, args } = row;
        let (position, time) = (self.position, Ts(own.time));
        match phase {
            b'X' | b'B' => {
                let (kind, is_on_device) = self.kind(category, place);
                let track = if is_on_device { self.stream_track(place, args) } else { self.thread_track(place) };
                let (start, dur) = (time, Dur(own.dur));
                self.trace.events.push(EventRow { position, name, category, kind, track, start, dur, args });
                if phase == b'B' {
                    self.note_begin(self.trace.events.len() - 1);
                }
            }
            b'E' => self.note_end(place, time, own.dur, args),
            b'i' | b'I' => {
                let track = self.any_track(place);
                self.trace.instants.push(Instant { position, name, category, track, time, args });
            }
            b'C' => self.push_series(name, place, time, args),
            _ => {
                let phase = match phase {
                    b's' => FlowPhase::Start,
                    b't' => FlowPhase::Step,
                    _ => FlowPhase::Finish,
                };
                let id = own.flow_text.map_or(FlowId::Number(own.flow), FlowId::Text);
                self.flow_places.push(place);
                // The track is found at the end, when it is known which places are streams.
                let track = TrackId(0);
                self.trace.flows.push(Flow { position, name, category, track, time, phase, id, args });
            }
        }
    }

    fn start(&mut self, element: &TraceElement<'_>, missing: WarningKind) -> Option<Ts> {
        let start = if element.time.is_empty() { None } else { self.nanoseconds(element.time) };
        self.has_fine_times |= start.is_some_and(|start| is_fine(element.time, start));
        if start.is_none() {
            self.warn(missing);
        }
        start.map(Ts)
    }

    fn nanoseconds(&mut self, text: &[u8]) -> Option<i64> {
        let ns = ns_from_micros(text);
        if ns.is_none() {
            self.warn(WarningKind::InvalidNumber);
        }
        ns
    }

    fn kind(&mut self, category: StrId, (process, _): TrackKey) -> (EventKind, bool) {
        if is_legacy_operator(&self.trace.strings, category, process) {
            return (EventKind::Operator, false);
        }
        if self.kinds.len() <= category.index() {
            self.kinds.resize(category.index() + 1, None);
        }
        let strings = &self.trace.strings;
        *self.kinds[category.index()].get_or_insert_with(|| category_kind(strings.text(category)))
    }

    /// A counter. Its name alone tells it: it has no category.
    fn counter(&mut self, element: &TraceElement<'_>) -> Option<InternedElement> {
        let time = self.start(element, WarningKind::MissingTime)?;
        let row = self.row(element, OwnValues { time: time.0, ..OwnValues::default() });
        Some(InternedElement { shape: ElementShape { category: StrId::EMPTY, ..row.shape }, ..row })
    }

    /// Adds a row for each value of a counter; a value that is no number is not a number.
    fn push_series(&mut self, name: StrId, place: TrackKey, time: Ts, args: ArgsRef) {
        let (position, track) = (self.position, self.any_track(place));
        let Trace { args: all, strings, counters, .. } = &mut self.trace;
        let mut numbers = all.values(args);
        let num_before = counters.len();
        let counter = |series, value| Counter { position, name, series, track, time, value, args };
        for field in all.template(args).fields() {
            let value = match field.value {
                FieldValue::Slot(scale) => {
                    numbers.next().map_or(f64::NAN, |mantissa| Decimal { mantissa, scale }.to_f64())
                }
                FieldValue::Json(text) => strings.text(text).trim_matches('"').parse().unwrap_or(f64::NAN),
            };
            if !field.is_outer {
                counters.push(counter(field.key, value));
            }
        }
        if counters.len() == num_before {
            counters.push(counter(StrId::EMPTY, f64::NAN));
        }
    }

    /// The finished trace: pairs matched, base time added, tracks named. An error where there were
    /// metrics alone.
    pub(super) fn finish(mut self) -> Result<Trace, Error> {
        kept_defects::take(&mut self.trace);
        if !self.metrics.is_empty() && !self.has_kineto && !self.has_execution {
            let position = Position { file: self.file, byte: Some(0), ..Position::default() };
            let found = Container::Metrics.words().into();
            return Err(ErrorKind::Unsupported { expected: "a trace", found, position }.into());
        }
        for row in 0..self.flow_places.len() {
            self.trace.flows[row].track = self.any_track(self.flow_places[row]);
        }
        self.match_pairs();
        self.place_missing_starts();
        self.place_zero_times();
        far_times::place(&mut self.trace).into_iter().for_each(|at| self.warn_at(at, WarningKind::FarTime));
        self.name_tracks();
        self.number_streams();
        self.trace.settle_foreign_rows();
        self.add_base_time();
        self.trace.has_coarse_times = !self.has_fine_times;
        let metrics = std::mem::take(&mut self.metrics);
        self.push_metrics(&metrics);
        self.trace.args.seal();
        Ok(self.trace)
    }

    fn place_missing_starts(&mut self) {
        if self.missing_starts.is_empty() {
            return;
        }
        let events = &mut self.trace.events;
        let missing: FxHashSet<usize> = self.missing_starts.iter().copied().collect();
        let known = (0..events.len()).filter(|row| !missing.contains(row));
        let first = known.map(|row| events.start.at(row)).min().unwrap_or_default();
        for row in missing {
            events.start.set(row, first);
            // Nobody knows when it ended.
            events.dur.set(row, Dur(0));
        }
    }

    /// Time 0 means unknown where all other times are of this century or far from the file's base:
    /// Kineto writes 0 for times outside its clock. If such an event ends with the others, its end
    /// is kept.
    fn place_zero_times(&mut self) {
        let far = if self.trace.header_base_ns().is_some() { HOUR } else { CENTURY };
        let trace = &mut self.trace;
        let points = trace.instants.iter().map(|row| row.time).chain(trace.counters.iter().map(|row| row.time));
        let others = trace.events.start.iter().chain(points).filter(|time| *time != Ts(0));
        let Some(first) = others.min().filter(|first| *first > far) else { return };
        let events = &mut trace.events;
        let mut placed = Vec::new();
        for row in 0..events.len() {
            if events.start.at(row) == Ts(0) {
                events.dur.set(row, Dur(events.end(row).since(first).0.max(0)));
                events.start.set(row, first);
                placed.push(events.position.at(row));
            }
        }
        let instants = trace.instants.iter_mut().map(|row| (&mut row.time, row.position));
        let counters = trace.counters.iter_mut().map(|row| (&mut row.time, row.position));
        let flows = trace.flows.iter_mut().map(|row| (&mut row.time, row.position));
        for (time, position) in instants.chain(counters).chain(flows).filter(|(time, _)| **time == Ts(0)) {
            *time = first;
            placed.push(position);
        }
        placed.sort_unstable();
        placed.into_iter().for_each(|position| self.warn_at(position, WarningKind::ZeroTime));
    }

    /// Times are relative to `baseTimeNanoseconds` where there is one, unless they are plainly
    /// later than it.
    fn add_base_time(&mut self) {
        let Some(base) = self.trace.header_base_ns() else { return };
        // Most of them decide: a file may have an event or two at time 0.
        let starts = &self.trace.events.start;
        let num_later = starts.iter().filter(|start| start.0 >= base).count();
        let is_absolute =
            if starts.is_empty() { self.trace.range().start.0 >= base } else { num_later * 2 > starts.len() };
        if is_absolute {
            return;
        }
        self.trace.shift(base);
        self.trace.base_ns = base;
    }
}
