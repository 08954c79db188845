//! Stacks allocations of one device over time, each as a band.

use std::cmp::Reverse;

use crate::sort;

/// The most allocations with a band of their own; the others are one band.
const MAX_BANDS: usize = 400;
/// The slices of time in the band of the others.
const MAX_SLICES: usize = 1_000;

/// An allocation that may have a band.
#[derive(Debug, Clone, Copy)]
pub(super) struct BandSource {
    /// Its place among the allocations of the caller.
    pub(super) place: usize,
    pub(super) bytes: i64,
    /// The changes that make and release it; `None` is before the first, or never.
    pub(super) changes: [Option<usize>; 2],
    /// The times of both on the axis, or its ends.
    pub(super) time: [i64; 2],
}

impl BandSource {
    /// The number of changes with which it is made.
    fn start(&self) -> usize {
        self.changes[0].map_or(0, |at| at + 1)
    }

    /// Bytes by time: the area that it fills.
    fn area(&self) -> i128 {
        i128::from(self.bytes) * (i128::from(self.time[1]) - i128::from(self.time[0]))
    }
}

/// A time of a band in which nothing below it changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct BandSpan {
    /// The place of its allocation among those that are shown; `None` for the others.
    pub(super) shown: Option<usize>,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) bottom: i64,
    pub(super) bytes: i64,
}

/// The bands of one device.
pub(super) struct BandStack {
    /// The places of the allocations with a band of their own.
    pub(super) shown: Vec<usize>,
    pub(super) num_others: usize,
    pub(super) spans: Vec<BandSpan>,
}

/// An allocation that comes or goes.
#[derive(Clone, Copy)]
struct BandEvent {
    time: i64,
    /// The number of changes with which it happens; what is in use before them comes first.
    order: usize,
    is_start: bool,
    /// The place of the allocation among the sources.
    source: usize,
}

impl BandStack {
    /// Stacks allocations from the earliest upwards; those without a band lie on top, as one.
    ///
    /// At each time, the bands add up to the memory in use after all changes up to then. The band
    /// of the others has the most bytes of each slice, so there the sum is the slice's maximum. The
    /// peak lasts for at least a nanosecond, so that it is seen.
    pub(super) fn of(sources: &[BandSource], (first, last): (i64, i64)) -> Self {
        let mut events = events(sources);
        let peak = peak(sources, &events);
        let after = peak.map_or(first, |peak| peak.time.max(first).saturating_add(1));
        let num_changes = peak.map_or(0, |peak| peak.order);
        for event in events.iter_mut().filter(|event| event.order > num_changes) {
            event.time = event.time.max(after);
        }
        let shown = shown(sources, num_changes);
        let mut band = vec![None; sources.len()];
        shown.iter().enumerate().for_each(|(at, source)| band[*source] = Some(at));
        let mut spans = Vec::new();
        // Allocations in use from the bottom up, each with where and since when it lies there.
        let mut stack: Vec<BandSpan> = Vec::new();
        let mut others = OtherBands { range: (first, last.max(after)), now: first, ..OtherBands::default() };
        for event in events {
            let bytes = sources[event.source].bytes;
            let top = |stack: &[BandSpan]| stack.last().map_or(0, |top| top.bottom.saturating_add(top.bytes));
            others.go_to(event.time);
            let change = if event.is_start { bytes } else { bytes.saturating_neg() };
            match (band[event.source], event.is_start) {
                (None, _) => others.bytes = others.bytes.saturating_add(change),
                (shown, true) => {
                    let bottom = top(&stack);
                    stack.push(BandSpan { shown, start: event.time, end: event.time, bottom, bytes });
                }
                (shown, false) => {
                    let Some(place) = stack.iter().position(|span| span.shown == shown) else { continue };
                    spans.extend(stack[place..].iter().map(|span| BandSpan { end: event.time, ..*span }));
                    stack.remove(place);
                    for span in &mut stack[place..] {
                        (span.start, span.bottom) = (event.time, span.bottom.saturating_sub(bytes));
                    }
                }
            }
            others.bottom = top(&stack);
        }
        let (_, end) = others.range;
        others.go_to(end);
        spans.extend(stack.iter().map(|span| BandSpan { end, ..*span }));
        spans.retain(|span| span.start < span.end);
        spans.extend(others.joined());
        Self { num_others: sources.len() - shown.len(), shown, spans }
    }
}

/// In the order of changes. Memory is released before its address is allocated again.
fn events(sources: &[BandSource]) -> Vec<BandEvent> {
    let mut events = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let [time, end] = source.time;
        events.push(BandEvent { time, order: source.start(), is_start: true, source: at });
        if let Some(last) = source.changes[1] {
            events.push(BandEvent { time: end, order: last + 1, is_start: false, source: at });
        }
    }
    sort::by_key(&mut events, |event| (event.order, event.is_start));
    events
}

/// The last event of the first change with which most is in use.
fn peak(sources: &[BandSource], events: &[BandEvent]) -> Option<BandEvent> {
    let (mut bytes, mut peak) = (0_i64, None::<(i64, BandEvent)>);
    for change in events.chunk_by(|a, b| a.order == b.order) {
        for event in change {
            let by = sources[event.source].bytes;
            bytes = if event.is_start { bytes.saturating_add(by) } else { bytes.saturating_sub(by) };
        }
        if peak.is_none_or(|(most, _)| bytes > most) {
            peak = change.last().map(|event| (bytes, *event));
        }
    }
    peak.map(|(_, event)| event)
}

/// The sources with a band of their own: up to half of them are the largest at the peak, the rest
/// those that fill most of the picture.
fn shown(sources: &[BandSource], num_changes: usize) -> Vec<usize> {
    let is_at_peak =
        |source: &BandSource| source.start() <= num_changes && source.changes[1].is_none_or(|last| num_changes <= last);
    let mut places: Vec<usize> = (0..sources.len()).collect();
    if places.len() > MAX_BANDS {
        let at_peak = |at: &usize| is_at_peak(&sources[*at]).then_some(sources[*at].bytes);
        sort::by_key(&mut places, |at| Reverse(at_peak(at)));
        let num_kept = places.partition_point(|at| at_peak(at).is_some()).min(MAX_BANDS / 2);
        sort::by_key(&mut places[num_kept..], |at| Reverse(sources[*at].area()));
        places.truncate(MAX_BANDS);
    }
    places
}

/// The sum of the other allocations, on top of those with a band.
#[derive(Default)]
struct OtherBands {
    spans: Vec<BandSpan>,
    range: (i64, i64),
    /// The time up to which spans are made, with the slice in which it is.
    now: i64,
    slice: usize,
    /// Whether the last span is of another slice.
    is_new: bool,
    /// Bytes that lie there from now on, and where.
    bytes: i64,
    bottom: i64,
}

impl OtherBands {
    /// Makes spans up to a time, of what has been there since the last. A span ends with its slice,
    /// and where the memory below changes.
    fn go_to(&mut self, time: i64) {
        let (first, last) = self.range;
        let length = i128::from(last) - i128::from(first);
        while self.now < time.min(last) {
            let border = i128::from(first) + length * (self.slice as i128 + 1) / MAX_SLICES as i128;
            let border = i64::try_from(border).unwrap_or(last).max(self.now);
            let end = border.min(time);
            match self.spans.last_mut().filter(|span| !self.is_new && span.bottom == self.bottom) {
                Some(span) => (span.end, span.bytes) = (end, span.bytes.max(self.bytes)),
                None if self.now < end => {
                    let (start, bottom, bytes) = (self.now, self.bottom, self.bytes);
                    self.spans.push(BandSpan { shown: None, start, end, bottom, bytes });
                    self.is_new = false;
                }
                None => {}
            }
            self.now = end;
            if end == border {
                self.slice += 1;
                self.is_new = true;
            }
        }
    }

    /// The spans that hold something; equal ones side by side are one.
    fn joined(self) -> Vec<BandSpan> {
        let mut joined: Vec<BandSpan> = Vec::new();
        for span in self.spans.into_iter().filter(|span| span.bytes > 0) {
            let key = (span.bottom, span.bytes, span.start);
            match joined.last_mut().filter(|last| (last.bottom, last.bytes, last.end) == key) {
                Some(last) => last.end = span.end,
                None => joined.push(span),
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Sources of changes at addresses, each a time after the one before: one allocates where
    /// nothing is, and else releases. With them, when each state begins and the bytes in it.
    fn sources(changes: &[(usize, i64, i64)]) -> (Vec<BandSource>, Vec<(i64, i64)>) {
        let (mut found, mut held): (Vec<BandSource>, BTreeMap<usize, usize>) = (Vec::new(), BTreeMap::new());
        let (mut now, mut bytes, mut states) = (0, 0, vec![(0, 0)]);
        for (at, (address, size, later)) in changes.iter().enumerate() {
            now += later;
            if let Some(source) = held.remove(address) {
                (found[source].changes[1], found[source].time[1]) = (Some(at), now);
                bytes -= found[source].bytes;
            } else {
                held.insert(*address, found.len());
                let place = found.len();
                found.push(BandSource { place, bytes: *size, changes: [Some(at), None], time: [now, i64::MAX] });
                bytes += size;
            }
            states.push((now, bytes));
        }
        found.iter_mut().for_each(|source| source.time[1] = source.time[1].min(now));
        // The peak lasts for a nanosecond.
        let most = states.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        let peak = states.iter().position(|(_, bytes)| *bytes == most).unwrap_or(0);
        let after = states[peak].0 + 1;
        states[peak + 1..].iter_mut().for_each(|(time, _)| *time = (*time).max(after));
        (found, states)
    }

    fn sum_at(spans: &[BandSpan], time: i64) -> i64 {
        spans.iter().filter(|span| span.start <= time && time < span.end).map(|span| span.bytes).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn bands_add_up_to_the_most_in_use_of_each_slice_and_to_the_peak(
            changes in prop::collection::vec((0..700_usize, 1..9_i64, 0..4_i64), 600..1_500),
        ) {
            let (sources, states) = sources(&changes);
            let end = states[states.len() - 1].0;
            let stack = BandStack::of(&sources, (0, end));
            let (time, most) = states.iter().copied().rev().max_by_key(|(_, bytes)| *bytes).unwrap();
            prop_assert_eq!(sum_at(&stack.spans, time), most);
            for span in stack.spans.iter().filter(|span| span.shown.is_none()) {
                let first = states.partition_point(|(time, _)| *time <= span.start) - 1;
                let inside = states[first..].iter().enumerate().take_while(|(_, (time, _))| *time < span.end);
                // Of one time, only the last state lasts.
                let lasting = inside.filter(|(at, (time, _))| states.get(first + at + 1).is_none_or(|(next, _)| next > time));
                let most = lasting.map(|(_, (_, bytes))| *bytes).max();
                prop_assert_eq!(Some(span.bottom + span.bytes), most);
                prop_assert_eq!(Some(sum_at(&stack.spans, span.start)), most);
                prop_assert_eq!(Some(sum_at(&stack.spans, span.end - 1)), most);
            }
        }
    }

    #[test]
    fn among_equal_allocations_those_at_the_peak_are_shown() {
        let passing = (0..5_000).flat_map(|_| [(0, 8, 1), (0, 8, 1)]);
        let changes: Vec<_> = passing.chain((1..=150).map(|address| (address, 8, 1))).collect();
        let (sources, states) = sources(&changes);
        let stack = BandStack::of(&sources, (0, states[states.len() - 1].0));
        assert_eq!((stack.shown.len(), stack.num_others), (MAX_BANDS, 4_750));
        assert_eq!(stack.shown.iter().filter(|source| **source >= 5_000).count(), 150);
    }

    #[test]
    fn a_peak_without_duration_is_drawn() {
        let (sources, _) = sources(&[(0, 5, 1), (1, 9, 0), (1, 9, 0), (2, 1, 4)]);
        let stack = BandStack::of(&sources, (0, 5));
        assert_eq!(sum_at(&stack.spans, 1), 14);
        assert_eq!(sum_at(&stack.spans, 2), 5);
    }
}
