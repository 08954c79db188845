//! One row per layer, direction and rank: rows and bytes that it sends and receives.

use super::row::{ExpertLayer, ExpertLoad, ExpertPlace};
use crate::table::{Column, Table, float, int, put_name, text};

/// One rank in the exchanges of one place.
#[derive(Debug, Clone)]
pub(crate) struct ExpertRankRow {
    place: ExpertPlace,
    rank: Option<i64>,
    load: ExpertLoad,
    share: Option<f64>,
}

pub(super) static TABLE: Table<Vec<ExpertRankRow>> = Table {
    name: "expert_ranks",
    doc: "one rank in the uneven all-to-alls of one module or position, in one direction",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<ExpertRankRow>>] = &[
    text("module", |rows, at, out| rows[at].place.module.as_ref().is_some_and(|name| put_name(out, name))),
    int("position", |rows, at| rows[at].place.position),
    text("direction", |rows, at, out| rows[at].place.role.is_some_and(|role| put_name(out, role))),
    text("group_name", |rows, at, out| rows[at].place.group_name.as_ref().is_some_and(|name| put_name(out, name))),
    int("rank", |rows, at| rows[at].rank),
    int("num_calls", |rows, at| Some(rows[at].load.num_calls)),
    int("sent_rows", |rows, at| rows[at].load.rows[0]),
    int("received_rows", |rows, at| rows[at].load.rows[1]),
    int("sent_bytes", |rows, at| rows[at].load.bytes[0]),
    int("received_bytes", |rows, at| rows[at].load.bytes[1]),
    float("share", |rows, at| rows[at].share),
];

/// The ranks of a place, in their order.
pub(super) fn rows(layer: &ExpertLayer) -> Vec<ExpertRankRow> {
    let shares = layer.shares();
    let share = |at: usize| shares.as_ref().and_then(|shares| shares.get(at).copied());
    let row = |(at, ((rank, _), load)): (usize, (&(Option<i64>, u32), &ExpertLoad))| ExpertRankRow {
        place: layer.place.clone(),
        rank: *rank,
        load: *load,
        share: share(at),
    };
    layer.of_rank.iter().enumerate().map(row).collect()
}
