//! Finds copies of whole blocks of a KV cache.

use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::strings::TextCache;

pub(super) static CACHE_COPY: Rule = Rule {
    name: "kv_cache_copy",
    doc: "blocks of the KV cache are copied on the device, or between device and host",
    cost: "device time of these copies",
    advice: "leave more memory for the cache or admit fewer requests, so none is swapped out; share the blocks of a \
             common prefix instead of copying them",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Parts of the names of operators and kernels of engines that copy blocks of a cache.
const COPIES: [&str; 6] =
    ["copy_blocks", "swap_blocks", "transfer_kv_", "transfer_kernel_impl", "copy_all_layer_kv_cache", "KvCacheCopy"];

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let mut names = TextCache::new(&context.trace.strings, |name| COPIES.iter().any(|part| name.contains(part)));
    let mut is_copy = |row: u32| names.of(context.trace.events.name.at(row as usize));
    let copies = context.selection.device_work().map(|row| row as u32).filter_map(|row| {
        let operator = context.links.operator.get(row as usize).filter(|operator| is_copy(*operator));
        let named = operator.or_else(|| is_copy(row).then_some(row))?;
        Some((context.operator(named).to_owned(), row))
    });
    context.matches_of_work(copies.collect(), "run", 0.8)
}
