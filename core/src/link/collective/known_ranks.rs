//! The ranks of a collective's group: by its name, by its record, or because it has all ranks.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::row::Collective;
use crate::trace::group::{GroupRanks, ProcessGroups};

/// So many ranks are listed for all groups that only their spacing describes.
const MAX_LISTED: i64 = 1 << 22;

/// Where the ranks of groups come from.
pub(super) struct KnownRanks<'a> {
    groups: &'a ProcessGroups,
    num_ranks: Option<i64>,
    spaced: FxHashMap<(i64, i64, i64), Arc<GroupRanks>>,
    left: i64,
}

impl<'a> KnownRanks<'a> {
    pub(super) fn new(groups: &'a ProcessGroups, num_ranks: Option<i64>) -> Self {
        Self { groups, num_ranks, spaced: FxHashMap::default(), left: MAX_LISTED }
    }

    /// The ranks of a group of a size from a first one on, so far apart.
    fn spaced(&mut self, (start, stride): (i64, i64), size: i64) -> Option<Arc<GroupRanks>> {
        let is_whole = size > 0 && start >= 0 && (stride > 0 || stride == 0 && size == 1);
        let last = start.checked_add(stride.checked_mul(size.checked_sub(1)?)?).filter(|_| is_whole)?;
        if (start, stride) == (0, 1) {
            return Some(Arc::new(GroupRanks::All(size)));
        }
        if let Some(known) = self.spaced.get(&(start, stride, size)) {
            return Some(Arc::clone(known));
        }
        self.left = self.left.checked_sub(size).filter(|left| *left >= 0)?;
        let step = usize::try_from(stride.max(1)).ok()?;
        let ranks = Arc::new(GroupRanks::from((start..=last).step_by(step).collect::<Vec<_>>()));
        self.spaced.insert((start, stride, size), Arc::clone(&ranks));
        Some(ranks)
    }

    /// A group as large as the job has all of its ranks.
    fn all(&self, size: Option<i64>) -> Option<Arc<GroupRanks>> {
        let size = size.filter(|size| *size > 0 && self.num_ranks == Some(*size))?;
        Some(Arc::new(GroupRanks::All(size)))
    }
}

impl Collective {
    pub(super) fn set_group(&mut self, known: &mut KnownRanks<'_>) {
        let facts = &self.facts;
        self.group = known.groups.of(facts.group_name.as_deref(), facts.group_id);
        let listed = facts.ranks.clone().map(Arc::new);
        let spaced = facts.rank_steps.zip(facts.group_size).and_then(|(steps, size)| known.spaced(steps, size));
        let named = self.group.and_then(|group| known.groups.ranks(group));
        self.ranks = named.or(listed).or(spaced).or_else(|| known.all(facts.group_size));
        self.facts.group_size = self.facts.group_size.or_else(|| Some(self.ranks.as_ref()?.size()));
    }
}
