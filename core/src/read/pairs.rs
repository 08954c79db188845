//! Events that are written as a begin (`B`) and an end (`E`).

use rustc_hash::FxHashMap;

use super::builder::Builder;
use super::element::Element;
use crate::id::TrackId;
use crate::time::{Dur, Ts};
use crate::trace::args::{ArgsRef, FieldValue, Template};
use crate::warning::WarningKind;

/// Begins and ends seen so far.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    begins: Vec<usize>,
    ends: Vec<End>,
}

#[derive(Debug, Clone, Copy)]
struct End {
    track: TrackId,
    time: Ts,
    position: u32,
    args: Option<ArgsRef>,
}

#[derive(Debug, Clone, Copy)]
enum Mark {
    Begin(usize),
    End(End),
}

impl Builder {
    /// Adds a row that is without a duration until its end is found.
    pub(super) fn push_begin(&mut self, element: &Element<'_>) {
        self.pairs.begins.push(self.trace.events.len());
        let row = self.event(element, Dur(0));
        self.put(row);
    }

    /// Keeps an end until all begins are known.
    pub(super) fn push_end(&mut self, element: &Element<'_>) {
        let Some(time) = crate::time::ns_from_micros(element.time).map(Ts) else {
            return self.warn(WarningKind::InvalidNumber);
        };
        let place = self.place(element);
        let track = self.any_track(place);
        let args = (!element.args.fields.is_empty()).then(|| self.keep_args(&element.args));
        self.pairs.ends.push(End { track, time, position: self.position, args });
    }

    /// Gives each begin the last end that closes it, within its track and in the order of time.
    pub(super) fn match_pairs(&mut self) {
        let pairs = std::mem::take(&mut self.pairs);
        if pairs.begins.is_empty() && pairs.ends.is_empty() {
            return;
        }
        let events = &self.trace.events;
        let begin = |row: usize| ((events.track[row], events.start[row], events.position[row]), Mark::Begin(row));
        let end = |end: End| ((end.track, end.time, end.position), Mark::End(end));
        let mut marks: Vec<_> = pairs.begins.into_iter().map(begin).chain(pairs.ends.into_iter().map(end)).collect();
        marks.sort_unstable_by_key(|(key, _)| *key);
        let last = self.trace.range().end;
        let mut open: Vec<usize> = Vec::new();
        let mut track = None;
        for ((mark_track, _, position), mark) in marks {
            if track != Some(mark_track) {
                self.close_unfinished(&mut open, last);
                track = Some(mark_track);
            }
            match mark {
                Mark::Begin(row) => open.push(row),
                Mark::End(end) => match open.pop() {
                    Some(row) => self.close(row, end),
                    None => {
                        self.warn_at(position, WarningKind::UnmatchedEnd);
                    }
                },
            }
        }
        self.close_unfinished(&mut open, last);
    }

    fn close(&mut self, row: usize, end: End) {
        let events = &mut self.trace.events;
        events.dur[row] = end.time.since(events.start[row]);
        let Some(end_args) = end.args else { return };
        let begin_args = events.args(row);
        if let Some(merged) = self.merge_args(begin_args, end_args) {
            self.trace.events.template[row] = merged.template;
            self.trace.events.values[row] = merged.start;
        } else {
            self.warn_at(end.position, WarningKind::EndArguments);
        }
    }

    /// The begin's arguments and then those of the end; `None` when both have a key with values that differ.
    fn merge_args(&mut self, begin: ArgsRef, end: ArgsRef) -> Option<ArgsRef> {
        let (args, strings) = (&self.trace.args, &self.trace.strings);
        let known: FxHashMap<_, _> = args.pairs(strings, begin).collect();
        let mut fields = args.template(begin).fields().to_vec();
        let mut values = args.values(begin).to_vec();
        let mut end_values = args.values(end).iter();
        for (field, (key, text)) in args.template(end).fields().iter().zip(args.pairs(strings, end)) {
            let value = matches!(field.value, FieldValue::Slot(_)).then(|| end_values.next().copied()).flatten();
            match known.get(key) {
                None => {
                    fields.push(field.clone());
                    values.extend(value);
                }
                Some(other) if *other == text => {}
                Some(_) => return None,
            }
        }
        if fields.len() == args.template(begin).fields().len() {
            return Some(begin);
        }
        let template = self.trace.args.push(Template::new(fields, &self.trace.strings));
        Some(ArgsRef { template, start: self.trace.args.push_values(&values) })
    }

    fn close_unfinished(&mut self, open: &mut Vec<usize>, last: Ts) {
        for row in open.drain(..) {
            self.trace.events.dur[row] = last.since(self.trace.events.start[row]);
            self.warn_at(self.trace.events.position[row], WarningKind::UnfinishedBegin);
        }
    }
}
