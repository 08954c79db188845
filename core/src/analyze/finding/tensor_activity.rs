//! Reads counters of tensor cores during kernels for them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::super::counter::{SpanSums, counter_series, recorded_counters};
use super::super::number_text::plural;
use super::super::tensor_core::uses_tensor_cores;
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::trace::counter_place::CounterPlace;
use crate::trace::kind::EventKind;
use crate::vendor::measures_matrix_units;

/// The share of the units' peak below which they count as idle.
const LOW: f64 = 0.25;

/// A kernel is judged if it is longer than so many samples: shorter ones share theirs with what
/// runs around them.
const MIN_PERIODS: i64 = 2;

/// A kernel is judged if so much of it was sampled.
const MIN_SAMPLED: f64 = 0.5;

pub(super) fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let kernels = matrix_kernels(context);
    if kernels.is_empty() {
        return Vec::new();
    }
    let measured = activities(context, &kernels);
    let costs = measured.iter().filter_map(|(row, activity)| {
        let mean = activity.mean()?;
        let cost_ns = activity.sampled_ns as f64 * (1.0 - mean / LOW).clamp(0.0, 1.0);
        let operator = context.links.operator.get(*row as usize);
        let subject = operator.map_or_else(|| context.name(*row), |operator| context.operator(operator));
        Some((subject.to_owned(), cost_ns as i64, *row))
    });
    let by_row: FxHashMap<u32, SpanSums> = measured.iter().copied().collect();
    by_subject(costs.filter(|(_, ns, _)| *ns > 0))
        .into_iter()
        .map(|(subject, costs)| {
            let (mut all, mut total_ns) = (SpanSums::default(), 0_i64);
            for (_, row) in &costs {
                all.add(by_row.get(row).copied().unwrap_or_default());
                total_ns = total_ns.saturating_add(context.time(*row).dur().0);
            }
            let detail = format!(
                "{}, tensor cores active {:.1} % of the time, of which {:.0} % was sampled",
                plural(costs.len(), "kernel"),
                100.0 * all.mean().unwrap_or_default(),
                100.0 * all.sampled_ns as f64 / total_ns.max(1) as f64,
            );
            let during = context.all_times(&costs);
            RuleMatch::of(subject, costs, 0.6).during(during).detailed(detail)
        })
        .collect()
}

/// Whether a counter of these units was sampled.
pub(super) fn has_matrix_counters(linked: &LinkedTrace) -> bool {
    counter_series(linked, is_activity).into_iter().next().is_some()
}

/// Rows of the kernels for units for matrices.
fn matrix_kernels(context: &RuleContext<'_>) -> Vec<u32> {
    let events = &context.trace.events;
    let mut known: FxHashMap<StrId, bool> = FxHashMap::default();
    let kernels = context.selection.device_work().filter(|row| events.kind[*row] == EventKind::Kernel);
    let mut is_it = |row: usize| {
        *known.entry(events.name.at(row)).or_insert_with(|| uses_tensor_cores(context.trace.event_name(row)))
    };
    kernels.filter(|row| is_it(*row)).map(|row| row as u32).collect()
}

/// How far the units worked during each kernel of which enough was sampled, as shares of their
/// peak. Of several counters, the highest counts.
fn activities(context: &RuleContext<'_>, kernels: &[u32]) -> Vec<(u32, SpanSums)> {
    let mut best: FxHashMap<u32, SpanSums> = FxHashMap::default();
    let mut offer = |row: u32, sums: SpanSums| {
        let kept = best.entry(row).or_insert(sums);
        if sums.mean() > kept.mean() {
            *kept = sums;
        }
    };
    let devices = context.selection.anytime().devices().collect::<BTreeSet<_>>();
    for series in counter_series(context.linked, is_activity) {
        let Some(peak) = peak(&series.name, series.unit) else { continue };
        let spans = series.spans();
        let Some(period) = spans.period else { continue };
        for row in kernels {
            let (time, device) = (context.time(*row), context.trace.device(*row as usize));
            let is_there = match series.place {
                CounterPlace::Device(number) => device == Some(number),
                CounterPlace::SomeDevice => devices.len() == 1,
                CounterPlace::Host => false,
            };
            let dur_ns = time.dur().0;
            if !is_there || dur_ns < period.0.saturating_mul(MIN_PERIODS) {
                continue;
            }
            let sums = spans.inside(time).over(peak);
            if sums.sampled_ns as f64 >= dur_ns as f64 * MIN_SAMPLED {
                offer(*row, sums);
            }
        }
    }
    for counter in recorded_counters(context.selection) {
        let Some(peak) = peak(&counter.name, counter.unit) else { continue };
        let is_one = |row: &u32| kernels.binary_search(row).is_ok();
        for (row, value) in counter.values.iter().filter(|(row, _)| is_one(row)) {
            offer(*row, SpanSums::of(*value, context.time(*row).dur().0).over(peak));
        }
    }
    kernels.iter().filter_map(|row| Some((*row, *best.get(row)?))).collect()
}

/// The value at which the units work all the time; `None` of other counters.
fn peak(name: &str, unit: Option<&str>) -> Option<f64> {
    let peak = match unit {
        Some("%") => 100.0,
        Some("share") => 1.0,
        _ => return None,
    };
    is_activity(name).then_some(peak)
}

fn is_activity(name: &str) -> bool {
    measures_matrix_units(&name.to_lowercase())
}
