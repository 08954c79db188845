//! Gives collectives the process groups that their traces do not name.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::group_call::GroupCall;
use super::group_inference::{CandidateGroup, infer_groups};
use super::group_threads::{GroupDoubt, InferredMeeting, doubts};
use super::window::windows;
use crate::link::collective::{Collective, Collectives};
use crate::link::linked_trace::LinkedTrace;
use crate::sort;
use crate::trace::collective::CollectivePattern;
use crate::trace::group::{GroupRanks as RankList, ProcessGroups};

/// A trace with its rank, where that is known.
pub(super) type TraceOfRank = (Option<i64>, Arc<LinkedTrace>);

/// The calls that are compared at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InferenceSpan {
    /// All of them: ranks must have recorded the same ones.
    Recording,
    /// Those of each iteration. One in which ranks disagree tells nothing.
    Iteration,
}

/// Collectives with inferred groups.
#[derive(Debug, Clone, Default)]
pub struct SettledCollectives {
    /// All of the trace.
    pub collectives: Collectives,
    /// Rows whose group is named nowhere and cannot be inferred, ascending.
    pub ambiguous: Vec<u32>,
}

/// The collectives of traces whose files name no groups although the job has several; `None` for
/// the other traces.
///
/// Windows of a rank are compared with those of the same index.
pub fn settled_collectives(traces: &[TraceOfRank], span: InferenceSpan) -> Vec<Option<SettledCollectives>> {
    let windows = windows(&traces.iter().map(|(rank, _)| *rank).collect::<Vec<_>>());
    let mut of_window: BTreeMap<i64, BTreeMap<i64, usize>> = BTreeMap::new();
    for (at, ((rank, _), window)) in traces.iter().zip(windows).enumerate() {
        rank.map(|rank| of_window.entry(window).or_default().insert(rank, at));
    }
    let mut found = vec![None; traces.len()];
    for members in of_window.into_values() {
        let Some(job) = UnnamedJob::of(traces, &members) else { continue };
        for (at, settled) in members.values().zip(job.settled(span)) {
            found[*at] = settled;
        }
    }
    found
}

/// Traces of different ranks, with calls whose group no file names.
struct UnnamedJob<'a> {
    ranks: Vec<i64>,
    traces: Vec<&'a LinkedTrace>,
    /// The ranks of the candidates, the largest group first.
    groups: Vec<Arc<RankList>>,
    candidates: Vec<CandidateGroup>,
}

impl<'a> UnnamedJob<'a> {
    /// `None` where no group is to be inferred.
    fn of(traces: &'a [TraceOfRank], members: &BTreeMap<i64, usize>) -> Option<Self> {
        let ranks: Vec<i64> = members.keys().copied().collect();
        let traces: Vec<_> = members.values().map(|at| &*traces[*at].1).collect();
        let rows = || traces.iter().flat_map(|linked| &linked.collectives().rows);
        if traces.len() < 2 || !rows().any(is_unnamed) {
            return None;
        }
        let mut lists: BTreeMap<Vec<i64>, Arc<RankList>> = BTreeMap::new();
        let mut add = |list: Arc<RankList>| {
            // A file may claim any number of ranks.
            let known = ranks.iter().copied().filter(|rank| list.place(*rank).is_some()).collect();
            lists.entry(known).or_insert(list);
        };
        for linked in &traces {
            let groups = ProcessGroups::new(linked.process_groups());
            (0..linked.process_groups().len()).filter_map(|at| groups.ranks(at as u32)).for_each(&mut add);
        }
        rows().filter_map(|row| row.ranks.clone()).for_each(&mut add);
        let all = traces.iter().find_map(|linked| linked.trace.num_ranks()).unwrap_or(0);
        add(Arc::new(RankList::from((0..all.max(ranks.last()? + 1)).collect::<Vec<_>>())));
        lists.remove(&Vec::new());
        let mut groups: Vec<_> = lists.into_iter().collect();
        sort::by_key(&mut groups, |(known, list)| (std::cmp::Reverse(known.len()), known.clone(), list.size()));
        let candidate = |(known, list): &(Vec<i64>, Arc<RankList>)| CandidateGroup {
            size: usize::try_from(list.size()).unwrap_or(0),
            members: known.iter().filter_map(|rank| ranks.binary_search(rank).ok()).collect(),
        };
        let candidates: Vec<_> = groups.iter().map(candidate).collect();
        let groups: Vec<_> = groups.into_iter().map(|(_, list)| list).collect();
        (candidates.len() > 1).then_some(Self { ranks, traces, groups, candidates })
    }

    fn settled(&self, span: InferenceSpan) -> Vec<Option<SettledCollectives>> {
        let rows: Vec<Vec<u32>> = (0..self.traces.len()).map(|rank| self.compared(rank)).collect();
        let num_ranks = rows.len();
        let mut of_row: Vec<FxHashMap<u32, u32>> = vec![FxHashMap::default(); num_ranks];
        for rows in self.spans(&rows, span) {
            let calls: Vec<Vec<GroupCall>> = (0..rows.len())
                .map(|rank| rows[rank].iter().map(|row| self.call(self.row(rank, *row))).collect())
                .collect();
            let inferred = infer_groups(&calls, &self.candidates);
            if span == InferenceSpan::Iteration && inferred.left.iter().any(Option::is_some) {
                continue;
            }
            for (rank, groups) in inferred.of_call.iter().enumerate() {
                of_row[rank].extend(rows[rank].iter().zip(groups).filter_map(|(row, group)| Some((*row, (*group)?))));
            }
        }
        self.doubt(&mut of_row);
        (0..num_ranks).map(|rank| Some(self.applied(rank, &of_row[rank]))).collect()
    }

    /// The rows of a rank that are compared, in the order of their calls; without those whose sizes
    /// no group allows, which raised an error.
    fn compared(&self, rank: usize) -> Vec<u32> {
        let linked = self.traces[rank];
        let fits = |row: &Collective| {
            let (call, groups) = (self.call(row), self.candidates.iter().filter(|group| group.members.contains(&rank)));
            call.members.is_some() || groups.into_iter().any(|group| call.fits(group.size))
        };
        let is_wanted = |row: &Collective| {
            let is_told = row.ranks.is_some() || is_unnamed(row);
            is_told && is_compared(row) && !row.is_run_alone(linked) && fits(row)
        };
        let rows = linked.collectives().rows.iter().enumerate();
        let mut rows: Vec<_> = rows.filter(|(_, row)| is_wanted(row)).collect();
        sort::by_key(&mut rows, |(_, row)| row.order(linked));
        rows.into_iter().map(|(at, _)| at as u32).collect()
    }

    /// Moves calls to other groups, or to none, where threads of the backend say so.
    fn doubt(&self, of_row: &mut [FxHashMap<u32, u32>]) {
        let meetings = self.meetings(of_row);
        for (group, meetings) in (0_u32..).zip(&meetings) {
            for (at, doubt) in doubts(meetings) {
                for (rank, row, _) in &meetings[at].rows {
                    let mut others = self.smaller(group, *rank, self.row(*rank, *row));
                    let other = others.next().filter(|_| doubt == GroupDoubt::Other && others.next().is_none());
                    match other {
                        Some(other) => of_row[*rank].insert(*row, other),
                        None => of_row[*rank].remove(row),
                    };
                }
            }
        }
    }

    /// The communications of each group: in it, calls of equal places are one.
    fn meetings(&self, of_row: &[FxHashMap<u32, u32>]) -> Vec<Vec<InferredMeeting>> {
        let mut found: Vec<Vec<InferredMeeting>> = vec![Vec::new(); self.groups.len()];
        for (rank, of_row) in of_row.iter().enumerate() {
            let mut next = vec![0_usize; self.groups.len()];
            let mut rows: Vec<_> = of_row.iter().map(|(row, group)| (*row, *group)).collect();
            sort::ascending(&mut rows);
            for (row, group) in rows {
                let meetings = &mut found[group as usize];
                let at = next[group as usize];
                next[group as usize] += 1;
                if at == meetings.len() {
                    meetings.push(InferredMeeting::default());
                }
                let one = self.row(rank, row);
                let threads = one.runs().map(|run| self.traces[rank].trace.events.track.at(run as usize)).collect();
                meetings[at].rows.push((rank, row, threads));
                meetings[at].is_certain |= one.ranks.is_some() || self.smaller(group, rank, one).next().is_none();
            }
        }
        found
    }

    /// Smaller groups, within a group, that a call of a rank may be of.
    fn smaller(&self, group: u32, rank: usize, row: &Collective) -> impl Iterator<Item = u32> {
        let (call, all) = (self.call(row), &self.candidates[group as usize].members);
        let fits = move |other: &&CandidateGroup| {
            let is_smaller = other.members.len() < all.len() && other.members.contains(&rank);
            is_smaller && other.members.iter().all(|member| all.contains(member)) && call.fits(other.size)
        };
        (0_u32..).zip(&self.candidates).filter(move |(_, other)| fits(other)).map(|(at, _)| at)
    }

    fn row(&self, rank: usize, row: u32) -> &'a Collective {
        &self.traces[rank].collectives().rows[row as usize]
    }

    /// The rows of each rank that are compared at once.
    fn spans(&self, rows: &[Vec<u32>], span: InferenceSpan) -> Vec<Vec<Vec<u32>>> {
        if span == InferenceSpan::Recording {
            return vec![rows.to_vec()];
        }
        let mut found: BTreeMap<Option<i64>, Vec<Vec<u32>>> = BTreeMap::new();
        for (rank, rows) in rows.iter().enumerate() {
            for row in rows {
                let iteration = self.row(rank, *row).iteration(self.traces[rank]);
                let of_ranks = found.entry(iteration).or_insert_with(|| vec![Vec::new(); self.ranks.len()]);
                of_ranks[rank].push(*row);
            }
        }
        found.into_values().collect()
    }

    fn call(&self, row: &Collective) -> GroupCall {
        let facts = &row.facts;
        let parts = |split: &Option<String>| {
            let rows: Vec<i64> = split.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            Some(rows).filter(|_| row.pattern == Some(CollectivePattern::AllToAll)).unwrap_or_default()
        };
        let name = row.name.as_deref().unwrap_or_default();
        let member = |rank: &i64| row.ranks.as_ref().is_some_and(|list| list.place(*rank).is_some());
        let places = self.ranks.iter().enumerate().filter(|(_, rank)| member(rank)).map(|(place, _)| place);
        GroupCall {
            collective: String::from(if name == "all_to_all" { "all_to_allv" } else { name }),
            dtype: facts.dtype.clone(),
            root: facts.rank.filter(|_| row.pattern.is_some_and(|pattern| !pattern.is_alike())),
            reduction: None,
            in_elems: facts.in_elems.into_iter().collect(),
            out_elems: facts.out_elems.into_iter().collect(),
            in_split: parts(&facts.in_split),
            out_split: parts(&facts.out_split),
            size: facts.group_size.and_then(|size| usize::try_from(size).ok()),
            members: row.ranks.is_some().then(|| places.collect()),
        }
    }

    /// The collectives of a rank, with the groups of its rows.
    fn applied(&self, rank: usize, of_row: &FxHashMap<u32, u32>) -> SettledCollectives {
        let linked = self.traces[rank];
        let mut collectives = linked.collectives().clone();
        let unnamed = (0_u32..).zip(&linked.collectives().rows).filter(|(_, row)| is_unnamed(row));
        let mut ambiguous = Vec::new();
        for (row, _) in unnamed {
            match of_row.get(&row) {
                Some(group) => {
                    let ranks = Arc::clone(&self.groups[*group as usize]);
                    let groups = linked.process_groups();
                    let at = (0..groups.len() as u32).find(|at| collectives.groups.ranks(*at).as_ref() == Some(&ranks));
                    let name = at.map(|at| groups[at as usize].name.clone()).filter(|name| !name.is_empty());
                    collectives.rows[row as usize].settle(self.ranks[rank], (at, name), ranks);
                }
                None => ambiguous.push(row),
            }
        }
        SettledCollectives { collectives, ambiguous }
    }
}

/// Whether nothing but its size tells the group of a collective.
fn is_unnamed(row: &Collective) -> bool {
    let facts = &row.facts;
    let is_named = row.ranks.is_some() || row.group.is_some() || facts.group_name.is_some() || facts.group_id.is_some();
    !is_named && is_compared(row)
}

/// Whether all ranks of its group make a call.
fn is_compared(row: &Collective) -> bool {
    let is_collective = row
        .pattern
        .is_some_and(|pattern| !pattern.is_p2p() && (pattern.has_message() || pattern == CollectivePattern::Barrier));
    is_collective && !row.is_failed && !row.is_local && (row.event.is_some() || row.node.is_some())
}
