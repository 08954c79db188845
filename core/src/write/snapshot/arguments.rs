//! The arguments of all rows, as a snapshot stores them.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::id::StrId;
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, FieldValue, TemplateField};
use crate::write::packed::PackedNumbers;

/// Arguments of events, instants, flows, counters and metadata.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SavedArguments<'a> {
    /// The fields of each template that a row has.
    pub templates: Vec<Vec<TemplateField>>,
    /// The template of each row: a column for events, instants, flows, counters, metadata.
    #[serde(borrow)]
    pub rows: [PackedNumbers<'a>; 5],
    /// Their numbers by key, as differences, in the order of the rows.
    #[serde(borrow)]
    pub values: Vec<(StrId, PackedNumbers<'a>)>,
}

impl SavedArguments<'static> {
    pub(super) fn of(trace: &Trace) -> Self {
        let (templates, places) = used_templates(trace);
        let mut streams = ValueStreams { places, ..ValueStreams::default() };
        let events = &trace.events;
        let rows = [
            streams.column(trace, (0..events.len()).map(|row| events.args(row))),
            streams.column(trace, trace.instants.iter().map(|row| row.args)),
            streams.column(trace, trace.flows.iter().map(|row| row.args)),
            streams.column(trace, trace.counters.iter().map(|row| row.args)),
            streams.column(trace, trace.metadata.iter().map(|row| row.args)),
        ];
        Self { templates, rows, values: streams.into_packed() }
    }
}

/// The templates that rows have, and for each template of the trace its place among them.
fn used_templates(trace: &Trace) -> (Vec<Vec<TemplateField>>, Vec<u32>) {
    let points = trace.instants.iter().map(|row| row.args).chain(trace.flows.iter().map(|row| row.args));
    let others = trace.counters.iter().map(|row| row.args).chain(trace.metadata.iter().map(|row| row.args));
    let mut is_used = vec![false; trace.args.templates().len()];
    let used = points.chain(others).map(|args| args.template).chain(trace.events.template.iter());
    used.for_each(|template| is_used[template.index()] = true);
    let (mut fields, mut places) = (Vec::new(), Vec::with_capacity(is_used.len()));
    for (template, is_used) in trace.args.templates().iter().zip(is_used) {
        places.push(fields.len() as u32);
        fields.extend(is_used.then(|| template.fields().to_vec()));
    }
    (fields, places)
}

/// Numbers of arguments, a stream a key, each as the difference to the one before.
#[derive(Debug, Default)]
struct ValueStreams {
    streams: Vec<(StrId, Vec<i64>)>,
    by_key: FxHashMap<StrId, (usize, i64)>,
    /// Of each template, its place among those that are saved.
    places: Vec<u32>,
}

impl ValueStreams {
    /// Adds the numbers of each row; the column of their templates.
    fn column(&mut self, trace: &Trace, rows: impl Iterator<Item = ArgsRef>) -> PackedNumbers<'static> {
        PackedNumbers::of(rows.map(|args| {
            self.push(trace, args);
            u64::from(self.places[args.template.index()])
        }))
    }

    fn push(&mut self, trace: &Trace, args: ArgsRef) {
        let slots =
            trace.args.template(args).fields().iter().filter(|field| matches!(field.value, FieldValue::Slot(_)));
        for (field, value) in slots.zip(trace.args.values(args)) {
            let streams = &mut self.streams;
            let (stream, last) = self.by_key.entry(field.key).or_insert_with(|| {
                streams.push((field.key, Vec::new()));
                (streams.len() - 1, 0)
            });
            streams[*stream].1.push(value.wrapping_sub(*last));
            *last = value;
        }
    }

    fn into_packed(self) -> Vec<(StrId, PackedNumbers<'static>)> {
        let packed = |(key, numbers): (StrId, Vec<i64>)| (key, PackedNumbers::signed(numbers.into_iter()));
        self.streams.into_iter().map(packed).collect()
    }
}
