//! Draws ranges of time as bars, on a line for each value of a column.

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::axis::{ChartAxis, ChartUnit};
use super::column::ChartColumn;
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, HEIGHT, MAX_LABEL, PITCH, SIZE, TextStyle, WIDTH, sideward, text_at};
use crate::table::TableRows;
use crate::view::svg::{Px, clipped, width};

/// The most lines that a picture has.
const MAX_LANES: usize = 64;
/// Room for the last label below the axis.
const RIGHT: f64 = 30.0;

/// A bar on a line, in nanoseconds.
struct ChartRange {
    lane: usize,
    start: i64,
    end: i64,
    series: usize,
    label: String,
}

/// The ranges of a table, with the names of lines and colours.
struct ChartRanges {
    lanes: Vec<String>,
    series: Vec<String>,
    ranges: Vec<ChartRange>,
    num_left_out: usize,
}

/// Draws a bar for each row. Bars of one colour that would lie in one pixel are drawn once.
pub(super) fn draw(
    table: &dyn TableRows,
    lane: usize,
    [start, end]: [usize; 2],
    [series, label]: [usize; 2],
) -> ChartDrawing {
    let column = |at: usize| ChartColumn::of(table, at);
    let (lane, series) = (column(lane), column(series));
    let all = ranges(table.num_rows(), &lane, [&column(start), &column(end)], [&series, &column(label)]);
    let first = all.ranges.iter().map(|range| range.start).min().unwrap_or(0);
    let last = all.ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let mut notes = vec![format!("time 0 is {first} ns")];
    if all.num_left_out > 0 {
        notes.push(format!("{} further lines are left out", all.num_left_out));
    }
    let legend =
        all.series.iter().zip(COLOURS.iter().cycle()).map(|(name, colour)| (name.clone(), ChartFill::of(colour)));
    let desc = format!("{} bars on {} lines.", all.ranges.len(), all.lanes.len());
    let height = all.lanes.len() as f64 * PITCH + 28.0;
    ChartDrawing {
        subtitle: format!("{} by {} over time", series.title(), lane.title()),
        desc,
        legend: legend.collect(),
        body: body(&all, (first, last)),
        height,
        notes,
    }
}

fn ranges(
    num_rows: usize,
    lane: &ChartColumn,
    [start, end]: [&ChartColumn; 2],
    [series, label]: [&ChartColumn; 2],
) -> ChartRanges {
    let (mut lanes, mut colours) = (NumberedNames::default(), NumberedNames::default());
    let mut found = ChartRanges { lanes: Vec::new(), series: Vec::new(), ranges: Vec::new(), num_left_out: 0 };
    for row in 0..num_rows {
        let (Some(start), Some(end)) = (start.integer(row), end.integer(row)) else { continue };
        let lane = lanes.place(lane.words(row));
        if lane < MAX_LANES {
            let label = label.integer(row).map_or_else(String::new, |number| number.to_string());
            let series = colours.place(series.words(row));
            found.ranges.push(ChartRange { lane, start, end: end.max(start), series, label });
        }
    }
    found.num_left_out = lanes.names.len().saturating_sub(MAX_LANES);
    lanes.names.truncate(MAX_LANES);
    ChartRanges { lanes: lanes.names, series: colours.names, ..found }
}

/// Names in the order in which they came.
#[derive(Default)]
struct NumberedNames {
    names: Vec<String>,
    known: FxHashMap<String, usize>,
}

impl NumberedNames {
    fn place(&mut self, name: String) -> usize {
        *self.known.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.names.len() - 1
        })
    }
}

fn body(all: &ChartRanges, (first, last): (i64, i64)) -> Markup {
    let left = all.lanes.iter().map(|name| width(name, SIZE)).fold(40.0, f64::max).min(MAX_LABEL) + 8.0;
    let height = all.lanes.len() as f64 * PITCH + 4.0;
    let after = |time: i64| time.wrapping_sub(first) as u64 as f64;
    let axis = ChartAxis::linear(ChartUnit::Time, 0.0, after(last), WIDTH - left - RIGHT);
    // The colour and the pixel at which each line was drawn last.
    let mut drawn: Vec<(usize, f64)> = vec![(usize::MAX, f64::MIN); all.lanes.len()];
    let mut place = |range: &ChartRange| {
        let (from, to) = (axis.at(after(range.start)), axis.at(after(range.end)));
        let here = (range.series, to.floor());
        let is_new = drawn[range.lane] != here || to - from >= 1.0;
        drawn[range.lane] = here;
        is_new.then_some((left + from, (to - from).max(0.5)))
    };
    html! {
        (sideward(&axis, left, height))
        @for (at, name) in all.lanes.iter().enumerate() {
            (text_at((left - 8.0, at as f64 * PITCH + 17.0), TextStyle::END, name, MAX_LABEL))
        }
        @for range in &all.ranges {
            @if let Some((x, wide)) = place(range) {
                @let top = range.lane as f64 * PITCH + 6.0;
                @let (name, colour) = (&all.series[range.series], COLOURS[range.series % COLOURS.len()]);
                @let fits = wide > width(&range.label, SIZE) + 4.0;
                g {
                    title {
                        (clipped(&all.lanes[range.lane], 300)) ": " (clipped(name, 300)) " " (range.label) ", "
                        (ChartUnit::Time.words(after(range.end) - after(range.start)))
                    }
                    rect x=(Px(x)) y=(Px(top)) width=(Px((wide - if wide > 3.0 { 1.0 } else { 0.0 }).max(0.5)))
                        height=(HEIGHT) fill=(colour) {}
                    @if fits {
                        text x=(Px(x + wide / 2.0)) y=(Px(top + 11.0)) text-anchor="middle" fill="#111" { (range.label) }
                    }
                }
            }
        }
    }
}
