//! Orders the ranks that send messages to each other into the stages of a pipeline.

use std::collections::{BTreeMap, BTreeSet};

use super::stage_record::{StageEvent, StageRecord};
use crate::sort;

/// The ranks of each pipeline in the order of the forward pass. Ranks that exchange messages in
/// another order are no pipeline.
pub(super) fn stage_orders(records: &BTreeMap<i64, StageRecord>) -> Vec<Vec<i64>> {
    let order = |ranks: BTreeSet<i64>| by_named_stages(&ranks, records).or_else(|| by_first_messages(&ranks, records));
    connected(records).into_iter().filter_map(order).collect()
}

fn events(record: &StageRecord) -> impl Iterator<Item = &StageEvent> {
    record.iterations.iter().flat_map(|(_, events)| events)
}

/// Ranks that messages connect, directly or through others; also those without a trace.
fn connected(records: &BTreeMap<i64, StageRecord>) -> Vec<BTreeSet<i64>> {
    let mut beside: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for (rank, record) in records {
        for event in events(record) {
            if let StageEvent::Message { peer, .. } = event {
                beside.entry(*rank).or_default().insert(*peer);
                beside.entry(*peer).or_default().insert(*rank);
            }
        }
    }
    let (mut seen, mut found) = (BTreeSet::<i64>::new(), Vec::new());
    for first in beside.keys() {
        if seen.contains(first) {
            continue;
        }
        let (mut ranks, mut next) = (BTreeSet::new(), vec![*first]);
        while let Some(rank) = next.pop() {
            if ranks.insert(rank) {
                next.extend(beside.get(&rank).into_iter().flatten().copied());
            }
        }
        seen.extend(&ranks);
        found.extend((ranks.len() > 1).then_some(ranks));
    }
    found
}

/// The order of the first parts of the model that the ranks' actions name.
fn by_named_stages(ranks: &BTreeSet<i64>, records: &BTreeMap<i64, StageRecord>) -> Option<Vec<i64>> {
    let stage = |event: &StageEvent| match event {
        StageEvent::Run(run) => run.action?.stage,
        StageEvent::Message { .. } => None,
    };
    let first = |rank: &i64| events(records.get(rank)?).filter_map(stage).min().map(|stage| (stage, *rank));
    let mut stages: Vec<(i64, i64)> = ranks.iter().map(first).collect::<Option<_>>()?;
    sort::ascending(&mut stages);
    Some(stages.into_iter().map(|(_, rank)| rank).collect())
}

/// The order in which ranks send for the first time: the first stage sends before it receives, each
/// other one first to the next.
fn by_first_messages(ranks: &BTreeSet<i64>, records: &BTreeMap<i64, StageRecord>) -> Option<Vec<i64>> {
    let messages = |rank: &i64| {
        let record = records.get(rank)?;
        Some(events(record).filter_map(|event| match event {
            StageEvent::Message { is_send, peer } => Some((*is_send, *peer)),
            StageEvent::Run(_) => None,
        }))
    };
    let begins = |rank: &&i64| messages(rank).and_then(|mut all| all.next()).is_some_and(|(is_send, _)| is_send);
    let mut begins = ranks.iter().filter(begins);
    let (first, None) = (*begins.next()?, begins.next()) else { return None };
    let mut order = vec![first];
    while let Some(last) = order.last().filter(|_| order.len() < ranks.len()) {
        let (_, next) = messages(last)?.find(|(is_send, _)| *is_send)?;
        if order.contains(&next) {
            return None;
        }
        order.push(next);
    }
    Some(order)
}
