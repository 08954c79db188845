//! One row per rank and division: its machine, and its process group of each purpose.

use crate::analyze::machine::division::{MACHINE, RankDivision, purposes};
use crate::link::rank::JobRanks;
use crate::table::{Table, int, put_name, text};

/// The place of a rank in a division.
#[derive(Debug, Clone)]
pub(crate) struct PlaceRow {
    rank: i64,
    division: String,
    number: usize,
    name: String,
}

pub(crate) static TABLE: Table<Vec<PlaceRow>> = Table {
    name: "rank_places",
    doc: "a rank with its machine, or with its process group of one description",
    num_rows: Vec::len,
    columns: &[
        int("rank", |rows, at| Some(rows[at].rank)),
        text("division", |rows, at, out| put_name(out, &rows[at].division)),
        int("number", |rows, at| Some(rows[at].number as i64)),
        text("name", |rows, at, out| put_name(out, &rows[at].name)),
    ],
};

/// Machines first, then process groups in alphabetical order of their descriptions.
pub(super) fn rows(job: &JobRanks) -> Vec<PlaceRow> {
    let machines = (String::from(MACHINE), RankDivision::by_machine(job, 0));
    let groups = purposes(job).into_iter().map(|purpose| {
        let division = RankDivision::by_purpose(job, &purpose);
        (purpose, division)
    });
    let mut rows = Vec::new();
    for (name, division) in std::iter::once(machines).chain(groups) {
        for (member, set) in job.members.iter().zip(&division.of_member) {
            let Some((rank, number)) = member.rank.zip(*set) else { continue };
            let (division, name) = (name.clone(), division.names[number].clone());
            rows.push(PlaceRow { rank, division, number, name });
        }
    }
    rows
}
