//! Sends and receives: which belong together, and which lack the other side.

use rustc_hash::FxHashMap;

use super::call::FlightCalls;
use super::difference::cut;
use super::operation::FlightOperation;
use super::problem::FlightProblem;
use crate::flight::FlightEntry;

/// A send, its receive, or both.
#[derive(Debug, Clone)]
pub(super) struct FlightTransfer {
    pub(super) group: u32,
    pub(super) src_rank: Option<i64>,
    pub(super) dst_rank: Option<i64>,
    /// Dump and entry of the send.
    pub(super) send: Option<(u32, u32)>,
    /// Dump and entry of the receive.
    pub(super) recv: Option<(u32, u32)>,
    pub(super) problem: Option<FlightProblem>,
}

/// A send or a receive of one dump.
#[derive(Debug, Clone, Copy)]
struct TransferEnd {
    group: u32,
    ranks: [Option<i64>; 2],
    is_recv: bool,
    place: (u32, u32),
}

impl TransferEnd {
    fn alone(self) -> FlightTransfer {
        let [src_rank, dst_rank] = self.ranks;
        let [send, recv] = if self.is_recv { [None, Some(self.place)] } else { [Some(self.place), None] };
        FlightTransfer { group: self.group, src_rank, dst_rank, send, recv, problem: None }
    }
}

/// All sends and receives, by their groups and ranks.
///
/// The first send from one rank to another belongs to the first receive there, and so on. Dumps
/// that lack entries do not tell the first one: their calls stay single, without a problem.
pub(super) fn transfers(calls: &FlightCalls) -> Vec<FlightTransfer> {
    let by_rank: FxHashMap<i64, u32> = calls.dumps.iter().zip(0..).map(|(dump, at)| (dump.rank, at)).collect();
    let mut ends = ends(calls);
    ends.sort_by_key(|end| (end.group, end.ranks, end.is_recv, end.place));
    let mut all = Vec::new();
    for ends in ends.chunk_by(|one, next| (one.group, one.ranks) == (next.group, next.ranks)) {
        let first = ends[0];
        let dumps = first.ranks.map(|rank| by_rank.get(&rank?).copied());
        let is_whole = |dump: Option<u32>| dump.is_some_and(|dump| calls.dumps[dump as usize].is_whole());
        let (sends, recvs) = ends.split_at(ends.partition_point(|end| !end.is_recv));
        // A dump with another rank than its calls state is no evidence.
        let is_of = |end: &TransferEnd| Some(end.place.0) == dumps[usize::from(end.is_recv)];
        if !(dumps.into_iter().all(is_whole) && ends.iter().all(is_of)) {
            all.extend(ends.iter().map(|end| end.alone()));
            continue;
        }
        for at in 0..sends.len().max(recvs.len()) {
            let [send, recv] = [sends.get(at), recvs.get(at)].map(|end| end.map(|end| end.place));
            all.push(FlightTransfer { send, recv, problem: calls.problem(send, recv), ..first.alone() });
        }
    }
    all
}

fn ends(calls: &FlightCalls) -> Vec<TransferEnd> {
    let mut all = Vec::new();
    for (dump, at) in calls.dumps.iter().zip(0..) {
        for (row, entry) in dump.recorder.entries.iter().enumerate() {
            let operation = FlightOperation::parse(dump.text(entry.name));
            let Some((src, dst)) = operation.ends else { continue };
            let Some(group) = calls.entry_groups[at as usize][row] else { continue };
            let rank = |index| calls.groups[group as usize].rank_at(index);
            let ranks = [src.and_then(rank), rank(dst)];
            all.push(TransferEnd { group, ranks, is_recv: operation.kind == "recv", place: (at, row as u32) });
        }
    }
    all
}

impl FlightCalls {
    /// The problem of a send and its receive; one without the other is a problem.
    fn problem(&self, send: Option<(u32, u32)>, recv: Option<(u32, u32)>) -> Option<FlightProblem> {
        let Some((send, recv)) = send.zip(recv) else { return Some(FlightProblem::Missing) };
        let (sent, received) = (self.payload(send), self.payload(recv));
        let differs = |at: usize| !sent[at].is_empty() && !received[at].is_empty() && sent[at] != received[at];
        if differs(0) { Some(FlightProblem::Size) } else { differs(1).then_some(FlightProblem::Dtype) }
    }

    pub(super) fn entry_at(&self, (dump, entry): (u32, u32)) -> &FlightEntry {
        self.dumps[dump as usize].entry(entry)
    }

    /// Shapes and types of the tensors that a call sends or receives.
    fn payload(&self, place: (u32, u32)) -> [&str; 2] {
        let (dump, entry) = (&self.dumps[place.0 as usize], self.entry_at(place));
        let is_recv = FlightOperation::parse(dump.text(entry.name)).kind == "recv";
        let ids =
            if is_recv { [entry.output_shapes, entry.output_types] } else { [entry.input_shapes, entry.input_types] };
        ids.map(|id| dump.text(id))
    }

    /// The problem of a transfer in words, and the rank that it is about.
    pub(super) fn transfer_message(&self, transfer: &FlightTransfer) -> Option<(Option<i64>, String)> {
        let rank = |rank: Option<i64>| rank.map_or_else(|| String::from("any rank"), |rank| format!("rank {rank}"));
        let (src, dst) = (rank(transfer.src_rank), rank(transfer.dst_rank));
        let number = |place| self.entry_at(place).p2p_seq.map_or(String::new(), |seq| format!(" {seq}"));
        let [sent, received] = [transfer.send, transfer.recv].map(|place| place.map(|place| self.payload(place)));
        match (transfer.problem?, transfer.send, transfer.recv) {
            (FlightProblem::Missing, Some(send), None) => {
                Some((transfer.dst_rank, format!("{dst} never enqueued the receive of send{} of {src}", number(send))))
            }
            (FlightProblem::Missing, _, Some(recv)) => {
                Some((transfer.src_rank, format!("{src} never enqueued the send for receive{} of {dst}", number(recv))))
            }
            (problem, ..) => {
                let at = usize::from(problem == FlightProblem::Dtype);
                let (sent, received) = (cut(sent?[at]).into_owned(), cut(received?[at]).into_owned());
                Some((None, format!("{src} sends {sent} where {dst} receives {received}")))
            }
        }
    }
}
