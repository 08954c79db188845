//! Iterations: how long each took, what of it was what, and which was the slowest.

use super::frame::Frame;
use super::grid::{Grid, Kind, col};
use super::part::PARTS;
use super::section::{Found, Section};
use super::source::{Source, frame, top_of};
use super::words::{count, plural};
use crate::view::chart::{Pillar, pillars};

/// More could not be told apart.
const MAX_PILLARS: usize = 240;
const MAX_ROWS: usize = 240;

const GRID: Grid = Grid {
    analysis: "breakdown",
    request: "{}",
    table: "breakdown",
    title: "By iteration",
    columns: &[
        col("iteration", "iteration", Kind::Count),
        col("rank", "rank", Kind::Key),
        col("device", "device", Kind::Key),
        col("span_ns", "duration", Kind::Time),
        col("compute_ns", "compute", Kind::Time),
        col("exposed_communication_ns", "exposed comm.", Kind::Time),
        col("exposed_copy_ns", "exposed copies", Kind::Time),
        col("exposed_other_ns", "other work", Kind::Time),
        col("idle_ns", "idle", Kind::Time),
        col("start_ns", "Iteration", Kind::Range),
    ],
};

pub(super) fn section(source: &Source<'_>) -> Found {
    let title = "Iterations";
    let Some(answer) = source.ask("breakdown", "{}") else { return Found::Nothing };
    let frame = frame(&answer, "breakdown", usize::MAX);
    let rows: Vec<usize> = (0..frame.num_rows).filter(|row| frame.int("iteration", *row).is_some()).collect();
    let slowest = rows.iter().copied().rev().max_by_key(|row| frame.int("span_ns", *row));
    let Some(slowest) = slowest else {
        return Found::Missing { title, why: "none was marked (call `prof.step()` at the end of each)" };
    };
    let rank = frame.int("rank", slowest).map_or_else(String::new, |rank| format!(" on rank {rank}"));
    let number = count(frame.int("iteration", slowest).unwrap_or_default());
    // Of more than a page should have, those that took longest.
    let grid = GRID.html(source, &top_of(&answer, "breakdown", ("span_ns", MAX_ROWS)));
    // A single line would leave half of the page empty beside what is longer.
    let section = match rows.len() {
        1 => Section::wide("iterations", title, grid).with_note(plural(1, "iteration")),
        _ => Section::half("iterations", title, chart(source, &frame, &rows, slowest) + &grid)
            .with_note(format!("slowest: {number}{rank}")),
    };
    Found::Section(section)
}

/// A pillar for each, in the order of time, those of one iteration beside each other.
fn chart(source: &Source<'_>, frame: &Frame, rows: &[usize], slowest: usize) -> String {
    let mut rows = rows.to_vec();
    crate::sort::by_key(&mut rows, |row| (frame.int("iteration", *row), *row));
    // Of those that share a pillar's place, the longest is seen.
    let num_each = rows.len().div_ceil(MAX_PILLARS).max(1);
    let longest = |some: &[usize]| some.iter().copied().rev().max_by_key(|row| frame.int("span_ns", *row));
    let rows: Vec<usize> = rows.chunks(num_each).filter_map(longest).collect();
    // Where all are of one iteration, ranks tell them apart.
    let is_one = rows.iter().all(|row| frame.int("iteration", *row) == frame.int("iteration", rows[0]));
    let parts = PARTS.map(|part| (part.title, part.class));
    let pillar = |row: &usize| {
        let (number, span_ns) = (frame.int("iteration", *row), frame.int("span_ns", *row).unwrap_or_default());
        let word = |name: &str| frame.int(name, *row).map(|number| format!(", {name} {number}")).unwrap_or_default();
        let name = format!("iteration {}{}{}", number.unwrap_or_default(), word("rank"), word("device"));
        Pillar {
            name,
            label: match frame.int("rank", *row).filter(|_| is_one) {
                Some(rank) => format!("rank {rank}"),
                None => number.unwrap_or_default().to_string(),
            },
            address: frame.int("start_ns", *row).and_then(|start_ns| source.range(frame, *row, (start_ns, span_ns))),
            parts: PARTS.iter().map(|part| frame.number(part.column, *row).unwrap_or(0.0).max(0.0)).collect(),
            is_marked: *row == slowest,
        }
    };
    let all: Vec<_> = rows.iter().map(pillar).collect();
    let title = match num_each {
        1 => String::from("Time of each iteration"),
        _ => format!("Time of iterations, of every {num_each} the longest"),
    };
    format!("<figure class=\"ks-picture\">{}</figure>", pillars(&title, &all, &parts))
}
