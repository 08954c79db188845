//! Slices, instants, counters and flows of track events.

use super::annotation::{name_of, push_unsigned, write_annotation};
use super::counter::{CounterValue, write_counter};
use super::intern::{PerfettoSequence, PerfettoTexts, TextsById};
use super::packet::numbers_of;
use super::packet_key::PacketKey;
use super::target::PerfettoTarget;
use super::track::TrackPlace;
use crate::perfetto::{legacy, track_event};
use crate::read::element_shape::OwnValues;
use crate::read::json_object::JsonObject;
use crate::read::wire::{WireFields, WireValue, all_bytes_in, values_in};
use crate::time::Ts;
use crate::vendor;

/// The phases of Chrome's format that track events have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrackPhase {
    Begin,
    End,
    Instant,
    Counter,
    /// A whole slice, of this length in microseconds.
    Complete(i64),
}

/// A track event by its fields. Repeated ones stay where they are.
#[derive(Debug, Default)]
struct TrackEvent<'p> {
    kind: u64,
    track: Option<u64>,
    name: Option<&'p [u8]>,
    category_iid: Option<u64>,
    category: Option<&'p [u8]>,
    name_iid: Option<u64>,
    absolute_us: Option<u64>,
    counter: Option<CounterValue>,
    legacy_phase: Option<u64>,
    legacy_name: Option<u64>,
    duration_us: Option<u64>,
    scope: Option<&'static str>,
    num_annotations: usize,
    num_launched: usize,
    has_flows: bool,
    has_extra: bool,
}

impl<'p> TrackEvent<'p> {
    /// Splits a message. Its annotations go to the key.
    fn new(message: &'p [u8], key: &mut PacketKey) -> Self {
        let mut event = Self::default();
        key.clear();
        WireFields::new(message).each(|field, value| match (field, value) {
            (track_event::TYPE, WireValue::Number(kind)) => event.kind = kind,
            (track_event::TRACK, WireValue::Number(uuid)) => event.track = Some(uuid),
            (track_event::NAME, WireValue::Bytes(name)) => event.name = Some(name),
            (track_event::NAME_IID, WireValue::Number(iid)) => event.name_iid = Some(iid),
            (track_event::CATEGORY_IID, WireValue::Number(iid)) => {
                event.category_iid = event.category_iid.or(Some(iid));
            }
            (track_event::CATEGORY_IID, value) => {
                numbers_of(value, false, |iid| event.category_iid = event.category_iid.or(Some(iid)));
            }
            (track_event::CATEGORY, WireValue::Bytes(name)) => event.category = event.category.or(Some(name)),
            (track_event::ANNOTATION, WireValue::Bytes(annotation)) => {
                event.num_annotations += 1;
                key.annotation(annotation);
            }
            (track_event::LAUNCHED, _) => event.num_launched += 1,
            (track_event::ABSOLUTE_US, WireValue::Number(time)) => event.absolute_us = Some(time),
            (track_event::COUNTER_VALUE, WireValue::Number(number)) => {
                event.counter = Some(CounterValue::Integer(number as i64));
            }
            (track_event::DOUBLE_COUNTER_VALUE, WireValue::Number(bits)) => {
                event.counter = Some(CounterValue::Double(f64::from_bits(bits)));
            }
            (track_event::EXTRA_TRACKS | track_event::EXTRA_DOUBLE_TRACKS, _) => event.has_extra = true,
            (track_event::LEGACY, WireValue::Bytes(legacy)) => event.take_legacy(legacy),
            (track_event::FLOW | track_event::LAST_FLOW | track_event::OLD_FLOW | track_event::OLD_LAST_FLOW, _) => {
                event.has_flows = true;
            }
            _ => {}
        });
        event
    }

    fn take_legacy(&mut self, message: &[u8]) {
        for (field, value) in WireFields::new(message) {
            match field {
                legacy::NAME_IID => self.legacy_name = value.number(),
                legacy::PHASE => self.legacy_phase = value.number(),
                legacy::DURATION_US => self.duration_us = value.number(),
                legacy::SCOPE => {
                    let at = value.number().and_then(|scope| usize::try_from(scope.checked_sub(1)?).ok());
                    self.scope = at.and_then(|at| legacy::SCOPES.get(at)).copied();
                }
                _ => {}
            }
        }
    }

    fn phase(&self) -> Option<TrackPhase> {
        let letter = self.legacy_phase.and_then(|phase| u8::try_from(phase).ok());
        Some(match (self.kind, letter) {
            (1, _) | (0, Some(b'B')) => TrackPhase::Begin,
            (2, _) | (0, Some(b'E')) => TrackPhase::End,
            (3, _) | (0, Some(b'I' | b'i' | b'R' | b'n')) => TrackPhase::Instant,
            (4, _) => TrackPhase::Counter,
            (0, Some(b'X')) => TrackPhase::Complete(i64::try_from(self.duration_us.unwrap_or(0)).ok()?),
            _ => return None,
        })
    }

    fn name<'n>(&self, texts: &'n PerfettoTexts) -> Option<&'n [u8]>
    where
        'p: 'n,
    {
        self.name.or_else(|| text_of(&texts.names, self.name_iid.or(self.legacy_name)))
    }

    /// The category; that of a wait is told by its annotations alone.
    fn category<'n>(&self, texts: &'n PerfettoTexts, message: &'n [u8], is_overhead: bool) -> Option<&'n [u8]>
    where
        'p: 'n,
    {
        let given = self.category.or_else(|| text_of(&texts.categories, self.category_iid));
        let by_row = || is_overhead.then_some(&b"overhead"[..]);
        let by_key = || {
            let keys = annotations(message).map(|annotation| name_of(annotation, texts));
            keys.filter_map(|key| std::str::from_utf8(key).ok()).find_map(vendor::wait_category).map(str::as_bytes)
        };
        given.or_else(by_row).or_else(by_key)
    }
}

fn text_of(texts: &TextsById, iid: Option<u64>) -> Option<&[u8]> {
    texts.text(iid?)
}

fn annotations(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    all_bytes_in(message, track_event::ANNOTATION)
}

/// A slice or an instant at its place.
struct TrackSlice<'p> {
    event: TrackEvent<'p>,
    message: &'p [u8],
    phase: TrackPhase,
    track: u64,
    time: i64,
}

/// Writes a track event; false for one of a kind that is not read, or without a time.
pub(super) fn write_track_event(
    target: &mut PerfettoTarget<'_>,
    sequence: &mut PerfettoSequence,
    time: Option<i64>,
    message: &[u8],
) -> bool {
    let event = TrackEvent::new(message, &mut target.key);
    let by_event = || event.absolute_us.and_then(|us| i64::try_from(us).ok()?.checked_mul(1000));
    let (Some(phase), Some(time)) = (event.phase(), time.or_else(by_event)) else { return false };
    let track = event.track.or(sequence.track).unwrap_or(0);
    if event.has_extra {
        write_extra_counters(target, message, time);
    }
    if phase == TrackPhase::Counter {
        let Some(value) = event.counter else { return false };
        write_counter(target, track, value, time);
        return true;
    }
    let slice = TrackSlice { event, message, phase, track, time };
    match (phase, target.tracks.place(track).is_lane) {
        (TrackPhase::End, true) => return target.lanes.end(track, time, &mut target.events),
        (TrackPhase::Begin, true) => {
            let PerfettoTarget { tracks, lanes, .. } = target;
            lanes.begin(track, time, |element| slice.fill(element, tracks.place(track), &sequence.texts));
        }
        (TrackPhase::End, false) => slice.end(target, sequence),
        (TrackPhase::Begin, false) => {
            let row = target.rows.next_row();
            slice.put(target, sequence, 0);
            sequence.run.begin(track, row, |begin| target.rows.leave_open(begin));
        }
        (TrackPhase::Complete(us), _) => slice.put(target, sequence, us.saturating_mul(1000)),
        _ => slice.put(target, sequence, 0),
    }
    if slice.event.num_launched > 0 && phase != TrackPhase::End {
        keep_launches(target, message, &sequence.texts, (track, time));
    }
    if slice.event.has_flows {
        write_flows(target, message, (track, time));
    }
    true
}

impl TrackSlice<'_> {
    /// Ends the slice that the order of packets tells, if it does.
    fn end(&self, target: &mut PerfettoTarget<'_>, sequence: &mut PerfettoSequence) {
        let starts = &target.rows.builder.trace.events.start;
        match sequence.run.end(self.track, self.time, starts) {
            Some(begin) if self.event.num_annotations == 0 => {
                target.flush();
                target.rows.close(begin, self.time);
            }
            // Arguments are joined with those of the begin when all events are known.
            Some(begin) => {
                let start = starts.at(begin.row);
                target.rows.leave_open(begin);
                self.put(target, sequence, Ts(self.time).since(start).0);
            }
            None => self.put(target, sequence, 0),
        }
    }

    fn put(&self, target: &mut PerfettoTarget<'_>, sequence: &PerfettoSequence, dur: i64) {
        let place = target.tracks.place(self.track);
        let is_overhead = place.is_overhead;
        let place = place.key(target.rows.builder);
        target.rows.builder.lane = self.track;
        self.finish_key(&mut target.key, sequence, is_overhead);
        target.put(Some(place), OwnValues::exact(self.time, dur), |element, tracks| {
            element.text("ph", self.phase.letter());
            self.fill(element, tracks.place(self.track), &sequence.texts);
            if matches!(self.phase, TrackPhase::Begin | TrackPhase::Complete(_)) || dur > 0 {
                element.plain_micros("dur", Ts(dur));
            }
        });
    }

    fn finish_key(&self, key: &mut PacketKey, sequence: &PerfettoSequence, is_overhead: bool) {
        let event = &self.event;
        let scope = event.scope.and_then(|scope| scope.bytes().next()).unwrap_or(0);
        key.kind([self.phase.letter()[0], u8::from(is_overhead), scope], sequence.id, sequence.edition);
        if self.phase != TrackPhase::End {
            key.text_or_number(event.name, event.name_iid.or(event.legacy_name));
            key.text_or_number(event.category, event.category_iid);
        }
    }

    /// The keys of its element but for the phase and the duration.
    fn fill(&self, element: &mut JsonObject<'_>, place: &TrackPlace, texts: &PerfettoTexts) {
        if self.phase != TrackPhase::End {
            if let Some(category) = self.event.category(texts, self.message, place.is_overhead) {
                element.text("cat", category);
            }
            element.text("name", self.event.name(texts).unwrap_or_default());
        }
        place.write(element);
        element.plain_micros("ts", Ts(self.time));
        if let Some(scope) = self.event.scope {
            element.text("s", scope.as_bytes());
        }
        if self.event.num_annotations > 0 {
            element.object("args", |args| {
                annotations(self.message).for_each(|annotation| write_annotation(args, annotation, texts));
            });
        }
    }
}

impl TrackPhase {
    /// The phase of its element. Slices that begin are whole ones, until their end is known.
    fn letter(self) -> &'static [u8; 1] {
        match self {
            Self::Begin | Self::Complete(_) => b"X",
            Self::End => b"E",
            Self::Instant => b"i",
            Self::Counter => b"C",
        }
    }
}

/// Keeps which work a call launched, where no number of both tells it.
fn keep_launches(target: &mut PerfettoTarget<'_>, message: &[u8], texts: &PerfettoTexts, (track, time): (u64, i64)) {
    if annotations(message).any(|annotation| name_of(annotation, texts) == b"correlation") {
        return;
    }
    let launches = &mut target.arrows.launches;
    let ids = all_bytes_in(message, track_event::LAUNCHED).flat_map(|launched| values_in(launched, 1));
    ids.for_each(|ids| numbers_of(ids, false, |id| launches.push((track, time, id))));
}

/// Values of counters that come with another event.
fn write_extra_counters(target: &mut PerfettoTarget<'_>, message: &[u8], time: i64) {
    for (tracks, values, is_double) in [
        (track_event::EXTRA_TRACKS, track_event::EXTRA_VALUES, false),
        (track_event::EXTRA_DOUBLE_TRACKS, track_event::EXTRA_DOUBLE_VALUES, true),
    ] {
        let of_field = |wanted: u32, is_fixed: bool| {
            let mut found = Vec::new();
            for value in values_in(message, wanted) {
                numbers_of(value, is_fixed, |number| found.push(number));
            }
            found
        };
        for (track, bits) in of_field(tracks, false).into_iter().zip(of_field(values, is_double)) {
            let value =
                if is_double { CounterValue::Double(f64::from_bits(bits)) } else { CounterValue::Integer(bits as i64) };
            write_counter(target, track, value, time);
        }
    }
}

/// A flow starts at the first event that has its number.
fn write_flows(target: &mut PerfettoTarget<'_>, message: &[u8], (track, time): (u64, i64)) {
    for (field, value) in WireFields::new(message) {
        let (is_last, is_fixed) = match field {
            track_event::FLOW => (false, true),
            track_event::LAST_FLOW => (true, true),
            track_event::OLD_FLOW => (false, false),
            track_event::OLD_LAST_FLOW => (true, false),
            _ => continue,
        };
        numbers_of(value, is_fixed, |number| write_flow(target, is_last, number, (track, time)));
    }
}

fn write_flow(target: &mut PerfettoTarget<'_>, is_last: bool, number: u64, (track, time): (u64, i64)) {
    let phase = if is_last { b"f" } else { target.flows.phase(number) };
    let (category, name) = target.flows.names(number);
    target.key.clear();
    target.key.kind([phase[0], b'F', 0], 0, 0);
    [category, name].into_iter().for_each(|text| target.key.text(text));
    let place = target.tracks.place(track).key(target.rows.builder);
    let own = OwnValues { flow: number, ..OwnValues::exact(time, 0) };
    let flows = std::mem::take(&mut target.flows);
    target.put(Some(place), own, |element, tracks| {
        let (category, name) = flows.names(number);
        element.text("ph", phase);
        element.text("cat", category);
        element.text("name", name);
        push_unsigned(element.field("id"), number);
        tracks.place(track).write(element);
        element.plain_micros("ts", Ts(time));
        if phase != b"s" {
            element.text("bp", b"e");
        }
    });
    target.flows = flows;
}
