//! Joins begin (`B`) and end (`E`) events.

use rustc_hash::FxHashMap;

use super::builder::TraceBuilder;
use super::element::TraceElement;
use super::tracks::TrackKey;
use crate::sort;
use crate::time::{Dur, Ts};
use crate::trace::args::{ArgsRef, ArgsTemplate, FieldValue};
use crate::warning::WarningKind;

/// Begins and ends seen so far.
#[derive(Debug, Default)]
pub(super) struct DurationPairs {
    begins: Vec<usize>,
    ends: Vec<DurationEnd>,
}

#[derive(Debug, Clone, Copy)]
struct DurationEnd {
    place: TrackKey,
    time: Ts,
    position: u32,
    args: Option<ArgsRef>,
}

#[derive(Debug, Clone, Copy)]
enum PairMark {
    Begin(usize),
    End(DurationEnd),
}

impl TraceBuilder {
    /// Adds a row that is without a duration until its end is found.
    pub(super) fn push_begin(&mut self, element: &TraceElement<'_>) {
        self.pairs.begins.push(self.trace.events.len());
        let row = self.event(element, Dur(0));
        self.put(row);
    }

    /// Keeps an end until all begins are known.
    pub(super) fn push_end(&mut self, element: &TraceElement<'_>) {
        let Some(time) = crate::time::ns_from_micros(element.time).map(Ts) else {
            return self.warn(WarningKind::InvalidNumber);
        };
        let place = self.place(element);
        let args = (!element.args.fields.is_empty()).then(|| self.keep_args(&element.args));
        self.pairs.ends.push(DurationEnd { place, time, position: self.position, args });
    }

    /// Gives each begin the last end that closes it, within its place and in the order of time.
    pub(super) fn match_pairs(&mut self) {
        let pairs = std::mem::take(&mut self.pairs);
        if pairs.begins.is_empty() && pairs.ends.is_empty() {
            return;
        }
        let events = &self.trace.events;
        // Not within its track: an end does not say whether it is that of a thread or of a stream.
        let place = |row: usize| {
            let track = self.trace.track(events.track[row]);
            (track.process, track.thread)
        };
        let begin = |row: usize| ((place(row), events.start[row], events.position[row]), PairMark::Begin(row));
        let end = |end: DurationEnd| ((end.place, end.time, end.position), PairMark::End(end));
        let mut marks: Vec<_> = pairs.begins.into_iter().map(begin).chain(pairs.ends.into_iter().map(end)).collect();
        sort::by_key(&mut marks, |(key, _)| *key);
        let last = self.trace.range().end;
        let mut open: Vec<usize> = Vec::new();
        let mut place = None;
        for ((mark_place, _, position), mark) in marks {
            if place != Some(mark_place) {
                self.close_unfinished(&mut open, last);
                place = Some(mark_place);
            }
            match mark {
                PairMark::Begin(row) => open.push(row),
                PairMark::End(end) => match open.pop() {
                    Some(row) => self.close(row, end),
                    None => {
                        self.warn_at(position, WarningKind::UnmatchedEnd);
                    }
                },
            }
        }
        self.close_unfinished(&mut open, last);
    }

    fn close(&mut self, row: usize, end: DurationEnd) {
        let events = &mut self.trace.events;
        events.dur[row] = end.time.since(events.start[row]);
        let Some(end_args) = end.args else { return };
        let begin_args = events.args(row);
        let (merged, is_contradiction) = self.merge_args(begin_args, end_args);
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
