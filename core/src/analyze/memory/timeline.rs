//! Analyzes the peak of a memory timeline by category.

use crate::analyze::plot::Plot;
use crate::analyze::result::AnalysisResult;
use crate::memory::MemoryTimeline;
use crate::memory::timeline::{CategorySizes, MemoryCategory};
use crate::sort;
use crate::table::{Table, float, int, put_name, text};

/// Bytes of one category, or of all together.
#[derive(Debug, Clone)]
struct CategoryUseRow {
    category: &'static str,
    peak_bytes: i64,
    peak_ns: Option<i64>,
    at_peak_bytes: i64,
    share: f64,
    last_bytes: i64,
}

static TABLE: Table<Vec<CategoryUseRow>> = Table {
    name: "memory",
    doc: "the bytes of one category, or of all categories (`total`)",
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

/// Memory by category: its own peak, and its bytes at the peak of the total.
///
/// `peak_bytes` is the category's maximum, at `peak_ns`; `at_peak_bytes` is its size at the peak of
/// the total, and `share` that over the total.
pub fn memory_of_timeline(timeline: &MemoryTimeline) -> AnalysisResult {
    let sizes = timeline.sizes.as_slice();
    let peak = first_largest(sizes, CategorySizes::total);
    let row = |category, bytes: &dyn Fn(&CategorySizes) -> i64| {
        let own = first_largest(sizes, bytes)?;
        let (at_peak_bytes, total) = (bytes(peak?), peak?.total());
        Some(CategoryUseRow {
            category,
            peak_bytes: bytes(own),
            peak_ns: own.time.map(|time| time.0),
            at_peak_bytes,
            share: at_peak_bytes as f64 / total.max(1) as f64,
            last_bytes: sizes.last().map_or(0, bytes),
        })
    };
    let categories = MemoryCategory::ALL.iter().enumerate();
    let mut rows: Vec<_> = categories
        .filter_map(|(at, category)| row(category.name(), &|sizes: &CategorySizes| sizes.bytes[at]))
        .collect();
    rows.retain(|row| row.peak_bytes != 0);
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.at_peak_bytes));
    let rows: Vec<_> = row("total", &CategorySizes::total).into_iter().chain(rows).collect();
    AnalysisResult::of(&TABLE, rows, "the file contains no sizes")
        .drawn(Plot::Bars { label: "category", parts: &["at_peak_bytes"] })
}

fn first_largest(sizes: &[CategorySizes], bytes: impl Fn(&CategorySizes) -> i64) -> Option<&CategorySizes> {
    sizes.iter().rev().max_by_key(|sizes| bytes(sizes))
}
