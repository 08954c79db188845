//! A memory timeline's peak, and what held it.

use crate::analyze::analysis::{Answer, Plot};
use crate::memory::MemoryTimeline;
use crate::memory::timeline::{MemoryCategory, Sizes};
use crate::sort;
use crate::table::{Table, float, int, put_name, text};

/// Bytes of one category, or of all together.
#[derive(Debug, Clone)]
struct UseRow {
    category: &'static str,
    peak_bytes: i64,
    peak_ns: Option<i64>,
    at_peak_bytes: i64,
    share: f64,
    last_bytes: i64,
}

static TABLE: Table<Vec<UseRow>> = Table {
    name: "memory",
    doc: "the bytes of one category, or of all together (`total`)",
    num_rows: Vec::len,
    columns: &[
        text("category", |rows, at, out| put_name(out, rows[at].category)),
        int("peak_bytes", |rows, at| Some(rows[at].peak_bytes)),
        int("peak_ns", |rows, at| rows[at].peak_ns),
        int("at_peak_bytes", |rows, at| Some(rows[at].at_peak_bytes)),
        float("share", |rows, at| Some(rows[at].share)),
        int("last_bytes", |rows, at| Some(rows[at].last_bytes)),
    ],
};

/// How much memory was used for what, at most and when all together was the most.
///
/// `peak_bytes` are the most that the category had, at `peak_ns`; `at_peak_bytes` what it had when the total was at its
/// peak, and `share` that over the total.
pub fn memory_of_timeline(timeline: &MemoryTimeline) -> Answer {
    let sizes = timeline.sizes.as_slice();
    let peak = first_largest(sizes, Sizes::total);
    let row = |category, bytes: &dyn Fn(&Sizes) -> i64| {
        let own = first_largest(sizes, bytes)?;
        let (at_peak_bytes, total) = (bytes(peak?), peak?.total());
        Some(UseRow {
            category,
            peak_bytes: bytes(own),
            peak_ns: own.time.map(|time| time.0),
            at_peak_bytes,
            share: at_peak_bytes as f64 / total.max(1) as f64,
            last_bytes: sizes.last().map_or(0, bytes),
        })
    };
    let categories = MemoryCategory::ALL.iter().enumerate();
    let mut rows: Vec<_> =
        categories.filter_map(|(at, category)| row(category.name(), &|sizes: &Sizes| sizes.bytes[at])).collect();
    rows.retain(|row| row.peak_bytes != 0);
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.at_peak_bytes));
    let rows: Vec<_> = row("total", &Sizes::total).into_iter().chain(rows).collect();
    Answer::of(&TABLE, rows, "the file says no sizes")
        .drawn(Plot::Bars { label: "category", parts: &["at_peak_bytes"] })
}

fn first_largest(sizes: &[Sizes], bytes: impl Fn(&Sizes) -> i64) -> Option<&Sizes> {
    sizes.iter().rev().max_by_key(|sizes| bytes(sizes))
}
