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

/// Begins and ends seen so far.
#[derive(Debug, Default)]
pub(super) struct DurationPairs {
    /// Rows of the begins.
    begins: Vec<u32>,
    ends: Vec<DurationEnd>,
}

#[derive(Debug, Clone, Copy)]
struct DurationEnd {
    place: TrackKey,
    time: Ts,
    position: u32,
    /// The start of its begin if the end has a duration, else its own time.
    start: Ts,
    args: ArgsRef,
}

impl DurationEnd {
    /// Its place in the order of time. An end that is known to be of an earlier begin comes before
    /// all begins of its time.
    fn key(&self) -> PairKey {
        let is_of_earlier = self.start < self.time;
        (self.place, self.time, !is_of_earlier, self.position)
    }
}

/// The order of begins and ends: by place, time, and position.
type PairKey = (TrackKey, Ts, bool, u32);

impl TraceBuilder {
    /// Keeps a row that is without a duration until its end is found.
    pub(super) fn note_begin(&mut self, row: usize) {
        self.pairs.begins.push(row as u32);
    }

    /// Keeps an end until all begins are known.
    pub(super) fn note_end(&mut self, place: TrackKey, time: Ts, dur: i64, args: ArgsRef) {
        let start = Ts(time.0.saturating_sub(dur));
        self.pairs.ends.push(DurationEnd { place, time, position: self.position, start, args });
    }

    /// Where a begin is in the order of time.
    fn begin_key(&self, row: u32) -> PairKey {
        let (events, row) = (&self.trace.events, row as usize);
        // Not within its track: an end does not say whether it is that of a thread or of a stream.
        let track = self.trace.track(events.track[row]);
        ((track.process, track.thread), events.start[row], true, events.position[row])
    }

    /// Gives each begin the last end that closes it, within its place and in the order of time.
    pub(super) fn match_pairs(&mut self) {
        let DurationPairs { mut begins, mut ends } = std::mem::take(&mut self.pairs);
        if begins.is_empty() && ends.is_empty() {
            return;
        }
        sort::by_key(&mut begins, |row| self.begin_key(*row));
        sort::by_key(&mut ends, DurationEnd::key);
        let last = self.trace.range().end;
        let (mut open, mut place): (Vec<usize>, _) = (Vec::new(), None);
        let (mut begins, mut ends) = (begins.into_iter().peekable(), ends.into_iter().peekable());
        loop {
            let begin = begins.peek().map(|row| self.begin_key(*row));
            let end = ends.peek().map(DurationEnd::key);
            let Some(key) = [begin, end].into_iter().flatten().min() else { break };
            if place != Some(key.0) {
                self.close_unfinished(&mut open, last);
                place = Some(key.0);
            }
            if begin == Some(key) {
                open.extend(begins.next().map(|row| row as usize));
            } else if let Some(end) = ends.next() {
                match self.opened(&open, &end) {
                    Some(at) => {
                        let row = open.remove(at);
                        self.close(row, end);
                    }
                    None => self.warn_at(end.position, WarningKind::UnmatchedEnd),
                }
            }
        }
        self.close_unfinished(&mut open, last);
    }

    /// Where the begin of an end is among the open ones: the one with the start that the end tells,
    /// else the last one.
    fn opened(&self, open: &[usize], end: &DurationEnd) -> Option<usize> {
        let starts = |row: &usize| self.trace.events.start[*row] == end.start;
        let told = open.iter().rev().take(MAX_OPEN).position(starts);
        told.map(|from_last| open.len() - 1 - from_last).or_else(|| open.len().checked_sub(1))
    }

    fn close(&mut self, row: usize, end: DurationEnd) {
        let events = &mut self.trace.events;
        events.dur[row] = end.time.since(events.start[row]);
        let begin_args = events.args(row);
        if self.trace.args.template(end.args).fields().is_empty() {
            return;
        }
        let (merged, is_contradiction) = self.merge_args(begin_args, end.args);
        self.trace.events.template[row] = merged.template;
        self.trace.events.values[row] = merged.start;
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

    fn close_unfinished(&mut self, open: &mut Vec<usize>, last: Ts) {
        for row in open.drain(..) {
            self.trace.events.dur[row] = last.since(self.trace.events.start[row]);
            self.warn_at(self.trace.events.position[row], WarningKind::UnfinishedBegin);
        }
    }
}
