//! Communication that nothing is computed beside.

use super::super::class::Class;
use super::found::{Found, by_subject, told_ns};
use super::scene::Scene;
use super::{Find, Rule};
use crate::time::sum_ns;
use crate::trace::arg_key::ArgKey;

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
    let costs = scene.work_of(Class::Communication).map(|row| {
        let mut kind = String::new();
        let args = scene.trace.events.args(row as usize);
        if !scene.trace.args.write_text(&scene.trace.strings, args, ArgKey::Collective, &mut kind) {
            kind.push_str(scene.name(row).split(['(', '<']).next().unwrap_or_default());
        }
        (kind, scene.computing.outside_ns(scene.time(row)), row)
    });
    let costs: Vec<_> = costs.collect();
    let told = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let all_ns = sum_ns(costs.iter().map(|(_, row)| scene.time(*row).dur().0));
        let detail = format!("of {} in {} events", told_ns(all_ns), costs.len());
        let exposed_ns = scene.all_exposed_ns(&costs);
        Found::of(subject, costs, 0.9).at_most(exposed_ns).told(detail)
    };
    by_subject(costs.into_iter()).into_iter().map(told).collect()
}
