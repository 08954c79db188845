//! Finds communication without concurrent computation.

use super::super::class::WorkClass;
use super::super::communication::CommunicationNames;
use super::super::number_text::duration_text;
use super::rule::{Rule, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::time::sum_ns;
use crate::trace::collective::{CollectivePattern, known};

pub(super) static EXPOSED: Rule = Rule {
    name: "exposed_communication",
    doc: "communication without concurrent computation",
    cost: "time of communication without concurrent computation",
    advice: "use larger or earlier buckets (DDP: bucket_cap_mb), prefetching (FSDP: forward_prefetch, \
             limit_all_gathers), or lower precision; if ranks only wait for the last one, see stragglers",
    is_pattern: false,
    find: RuleScope::Trace(found),
};

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let rows: Vec<_> = context.work_of(WorkClass::Communication).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let names = CommunicationNames::of(context.linked);
    let cost = |row| (names.name(row).into_owned(), context.exposed_ns(row), row);
    let told = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let all_ns = sum_ns(costs.iter().map(|(_, row)| context.time(*row).dur().0));
        let advice = advice(&subject);
        let detail = format!("{} of communication in {} events", duration_text(all_ns), costs.len());
        let exposed_ns = context.all_exposed_ns(&costs);
        RuleMatch::of(subject, costs, 0.9).at_most(exposed_ns).detailed(detail).advised(advice)
    };
    by_subject(rows.into_iter().map(cost)).into_iter().map(told).collect()
}

/// The fix for collectives of such a name.
fn advice(name: &str) -> Option<&'static str> {
    match known(name)?.1 {
        CollectivePattern::AllReduce => Some(
            "use larger or earlier buckets (DDP: bucket_cap_mb), fewer synchronisations (no_sync during gradient \
             accumulation), or lower precision; if ranks only wait for the last one, see stragglers",
        ),
        CollectivePattern::AllGather | CollectivePattern::ReduceScatter => Some(
            "use prefetching (FSDP: forward_prefetch, backward_prefetch, limit_all_gathers), larger units, sharding \
             within a machine (HYBRID_SHARD), or lower precision; if ranks only wait for the last one, see stragglers",
        ),
        CollectivePattern::AllToAll => Some(
            "compute another part of the batch meanwhile, send messages of equal size to all ranks, or lower the \
             precision; if ranks only wait for the last one, see stragglers",
        ),
        CollectivePattern::Send | CollectivePattern::Recv => {
            Some("use more and smaller micro-batches, an interleaved pipeline schedule, or stages of equal cost")
        }
        _ => None,
    }
}
