//! Writes the events of a line.

use super::field::{event, line, metadata};
use super::plane::PlaneIndex;
use super::stat::EventStats;
use crate::read::event_text::EventText;
use crate::read::wire::{WireFields, WireValue, bytes_in};
use crate::time::Ts;

/// A line but for its events and its name. Its last fields stand behind the events.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineHead {
    /// The number of the row.
    pub(super) thread: i64,
    start_ns: i64,
    pub(super) is_damaged: bool,
}

impl LineHead {
    /// A line and its name.
    pub(super) fn of(message: &[u8]) -> (Self, &[u8]) {
        let (mut id, mut display_id, mut name, mut display_name) = (0, 0, &b""[..], &b""[..]);
        let mut found = Self::default();
        let mut fields = WireFields::new(message);
        for (field, value) in fields.by_ref() {
            match (field, value) {
                (line::ID, WireValue::Number(number)) => id = number,
                (line::DISPLAY_ID, WireValue::Number(number)) => display_id = number,
                (line::TIMESTAMP_NS, WireValue::Number(number)) => found.start_ns = number as i64,
                (line::NAME, WireValue::Bytes(text)) => name = text,
                (line::DISPLAY_NAME, WireValue::Bytes(text)) => display_name = text,
                _ => {}
            }
        }
        // Ids of threads may be addresses. As the Chrome trace, keep their lower half.
        found.thread = i64::from(if display_id == 0 { id as u32 } else { display_id as u32 });
        found.is_damaged = fields.is_damaged;
        (found, if display_name.is_empty() { name } else { display_name })
    }
}

/// Counts of events that are not as they should be.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EventTally {
    /// Events that are damaged, or whose names are missing.
    pub(super) num_faulty: u64,
    /// Sums over many events, which have no time.
    pub(super) num_sums: u64,
}

/// Writes events of a line from a byte on, until there is enough text. Gives where to go on; none
/// at the line's end.
pub(super) fn write_events(
    (plane, bytes): (&PlaneIndex, &[u8]),
    (message, head, process): (&[u8], LineHead, i64),
    from: usize,
    (events, tally): (&mut EventText, &mut EventTally),
    max_bytes: usize,
) -> Option<usize> {
    let rest = message.get(from..)?;
    let mut fields = WireFields::new(rest);
    let mut stats = EventStats::new();
    while let Some((field, value)) = fields.next() {
        if let (line::EVENT, WireValue::Bytes(message)) = (field, value) {
            write_event((plane, bytes), (message, head, process), &mut stats, (events, tally));
            if events.out.len() > max_bytes {
                return Some(message_end(from, rest, &fields));
            }
        }
    }
    None
}

fn message_end(from: usize, rest: &[u8], fields: &WireFields<'_>) -> usize {
    from + rest.len() - fields.rest().len()
}

fn write_event<'p>(
    (plane, bytes): (&PlaneIndex, &'p [u8]),
    (message, head, process): (&'p [u8], LineHead, i64),
    stats: &mut EventStats<'p>,
    (events, tally): (&mut EventText, &mut EventTally),
) {
    stats.clear();
    let (mut id, mut offset_ps, mut duration_ps, mut is_sum) = (0, 0, 0, false);
    let mut fields = WireFields::new(message);
    for (field, value) in fields.by_ref() {
        match (field, value) {
            (event::METADATA_ID, WireValue::Number(number)) => id = number as i64,
            (event::OFFSET_PS, WireValue::Number(number)) => (offset_ps, is_sum) = (number as i64, false),
            (event::DURATION_PS, WireValue::Number(number)) => duration_ps = number as i64,
            (event::NUM_OCCURRENCES, WireValue::Number(_)) => is_sum = true,
            (event::STAT, WireValue::Bytes(stat)) => stats.push(stat),
            _ => {}
        }
    }
    if is_sum {
        tally.num_sums += 1;
        return;
    }
    let about = plane.event(bytes, id);
    tally.num_faulty += u64::from(fields.is_damaged || about.is_none());
    let about = about.unwrap_or_default();
    stats.take_shared(about);
    let text = |field| bytes_in(about, field).filter(|text| !text.is_empty());
    let (long_name, display_name) = (text(metadata::NAME), text(metadata::DISPLAY_NAME));
    let name = stats.step_name(plane, bytes).or(display_name).or(long_name);
    let unnamed = name.is_none().then(|| format!("event {id}"));
    let start = head.start_ns.saturating_add(ns(offset_ps));
    let end = head.start_ns.saturating_add(ns(offset_ps.saturating_add(duration_ps)));
    events.element(|event| {
        event.text("ph", b"X");
        event.text("name", name.or(unnamed.as_deref().map(str::as_bytes)).unwrap_or_default());
        event.integer("pid", process);
        event.integer("tid", head.thread);
        event.micros("ts", Ts(start));
        event.micros("dur", Ts(end.saturating_sub(start)));
        event.object("args", |args| {
            if let (Some(long_name), Some(_)) = (long_name, display_name) {
                args.text("long_name", long_name);
            }
            stats.write(args, plane, bytes);
        });
    });
}

/// Picoseconds to the nearest nanosecond, halves up. Starts and ends are rounded, not durations: so
/// events that touch or nest still do.
fn ns(ps: i64) -> i64 {
    ps.div_euclid(1000) + i64::from(ps.rem_euclid(1000) >= 500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picoseconds_are_rounded_to_the_nearest() {
        assert_eq!([0, 499, 500, 1499, 1500, -1, -500, -501, i64::MAX].map(ns)[..8], [0, 0, 1, 1, 2, 0, 0, -1]);
        assert_eq!(ns(i64::MIN), -9_223_372_036_854_776);
    }

    #[test]
    fn the_display_of_a_line_outweighs_its_name() {
        let (head, name) = LineHead::of(b"\x08\x07\x12\x01a\x18\x05\x22\x00\x50\x09\x5a\x01b");
        assert_eq!((head.thread, head.start_ns, name), (9, 5, &b"b"[..]));
        let (plain, name) = LineHead::of(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x01a");
        assert_eq!((plain.thread, name), (0xffff_ffff, &b"a"[..]));
    }
}
