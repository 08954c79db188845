//! Communication that nothing is computed beside.

use super::super::class::Class;
use super::super::communication::Names;
use super::super::words::told_ns;
use super::found::{Found, by_subject};
use super::scene::Scene;
use super::{Find, Rule};
use crate::time::sum_ns;
use crate::trace::collective::{Pattern, known};

pub(super) static EXPOSED: Rule = Rule {
    name: "exposed_communication",
    doc: "communication that no computation runs beside",
    cost: "time of the communication without computation beside it",
    advice: "larger or earlier buckets (DDP: bucket_cap_mb), prefetching (FSDP: forward_prefetch, limit_all_gathers), \
             less precise messages; where ranks only wait for the last, see stragglers",
    is_pattern: false,
    find: Find::Trace(found),
};

fn found(scene: &Scene<'_>) -> Vec<Found> {
    let rows: Vec<_> = scene.work_of(Class::Communication).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let names = Names::of(scene.linked);
    let cost = |row| (names.name(row).to_owned(), scene.exposed_ns(row), row);
    let told = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let all_ns = sum_ns(costs.iter().map(|(_, row)| scene.time(*row).dur().0));
        let advice = advice(&subject);
        let detail = format!("of {} in {} events", told_ns(all_ns), costs.len());
        let exposed_ns = scene.all_exposed_ns(&costs);
        Found::of(subject, costs, 0.9).at_most(exposed_ns).told(detail).advised(advice)
    };
    by_subject(rows.into_iter().map(cost)).into_iter().map(told).collect()
}

/// What helps with communications that are called so.
fn advice(name: &str) -> Option<&'static str> {
    match known(name)?.1 {
        Pattern::AllReduce => Some(
            "larger or earlier buckets (DDP: bucket_cap_mb), fewer synchronisations (no_sync while gradients \
             accumulate), less precise messages; where ranks only wait for the last, see stragglers",
        ),
        Pattern::AllGather | Pattern::ReduceScatter => Some(
            "prefetching (FSDP: forward_prefetch, backward_prefetch, limit_all_gathers), larger units, sharding within a \
             machine (HYBRID_SHARD), less precise messages; where ranks only wait for the last, see stragglers",
        ),
        Pattern::AllToAll => Some(
            "computing another part of the batch meanwhile, messages of equal size for all ranks, less precise \
             messages; where ranks only wait for the last, see stragglers",
        ),
        Pattern::Send | Pattern::Recv => {
            Some("more and smaller micro-batches, an interleaved schedule of the pipeline, stages of equal cost")
        }
        _ => None,
    }
}
