//! Waiting for data.

use super::super::words::{plural, told_ns};
use super::found::Found;
use super::scene::Scene;
use super::{Find, Rule};

pub(super) static NO_WORKERS: Rule = Rule {
    name: "data_loading_without_workers",
    doc: "a DataLoader without workers: the loop itself loads each batch",
    cost: "time of loading with no device work (all of it where there is no device)",
    advice: "DataLoader(num_workers=…, persistent_workers=True, pin_memory=True) loads the next batches meanwhile",
    is_pattern: true,
    find: Find::Trace(|scene| found(scene, "_SingleProcessDataLoaderIter")),
};

pub(super) static STALL: Rule = Rule {
    name: "data_loading_stall",
    doc: "the loop waits for workers of a DataLoader while the device has nothing to do",
    cost: "time of waiting with no device work (all of it where there is no device)",
    advice: "more workers, a larger prefetch_factor, or less work for each sample; look at where the data comes from",
    is_pattern: false,
    find: Find::Trace(|scene| found(scene, "_MultiProcessingDataLoaderIter")),
};

/// Whether an event is the loading of a batch.
pub(super) fn is_loading(name: &str) -> bool {
    ["_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"].iter().any(|iterator| is_next(name, iterator))
}

fn is_next(name: &str, iterator: &str) -> bool {
    name.contains(iterator) && name.contains("__next__")
}

fn found(scene: &Scene<'_>, iterator: &str) -> Vec<Found> {
    let rows = scene.outermost(scene.named(|name| is_next(name, iterator)));
    if rows.is_empty() {
        return Vec::new();
    }
    let costs: Vec<_> = rows.iter().map(|row| (scene.lost_ns(scene.time(*row)), *row)).collect();
    let loading_ns = scene.all_ns(&costs);
    let lost_ns = scene.all_lost_ns(rows.iter().map(|row| scene.time(*row)));
    let is_costly = lost_ns as f64 > super::MIN_SHARE * scene.span_ns as f64;
    let detail = format!("{} loaded in {}", plural(rows.len(), "batch"), told_ns(loading_ns));
    vec![Found::of(iterator, costs, if is_costly { 0.95 } else { 0.3 }).at_most(lost_ns).told(detail)]
}
