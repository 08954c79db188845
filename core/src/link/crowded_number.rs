//! Finds the launch of a device event where very many launches have its number.
//!
//! Numbers are used again, and a hostile file may give one to everything. To look at each launch
//! for each event would take the square of their number.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::host_process::ProcessScope;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// The launches of a number, by where they may be looked for.
#[derive(Debug, Default)]
pub(super) struct CrowdedNumber {
    len: u32,
    /// By scope, and by `External id` or for all.
    launches: FxHashMap<(ProcessScope, Option<u64>), LaunchTimes>,
}

/// Launches in the order of time.
#[derive(Debug, Default)]
struct LaunchTimes {
    /// Place and row of the first launch of the number.
    first: Option<(u32, u32)>,
    /// Start, place among the launches of the number, and row.
    starts: Vec<(Ts, u32, u32)>,
}

impl CrowdedNumber {
    /// `rows` are in the order in which the first of equal ones counts.
    pub(super) fn of(trace: &Trace, rows: impl Iterator<Item = u32>) -> Self {
        let mut crowd = Self::default();
        for row in rows {
            let external = trace.args.identifier(&trace.strings, trace.events.args(row as usize), ArgKey::ExternalId);
            let launch = (trace.events.start.at(row as usize), crowd.len, row);
            for scope in ProcessScope::of_host(trace, trace.process_of(row as usize)) {
                crowd.launches.entry((scope, None)).or_default().push(launch);
                if external.is_some() {
                    crowd.launches.entry((scope, external)).or_default().push(launch);
                }
            }
            crowd.len += 1;
        }
        crowd.launches.values_mut().for_each(|times| times.starts.sort_unstable());
        crowd
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// The launch in one of the scopes that is rather that of a device event than the others: it
    /// has its `External id`, or else is the last before it.
    pub(super) fn nearest(&self, trace: &Trace, device: usize, scopes: &[ProcessScope]) -> Option<u32> {
        let start = trace.events.start.at(device);
        let external = trace.args.identifier(&trace.strings, trace.events.args(device), ArgKey::ExternalId);
        let of = |scope: &ProcessScope, id: Option<u64>| self.launches.get(&(*scope, id))?.last_before(start);
        let named = scopes.iter().filter_map(|scope| of(scope, Some(external?)));
        let best = |found: &(bool, Ts, u32, u32)| (found.0, found.1, Reverse(found.2));
        let found = named.max_by_key(best).or_else(|| {
            let all = scopes.iter().filter_map(|scope| of(scope, None));
            all.max_by_key(best)
        });
        found.map(|(.., row)| row)
    }
}

impl LaunchTimes {
    fn push(&mut self, (start, place, row): (Ts, u32, u32)) {
        self.first.get_or_insert((place, row));
        self.starts.push((start, place, row));
    }

    /// Whether a launch begins no later, its time if so, its place and its row: the last of them,
    /// or the first of all if none does.
    fn last_before(&self, time: Ts) -> Option<(bool, Ts, u32, u32)> {
        let num_before = self.starts.partition_point(|(start, ..)| *start <= time);
        let Some((last, ..)) = num_before.checked_sub(1).map(|at| self.starts[at]) else {
            return self.first.map(|(place, row)| (false, Ts(i64::MIN), place, row));
        };
        let (start, place, row) = self.starts[self.starts.partition_point(|(start, ..)| *start < last)];
        Some((true, start, place, row))
    }
}
