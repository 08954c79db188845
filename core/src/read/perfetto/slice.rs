//! Slices, instants, counters and flows of track events.

use super::annotation::{KnownAnnotations, name_of, push_unsigned};
use super::counter::{CounterValue, write_counter};
use super::intern::{PerfettoSequence, PerfettoTexts, TextsById};
use super::packet::numbers_of;
use super::target::PerfettoTarget;
use crate::perfetto::{legacy, track_event};
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
    fn new(message: &'p [u8]) -> Self {
        let mut event = Self::default();
        for (field, value) in WireFields::new(message) {
            match (field, value) {
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
                (track_event::ANNOTATION, _) => event.num_annotations += 1,
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
                (
                    track_event::FLOW | track_event::LAST_FLOW | track_event::OLD_FLOW | track_event::OLD_LAST_FLOW,
                    _,
                ) => event.has_flows = true,
                _ => {}
            }
        }
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
    texts.get(&iid?).map(Vec::as_slice)
}

fn annotations(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    all_bytes_in(message, track_event::ANNOTATION)
}

/// Writes a track event; false for one of a kind that is not read, or without a time.
pub(super) fn write_track_event(
    target: &mut PerfettoTarget,
    sequence: &mut PerfettoSequence,
    time: Option<i64>,
    message: &[u8],
) -> bool {
    let event = TrackEvent::new(message);
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
    let PerfettoTarget { events, tracks, lanes, .. } = target;
    let place = tracks.place(track);
    let is_lane = place.is_lane;
    let dur = match phase {
        TrackPhase::End if is_lane => return lanes.end(track, time, events),
        TrackPhase::End => sequence.run.end(track, time),
        TrackPhase::Complete(us) => Some(us.saturating_mul(1000)),
        _ => None,
    };
    let PerfettoSequence { texts, annotations: known, run, .. } = sequence;
    let mut fill = |element: &mut JsonObject<'_>| {
        if phase != TrackPhase::End {
            if let Some(category) = event.category(texts, message, place.is_overhead) {
                element.text("cat", category);
            }
            element.text("name", event.name(texts).unwrap_or_default());
        }
        place.write(element);
        element.plain_micros("ts", Ts(time));
        if let Some(dur) = dur {
            element.plain_micros("dur", Ts(dur));
        }
        if let Some(scope) = event.scope {
            element.text("s", scope.as_bytes());
        }
        if event.num_annotations > 0 {
            element.object("args", |args| write_args(args, message, texts, known));
        }
    };
    if phase == TrackPhase::Begin && is_lane {
        lanes.begin(track, time, fill);
    } else {
        events.element(|element| {
            element.text("ph", phase.letter());
            fill(element);
        });
        if phase == TrackPhase::Begin {
            run.begin(track, time);
        }
    }
    if event.num_launched > 0 && phase != TrackPhase::End {
        keep_launches(target, message, &sequence.texts, (track, time));
    }
    if event.has_flows {
        write_flows(target, message, (track, time));
    }
    true
}

impl TrackPhase {
    fn letter(self) -> &'static [u8] {
        match self {
            Self::Begin => b"B",
            Self::End => b"E",
            Self::Instant => b"i",
            Self::Counter => b"C",
            Self::Complete(_) => b"X",
        }
    }
}

fn write_args(args: &mut JsonObject<'_>, message: &[u8], texts: &PerfettoTexts, known: &mut KnownAnnotations) {
    annotations(message).for_each(|annotation| known.write(args, annotation, texts));
}

/// Keeps which work a call launched, where no number of both tells it.
fn keep_launches(target: &mut PerfettoTarget, message: &[u8], texts: &PerfettoTexts, (track, time): (u64, i64)) {
    if annotations(message).any(|annotation| name_of(annotation, texts) == b"correlation") {
        return;
    }
    let launches = &mut target.arrows.launches;
    let ids = all_bytes_in(message, track_event::LAUNCHED).flat_map(|launched| values_in(launched, 1));
    ids.for_each(|ids| numbers_of(ids, false, |id| launches.push((track, time, id))));
}

/// Values of counters that come with another event.
fn write_extra_counters(target: &mut PerfettoTarget, message: &[u8], time: i64) {
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
fn write_flows(target: &mut PerfettoTarget, message: &[u8], (track, time): (u64, i64)) {
    let PerfettoTarget { events, tracks, flows, .. } = target;
    let place = tracks.place(track);
    for (field, value) in WireFields::new(message) {
        let (is_last, is_fixed) = match field {
            track_event::FLOW => (false, true),
            track_event::LAST_FLOW => (true, true),
            track_event::OLD_FLOW => (false, false),
            track_event::OLD_LAST_FLOW => (true, false),
            _ => continue,
        };
        numbers_of(value, is_fixed, |number| {
            let phase = if is_last { b"f" } else { flows.phase(number) };
            let (category, name) = flows.names(number);
            events.element(|element| {
                element.text("ph", phase);
                element.text("cat", category);
                element.text("name", name);
                push_unsigned(element.field("id"), number);
                place.write(element);
                element.plain_micros("ts", Ts(time));
                if phase != b"s" {
                    element.text("bp", b"e");
                }
            });
        });
    }
}
