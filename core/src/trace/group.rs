//! Process groups and their ranks, from either file.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use crate::trace::Trace;
use crate::trace::node::NodeKind;

/// The key of a header with the process groups of its rank.
pub(crate) const DISTRIBUTED: &str = "distributedInfo";
/// The key with the same of all ranks, in the file of a job that Kinetoscope writes.
pub(crate) const DISTRIBUTED_OF_RANKS: &str = "kinetoscope_distributed";

/// A process group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProcessGroup {
    /// `kineto` (`distributedInfo`) or `execution` (a `## process_group:init ##` node).
    pub source: &'static str,
    /// `pg_name`.
    pub name: String,
    /// `pg_desc`, if recorded.
    pub desc: String,
    /// `backend_config`, such as `cuda:nccl`.
    pub backend: String,
    /// The ranks as a JSON list; empty for all.
    pub ranks: String,
    /// `group_size` or `pg_size`.
    pub size: Option<i64>,
    /// `group_count`, if recorded.
    pub count: Option<i64>,
    /// `backend_id` or `uid`: the number by which files before `PyTorch` 2.4 know the group.
    pub id: Option<i64>,
}

/// The process groups of a trace: those of the Kineto file, then those of the Execution Trace, each
/// once.
///
/// ```
/// use kinetoscope::{Input, Limits, read, trace::group::process_groups};
/// let json = br#"{"distributedInfo": {"rank": 0, "pg_config": [{"pg_name": "0", "pg_size": 2, "ranks": [0, 1]}]},
///     "traceEvents": []}"#;
/// let groups = process_groups(&read([Input::new(json)], Limits::default())?);
/// assert_eq!((groups[0].size, groups[0].ranks.as_str()), (Some(2), "[0,1]"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn process_groups(trace: &Trace) -> Vec<ProcessGroup> {
    let info = trace.header_value(DISTRIBUTED).unwrap_or_default();
    let mut groups = listed("kineto", info.get("pg_config").unwrap_or(&Value::Null));
    for node in &trace.nodes {
        if node.kind(trace.strings.text(node.name)) == NodeKind::ProcessGroup {
            let inputs: Value = serde_json::from_str(trace.strings.text(node.inputs.values)).unwrap_or_default();
            let config = inputs.get(0).and_then(Value::as_str).unwrap_or_default();
            groups.extend(groups_of_config(config));
        }
    }
    let mut seen: FxHashSet<ProcessGroup> = FxHashSet::default();
    groups.retain(|group| seen.insert(group.clone()));
    groups
}

/// The groups in the configuration that a node of process groups holds.
pub(crate) fn groups_of_config(config: &str) -> Vec<ProcessGroup> {
    listed("execution", &serde_json::from_str(config).unwrap_or_default())
}

fn listed(source: &'static str, groups: &Value) -> Vec<ProcessGroup> {
    let text = |group: &Value, key: &str| match group.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let group = |group: &Value| ProcessGroup {
        source,
        name: text(group, "pg_name"),
        desc: text(group, "pg_desc"),
        backend: text(group, "backend_config"),
        ranks: text(group, "ranks"),
        size: group.get("group_size").or_else(|| group.get("pg_size")).and_then(Value::as_i64),
        count: group.get("group_count").and_then(Value::as_i64),
        id: group.get("backend_id").or_else(|| group.get("uid")).and_then(Value::as_i64),
    };
    groups.as_array().into_iter().flatten().map(group).collect()
}

/// The ranks of a process group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupRanks {
    /// So many, from 0 on: all ranks of a job.
    All(i64),
    /// These.
    Listed(Vec<i64>),
}

impl From<Vec<i64>> for GroupRanks {
    fn from(ranks: Vec<i64>) -> Self {
        let is_all = ranks.iter().enumerate().all(|(place, rank)| *rank == place as i64);
        if is_all { Self::All(ranks.len() as i64) } else { Self::Listed(ranks) }
    }
}

impl GroupRanks {
    /// The rank at a place.
    pub fn at(&self, place: i64) -> Option<i64> {
        match self {
            Self::All(size) => Some(place).filter(|place| (0..*size).contains(place)),
            Self::Listed(ranks) => ranks.get(usize::try_from(place).ok()?).copied(),
        }
    }

    /// The place of a rank.
    pub fn place(&self, rank: i64) -> Option<i64> {
        match self {
            Self::All(_) => self.at(rank),
            Self::Listed(ranks) => ranks.iter().position(|other| *other == rank).map(|place| place as i64),
        }
    }

    /// How many there are.
    pub fn size(&self) -> i64 {
        match self {
            Self::All(size) => *size,
            Self::Listed(ranks) => ranks.len() as i64,
        }
    }

    /// All of them, one after another.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.size()).filter_map(|place| self.at(place))
    }
}

/// So many unlike groups are compared for one call: more hardly have anything in common.
const MAX_UNNAMED: usize = 64;

/// Process groups by recorded name, with their ranks.
#[derive(Debug, Clone, Default)]
pub struct ProcessGroups {
    by_name: FxHashMap<String, u32>,
    by_id: FxHashMap<i64, u32>,
    ranks: Vec<Option<Arc<GroupRanks>>>,
}

impl ProcessGroups {
    /// Looks through the groups. Of two groups of one name, the first with known ranks counts.
    pub fn new(all: &[ProcessGroup]) -> Self {
        let mut groups =
            Self { ranks: all.iter().map(|group| group.rank_list().map(Arc::new)).collect(), ..Self::default() };
        for is_known in [true, false] {
            let such = all.iter().enumerate().filter(|(at, _)| groups.ranks[*at].is_some() == is_known);
            for (at, group) in such {
                groups.by_name.entry(group.name.clone()).or_insert(at as u32);
                if let Some(id) = group.id {
                    groups.by_id.entry(id).or_insert(at as u32);
                }
            }
        }
        groups
    }

    /// The group of that name, or else of that number.
    pub fn of(&self, name: Option<&str>, id: Option<i64>) -> Option<u32> {
        name.and_then(|name| self.by_name.get(name)).or_else(|| self.by_id.get(&id?)).copied()
    }

    /// The ranks of each group that one may be that nothing names, where the rank `own` of
    /// `num_ranks` calls it; none where that is not known.
    pub fn unnamed(&self, own: Option<i64>, num_ranks: Option<i64>) -> Vec<Arc<GroupRanks>> {
        if self.ranks.is_empty() {
            // Two have but one group between them.
            return num_ranks
                .filter(|size| *size == 2)
                .map(|size| Arc::new(GroupRanks::All(size)))
                .into_iter()
                .collect();
        }
        let all: Option<FxHashSet<Arc<GroupRanks>>> = self.ranks.iter().cloned().collect();
        // One rank alone does not communicate.
        let has_own = |ranks: &Arc<GroupRanks>| ranks.size() > 1 && own.is_none_or(|own| ranks.place(own).is_some());
        let found: Vec<_> = all.into_iter().flatten().filter(has_own).collect();
        if found.len() > MAX_UNNAMED { Vec::new() } else { found }
    }

    /// The ranks of a group, where they are known.
    pub fn ranks(&self, group: u32) -> Option<Arc<GroupRanks>> {
        self.ranks.get(group as usize)?.clone()
    }
}

impl ProcessGroup {
    /// The ranks in numbers; all ranks if the list is empty and the size is recorded.
    pub(crate) fn rank_list(&self) -> Option<GroupRanks> {
        let listed: Vec<i64> = serde_json::from_str(&self.ranks).ok()?;
        match self.size {
            Some(size) if listed.is_empty() => Some(GroupRanks::All(size)).filter(|_| size > 0),
            _ => Some(GroupRanks::from(listed)).filter(|ranks| ranks.size() > 0),
        }
    }
}
