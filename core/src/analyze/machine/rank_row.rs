//! One row per trace: its machine, and the rule that told it.

use super::placement::{Placement, RankMachine};
use crate::sort;
use crate::table::{Column, Table, int, put_name, text};

pub(super) static TABLE: Table<Vec<RankMachine>> =
    Table { name: "machine_ranks", doc: "one rank, with its machine", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<RankMachine>>] = &[
    int("rank", |rows, at| rows[at].rank),
    int("window", |rows, at| Some(rows[at].window)),
    int("machine", |rows, at| rows[at].machine),
    text("host", |rows, at, out| rows[at].host.as_ref().is_some_and(|host| put_name(out, host))),
    text("source", |rows, at, out| rows[at].source.is_some_and(|source| put_name(out, source))),
    text("reason", |rows, at, out| rows[at].reason.is_some_and(|reason| put_name(out, reason))),
];

/// In order of rank; traces of unknown rank last.
pub(super) fn rows(placement: Placement) -> Vec<RankMachine> {
    let mut rows = placement.members;
    sort::by_key(&mut rows, |row| (row.rank.is_none(), row.rank, row.window));
    rows
}
