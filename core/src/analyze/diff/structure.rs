//! Finds added, removed and replaced calls and kernels in the call trees.

use std::collections::BTreeMap;

use super::call_tree::CallTree;
use super::name_keys::NameKeys;
use super::side::DiffSide;
use crate::link::aligned;
use crate::sort;
use crate::table::{Column, Table, int, put, put_name, text};
use crate::time::{add_ns, sum_ns};

/// Places with the same change.
pub(crate) struct StructureChange {
    path: String,
    status: &'static str,
    names: [String; 2],
    count: i64,
    ns: [i64; 2],
    ids: [Option<i64>; 2],
}

pub(crate) static TABLE: Table<Vec<StructureChange>> = Table {
    name: "diff_structure",
    doc: "calls or device work added, removed or replaced below the same calls, in a typical iteration",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<StructureChange>>] = &[
    text("path", |rows, at, out| put(out, &rows[at].path)),
    text("status", |rows, at, out| put_name(out, rows[at].status)),
    text("before", |rows, at, out| put(out, &rows[at].names[0])),
    text("after", |rows, at, out| put(out, &rows[at].names[1])),
    int("count", |rows, at| Some(rows[at].count)),
    int("before_ns", |rows, at| Some(rows[at].ns[0])),
    int("after_ns", |rows, at| Some(rows[at].ns[1])),
    int("change_ns", |rows, at| Some(rows[at].ns[1].saturating_sub(rows[at].ns[0]))),
    int("before_id", |rows, at| rows[at].ids[0]),
    int("after_id", |rows, at| rows[at].ids[1]),
];

/// How many calls around a place are named, the innermost.
const MAX_PATH: usize = 6;

/// The number of names listed for one change.
const MAX_NAMES: usize = 6;

/// Both trees, with facts about their nodes.
struct TreeComparison<'a> {
    sides: &'a [DiffSide<'a>; 2],
    keys: &'a NameKeys,
    trees: [CallTree; 2],
}

/// Children are aligned by their whole subtree first, then by name; pairs by name are compared
/// recursively. The rest is added, removed or, where both traces have a child at one place,
/// replaced. Times are device times of subtrees, or host times if a trace lacks device work.
pub(super) fn structure(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<StructureChange> {
    let compared = TreeComparison { sides, keys, trees: sides.each_ref().map(CallTree::of) };
    let mut places: BTreeMap<(String, [String; 2]), StructureChange> = BTreeMap::new();
    let mut open = vec![[compared.trees[0].roots.clone(), compared.trees[1].roots.clone()]];
    while let Some(families) = open.pop() {
        compared.compare(&families, &mut open, |place| merge(&mut places, place));
    }
    let mut places: Vec<_> = places.into_values().collect();
    sort::by(&mut places, |a, b| {
        let size = |place: &StructureChange| place.ns[1].abs_diff(place.ns[0]);
        size(b).cmp(&size(a)).then_with(|| (&a.path, &a.names).cmp(&(&b.path, &b.names)))
    });
    places
}

fn merge(places: &mut BTreeMap<(String, [String; 2]), StructureChange>, place: StructureChange) {
    let key = (place.path.clone(), place.names.clone());
    match places.get_mut(&key) {
        Some(known) => {
            known.count += 1;
            known.ns.iter_mut().zip(place.ns).for_each(|(all, ns)| add_ns(all, ns));
        }
        None => drop(places.insert(key, place)),
    }
}

impl TreeComparison<'_> {
    /// Compares the children of two calls: reports differences, and queues pairs for comparison.
    fn compare(&self, families: &[Vec<u32>; 2], open: &mut Vec<[Vec<u32>; 2]>, mut tell: impl FnMut(StructureChange)) {
        let hashes =
            [0, 1].map(|side| families[side].iter().map(|node| self.trees[side].hash[*node as usize]).collect());
        let [a, b]: [Vec<u32>; 2] = hashes;
        for gap in gaps(&aligned(&a, &b), [a.len(), b.len()]) {
            let inner = [0, 1].map(|side| &families[side][gap[side].clone()]);
            let [a, b] = [0, 1].map(|side| inner[side].iter().map(|node| self.key(side, *node)).collect::<Vec<_>>());
            let pairs = aligned(&a, &b);
            for (at, to) in &pairs {
                let nodes = [inner[0][*at as usize], inner[1][*to as usize]];
                open.push([0, 1].map(|side| self.trees[side].children[nodes[side] as usize].clone()));
            }
            for alone in gaps(&pairs, [a.len(), b.len()]) {
                tell(self.place([0, 1].map(|side| &inner[side][alone[side].clone()])));
            }
        }
    }

    fn key(&self, side: usize, node: u32) -> u32 {
        self.sides[side].key[self.trees[side].row[node as usize] as usize]
    }

    fn place(&self, alone: [&[u32]; 2]) -> StructureChange {
        let status = match alone.map(<[u32]>::is_empty) {
            [true, _] => "added",
            [_, true] => "removed",
            _ => "replaced",
        };
        let side = usize::from(alone[0].is_empty());
        let id = |side: usize| {
            let row = self.trees[side].row[*alone[side].first()? as usize];
            Some(i64::from(self.sides[side].selection.linked.trace.events.position.at(row as usize)))
        };
        StructureChange {
            path: alone[side].first().map(|node| self.path(side, *node)).unwrap_or_default(),
            status,
            names: [0, 1].map(|side| self.names(side, alone[side])),
            count: 1,
            ns: [0, 1].map(|side| sum_ns(alone[side].iter().map(|node| self.ns(side, *node)))),
            ids: [id(0), id(1)],
        }
    }

    /// Names of the calls around a node, the outermost first.
    fn path(&self, side: usize, node: u32) -> String {
        let tree = &self.trees[side];
        let outwards = std::iter::successors(tree.parent[node as usize], |node| tree.parent[*node as usize]);
        let mut names: Vec<_> = outwards.take(MAX_PATH).map(|node| self.keys.text(self.key(side, node))).collect();
        names.reverse();
        names.join(" / ")
    }

    fn names(&self, side: usize, nodes: &[u32]) -> String {
        let mut names: Vec<_> =
            nodes.iter().take(MAX_NAMES).map(|node| self.keys.text(self.key(side, *node)).to_owned()).collect();
        if nodes.len() > MAX_NAMES {
            names.push(format!("and {} more", nodes.len() - MAX_NAMES));
        }
        names.join(", ")
    }

    fn ns(&self, side: usize, node: u32) -> i64 {
        let (side, row) = (&self.sides[side], self.trees[side].row[node as usize] as usize);
        let linked = side.selection.linked;
        match linked.trace.events.kind[row].is_device_work() {
            true => side.work_ns(row),
            false if side.compared.device => linked.device_time().total_ns[row],
            false => side.selection.dur_ns(row),
        }
    }
}

/// Children without a partner between aligned pairs, where there are any.
fn gaps(pairs: &[(u32, u32)], lens: [usize; 2]) -> Vec<[std::ops::Range<usize>; 2]> {
    let ends = pairs.iter().map(|(a, b)| [*a as usize, *b as usize]).chain([lens]);
    let mut from = [0, 0];
    let mut gaps = Vec::new();
    for end in ends {
        let gap = [from[0]..end[0].max(from[0]), from[1]..end[1].max(from[1])];
        if gap.iter().any(|range| !range.is_empty()) {
            gaps.push(gap);
        }
        from = [end[0] + 1, end[1] + 1];
    }
    gaps
}
