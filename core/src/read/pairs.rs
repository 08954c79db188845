//! Joins begin (`B`) and end (`E`) events.

use rustc_hash::FxHashMap;

use super::builder::TraceBuilder;
use super::tracks::TrackKey;
use crate::sort;
use crate::time::Ts;
use crate::trace::args::{ArgsRef, ArgsTemplate, FieldValue};
use crate::warning::WarningKind;

/// The begin of an end is looked for among so many open ones.
const MAX_OPEN: usize = 100;

/// Where begins and ends belong together: a place, and a track of it where the format has several.
type PairPlace = (TrackKey, u64);

/// Begins and ends seen so far, by their place. Each place is mostly in the order of time already.
#[derive(Debug, Default)]
pub(super) struct DurationPairs {
    places: Vec<PlacePairs>,
    known: FxHashMap<PairPlace, usize>,
    /// The place that was looked for last.
    last: Option<usize>,
    details: Vec<EndDetails>,
}

/// Begins and ends of one place, in the order in which they came.
#[derive(Debug)]
struct PlacePairs {
    place: PairPlace,
    /// Rows of the begins.
    begins: Vec<u32>,
    ends: Vec<DurationEnd>,
}

/// An end, in as few bytes as it takes: there may be millions.
#[derive(Debug, Clone, Copy)]
struct DurationEnd {
    time: Ts,
    position: u32,
    /// Place of its details, for an end that has some.
    details: u32,
}

/// Facts that few ends have.
#[derive(Debug, Clone, Copy)]
struct EndDetails {
    /// The start of its begin if the end has a duration, else its own time.
    start: Ts,
    args: ArgsRef,
}

/// The details of an end without a duration and arguments.
const NO_DETAILS: u32 = u32::MAX;

/// The order of begins and ends of a place: by time and position.
type PairKey = (Ts, bool, u32);

impl DurationPairs {
    /// The start of an end's begin as the end tells it, else its own time.
    fn told_start(&self, end: &DurationEnd) -> Ts {
        self.details.get(end.details as usize).map_or(end.time, |details| details.start)
    }

    /// The place of an end in the order of time. An end that is known to be of an earlier begin
    /// comes before all begins of its time.
    fn key(&self, end: &DurationEnd) -> PairKey {
        let is_of_earlier = self.told_start(end) < end.time;
        (end.time, !is_of_earlier, end.position)
    }

    fn at(&mut self, place: PairPlace) -> &mut PlacePairs {
        let is_last = |at: &usize| self.places[*at].place == place;
        let at = self.last.filter(is_last).unwrap_or_else(|| {
            let new = self.places.len();
            let at = *self.known.entry(place).or_insert(new);
            if at == new {
                self.places.push(PlacePairs { place, begins: Vec::new(), ends: Vec::new() });
            }
            at
        });
        self.last = Some(at);
        &mut self.places[at]
    }
}

impl TraceBuilder {
    /// Keeps a row that is without a duration until its end is found.
    pub(super) fn note_begin(&mut self, row: usize) {
        // Not within its track: an end does not say whether it is that of a thread or of a stream.
        let track = self.trace.track(self.trace.events.track.at(row));
        let place = (track.process, track.thread);
        let begins = &mut self.pairs.at((place, self.lane)).begins;
        begins.push(row as u32);
    }

    /// Keeps an end until all begins are known.
    pub(super) fn note_end(&mut self, place: TrackKey, time: Ts, dur: i64, args: ArgsRef) {
        let mut details = NO_DETAILS;
        if dur != 0 || !self.trace.args.template(args).fields().is_empty() {
            details = self.pairs.details.len() as u32;
            self.pairs.details.push(EndDetails { start: Ts(time.0.saturating_sub(dur)), args });
        }
        let ends = &mut self.pairs.at((place, self.lane)).ends;
        ends.push(DurationEnd { time, position: self.position, details });
    }

    /// Where a begin is in the order of time.
    fn begin_key(&self, row: u32) -> PairKey {
        let (events, row) = (&self.trace.events, row as usize);
        (events.start.at(row), true, events.position.at(row))
    }

    /// Gives each begin the last end that closes it, within its place and in the order of time.
    pub(super) fn match_pairs(&mut self) {
        let mut pairs = std::mem::take(&mut self.pairs);
        let mut places = std::mem::take(&mut pairs.places);
        if places.is_empty() {
            return;
        }
        sort::by_key(&mut places, |pairs| pairs.place);
        let last = self.trace.range().end;
        for PlacePairs { mut begins, mut ends, .. } in places {
            if !begins.is_sorted_by_key(|row| self.begin_key(*row)) {
                sort::by_key(&mut begins, |row| self.begin_key(*row));
            }
            if !ends.is_sorted_by_key(|end| pairs.key(end)) {
                sort::by_key(&mut ends, |end| pairs.key(end));
            }
            self.match_in_order(begins, ends, &pairs, last);
        }
    }

    fn match_in_order(&mut self, begins: Vec<u32>, ends: Vec<DurationEnd>, pairs: &DurationPairs, last: Ts) {
        let mut open: Vec<usize> = Vec::new();
        let mut begins = begins.into_iter().peekable();
        for end in ends {
            while let Some(row) = begins.next_if(|row| self.begin_key(*row) <= pairs.key(&end)) {
                open.push(row as usize);
            }
            match self.opened(&open, pairs.told_start(&end)) {
                Some(at) => {
                    let row = open.remove(at);
                    self.close(row, end, pairs.details.get(end.details as usize));
                }
                None => self.warn_at(end.position, WarningKind::UnmatchedEnd),
            }
        }
        open.extend(begins.map(|row| row as usize));
        for row in open {
            self.trace.events.dur.set(row, last.since(self.trace.events.start.at(row)));
            self.warn_at(self.trace.events.position.at(row), WarningKind::UnfinishedBegin);
        }
    }

    /// Where the begin of an end is among the open ones: the one with the start that the end tells,
    /// else the last one.
    fn opened(&self, open: &[usize], told: Ts) -> Option<usize> {
        let start = |row: &&usize| self.trace.events.start.at(**row);
        // The open ones are in the order of their starts.
        let mut later = open.iter().rev().take(MAX_OPEN).take_while(|row| start(row) >= told);
        let told = later.position(|row| start(&row) == told);
        told.map(|from_last| open.len() - 1 - from_last).or_else(|| open.len().checked_sub(1))
    }

    fn close(&mut self, row: usize, end: DurationEnd, details: Option<&EndDetails>) {
        let events = &mut self.trace.events;
        events.dur.set(row, end.time.since(events.start.at(row)));
        let Some(details) = details else { return };
        let begin_args = events.args(row);
        if self.trace.args.template(details.args).fields().is_empty() {
            return;
        }
        let (merged, is_contradiction) = self.merge_args(begin_args, details.args);
        self.trace.events.set_args(row, merged);
        if is_contradiction {
            self.warn_at(end.position, WarningKind::EndArguments);
        }
    }

    /// The begin's arguments and then those of the end that it does not have; and whether both have
    /// a key with values that differ.
    fn merge_args(&mut self, begin: ArgsRef, end: ArgsRef) -> (ArgsRef, bool) {
        let (args, strings) = (&self.trace.args, &self.trace.strings);
        let known: FxHashMap<_, _> = args.pairs(strings, begin).collect();
        let mut fields = args.template(begin).fields().to_vec();
        let mut values = args.values(begin).collect::<Vec<i64>>();
        let mut end_values = args.values(end).collect::<Vec<i64>>().into_iter();
        let mut is_contradiction = false;
        for (field, (key, text)) in args.template(end).fields().iter().zip(args.pairs(strings, end)) {
            let value = matches!(field.value, FieldValue::Slot(_)).then(|| end_values.next()).flatten();
            match known.get(key) {
                None => {
                    fields.push(field.clone());
                    values.extend(value);
                }
                Some(other) => is_contradiction |= *other != text,
            }
        }
        if fields.len() == args.template(begin).fields().len() {
            return (begin, is_contradiction);
        }
        let template = self.trace.args.push(ArgsTemplate::new(fields, &self.trace.strings));
        (ArgsRef { template, start: self.trace.args.push_values(&values) }, is_contradiction)
    }
}
