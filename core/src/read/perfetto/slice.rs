//! Slices, instants, counters and flows of track events.

use super::annotation::{name_of, write_annotation};
use super::counter::write_counter;
use super::counter_value::CounterValue;
use super::intern::{PerfettoSequence, PerfettoTexts, TextsById};
use super::packet_key::PacketKey;
use super::part::PacketPart;
use super::target::PerfettoTarget;
use super::track::TrackPlace;
use super::track_event::{LegacyEvent, TrackEvent, TrackPhase};
use crate::perfetto::track_event;
use crate::read::element_shape::OwnValues;
use crate::read::json_object::{JsonObject, push_unsigned};
use crate::read::wire::{WireFields, all_bytes_in, numbers_of, values_in};
use crate::time::Ts;
use crate::vendor;

/// A slice or an instant at its place, in the bytes of its packet.
struct TrackSlice<'p> {
    event: &'p TrackEvent,
    legacy: &'p LegacyEvent,
    bytes: &'p [u8],
    message: &'p [u8],
    phase: TrackPhase,
    track: u64,
    time: i64,
}

/// Writes a track event, whose annotations are in the key; false for one of a kind that is not
/// read, or without a time.
pub(super) fn write_track_event(
    target: &mut PerfettoTarget<'_>,
    sequence: &mut PerfettoSequence,
    time: Option<i64>,
    event: &TrackEvent,
    [bytes, message]: [&[u8]; 2],
) -> bool {
    let legacy = event.legacy.map(|legacy| LegacyEvent::new(legacy.of(bytes))).unwrap_or_default();
    let (Some(phase), Some(time)) = (event.phase(&legacy), time.or_else(|| event.time())) else { return false };
    let track = event.track.or(sequence.track).unwrap_or(0);
    if event.has_extra {
        let key = std::mem::take(&mut target.key);
        write_extra_counters(target, message, time);
        target.key = key;
    }
    if phase == TrackPhase::Counter {
        let Some(value) = event.counter else { return false };
        write_counter(target, track, value, time);
        return true;
    }
    let slice = TrackSlice { event, legacy: &legacy, bytes, message, phase, track, time };
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
    if event.num_launched > 0 && phase != TrackPhase::End {
        keep_launches(target, message, &sequence.texts, (track, time));
    }
    if event.has_flows {
        write_flows(target, message, (track, time));
    }
    true
}

impl TrackSlice<'_> {
    fn part(&self, part: Option<PacketPart>) -> Option<&[u8]> {
        part.map(|part| part.of(self.bytes))
    }

    /// The number that stands for its name.
    fn name_iid(&self) -> Option<u64> {
        self.event.name_iid.or(self.legacy.name_iid)
    }

    /// The category; that of a wait is told by its annotations alone.
    fn category<'n>(&'n self, texts: &'n PerfettoTexts, is_overhead: bool) -> Option<&'n [u8]> {
        let given = self.part(self.event.category);
        let given = given.or_else(|| text_of(&texts.categories, self.event.category_iid));
        let by_row = || is_overhead.then_some(&b"overhead"[..]);
        let by_key = || {
            let keys = annotations(self.message).map(|annotation| name_of(annotation, texts));
            keys.filter_map(|key| std::str::from_utf8(key).ok()).find_map(vendor::wait_category).map(str::as_bytes)
        };
        given.or_else(by_row).or_else(by_key)
    }

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
        let scope = self.legacy.scope.and_then(|scope| scope.bytes().next()).unwrap_or(0);
        key.kind([self.phase.letter()[0], u8::from(is_overhead), scope], sequence.id, sequence.edition);
        if self.phase != TrackPhase::End {
            key.text_or_number(self.part(event.name), self.name_iid());
            key.text_or_number(self.part(event.category), event.category_iid);
        }
    }

    /// The keys of its element but for the phase and the duration.
    fn fill(&self, element: &mut JsonObject<'_>, place: &TrackPlace, texts: &PerfettoTexts) {
        if self.phase != TrackPhase::End {
            if let Some(category) = self.category(texts, place.is_overhead) {
                element.text("cat", category);
            }
            let name = self.part(self.event.name).or_else(|| text_of(&texts.names, self.name_iid()));
            element.text("name", name.unwrap_or_default());
        }
        place.write(element);
        element.plain_micros("ts", Ts(self.time));
        if let Some(scope) = self.legacy.scope {
            element.text("s", scope.as_bytes());
        }
        if self.event.num_annotations > 0 {
            element.object("args", |args| {
                annotations(self.message).for_each(|annotation| write_annotation(args, annotation, texts));
            });
        }
    }
}

fn text_of(texts: &TextsById, iid: Option<u64>) -> Option<&[u8]> {
    texts.text(iid?)
}

fn annotations(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    all_bytes_in(message, track_event::ANNOTATION)
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
