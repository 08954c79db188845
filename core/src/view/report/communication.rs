//! Communication between ranks: what it cost, what hid it, and who was waited for.

use super::grid::{Grid, Kind, col};
use super::section::{Found, Section};
use super::source::{Source, frame};

const MAX_ROWS: usize = 50;
const MAX_RANKS: usize = 256;

const SUMMARY: Grid = Grid {
    analysis: "collectives",
    request: "{}",
    table: "collective_summary",
    title: "Communications of a kind together",
    columns: &[
        col("collective", "communication", Kind::Word),
        col("group_desc", "group", Kind::Word),
        col("group_size", "ranks", Kind::Count),
        col("dtype", "type", Kind::Word),
        col("bytes", "size", Kind::Bytes),
        col("count", "count", Kind::Count),
        col("total_ns", "total", Kind::Time),
        col("wait_ns", "waiting", Kind::Time),
        col("transfer_ns", "moving data", Kind::Time),
        col("median_bus_gbps", "bus, GB/s", Kind::Number),
    ],
};

const HIDDEN: Grid = Grid {
    analysis: "overlap",
    request: "{}",
    table: "overlap",
    title: "What computation hides of it",
    columns: &[
        col("rank", "rank", Kind::Key),
        col("device", "device", Kind::Key),
        col("collective", "communication", Kind::Word),
        col("count", "count", Kind::Count),
        col("total_ns", "total", Kind::Time),
        col("exposed_ns", "exposed", Kind::Time),
        col("hidden_share", "hidden", Kind::Share),
    ],
};

const SKEW: Grid = Grid {
    analysis: "collectives",
    request: "{}",
    table: "collective_skew",
    title: "Communications in which ranks waited",
    columns: &[
        col("collective", "communication", Kind::Word),
        col("group_desc", "group", Kind::Word),
        col("iteration", "iteration", Kind::Count),
        col("num_traces", "ranks", Kind::Count),
        col("out_bytes", "size", Kind::Bytes),
        col("skew_ns", "first to last", Kind::Time),
        col("wait_ns", "total wait", Kind::Time),
        col("transfer_ns", "moving data", Kind::Time),
        col("bus_gbps", "bus, GB/s", Kind::Number),
        col("first_rank", "first", Kind::Count),
        col("last_rank", "last", Kind::Count),
    ],
};

const STRAGGLERS: Grid = Grid {
    analysis: "stragglers",
    request: "{}",
    table: "stragglers",
    title: "Ranks, those that others waited for most at the top",
    columns: &[
        col("rank", "rank", Kind::Count),
        col("window", "window", Kind::Key),
        col("caused_wait_ns", "others waited", Kind::Time),
        col("wait_ns", "waited itself", Kind::Time),
        col("last_share", "came last", Kind::Share),
        col("num_last", "times last", Kind::Count),
        col("num_first", "times first", Kind::Count),
        col("cause", "mostly for its", Kind::Word),
    ],
};

const LATE: Grid = Grid {
    analysis: "stragglers",
    request: "{}",
    table: "late_arrivals",
    title: "The costliest late arrivals, and what took that rank longer",
    columns: &[
        col("rank", "rank", Kind::Count),
        col("collective", "communication", Kind::Word),
        col("iteration", "iteration", Kind::Count),
        col("lateness_ns", "late by", Kind::Time),
        col("caused_wait_ns", "others waited", Kind::Time),
        col("cause", "for its", Kind::Word),
        col("name", "mostly", Kind::Name),
        col("name_ns", "longer by", Kind::Time),
    ],
};

/// Who waited for whom; of several ranks alone.
pub(super) fn ranks(source: &Source<'_>) -> Found {
    let title = "Stragglers";
    if !source.is_job() {
        return Found::Nothing;
    }
    let Some(answer) = source.ask("stragglers", "{}") else { return Found::Nothing };
    let rows = frame(&answer, "stragglers", MAX_RANKS);
    if rows.num_rows == 0 {
        return Found::Missing { title, why: answer.reason.unwrap_or("no two ranks have a communication in common") };
    }
    let late = LATE.html(source, &frame(&answer, "late_arrivals", MAX_ROWS));
    // Both have too many columns to stand beside each other.
    Found::Section(Section::wide("stragglers", title, STRAGGLERS.html(source, &rows) + &late))
}

pub(super) fn section(source: &Source<'_>) -> Found {
    let Some(answer) = source.ask("collectives", "{}") else { return Found::Nothing };
    let summary = frame(&answer, "collective_summary", MAX_ROWS);
    let hidden = source.ask("overlap", "{}").map(|answer| frame(&answer, "overlap", MAX_ROWS)).unwrap_or_default();
    if summary.num_rows + hidden.num_rows == 0 {
        let title = "Communication";
        return if source.is_job() {
            Found::Missing { title, why: answer.reason.unwrap_or("no communication was recorded") }
        } else {
            Found::Nothing
        };
    }
    let skew =
        if source.is_job() { SKEW.html(source, &frame(&answer, "collective_skew", MAX_ROWS)) } else { String::new() };
    let body = format!(
        "<div class=\"ks-pair\">{}{}</div>{skew}",
        SUMMARY.html(source, &summary),
        HIDDEN.html(source, &hidden)
    );
    Found::Section(Section::wide("communication", "Communication", body))
}
