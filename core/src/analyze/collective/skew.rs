//! One row per collective: first and last arrival, waits of the others, bandwidth.

use super::job_collective::JobCollective;
use crate::link::rank::MatchMethod;
use crate::link::{Collective, gbps};
use crate::table::{Column, Table, float, int, put, put_name, text};
use crate::time::sum_ns;

/// A communication over all ranks that have it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SkewRow {
    /// Its number among those that several traces have; `None` where only one has it.
    pub(super) collective_id: Option<u32>,
    /// The name of the collective.
    pub(in crate::analyze) collective: Option<String>,
    /// Its process group's name and description.
    pub(in crate::analyze) group: (Option<String>, Option<String>),
    /// The ranks of its process group.
    pub(in crate::analyze) group_size: Option<i64>,
    /// Its number in sequence.
    pub(super) seq: Option<i64>,
    /// The iteration it was called in, on the first trace that has it.
    pub(super) iteration: Option<i64>,
    /// Type of the elements.
    pub(super) dtype: Option<String>,
    /// Bytes that go into it on a rank, the most of any.
    pub(super) in_bytes: Option<i64>,
    /// Bytes that come out of it on a rank, the most of any.
    pub(super) out_bytes: Option<i64>,
    /// Message size in bytes: the larger of input and output, maximum over ranks.
    pub(super) bytes: Option<i64>,
    /// The traces that have it.
    pub(super) num_traces: u64,
    /// The method that matched the participants.
    pub(super) how: Option<&'static str>,
    /// When the first came to it.
    pub(super) start_ns: Option<i64>,
    /// Last arrival − first arrival.
    pub(super) skew_ns: Option<i64>,
    /// Last end − first end.
    pub(super) end_skew_ns: Option<i64>,
    /// Sum over the ranks of how long they waited.
    pub(super) wait_ns: Option<i64>,
    /// The longest that one waited.
    pub(super) max_wait_ns: Option<i64>,
    /// Sum over the ranks of how long it ran there; `None` where none is known.
    pub(super) total_ns: Option<i64>,
    /// How long it took once all were there: the shortest that it ran on any rank.
    pub(super) transfer_ns: Option<i64>,
    /// `bytes / transfer_ns`.
    pub(super) algorithm_gbps: Option<f64>,
    /// Bytes per link over `transfer_ns`.
    pub(super) bus_gbps: Option<f64>,
    /// The ranks that came first and last; `None` where all came at once.
    pub(super) ends: Option<(Option<i64>, Option<i64>)>,
}

pub(crate) static TABLE: Table<Vec<SkewRow>> = Table {
    name: "collective_skew",
    doc: "one collective across all ranks that took part",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<SkewRow>>] = &[
    int("collective_id", |rows, at| rows[at].collective_id.map(i64::from)),
    text("collective", |rows, at, out| put(out, rows[at].collective.as_deref().unwrap_or_default())),
    text("group_name", |rows, at, out| rows[at].group.0.as_ref().is_some_and(|name| put_name(out, name))),
    text("group_desc", |rows, at, out| rows[at].group.1.as_ref().is_some_and(|desc| put_name(out, desc))),
    int("group_size", |rows, at| rows[at].group_size),
    int("seq", |rows, at| rows[at].seq),
    int("iteration", |rows, at| rows[at].iteration),
    text("dtype", |rows, at, out| put(out, rows[at].dtype.as_deref().unwrap_or_default())),
    int("in_bytes", |rows, at| rows[at].in_bytes),
    int("out_bytes", |rows, at| rows[at].out_bytes),
    int("num_traces", |rows, at| Some(rows[at].num_traces as i64)),
    text("method", |rows, at, out| rows[at].how.is_some_and(|how| put_name(out, how))),
    int("start_ns", |rows, at| rows[at].start_ns),
    int("skew_ns", |rows, at| rows[at].skew_ns),
    int("end_skew_ns", |rows, at| rows[at].end_skew_ns),
    int("wait_ns", |rows, at| rows[at].wait_ns),
    float("mean_wait_ns", |rows, at| Some(rows[at].wait_ns? as f64 / rows[at].num_traces.max(1) as f64)),
    int("max_wait_ns", |rows, at| rows[at].max_wait_ns),
    int("total_ns", |rows, at| rows[at].total_ns),
    int("transfer_ns", |rows, at| rows[at].transfer_ns),
    float("algorithm_gbps", |rows, at| rows[at].algorithm_gbps),
    float("bus_gbps", |rows, at| rows[at].bus_gbps),
    int("first_rank", |rows, at| rows[at].ends?.0),
    int("last_rank", |rows, at| rows[at].ends?.1),
];

/// The rows of communications.
///
/// For arrivals `a`, ends `e` and durations `d` of the ranks: `skew = max a − min a`, `end_skew =
/// max e − min e`, `wait` as in [`JobCollective::waits_ns`] (`min(max a − a, d)` for symmetric
/// collectives), `transfer = min d`, `algorithm = bytes / transfer`. `bus` is that times 2(n−1)/n
/// for an all-reduce, (n−1)/n for gathers, scatters and exchanges, and 1 for others.
pub(in crate::analyze) fn row(meeting: &JobCollective<'_>) -> SkewRow {
    let (arrivals, waits, transfer_ns) = (meeting.arrivals(), meeting.waits_ns(), meeting.transfer_ns());
    let ends = meeting.parts.iter().map(|part| Some(part.start?.0.saturating_add(part.dur_ns?)));
    let ends: Option<Vec<i64>> = ends.collect::<Option<_>>().filter(|_| arrivals.is_some());
    let bytes = meeting.most(Collective::bytes);
    let bus_bytes = meeting.parts.iter().filter_map(|part| part.one.bus_bytes()).reduce(f64::max);
    SkewRow {
        collective_id: meeting.number,
        collective: meeting.any(|part| part.one.name.clone()),
        group: (
            meeting.any(|part| part.one.group_name(part.linked).map(str::to_owned)),
            meeting.any(|part| part.one.facts.group_desc.clone()),
        ),
        group_size: meeting.any(|part| part.one.facts.group_size),
        seq: meeting.any(|part| part.one.facts.seq),
        iteration: meeting.first().and_then(|part| part.one.iteration(part.linked)),
        dtype: meeting.any(|part| part.one.facts.dtype.clone()),
        in_bytes: meeting.most(Collective::in_bytes),
        out_bytes: meeting.most(Collective::out_bytes),
        bytes,
        num_traces: meeting.parts.len() as u64,
        how: meeting.how.map(MatchMethod::name),
        start_ns: meeting.parts.iter().filter_map(|part| part.start).min().map(|start| start.0),
        skew_ns: arrivals.map(|(first, last)| last.since(first).0),
        end_skew_ns: ends.and_then(|ends| Some(ends.iter().max()?.saturating_sub(*ends.iter().min()?))),
        wait_ns: waits.as_ref().map(|waits| sum_ns(waits.iter().copied())),
        max_wait_ns: waits.and_then(|waits| waits.into_iter().max()),
        total_ns: meeting.total_ns(),
        transfer_ns,
        algorithm_gbps: transfer_ns.and_then(|ns| gbps(bytes? as f64, ns)),
        bus_gbps: transfer_ns.and_then(|ns| gbps(bus_bytes?, ns)),
        ends: meeting.ends().map(|(first, last)| (first.rank, last.rank)),
    }
}
