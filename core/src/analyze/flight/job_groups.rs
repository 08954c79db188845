//! Finds the process groups of a job among the groups of its dumps.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::dump::RankedDump;
use super::group::FlightJobGroup;
use crate::flight::FlightEntry;
use crate::id::StrId;

/// The description of the group of all ranks.
const DEFAULT_GROUP: &str = "default_pg";

/// Collects groups. Two ranks mean the same group if its name and its ranks are the same: names
/// alone repeat, as each part of a device mesh counts its groups by itself.
pub(super) struct JobGroups {
    pub(super) groups: Vec<FlightJobGroup>,
    by_ranks: FxHashMap<(String, Arc<Vec<i64>>), u32>,
    by_name: FxHashMap<(String, String), u32>,
    /// Groups with known ranks, by their names.
    namesakes: FxHashMap<String, Vec<u32>>,
    /// The groups that each dump describes, by their names.
    described: Vec<FxHashMap<String, u32>>,
}

impl JobGroups {
    pub(super) fn new(dumps: &[RankedDump]) -> Self {
        let mut all = Self {
            groups: Vec::new(),
            by_ranks: FxHashMap::default(),
            by_name: FxHashMap::default(),
            namesakes: FxHashMap::default(),
            described: vec![FxHashMap::default(); dumps.len()],
        };
        for (at, dump) in dumps.iter().enumerate() {
            all.describe(at, dump);
        }
        all.add_members(dumps);
        all
    }

    fn describe(&mut self, at: usize, dump: &RankedDump) {
        let mut lists: FxHashMap<StrId, Option<Arc<Vec<i64>>>> = FxHashMap::default();
        for group in &dump.recorder.groups {
            let name = [group.name, group.key].map(|id| dump.text(id)).into_iter().find(|name| !name.is_empty());
            let list = lists.entry(group.ranks).or_insert_with(|| rank_list(dump.text(group.ranks)));
            // A list without the own rank is of another group: some backends write one for all.
            let own = list.as_ref().filter(|ranks| ranks.contains(&dump.rank));
            let Some((name, ranks)) = name.zip(own) else { continue };
            let found = self.known(name, ranks, dump.text(group.desc));
            self.described[at].entry(name.to_owned()).or_insert(found);
        }
    }

    fn known(&mut self, name: &str, ranks: &Arc<Vec<i64>>, desc: &str) -> u32 {
        let next = self.groups.len() as u32;
        let found = *self.by_ranks.entry((name.to_owned(), Arc::clone(ranks))).or_insert(next);
        if found == next {
            self.namesakes.entry(name.to_owned()).or_default().push(next);
            let ranks = Some(Arc::clone(ranks));
            self.groups.push(FlightJobGroup { name: name.to_owned(), ranks, ..FlightJobGroup::default() });
        }
        let group = &mut self.groups[found as usize];
        if group.desc.is_empty() {
            desc.clone_into(&mut group.desc);
        }
        found
    }

    fn add_members(&mut self, dumps: &[RankedDump]) {
        let by_rank: FxHashMap<i64, u32> = dumps.iter().zip(0..).map(|(dump, at)| (dump.rank, at)).collect();
        for group in &mut self.groups {
            let ranks = group.ranks.iter().flat_map(|ranks| ranks.iter());
            group.dumps = ranks.filter_map(|rank| by_rank.get(rank).copied()).collect();
            group.dumps.sort_unstable();
            group.dumps.dedup();
        }
    }

    /// The group of an entry.
    pub(super) fn of_entry(&mut self, at: u32, dump: &RankedDump, entry: &FlightEntry) -> u32 {
        let number = || entry.group_id.map(|id| id.to_string()).unwrap_or_default();
        let name = Some(dump.text(entry.group_name)).filter(|name| !name.is_empty()).map_or_else(number, str::to_owned);
        if let Some(found) = self.described[at as usize].get(&name) {
            return *found;
        }
        let desc = dump.text(entry.group_desc);
        let found = self.namesake(&name, dump.rank).unwrap_or_else(|| self.unknown(name.clone(), desc));
        self.described[at as usize].insert(name, found);
        found
    }

    /// The only group of that name with a rank, by the descriptions of other ranks.
    fn namesake(&self, name: &str, rank: i64) -> Option<u32> {
        let has_rank = |group: &&u32| {
            let ranks = self.groups[**group as usize].ranks.as_ref();
            ranks.is_some_and(|ranks| ranks.contains(&rank))
        };
        let mut having = self.namesakes.get(name)?.iter().filter(has_rank);
        having.next().copied().filter(|_| having.next().is_none())
    }

    /// A group of which no dump tells the ranks.
    fn unknown(&mut self, name: String, desc: &str) -> u32 {
        let next = self.groups.len() as u32;
        let found = *self.by_name.entry((name.clone(), desc.to_owned())).or_insert(next);
        if found == next {
            // All ranks are members of the default group.
            let dumps = if desc == DEFAULT_GROUP { (0..self.described.len() as u32).collect() } else { Vec::new() };
            self.groups.push(FlightJobGroup { name, desc: desc.to_owned(), dumps, ..FlightJobGroup::default() });
        }
        found
    }
}

/// Ranks from a JSON list; `None` for other texts and for an empty list.
fn rank_list(text: &str) -> Option<Arc<Vec<i64>>> {
    serde_json::from_str::<Vec<i64>>(text).ok().filter(|ranks| !ranks.is_empty()).map(Arc::new)
}
