//! Draws step functions of time.

use std::fmt::Write as _;

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::axis::{ChartAxis, ChartUnit};
use super::column::{ChartColumn, apart};
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, SIZE, WIDTH, sideward, upward};
use crate::sort;
use crate::table::TableRows;
use crate::view::svg::{Px, clipped, name_in_sentence, width};

/// One line per colour.
const MAX_SERIES: usize = COLOURS.len();
const HEIGHT: f64 = 200.0;
/// Room for the last label below the axis.
const RIGHT: f64 = 30.0;

/// One step function.
struct StepSeries {
    name: String,
    /// Times, in nanoseconds, and values.
    points: Vec<(i64, f64)>,
}

impl StepSeries {
    fn most(&self) -> f64 {
        self.points.iter().map(|(_, value)| *value).fold(f64::MIN, f64::max)
    }
}

/// Draws a line for each function, with the minimum and maximum of each pixel column, so that
/// every peak stays visible.
pub(super) fn draw(table: &dyn TableRows, time: usize, value: usize, series: Option<usize>) -> ChartDrawing {
    let (times, values) = (ChartColumn::of(table, time), ChartColumn::of(table, value));
    let mut keys: Vec<_> = series.map(|at| ChartColumn::of(table, at)).into_iter().collect();
    keys.extend(apart(table, &[time, value, series.unwrap_or(time)]));
    let mut all = functions(table.num_rows(), &keys, &times, &values);
    sort::by(&mut all, |a, b| b.most().total_cmp(&a.most()));
    let num_left_out = all.len().saturating_sub(MAX_SERIES);
    all.truncate(MAX_SERIES);
    let ends = all.iter().flat_map(|one| [one.points.first(), one.points.last()]).flatten().map(|(time, _)| *time);
    let (start, end) = (ends.clone().min().unwrap_or(0), ends.max().unwrap_or(0));
    let body = body(&all, values.unit, (start, end));
    let legend: Vec<_> = if keys.is_empty() || all.len() + num_left_out < 2 {
        Vec::new()
    } else {
        all.iter().zip(COLOURS).map(|(one, colour)| (one.name.clone(), ChartFill::of(colour))).collect()
    };
    let mut notes = vec![format!("time 0 is {start} ns")];
    if num_left_out > 0 {
        notes.push(format!("{num_left_out} series with lower peaks are left out"));
    }
    let peaks =
        all.iter().map(|one| format!("{} peaks at {}", name_in_sentence(&one.name), values.unit.words(one.most())));
    let desc = format!("{} over time: {}.", values.title(), peaks.collect::<Vec<_>>().join(", "));
    ChartDrawing { subtitle: format!("{} over time", values.title()), desc, legend, body, height: HEIGHT + 24.0, notes }
}

fn functions(num_rows: usize, keys: &[ChartColumn], times: &ChartColumn, values: &ChartColumn) -> Vec<StepSeries> {
    let mut all: Vec<StepSeries> = Vec::new();
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    for row in 0..num_rows {
        let (Some(time), Some(value)) = (times.integer(row), values.number(row)) else { continue };
        let words: Vec<_> = keys.iter().map(|key| key.words(row)).filter(|words| !words.is_empty()).collect();
        let name = words.join(", ");
        let at = *known.entry(name).or_insert_with_key(|name| {
            all.push(StepSeries { name: name.clone(), points: Vec::new() });
            all.len() - 1
        });
        all[at].points.push((time, value));
    }
    for one in all.iter_mut().filter(|one| !one.points.is_sorted_by_key(|(time, _)| *time)) {
        sort::by_key(&mut one.points, |(time, _)| *time);
    }
    all
}

fn body(all: &[StepSeries], unit: ChartUnit, (start, end): (i64, i64)) -> Markup {
    let values = || all.iter().flat_map(|one| one.points.iter().map(|(_, value)| *value));
    let (least, most) =
        values().fold((0.0, 0.0), |(least, most): (f64, f64), value| (least.min(value), most.max(value)));
    let upwards = ChartAxis::linear(unit, least, most * 1.04, HEIGHT);
    let words = upwards.ticks();
    let left = words.iter().map(|(_, words)| width(words, SIZE)).fold(20.0, f64::max) + 10.0;
    let pixels = WIDTH - left - RIGHT;
    let span = end.wrapping_sub(start) as u64 as f64;
    let along = ChartAxis::linear(ChartUnit::Time, 0.0, span, pixels);
    let x = |time: i64| along.at(time.wrapping_sub(start) as u64 as f64);
    let line = |one: &StepSeries| {
        path(&one.points, |time| x(time).round() as usize, |value| HEIGHT - upwards.at(value), pixels)
    };
    let floor = Px(HEIGHT - upwards.at(0.0));
    html! {
        (upward(&upwards, left, [pixels, HEIGHT]))
        (sideward(&along, left, HEIGHT))
        @for (one, colour) in all.iter().zip(COLOURS) {
            @let path = line(one);
            g transform={ "translate(" (Px(left)) " 0)" } {
                title { (clipped(&one.name, 300)) ": peak " (unit.words(one.most())) }
                @if let (1, Some(path)) = (all.len(), path.strip_prefix('M')) {
                    @let first = path.split(' ').next().unwrap_or("0");
                    path d={ "M" (first) " " (floor) "L" (path) "V" (floor) "z" } fill=(colour) fill-opacity=".18" {}
                }
                path d=(path) fill="none" stroke=(colour) stroke-width="1.5" {}
            }
        }
    }
}

/// The line through pixel columns: in each, the minimum, the maximum and the last value.
fn path(points: &[(i64, f64)], x: impl Fn(i64) -> usize, y: impl Fn(f64) -> f64, pixels: f64) -> String {
    let mut out = String::new();
    let mut last: Option<f64> = None;
    for column in points.chunk_by(|a, b| x(a.0) == x(b.0)) {
        let value = |point: &(i64, f64)| point.1;
        let least = column.iter().map(value).fold(f64::MAX, f64::min);
        let most = column.iter().map(value).fold(f64::MIN, f64::max);
        let (at, end) = (x(column[0].0), column[column.len() - 1].1);
        // Writing into a `String` cannot fail.
        let _ = match last {
            Some(_) => write!(out, "H{at}"),
            None => write!(out, "M{at} {:.1}", y(column[0].1)),
        };
        let mut before = last.unwrap_or(column[0].1);
        for value in [least, most, end] {
            if (y(value) - y(before)).abs() >= 0.05 {
                let _ = write!(out, "V{:.1}", y(value));
                before = value;
            }
        }
        last = Some(end);
    }
    let _ = write!(out, "H{pixels:.0}");
    out
}
