//! Sums the tables of all ranks by name.

use rustc_hash::FxHashMap;

use super::report_frame::ReportFrame;
use crate::sort;
use crate::table::{ColumnValues, TableColumn, is_same};

/// The columns to sum over ranks, and how.
pub(super) struct RankTotals {
    /// The columns whose texts tell rows apart; an absent text counts as empty.
    pub(super) keys: &'static [TableColumn],
    /// Columns to add up. The first one gets a minimum and a maximum per rank.
    pub(super) sums: &'static [TableColumn],
    /// The column among them that counts events.
    pub(super) count: TableColumn,
    /// The column with the longest event of a row.
    pub(super) longest: TableColumn,
    /// The column with its id.
    pub(super) longest_id: TableColumn,
}

/// Columns of the result beside keys and sums.
const ADDED: [&str; 7] = ["share", "mean_ns", "least_ns", "most_ns", "max_ns", "rank", "window"];

/// The rows of a name on all ranks.
struct NameGroup {
    first: usize,
    /// `None` where a rank does not know.
    sums: Vec<Option<i64>>,
    least: i64,
    most: i64,
    /// The duration of the longest event, and its row.
    longest: (i64, usize),
}

impl NameGroup {
    fn first_sum(&self) -> i64 {
        self.sums[0].unwrap_or(0)
    }
}

impl RankTotals {
    /// Whether the result has a column of that name; for checks at compile time.
    pub(super) const fn has(&self, name: &str) -> bool {
        has_column(self.keys, name)
            || has_column(self.sums, name)
            || is_same(self.longest_id.name, name)
            || has_name(&ADDED, name)
    }

    /// The groups with the largest first sum. Further columns: `share`, `mean_ns`, minimum and
    /// maximum per rank (`least_ns`, `most_ns`), and the longest event with its rank.
    pub(super) fn top(&self, all: &ReportFrame, limit: usize) -> ReportFrame {
        self.top_by(all, &self.sums[..1], limit)
    }

    /// The groups with the largest sums of `by`, the first of them before the next; an unknown sum
    /// counts as none.
    pub(super) fn top_by(&self, all: &ReportFrame, by: &[TableColumn], limit: usize) -> ReportFrame {
        let mut groups = self.groups(all);
        let num_groups = groups.len();
        let whole: i64 = groups.iter().fold(0, |sum, group| sum.saturating_add(group.first_sum()));
        let by = by.iter().filter_map(|column| self.sums.iter().position(|sum| sum == column)).collect::<Vec<_>>();
        let order = |group: &NameGroup| by.iter().map(|at| group.sums[*at].unwrap_or(0)).collect::<Vec<_>>();
        sort::by_key(&mut groups, |group| (std::cmp::Reverse(order(group)), group.first));
        groups.truncate(limit);
        let ints = |of: &dyn Fn(&NameGroup) -> Option<i64>| ColumnValues::Int(groups.iter().map(of).collect());
        let mut columns: Vec<_> = self.keys.iter().map(|key| (key.name, texts(all, *key, &groups))).collect();
        for (at, sum) in self.sums.iter().enumerate() {
            columns.push((sum.name, ints(&|group| group.sums[at])));
        }
        let share = |group: &NameGroup| Some(group.first_sum() as f64 / whole.max(1) as f64);
        columns.push(("share", ColumnValues::Float(groups.iter().map(share).collect())));
        let count = self.sums.iter().position(|sum| *sum == self.count);
        columns.push(("mean_ns", ints(&|group| group.first_sum().checked_div(group.sums[count?]?))));
        columns.push(("least_ns", ints(&|group| Some(group.least))));
        columns.push(("most_ns", ints(&|group| Some(group.most))));
        columns.push(("max_ns", ints(&|group| Some(group.longest.0).filter(|ns| *ns > 0))));
        columns.push(("rank", ints(&|group| all.rank(group.longest.1))));
        columns.push(("window", ints(&|group| all.window(group.longest.1))));
        columns.push((self.longest_id.name, ints(&|group| all.int(self.longest_id, group.longest.1))));
        all.derived(columns, num_groups)
    }

    fn groups(&self, all: &ReportFrame) -> Vec<NameGroup> {
        let mut known: FxHashMap<Vec<&str>, usize> = FxHashMap::default();
        let mut groups: Vec<NameGroup> = Vec::new();
        for row in 0..all.num_rows {
            let sums = self.sums.iter().map(|sum| all.int(*sum, row)).collect::<Vec<_>>();
            let own = sums[0].unwrap_or(0);
            let longest = (all.int(self.longest, row).unwrap_or(0), row);
            let at = *known.entry(self.key(all, row)).or_insert(groups.len());
            let Some(group) = groups.get_mut(at) else {
                groups.push(NameGroup { first: row, least: own, most: own, sums, longest });
                continue;
            };
            group.least = group.least.min(own);
            group.most = group.most.max(own);
            if longest.0 > group.longest.0 {
                group.longest = longest;
            }
            group.sums.iter_mut().zip(sums).for_each(|(sum, more)| {
                *sum = sum.zip(more).map(|(sum, more)| sum.saturating_add(more));
            });
        }
        groups
    }

    fn key<'a>(&self, all: &'a ReportFrame, row: usize) -> Vec<&'a str> {
        self.keys.iter().map(|key| all.text(*key, row).unwrap_or_default()).collect()
    }
}

fn texts(all: &ReportFrame, key: TableColumn, groups: &[NameGroup]) -> ColumnValues {
    let (mut bytes, mut ends, mut valid) = (String::new(), Vec::new(), Vec::new());
    for group in groups {
        let text = all.text(key, group.first);
        bytes.push_str(text.unwrap_or_default());
        ends.push(bytes.len());
        valid.push(text.is_some());
    }
    ColumnValues::Text { bytes, ends, valid }
}

const fn has_column(columns: &[TableColumn], name: &str) -> bool {
    let mut at = 0;
    while at < columns.len() && !is_same(columns[at].name, name) {
        at += 1;
    }
    at < columns.len()
}

const fn has_name(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() && !is_same(names[at], name) {
        at += 1;
    }
    at < names.len()
}
