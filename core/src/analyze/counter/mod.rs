//! Averages counters over the time of kernels, operators, modules and iterations.

mod group;
mod recorded;
mod row;
mod sampled_spans;
mod series;
mod unit;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::analysis::{Analysis, Run};
use super::options::{OptionDoc, OptionKind, Options};
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::time::add_ns;
use crate::trace::iteration::is_like;
use group::{CounterGroups, CounterOwner, DeviceTimes, OwnerTotal};
use recorded::RecordedCounter;
pub(super) use recorded::recorded_counters;
use row::{COUNTERS, CounterMean, CounterMeans, CounterRow, CounterSource, TABLE};
use sampled_spans::SampledSpans;
pub(super) use sampled_spans::SpanSums;
pub(super) use series::counter_series;

/// Counters over the time of kernels and others.
pub(super) static COUNTER_MEANS: Analysis = Analysis {
    name: "counter_means",
    doc: "counters, such as active multiprocessors or power, averaged over kernels, operators, modules or iterations",
    options: &[
        OptionDoc {
            name: "by",
            doc: "owner of the time that counters are averaged over",
            kind: OptionKind::Choice(&CounterOwner::NAMES),
        },
        OptionDoc {
            name: "counter",
            doc: "only counters of this name; `*` stands for any text",
            kind: OptionKind::Text,
        },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let means = counter_means(selection, CounterOwner::of(options.choice("by")), options.text("counter"));
        let reason = means.rows.is_empty().then(|| {
            if means.counters.is_empty() {
                "no counter was recorded"
            } else {
                "no counter is of the device and the time (see the table `sampled_counters`)"
            }
        });
        let counters = Arc::clone(&means.counters);
        let mut answer = AnalysisResult::with(TABLE.of(&Arc::new(means)), reason);
        answer.tables.push(COUNTERS.of(&counters));
        answer
    }),
};

/// Times that counters are averaged over, all counters together, and rows of the table: a file may
/// state any number of counters. Those with the fewest samples are left out.
const MAX_TIMES: usize = 1 << 27;
const MAX_ROWS: usize = 1 << 22;

fn counter_means(selection: &Selection<'_>, owner: CounterOwner, wanted: Option<&str>) -> CounterMeans {
    let groups = CounterGroups::of(selection, owner);
    let is_wanted = |name: &str| wanted.is_none_or(|pattern| is_like(name, pattern));
    let (mut counters, mut rows, mut num_times) = (Vec::new(), Vec::new(), 0);
    for series in counter_series(selection.linked, is_wanted) {
        let spans = series.spans();
        let found = groups.times(series.place).filter(|(_, times)| {
            num_times += times.times.len();
            num_times <= MAX_TIMES
        });
        let means = found.map(|(device, times)| (device, times, sampled(times, &spans, owner)));
        counters.push(CounterRow {
            name: series.name,
            unit: series.unit,
            source: CounterSource::Samples,
            device: means.as_ref().and_then(|(device, ..)| *device),
            num_values: series.samples.len() as u64,
            period_ns: spans.period.map(|period| period.0),
            sampled_ns: Some(spans.sampled_ns()),
            is_joined: false,
        });
        if let Some((device, times, sums)) = means {
            let total = |group: u32| times.totals.get(&group).copied().unwrap_or_default();
            let all = sums.into_iter().map(|(group, sums)| (group, device, total(group), sums));
            add_rows((&mut counters, &mut rows), all.collect());
        }
    }
    for recorded in recorded_counters(selection).into_iter().filter(|recorded| is_wanted(&recorded.name)) {
        let means = measured(selection, &groups, &recorded);
        counters.push(CounterRow {
            name: recorded.name,
            unit: recorded.unit,
            source: CounterSource::Events,
            device: None,
            num_values: recorded.values.len() as u64,
            period_ns: None,
            sampled_ns: None,
            is_joined: false,
        });
        add_rows((&mut counters, &mut rows), means);
    }
    let mut means = CounterMeans { groups, counters: Arc::new(counters), rows };
    means.sort();
    means
}

/// Owner, device, time and values.
type OwnerMean = (u32, Option<i64>, OwnerTotal, SpanSums);

/// Adds the rows of the last counter, if there is room for all of them.
fn add_rows((counters, rows): (&mut [CounterRow], &mut Vec<CounterMean>), means: Vec<OwnerMean>) {
    let Some((last, before)) = counters.split_last_mut() else { return };
    if means.is_empty() || rows.len() + means.len() > MAX_ROWS {
        return;
    }
    last.is_joined = true;
    let counter = before.len() as u32;
    let row = |(group, device, total, sums): OwnerMean| CounterMean { group, counter, device, total, sums };
    rows.extend(means.into_iter().map(row));
}

/// The samples within the times of each owner; of single events, only those that were sampled.
fn sampled(times: &DeviceTimes, spans: &SampledSpans, owner: CounterOwner) -> Vec<(u32, SpanSums)> {
    let mut sums: FxHashMap<u32, SpanSums> = FxHashMap::default();
    for owned in &times.times {
        sums.entry(owned.group).or_default().add(spans.inside(owned.time));
    }
    let is_told = |sums: &SpanSums| owner != CounterOwner::Event || sums.sampled_ns > 0;
    sums.into_iter().filter(|(_, sums)| is_told(sums)).collect()
}

/// The values of the events of each owner, weighted by their time. All time of an event with a
/// value was measured.
fn measured(selection: &Selection<'_>, groups: &CounterGroups, recorded: &RecordedCounter) -> Vec<OwnerMean> {
    let trace = &selection.linked.trace;
    let mut means: FxHashMap<(u32, Option<i64>), (OwnerTotal, SpanSums)> = FxHashMap::default();
    for (row, value) in &recorded.values {
        let Some(group) = groups.of_row.get(*row as usize) else { continue };
        let (total, sums) = means.entry((group, trace.device(*row as usize))).or_default();
        let ns = selection.dur_ns(*row as usize);
        total.count += 1;
        add_ns(&mut total.total_ns, ns);
        sums.add(SpanSums::of(*value, ns));
    }
    let mean =
        |((group, device), (measured, sums))| (group, device, groups.total(device, group).unwrap_or(measured), sums);
    means.into_iter().map(mean).collect()
}
