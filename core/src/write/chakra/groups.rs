//! Writes `comm_group.json`: the ranks of each process group, for simulators.

use std::collections::BTreeMap;

use crate::link::LinkedTrace;
use crate::trace::group::ProcessGroups;

/// More ranks than any job has; a size beyond is no size.
const MAX_RANKS: i64 = 1 << 20;

/// The ranks of each process group with a name and known ranks, by its name, as a JSON
/// object.
///
/// ```
/// use kinetoscope::{Input, Limits, LinkedTrace, read, write::chakra::comm_groups};
/// let json = br#"{"distributedInfo": {"rank": 0, "pg_config": [{"pg_name": "1", "pg_size": 2, "ranks": [0, 3]}]},
///     "traceEvents": []}"#;
/// let linked = LinkedTrace::new(read([Input::new(json)], Limits::default())?);
/// assert_eq!(comm_groups(&linked), r#"{"1":[0,3]}"#);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn comm_groups(linked: &LinkedTrace) -> String {
    let all = linked.process_groups();
    let groups = ProcessGroups::new(all);
    let mut ranks: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    let named = all.iter().map(|group| {
        let known = groups.of(Some(&group.name), None).and_then(|found| groups.ranks(found));
        (Some(group.name.as_str()), known)
    });
    let used = linked.collectives().rows.iter().map(|row| (row.facts.group_name.as_deref(), row.ranks.clone()));
    for (name, known) in named.chain(used) {
        if let (Some(name), Some(known)) = (name, known.filter(|known| known.size() <= MAX_RANKS)) {
            ranks.entry(name).or_insert_with(|| known.iter().collect());
        }
    }
    serde_json::to_string(&ranks).unwrap_or_default()
}
