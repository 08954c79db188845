//! The machine of each rank, and whether a group of ranks is on one.

use rustc_hash::FxHashMap;

use super::device_order;
use super::host::host;
use crate::link::rank::JobRanks;
use crate::sort;
use crate::trace::group::GroupRanks;

/// The machine of one trace of the job.
#[derive(Debug, Clone, Default)]
pub(super) struct RankMachine {
    pub(super) rank: Option<i64>,
    pub(super) window: i64,
    /// The number of the machine, from 0.
    pub(super) machine: Option<i64>,
    /// The name of its host, as the trace states it.
    pub(super) host: Option<String>,
    /// The rule that told the machine.
    pub(super) source: Option<&'static str>,
    /// Why the machine is not known.
    pub(super) reason: Option<&'static str>,
}

/// The machines of a job.
#[derive(Debug, Default)]
pub(in crate::analyze) struct Placement {
    /// By member.
    pub(super) members: Vec<RankMachine>,
    /// The machine of each rank with a trace; `None` inside where its traces disagree.
    of_rank: FxHashMap<i64, Option<i64>>,
    /// So many ranks in a row share a machine, where that is known.
    per_machine: Option<i64>,
}

/// Whether ranks share a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::analyze) enum Reach {
    /// All are on one.
    Inside,
    /// They are on several.
    Between,
    /// The machines of some are not known, and the others share one.
    Unplaced,
}

impl Reach {
    /// The name used in tables; `None` where the machines are not known.
    pub(in crate::analyze) fn name(self) -> Option<&'static str> {
        match self {
            Self::Inside => Some("inside"),
            Self::Between => Some("between"),
            Self::Unplaced => None,
        }
    }
}

impl Placement {
    /// By the first rule that holds for the job: the given number, host names of all traces, the
    /// order of devices, host names of some traces.
    pub(in crate::analyze) fn of(job: &JobRanks, given: i64) -> Self {
        let mut found = Self::default();
        let hosts: Vec<_> = job.members.iter().map(|member| host(&member.linked)).collect();
        let numbers = numbered(job, &hosts);
        let by_device = device_order::ranks_per_machine(job);
        let has_all = !hosts.is_empty() && hosts.iter().all(Option::is_some);
        let per_machine = Some(given).filter(|given| *given > 0);
        let spaced = per_machine.or(by_device.ok().filter(|_| !has_all));
        for (at, member) in job.members.iter().enumerate() {
            let (name, of_name) = hosts[at].clone().unzip();
            let mut row = RankMachine { rank: member.rank, window: member.window, host: name, ..Default::default() };
            (row.machine, row.source, row.reason) = match (spaced, member.rank.filter(|rank| *rank >= 0)) {
                (Some(num), Some(rank)) => {
                    (Some(rank / num), Some(per_machine.map_or("devices", |_| "ranks_per_machine")), None)
                }
                (Some(_), None) => (None, None, Some("the rank is unknown")),
                (None, _) if row.host.is_some() => (numbers[at], of_name, None),
                (None, _) => (None, None, Some(by_device.err().unwrap_or("no host name"))),
            };
            if let Some(rank) = row.rank {
                let known = found.of_rank.entry(rank).or_insert(row.machine);
                *known = known.filter(|known| Some(*known) == row.machine);
            }
            found.members.push(row);
        }
        // Where names and devices agree, the devices also tell of ranks without a trace.
        found.per_machine = spaced.or(by_device.ok().filter(|num| found.agrees(*num)));
        found
    }

    /// Whether ranks share a machine exactly where they are among the same `num` in a row.
    fn agrees(&self, num: i64) -> bool {
        let (mut of_block, mut of_machine) = (FxHashMap::default(), FxHashMap::default());
        self.of_rank.iter().all(|(rank, machine)| {
            let (block, Some(machine)) = (rank.div_euclid(num), *machine) else { return false };
            *of_block.entry(block).or_insert(machine) == machine && *of_machine.entry(machine).or_insert(block) == block
        })
    }

    /// Whether the ranks of a group share a machine.
    pub(in crate::analyze) fn of_group(&self, group: &GroupRanks) -> Reach {
        match group {
            // As large as a file claims.
            GroupRanks::All(size) if self.per_machine.is_some() => self.of_ranks([0, size.saturating_sub(1).max(0)]),
            GroupRanks::All(size) => {
                let known = || self.of_rank.iter().filter(|(rank, _)| (0..*size).contains(*rank));
                let is_whole = known().count() as i64 == *size;
                let reach = reach(known().map(|(_, machine)| *machine));
                if is_whole || reach == Reach::Between { reach } else { Reach::Unplaced }
            }
            GroupRanks::Listed(ranks) => self.of_ranks(ranks.iter().copied()),
        }
    }

    /// Whether these ranks share a machine.
    pub(super) fn of_ranks(&self, ranks: impl IntoIterator<Item = i64>) -> Reach {
        reach(ranks.into_iter().map(|rank| match self.per_machine.filter(|_| rank >= 0) {
            Some(num) => Some(rank / num),
            None => self.of_rank.get(&rank).copied().flatten(),
        }))
    }
}

fn reach(machines: impl Iterator<Item = Option<i64>>) -> Reach {
    let (mut first, mut is_known, mut has_any) = (None, true, false);
    for machine in machines {
        has_any = true;
        is_known &= machine.is_some();
        if machine.is_some() && first.is_some() && machine != first {
            return Reach::Between;
        }
        first = first.or(machine);
    }
    if is_known && has_any { Reach::Inside } else { Reach::Unplaced }
}

/// A number for each different host, in order of the ranks.
fn numbered(job: &JobRanks, hosts: &[Option<(String, &'static str)>]) -> Vec<Option<i64>> {
    let mut order: Vec<usize> = (0..hosts.len()).collect();
    sort::by_key(&mut order, |at| (job.members[*at].rank.is_none(), job.members[*at].rank));
    let mut numbers: FxHashMap<&str, i64> = FxHashMap::default();
    let mut found = vec![None; hosts.len()];
    for at in order {
        let Some((name, _)) = &hosts[at] else { continue };
        let next = numbers.len() as i64;
        found[at] = Some(*numbers.entry(name).or_insert(next));
    }
    found
}
