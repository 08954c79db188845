//! Finds long idle times during host work other than launches.

use rustc_hash::FxHashMap;

use super::super::idle::{IdleCause, IdleGap, host_during};
use super::super::interval::{RangeCover, union};
use super::super::number_text::plural;
use super::launch_bound::MAX_GAP_NS;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use super::{loader, start_up};
use crate::sort;
use crate::time::TimeRange;
use crate::vendor;

pub(super) static LONG_IDLE: Rule = Rule {
    name: "long_idle",
    doc: "the device is idle for milliseconds while the host does other work before the next launch",
    cost: "device idle time in these gaps",
    advice: "move this host work out of the loop, move it to another thread or process, or overlap it with device work",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Host activity is examined in the longest gaps.
const MOST: usize = 100;

/// The smallest share of the time that is reported.
const MUCH: f64 = 0.02;

const UNRECORDED: &str = "unrecorded host work";

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let mut idle: Vec<IdleGap> = context.gaps().iter().filter_map(|gap| of_device(context, gap)).collect();
    sort::by_key(&mut idle, |gap| (std::cmp::Reverse(gap.time.dur()), gap.after_id));
    idle.truncate(MOST);
    let loading = RangeCover::of(context.named(loader::is_loading).into_iter().map(|row| context.time(row)).collect());
    let is_loading = |gap: &&IdleGap| loading.inside_ns(gap.time) * 2 >= gap.time.dur().0;
    let costs = idle.iter().filter(|gap| !is_loading(gap)).filter_map(|gap| {
        let after = context.trace.events.row_at(gap.after_id?)? as u32;
        Some((what_the_host_did(context, gap)?, gap.time.dur().0, after))
    });
    let row = |gap: &IdleGap| Some((context.trace.events.row_at(gap.after_id?)? as u32, gap.time));
    let gap_of: FxHashMap<u32, TimeRange> = idle.iter().filter_map(row).collect();
    let told = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let detail = plural(costs.len(), "gap");
        let times = costs.iter().filter_map(|(_, row)| gap_of.get(row).copied()).collect();
        RuleMatch::of(subject, costs, 0.7).during(union(times)).detailed(detail)
    };
    let found = by_subject(costs).into_iter().map(told);
    found.filter(|found| found.share(context.span_ns) >= MUCH).collect()
}

/// The end of a stream's gap in which no other of the device's streams worked, where that is long
/// and the host ended it.
fn of_device(context: &RuleContext<'_>, gap: &IdleGap) -> Option<IdleGap> {
    let time = context.busy.idle_before(gap.stream.device, gap.time);
    let launch = context.trace.events.start.at(gap.launch? as usize);
    (gap.wait == IdleCause::Host && time.dur().0 >= MAX_GAP_NS && launch > time.start)
        .then(|| IdleGap { time, ..gap.clone() })
}

/// Host activity during most of a gap; `None` where another rule reports it, or where the host
/// waited for unrecorded device work.
fn what_the_host_did(context: &RuleContext<'_>, gap: &IdleGap) -> Option<String> {
    let Some(host) = gap.launch.and_then(|launch| host_during(context.selection.linked, launch, gap.time)) else {
        return Some(UNRECORDED.to_owned());
    };
    let row = context.trace.events.row_at(host.id)?;
    let is_reported = vendor::may_wait(&host.name) || start_up::is_one(context, row) || vendor::allocates(&host.name);
    // An iteration's own time has no known cause.
    let name = if host.name.starts_with("ProfilerStep#") { UNRECORDED } else { context.subject(row) };
    (!is_reported).then(|| name.to_owned())
}
