//! Why devices had nothing to do, and when.

use super::frame::Frame;
use super::grid::{Grid, Kind, col};
use super::section::{Found, Section};
use super::source::{Source, table, top};
use crate::analyze::Answer;

const MAX_ROWS: usize = 16;
const MAX_GAPS: usize = 12;

/// What the reasons mean.
const WORDS: &str = "<p class=\"ks-note\"><b>host_wait</b> the host launched the next work only after the stream had run dry · \
    <b>kernel_wait</b> it was launched in time, and began almost at once · <b>other</b> it was launched in time, and waited \
    for something else, such as another stream. While a stream waits, others may work.</p>";

const WHY: Grid = Grid {
    analysis: "idle",
    request: "{}",
    table: "idle",
    title: "Idle time of streams, by its reason",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("device", "device", Kind::Key),
        col("stream", "stream", Kind::Key),
        col("category", "reason", Kind::Word),
        col("share", "share", Kind::Share),
        col("total_ns", "total", Kind::Time),
        col("count", "gaps", Kind::Count),
        col("mean_ns", "mean", Kind::Time),
        col("max_ns", "longest", Kind::Time),
    ],
};

const GAPS: Grid = Grid {
    analysis: "idle",
    request: "{}",
    table: "gaps",
    title: "The longest gaps before computation, and what the host did in them",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("device", "device", Kind::Key),
        col("stream", "stream", Kind::Key),
        col("dur_ns", "gap", Kind::Time),
        col("category", "reason", Kind::Word),
        col("host_name", "mostly", Kind::Name),
        col("host_ns", "of it", Kind::Time),
        col("start_ns", "Gap", Kind::Range),
    ],
};

pub(super) fn section(source: &Source<'_>) -> Found {
    let title = "Why streams waited";
    let Some(answer) = source.ask("idle", "{}") else { return Found::Nothing };
    let (why, gaps) = (top(source, &answer, "idle", ("total_ns", MAX_ROWS)), gaps(source, &answer));
    if why.num_rows == 0 {
        return Found::Nothing;
    }
    Found::Section(Section::half("idle", title, WHY.html(source, &why) + WORDS + &GAPS.html(source, &gaps)))
}

/// The longest, but for those that a communication ends: when that begins, the other ranks have a say in.
fn gaps(source: &Source<'_>, answer: &Answer) -> Frame {
    let Some(found) = table(answer, "gaps") else { return Frame::default() };
    let all = Frame::of(&**found, usize::MAX);
    let is_wanted = |row: &usize| !source.is_communication(&all, *row, "after_id");
    let mut rows: Vec<_> = (0..all.num_rows).filter(is_wanted).collect();
    let num_rows = rows.len();
    crate::sort::by_key(&mut rows, |row| (std::cmp::Reverse(all.int("dur_ns", *row)), *row));
    Frame::picked(found, rows.into_iter().take(MAX_GAPS).map(|row| row as u32).collect(), num_rows)
}
