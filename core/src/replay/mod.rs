//! Plans the replay of a rank's collectives, and summarizes measurements.

mod argument;
mod call;
mod measured;
mod message;
mod operator_sample;
mod param;
mod param_message;

use crate::link::{Collective, LinkedTrace};
use crate::sort;
use crate::table::{Table, boolean, int, json, put, text, uint};
use crate::trace::collective::CollectivePattern;
use call::RecordedCall;
pub use call::ReplayCall;
pub use measured::{MessageSizes, ReplayMeasurement, ReplaySample, measured};
use message::put_numbers;
pub use operator_sample::{OperatorSample, operators_measured};
pub use param::{ParamCounts, write_param_collectives, write_param_comms};

/// The collectives of a rank in their order.
#[derive(Debug, Clone, Default)]
pub struct ReplayPlan {
    /// Communications and waits.
    pub calls: Vec<ReplayCall>,
    /// Communications that nothing names: they cannot be replayed.
    pub num_left_out: u64,
}

/// The communications of a trace in the order of their nodes; without any node, in the order of the
/// host's calls.
///
/// Calls that only a backend's thread knows are left out, for the operators that asked for them are
/// there.
pub fn plan(linked: &LinkedTrace) -> ReplayPlan {
    let found = linked.collectives();
    let has_nodes = found.rows.iter().any(|row| row.node.is_some());
    let is_of_plan = |row: &Collective| if has_nodes { row.node.is_some() } else { row.event.is_some() };
    let of_node = |row: &Collective| row.node.map(|node| linked.trace.nodes[node as usize].id);
    let mut sources: Vec<RecordedCall<'_>> = Vec::with_capacity(found.rows.len() + found.waits.len());
    sources.extend(found.rows.iter().enumerate().map(|(at, row)| RecordedCall { row, of: None, at: Some(at as u32) }));
    sources.extend(found.waits.iter().map(|wait| RecordedCall { row: &wait.call, of: wait.collective, at: None }));
    sources.retain(|source| is_of_plan(source.row) && !source.is_run(linked));
    sort::by_key(&mut sources, |source| (of_node(source.row), source.row.order(linked)));
    let mut plan = ReplayPlan::default();
    let mut call_of = vec![None; found.rows.len()];
    let mut num_batches = 0;
    for source in sources {
        if source.row.pattern == Some(CollectivePattern::Coalesced) {
            num_batches += i64::from(close_batch(&mut plan.calls, num_batches));
            continue;
        }
        let Some(mut call) = source.call(linked) else {
            plan.num_left_out += u64::from(!source.is_wait());
            continue;
        };
        call.wait_of = source.of.and_then(|of| call_of.get(of as usize).copied().flatten());
        if let Some(slot) = source.at.and_then(|at| call_of.get_mut(at as usize)) {
            *slot = Some(plan.calls.len() as i64);
        }
        plan.calls.push(call);
    }
    plan
}

/// Sends and receives that were started as one: the calls right before the record of the batch.
fn close_batch(calls: &mut [ReplayCall], batch: i64) -> bool {
    let mut has_any = false;
    for call in calls.iter_mut().rev().take_while(|call| call.is_p2p && call.batch.is_none()) {
        call.batch = Some(batch);
        has_any = true;
    }
    has_any
}

/// One row a communication or a wait of the host.
pub static PLAN: Table<ReplayPlan> = Table {
    name: "replay_plan",
    doc: "a collective, or a wait for one, with everything that a replay needs",
    num_rows: |plan| plan.calls.len(),
    columns: &[
        uint("node_id", |plan, row| plan.calls[row].node_id),
        text("collective", |plan, row, out| put(out, &plan.calls[row].collective)),
        int("wait_of", |plan, row| plan.calls[row].wait_of),
        int("batch", |plan, row| plan.calls[row].batch),
        text("group_name", |plan, row, out| plan.calls[row].group_name.as_deref().is_some_and(|name| put(out, name))),
        json("ranks", |plan, row, out| plan.calls[row].listed_ranks().is_some_and(|ranks| put_numbers(out, &ranks))),
        int("group_size", |plan, row| plan.calls[row].group_size),
        boolean("is_p2p", |plan, row| Some(plan.calls[row].is_p2p)),
        int("root_place", |plan, row| plan.calls[row].root_place),
        int("peer_place", |plan, row| plan.calls[row].peer_place),
        int("tag", |plan, row| plan.calls[row].tag),
        text("dtype", |plan, row, out| plan.calls[row].message.dtype.as_deref().is_some_and(|dtype| put(out, dtype))),
        int("elem_bytes", |plan, row| plan.calls[row].message.elem_bytes),
        json("in_elems", |plan, row, out| put_numbers(out, &plan.calls[row].message.in_elems)),
        json("out_elems", |plan, row, out| put_numbers(out, &plan.calls[row].message.out_elems)),
        json("in_split", |plan, row, out| put_numbers(out, &plan.calls[row].message.in_split)),
        json("out_split", |plan, row, out| put_numbers(out, &plan.calls[row].message.out_split)),
        text("reduction", |plan, row, out| plan.calls[row].reduction.as_deref().is_some_and(|name| put(out, name))),
        boolean("is_async", |plan, row| plan.calls[row].is_async),
        int("seq", |plan, row| plan.calls[row].seq),
        int("start_ns", |plan, row| plan.calls[row].start_ns),
        int("dur_ns", |plan, row| plan.calls[row].dur_ns),
    ],
};
