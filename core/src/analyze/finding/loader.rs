//! Finds waits for data.

use super::super::interval::total_ns;
use super::super::number_text::{duration_text, plural};
use super::rule::{MIN_SHARE, Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;

pub(super) static NO_WORKERS: Rule = Rule {
    name: "data_loading_without_workers",
    doc: "a DataLoader has no workers, so the loop itself loads each batch",
    cost: "loading time without device work (all of it without a device)",
    advice: "load batches in advance with DataLoader(num_workers=…, persistent_workers=True, pin_memory=True)",
    is_pattern: true,
    data: RuleData::Host,
    find: RuleScope::Trace(|context| found(context, "_SingleProcessDataLoaderIter")),
};

pub(super) static STALL: Rule = Rule {
    name: "data_loading_stall",
    doc: "the loop waits for DataLoader workers while the device is idle",
    cost: "wait time without device work (all of it without a device)",
    advice: "use more workers, a larger prefetch_factor, or less work per sample; check the speed of the data source",
    is_pattern: false,
    data: RuleData::Host,
    find: RuleScope::Trace(|context| found(context, "_MultiProcessingDataLoaderIter")),
};

/// Whether an event is the loading of a batch.
pub(super) fn is_loading(name: &str) -> bool {
    ["_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"].iter().any(|iterator| is_next(name, iterator))
}

fn is_next(name: &str, iterator: &str) -> bool {
    name.contains(iterator) && name.contains("__next__")
}

fn found(context: &RuleContext<'_>, iterator: &str) -> Vec<RuleMatch> {
    let rows = context.outermost(context.named(|name| is_next(name, iterator)));
    if rows.is_empty() {
        return Vec::new();
    }
    let costs: Vec<_> = rows.iter().map(|row| (context.lost_ns(context.time(*row)), *row)).collect();
    let loading_ns = total_ns(&context.all_times(&costs));
    let lost = context.all_lost(rows.iter().map(|row| context.time(*row)));
    let is_costly = total_ns(&lost) as f64 > MIN_SHARE * context.span_ns as f64;
    let detail = format!("{} loaded in {}", plural(rows.len(), "batch"), duration_text(loading_ns));
    vec![RuleMatch::of(iterator, costs, if is_costly { 0.95 } else { 0.3 }).during(lost).detailed(detail)]
}
