//! Divides the ranks of a job into sets: machines, or process groups of one purpose.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::placement::Placement;
use crate::link::rank::{JobMember, JobRanks};
use crate::trace::group::GroupRanks;

/// The division into machines.
pub(crate) const MACHINE: &str = "machine";

/// Sets of ranks.
#[derive(Debug, Default)]
pub(crate) struct RankDivision {
    /// The set of each member; `None` where it is not known.
    pub(crate) of_member: Vec<Option<usize>>,
    /// The name of each set, in order of their ranks.
    pub(crate) names: Vec<String>,
}

impl RankDivision {
    /// The machines of a job. A given number of ranks on each is taken from the traces if it is 0.
    pub(crate) fn by_machine(job: &JobRanks, ranks_per_machine: i64) -> Self {
        let placement = Placement::of(job, ranks_per_machine);
        let mut hosts: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
        for row in &placement.members {
            let Some(machine) = row.machine else { continue };
            hosts.entry(machine).or_default().extend(row.host.as_deref());
        }
        // Some ranks of a machine may lack its name, and a given number may join hosts.
        let name = |machine: i64| match hosts.get(&machine).map(|hosts| hosts.iter().collect::<Vec<_>>()).as_deref() {
            Some([host]) => format!("machine {machine} ({host})"),
            _ => format!("machine {machine}"),
        };
        Self::of(placement.members.iter().map(|row| Some((row.machine?, name(row.machine?)))))
    }

    /// The process groups of a job with a description.
    pub(crate) fn by_purpose(job: &JobRanks, purpose: &str) -> Self {
        let of_member = job.members.iter().map(|member| groups(member).into_iter().find(|group| group.0 == purpose));
        let found: Vec<Option<GroupRanks>> = of_member.map(|found| Some(found?.1)).collect();
        Self::of(found.iter().map(|ranks| Some((ranks.as_ref()?.at(0)?, ranks_words(ranks.as_ref()?)))))
    }

    /// Sets by a number, which orders them, and a name.
    fn of(keys: impl Iterator<Item = Option<(i64, String)>>) -> Self {
        let keys: Vec<_> = keys.collect();
        let all: BTreeSet<&(i64, String)> = keys.iter().flatten().collect();
        let places: FxHashMap<_, _> = all.iter().enumerate().map(|(at, key)| (*key, at)).collect();
        let of_member = keys.iter().map(|key| places.get(key.as_ref()?).copied()).collect();
        Self { of_member, names: all.into_iter().map(|(_, name)| name.clone()).collect() }
    }
}

/// Descriptions of the process groups of more than one rank, in alphabetical order.
pub(crate) fn purposes(job: &JobRanks) -> BTreeSet<String> {
    job.members.iter().flat_map(groups).map(|(purpose, _)| purpose).collect()
}

/// The first process group of each description with the rank and more ranks. Those that a file
/// lists come before those of collectives, and these before those that only messages have.
fn groups(member: &JobMember) -> Vec<(String, GroupRanks)> {
    let mut found: Vec<(String, GroupRanks)> = Vec::new();
    let mut add = |desc: &str, ranks: &GroupRanks| {
        let is_own = || member.rank.is_none_or(|rank| ranks.place(rank).is_some());
        let is_new = !desc.is_empty() && found.iter().all(|(known, _)| known != desc);
        if is_new && ranks.size() > 1 && is_own() {
            found.push((desc.to_owned(), ranks.clone()));
        }
    };
    for group in member.linked.process_groups() {
        group.rank_list().iter().for_each(|ranks| add(&group.desc, ranks));
    }
    let (messages, collectives): (Vec<_>, Vec<_>) =
        member.collectives().rows.iter().partition(|one| one.is_p2p() == Some(true));
    for one in collectives.into_iter().chain(messages) {
        let group = one.group_desc(&member.linked).zip(one.ranks.as_deref());
        group.into_iter().for_each(|(desc, ranks)| add(desc, ranks));
    }
    found
}

/// Ranks in words: `ranks 0 to 7`, or `ranks 3 to 27 by 8`.
fn ranks_words(ranks: &GroupRanks) -> String {
    const SHOWN: usize = 4;
    let all = match ranks {
        // As large as a file claims.
        GroupRanks::All(size) if *size > 2 => return format!("ranks 0 to {}", size - 1),
        ranks => ranks.iter().collect::<Vec<_>>(),
    };
    let step = || all[1].checked_sub(all[0]);
    let is_even = |step: i64| all.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
    match (&all[..], (all.len() > 2).then(step).flatten().filter(|step| is_even(*step))) {
        ([first, .., last], Some(1)) => format!("ranks {first} to {last}"),
        ([first, .., last], Some(step)) => format!("ranks {first} to {last} by {step}"),
        (all, _) => {
            let shown: Vec<_> = all.iter().take(SHOWN).map(i64::to_string).collect();
            let more = all.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("ranks {}{more}", shown.join(", "))
        }
    }
}
