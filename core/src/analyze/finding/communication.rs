//! Finds communication without concurrent computation.

use super::super::class::WorkClass;
use super::super::communication::CommunicationNames;
use super::super::number_text::{duration_text, plural};
use super::passes::has_backward;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::time::sum_ns;
use crate::trace::collective::{CollectivePattern, known};

pub(super) static EXPOSED: Rule = Rule {
    name: "exposed_communication",
    doc: "communication without concurrent computation",
    cost: "time of communication without concurrent computation",
    advice: TRAINING,
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let rows: Vec<_> = context.work_of(WorkClass::Communication).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let (names, has_backward) = (CommunicationNames::of(context.linked), has_backward(context));
    let cost = |row| (names.name(row).into_owned(), context.exposed_ns(row), row);
    let told = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let all_ns = sum_ns(costs.iter().map(|(_, row)| context.time(*row).dur().0));
        let advice = advice(&subject, has_backward);
        let detail = format!("{} of communication in {}", duration_text(all_ns), plural(costs.len(), "event"));
        let exposed = context.all_exposed(&costs);
        RuleMatch::of(subject, costs, 0.9).during(exposed).detailed(detail).advised(Some(advice))
    };
    by_subject(rows.into_iter().map(cost)).into_iter().map(told).collect()
}

/// The fix for communication of such a name.
fn advice(name: &str, has_backward: bool) -> &'static str {
    let pattern = known(name).map(|(_, pattern)| pattern).or_else(|| pattern_of_kernel(name));
    match pattern {
        Some(CollectivePattern::AllToAll) => {
            "compute another part of the batch meanwhile, send messages of equal size to all ranks, or lower the \
             precision; if ranks only wait for the last one, see stragglers"
        }
        Some(CollectivePattern::Send | CollectivePattern::Recv) => {
            "use more and smaller micro-batches, an interleaved pipeline schedule, or stages of equal cost"
        }
        _ if !has_backward => INFERENCE,
        Some(CollectivePattern::AllReduce) => {
            "use larger or earlier buckets (DDP: bucket_cap_mb), fewer synchronisations (no_sync during gradient \
             accumulation), or lower precision; if ranks only wait for the last one, see stragglers"
        }
        Some(CollectivePattern::AllGather | CollectivePattern::ReduceScatter) => {
            "use prefetching (FSDP: forward_prefetch, backward_prefetch, limit_all_gathers), larger units, sharding \
             within a machine (HYBRID_SHARD), or lower precision; if ranks only wait for the last one, see stragglers"
        }
        _ => TRAINING,
    }
}

const TRAINING: &str = "use larger or earlier buckets (DDP: bucket_cap_mb), prefetching (FSDP: forward_prefetch, \
     limit_all_gathers), or lower precision; if ranks only wait for the last one, see stragglers";

const INFERENCE: &str = "split the model over fewer ranks, or compute another part of the batch meanwhile; use a one-shot \
     or fused kernel for small messages; if ranks only wait for the last one, see stragglers";

/// The pattern of a kernel that no library of collectives has: `cross_device_reduce_1stage`,
/// `internode::dispatch`.
fn pattern_of_kernel(name: &str) -> Option<CollectivePattern> {
    const PATTERNS: [(&[&str], CollectivePattern); 5] = [
        (&["allreduce", "crossdevicereduce", "quickreduce"], CollectivePattern::AllReduce),
        (&["allgather"], CollectivePattern::AllGather),
        (&["reducescatter"], CollectivePattern::ReduceScatter),
        (&["alltoall", "all2all", "a2a", "dispatch", "combine"], CollectivePattern::AllToAll),
        (&["sendrecv"], CollectivePattern::Send),
    ];
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    let has_any = |parts: &[&str]| parts.iter().any(|part| letters.contains(part));
    PATTERNS.iter().find(|(parts, _)| has_any(parts)).map(|(_, pattern)| *pattern)
}
