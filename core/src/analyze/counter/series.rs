//! Collects the samples of each counter.

use rustc_hash::FxHashMap;

use super::sampled_spans::SampledSpans;
use super::unit::unit_of;
use crate::id::{StrId, TrackId};
use crate::link::LinkedTrace;
use crate::sort;
use crate::time::Ts;
use crate::trace::counter_place::CounterPlace;

/// A counter with its samples.
pub(in crate::analyze) struct CounterSeries {
    pub(in crate::analyze) name: String,
    pub(in crate::analyze) unit: Option<&'static str>,
    pub(in crate::analyze) place: CounterPlace,
    /// In the order of time.
    pub(in crate::analyze) samples: Vec<(Ts, f64)>,
}

impl CounterSeries {
    /// The samples with the times that they stand for.
    pub(in crate::analyze) fn spans(&self) -> SampledSpans {
        SampledSpans::of(&self.samples)
    }
}

/// The counters of a trace with a wanted name, those with the most samples first.
pub(in crate::analyze) fn counter_series(linked: &LinkedTrace, is_wanted: impl Fn(&str) -> bool) -> Vec<CounterSeries> {
    let trace = &linked.trace;
    let mut all: Vec<CounterSeries> = Vec::new();
    let mut places: FxHashMap<(TrackId, StrId, StrId), Option<usize>> = FxHashMap::default();
    for counter in &trace.counters {
        let place = places.entry((counter.track, counter.name, counter.series)).or_insert_with(|| {
            let name = trace.counter_title(counter.name, counter.series);
            is_wanted(&name).then(|| {
                let place = trace.counter_place(counter.track, counter.name);
                all.push(CounterSeries { unit: unit_of(&name), name, place, samples: Vec::new() });
                all.len() - 1
            })
        });
        if let Some(place) = place {
            all[*place].samples.push((counter.time, counter.value));
        }
    }
    for series in &mut all {
        if !series.samples.is_sorted_by_key(|(time, _)| *time) {
            sort::by_key(&mut series.samples, |(time, _)| *time);
        }
    }
    sort::by(&mut all, |a: &CounterSeries, b| b.samples.len().cmp(&a.samples.len()).then_with(|| a.name.cmp(&b.name)));
    all
}
