//! Joins begin (`B`) and end (`E`) events.

use rustc_hash::FxHashMap;

use super::builder::TraceBuilder;
use super::recent_map::RecentMap;
use super::tracks::TrackKey;
use crate::column::{Rising, Times};
use crate::sort;
use crate::time::Ts;
use crate::trace::args::{ArgsRef, ArgsTemplate, FieldValue};
use crate::warning::WarningKind;

/// The begin of an end is looked for among so many open ones.
const MAX_OPEN: usize = 100;

/// Where begins and ends belong together: a place, and a track of it where the format has several.
type PairPlace = (TrackKey, u64);

/// Begins and ends seen so far, by their place. Each place is mostly in the order of time already.
pub(super) type DurationPairs = RecentMap<PairPlace, PlacePairs>;

/// Begins and ends of one place, in the order in which they came: as columns, for there may be
/// millions.
#[derive(Debug, Default)]
pub(super) struct PlacePairs {
    place: PairPlace,
    /// Rows of the begins.
    begins: Rising,
    end_times: Times,
    end_positions: Rising,
    /// Of the few ends that have some, by their number.
    end_details: FxHashMap<u32, EndDetails>,
}

/// An end.
#[derive(Debug, Clone, Copy)]
struct DurationEnd {
    time: Ts,
    position: u32,
    details: Option<EndDetails>,
}

/// Facts that few ends have.
#[derive(Debug, Clone, Copy)]
struct EndDetails {
    /// The start of its begin if the end has a duration, else its own time.
    start: Ts,
    args: ArgsRef,
}

/// The order of begins and ends of a place: by time and position.
type PairKey = (Ts, bool, u32);

impl DurationEnd {
    /// The start of its begin as it tells it, else its own time.
    fn told_start(&self) -> Ts {
        self.details.map_or(self.time, |details| details.start)
    }

    /// Its place in the order of time. An end that is known to be of an earlier begin comes before
    /// all begins of its time.
    fn key(&self) -> PairKey {
        let is_of_earlier = self.told_start() < self.time;
        (self.time, !is_of_earlier, self.position)
    }
}

impl PlacePairs {
    fn end(&self, at: usize) -> DurationEnd {
        let details = self.end_details.get(&(at as u32)).copied();
        DurationEnd { time: self.end_times.at(at), position: self.end_positions.at(at), details }
    }
}

impl TraceBuilder {
    /// Keeps a row that is without a duration until its end is found.
    pub(super) fn note_begin(&mut self, row: usize) {
        // Not within its track: an end does not say whether it is that of a thread or of a stream.
        let track = self.trace.track(self.trace.events.track.at(row));
        let place = (track.process, track.thread);
        self.pairs_at(place).begins.push(row as u32);
    }

    /// Keeps an end until all begins are known.
    pub(super) fn note_end(&mut self, place: TrackKey, time: Ts, dur: i64, args: ArgsRef) {
        let has_details = dur != 0 || !self.trace.args.template(args).fields().is_empty();
        let position = self.position;
        let pairs = self.pairs_at(place);
        if has_details {
            let details = EndDetails { start: Ts(time.0.saturating_sub(dur)), args };
            pairs.end_details.insert(pairs.end_times.len() as u32, details);
        }
        pairs.end_times.push(time);
        pairs.end_positions.push(position);
    }

    fn pairs_at(&mut self, place: TrackKey) -> &mut PlacePairs {
        let place = (place, self.lane);
        self.pairs.at(place, || PlacePairs { place, ..PlacePairs::default() })
    }

    /// Where a begin is in the order of time.
    fn begin_key(&self, row: usize) -> PairKey {
        let events = &self.trace.events;
        (events.start.at(row), true, events.position.at(row))
    }

    /// Gives each begin the last end that closes it, within its place and in the order of time.
    pub(super) fn match_pairs(&mut self) {
        let mut places = std::mem::take(&mut self.pairs).into_values();
        if places.is_empty() {
            return;
        }
        sort::by_key(&mut places, |pairs| pairs.place);
        let last = self.trace.range().end;
        for pairs in places {
            let begins = in_order(pairs.begins.len(), &|at| self.begin_key(pairs.begins.at(at) as usize));
            let ends = in_order(pairs.end_times.len(), &|at| pairs.end(at).key());
            self.match_in_order(begins.map(|at| pairs.begins.at(at)), ends.map(|at| pairs.end(at)), last);
        }
    }

    fn match_in_order(&mut self, begins: impl Iterator<Item = u32>, ends: impl Iterator<Item = DurationEnd>, last: Ts) {
        let mut open: Vec<usize> = Vec::new();
        let mut begins = begins.map(|row| row as usize);
        let mut next = begins.next().map(|row| (row, self.begin_key(row)));
        for end in ends {
            let end_key = end.key();
            while let Some((row, _)) = next.filter(|(_, key)| *key <= end_key) {
                open.push(row);
                next = begins.next().map(|row| (row, self.begin_key(row)));
            }
            match self.opened(&open, end.told_start()) {
                Some(at) => {
                    let row = open.remove(at);
                    self.close(row, end);
                }
                None => self.warn_at(end.position, WarningKind::UnmatchedEnd),
            }
        }
        open.extend(next.map(|(row, _)| row).into_iter().chain(begins));
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

    fn close(&mut self, row: usize, end: DurationEnd) {
        let events = &mut self.trace.events;
        events.dur.set(row, end.time.since(events.start.at(row)));
        let Some(details) = end.details else { return };
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

/// The places `0..len` in the order of their keys, which mostly is theirs.
fn in_order(len: usize, key: &dyn Fn(usize) -> PairKey) -> impl Iterator<Item = usize> + use<> {
    let is_sorted = (0..len).is_sorted_by_key(key);
    let by_key = |a: u32, b: u32| key(a as usize).cmp(&key(b as usize));
    let order = if is_sorted { Vec::new() } else { sort::order(len, &by_key) };
    (0..len).map(move |at| order.get(at).map_or(at, |at| *at as usize))
}
