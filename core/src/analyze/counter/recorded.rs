//! Collects the values of counters that a file states for single events.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::super::selection::Selection;
use super::unit::unit_of;
use crate::id::{StrId, TemplateId};
use crate::sort;
use crate::trace::Trace;
use crate::trace::args::{ArgsTemplate, FieldValue};
use crate::trace::decimal::Decimal;
use crate::vendor::measures_counters;

/// The start of arguments of kernels that hold the value of a counter.
const COUNTER: &str = "counter ";

/// A counter that was measured for single events: kernels, or ranges of a profiler.
pub(in crate::analyze) struct RecordedCounter {
    pub(in crate::analyze) name: String,
    pub(in crate::analyze) unit: Option<&'static str>,
    /// Row and value of each event, in the order of the file.
    pub(in crate::analyze) values: Vec<(u32, f64)>,
}

/// Counters that are arguments of selected events, those of the most events first: of kernels
/// `counter …`; of `cuda_profiler_range` each number whose key is not of Kineto's own.
pub(in crate::analyze) fn recorded_counters(selection: &Selection<'_>) -> Vec<RecordedCounter> {
    let trace = &selection.linked.trace;
    let mut ranges: FxHashMap<StrId, bool> = FxHashMap::default();
    let mut known: FxHashMap<(TemplateId, bool), bool> = FxHashMap::default();
    let mut found: BTreeMap<StrId, Vec<(u32, f64)>> = BTreeMap::new();
    for row in 0..trace.events.len() {
        let category = trace.events.category.at(row);
        let is_range = *ranges.entry(category).or_insert_with(|| measures_counters(trace.strings.text(category)));
        if !is_range && !trace.events.kind[row].is_device_work() {
            continue;
        }
        let args = trace.events.args(row);
        let template = trace.args.template(args);
        let has_counters =
            || template.fields().iter().enumerate().any(|(at, _)| is_counter(trace, template, at, is_range));
        if !*known.entry((args.template, is_range)).or_insert_with(has_counters) || !selection.contains(row) {
            continue;
        }
        let mut numbers = trace.args.values(args);
        for (at, field) in template.fields().iter().enumerate() {
            let value = match field.value {
                FieldValue::Slot(scale) => numbers.next().map(|mantissa| Decimal { mantissa, scale }.to_f64()),
                FieldValue::Json(text) => trace.strings.text(text).trim_matches('"').parse().ok(),
            };
            let value = value.filter(|value: &f64| value.is_finite() && is_counter(trace, template, at, is_range));
            if let Some(value) = value {
                found.entry(field.key).or_default().push((row as u32, value));
            }
        }
    }
    let counter = |(key, values): (StrId, _)| {
        let name = trace.strings.text(key);
        let name = name.strip_prefix(COUNTER).unwrap_or(name);
        RecordedCounter { name: name.to_owned(), unit: unit_of(name), values }
    };
    let mut all: Vec<_> = found.into_iter().map(counter).collect();
    sort::by(&mut all, |a: &RecordedCounter, b| {
        Reverse(a.values.len()).cmp(&Reverse(b.values.len())).then_with(|| a.name.cmp(&b.name))
    });
    all
}

fn is_counter(trace: &Trace, template: &ArgsTemplate, at: usize, is_range: bool) -> bool {
    let field = &template.fields()[at];
    !field.is_outer
        && if is_range { !template.is_known(at) } else { trace.strings.text(field.key).starts_with(COUNTER) }
}
