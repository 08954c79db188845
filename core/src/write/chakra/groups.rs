//! Writes `comm_group.json`: the ranks of each process group, for simulators.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::link::LinkedTrace;
use crate::trace::group::{GroupRanks, ProcessGroups};

/// More ranks than any job has; a size beyond is no size.
const MAX_RANKS: i64 = 1 << 20;

/// The ranks of each process group with a name and known ranks, by its name, as a JSON object.
///
/// A group as large as the job has all of its `num_ranks`, whether a file lists them or not.
///
/// ```
/// use kinetoscope::{Input, Limits, LinkedTrace, read, write::chakra::comm_groups};
/// let json = br#"{"distributedInfo": {"rank": 0, "pg_config": [{"pg_name": "1", "pg_size": 2, "ranks": [0, 3]}]},
///     "traceEvents": []}"#;
/// let linked = LinkedTrace::new(read([Input::new(json)], Limits::default())?);
/// assert_eq!(comm_groups(&linked, None), r#"{"1":[0,3]}"#);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn comm_groups(linked: &LinkedTrace, num_ranks: Option<i64>) -> String {
    let all = linked.process_groups();
    let groups = ProcessGroups::new(all);
    let mut ranks: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    let num_ranks = linked.trace.num_ranks().or(num_ranks);
    let all_of = |size: Option<i64>| {
        let size = size.filter(|size| Some(*size) == num_ranks && *size > 0)?;
        Some(Arc::new(GroupRanks::All(size)))
    };
    let named = all.iter().map(|group| {
        let known = groups.of(Some(&group.name), None).and_then(|found| groups.ranks(found));
        let known = known.or_else(|| all_of(group.size));
        (Some(group.name.as_str()), known)
    });
    let used = linked.collectives().rows.iter();
    let used = used.map(|row| {
        let known = row.ranks.clone().or_else(|| all_of(row.facts.group_size));
        (row.facts.group_name.as_deref(), known)
    });
    for (name, known) in named.chain(used) {
        if let (Some(name), Some(known)) = (name, known.filter(|known| known.size() <= MAX_RANKS)) {
            ranks.entry(name).or_insert_with(|| known.iter().collect());
        }
    }
    serde_json::to_string(&ranks).unwrap_or_default()
}
