//! Draws scatter plots on logarithmic axes; close points merge.

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::axis::{ChartAxis, ChartUnit};
use super::column::ChartColumn;
use super::drawing::{ChartDrawing, said};
use super::style::{COLOURS, SIZE, TextStyle, WIDTH, sideward, text_at, upward};
use crate::sort;
use crate::table::TableRows;
use crate::view::svg::{Px, clipped, width};

/// The most marks; nearby points merge to keep the page small.
const MAX_MARKS: usize = 600;
const HEIGHT: f64 = 300.0;
const RIGHT: f64 = 30.0;
const NAME: usize = 200;
/// Distance between the names of two lines.
const NAME_PITCH: f64 = 12.0;

/// A mark for one or more nearby points.
struct PointMark {
    x: f64,
    y: f64,
    count: usize,
    /// Its first row.
    row: usize,
}

/// Draws one point per row; nearby points merge into a larger one. `ceiling` adds rooflines.
pub(super) fn draw(
    table: &dyn TableRows,
    [x, y]: [usize; 2],
    label: usize,
    ceiling: Option<[usize; 3]>,
) -> ChartDrawing {
    let (xs, ys, names) = (ChartColumn::of(table, x), ChartColumn::of(table, y), ChartColumn::of(table, label));
    let rows: Vec<_> =
        (0..table.num_rows()).filter(|row| xs.number(*row).is_some() && ys.number(*row).is_some()).collect();
    if rows.is_empty() {
        return said(&format!("nothing to draw: no row has both {} and {}", xs.title(), ys.title()));
    }
    let of = |column: &ChartColumn, row: usize| column.number(row).unwrap_or(0.0);
    let all = |column: &ChartColumn| rows.iter().map(|row| of(column, *row)).collect::<Vec<_>>();
    let ceilings =
        ceiling.map(|columns| CeilingColumns::over(&xs, &rows, &columns.map(|at| ChartColumn::of(table, at))));
    let heights = ceilings.iter().flat_map(CeilingColumns::heights);
    let upwards = ChartAxis::powers(ys.unit, &all(&ys).into_iter().chain(heights).collect::<Vec<_>>(), HEIGHT);
    let left = upwards.ticks().iter().map(|(_, words)| width(words, SIZE)).fold(20.0, f64::max) + 10.0;
    let knees = ceilings.iter().flat_map(CeilingColumns::knees);
    let along =
        ChartAxis::powers(xs.unit, &all(&xs).into_iter().chain(knees).collect::<Vec<_>>(), WIDTH - left - RIGHT);
    let placed: Vec<_> =
        rows.iter().map(|row| (along.at(of(&xs, *row)), HEIGHT - upwards.at(of(&ys, *row)), *row)).collect();
    let marks = marks(&placed);
    let body = html! {
        (upward(&upwards, left, [WIDTH - left - RIGHT, HEIGHT]))
        (sideward(&along, left, HEIGHT))
        @if let Some(ceilings) = ceilings {
            (ceilings.drawn(along.powers_shown(), |(x, y)| (left + along.at(x), HEIGHT - upwards.at(y))))
        }
        g fill=(COLOURS[0]) fill-opacity=".6" {
            @for mark in &marks {
                circle cx=(Px(left + mark.x)) cy=(Px(mark.y)) r=(Px((2.2 + (mark.count as f64).ln() * 0.75).min(8.0))) {
                    title {
                        (clipped(&names.words(mark.row), NAME))
                        @for column in [&xs, &ys] {
                            "\n" (column.title()) ": " (column.unit.words(of(column, mark.row)))
                        }
                        @if mark.count > 1 { "\nand " (mark.count - 1) " more here" }
                    }
                }
            }
        }
        (text_at((WIDTH - RIGHT, HEIGHT + 31.0), TextStyle::END, &format!("{} →", xs.title()), WIDTH))
    };
    let subtitle = format!("{} ↑ by {} →", ys.title(), xs.title());
    let desc = format!("{} points: {} by {}.", rows.len(), ys.title(), xs.title());
    ChartDrawing { subtitle, desc, legend: Vec::new(), body, height: HEIGHT + 40.0, notes: Vec::new() }
}

/// Rooflines: lines that rise together until each reaches its own level, as an upper bound of the
/// points.
#[derive(Default)]
struct CeilingColumns {
    /// The slope before the lines level; `None` if all points are beyond.
    slope: Option<f64>,
    /// The levels from the top, each with its label.
    levels: Vec<(f64, String)>,
}

impl CeilingColumns {
    /// Rooflines by columns: height at a point, level, and label.
    fn over(xs: &ChartColumn, rows: &[usize], [heights, levels, labels]: &[ChartColumn; 3]) -> Self {
        let mut found = Self::default();
        for row in rows {
            let [Some(x), Some(height), Some(level)] = [xs, heights, levels].map(|column| column.number(*row)) else {
                continue;
            };
            if x > 0.0 && height > 0.0 && height < level {
                found.slope = Some(found.slope.unwrap_or(0.0).max(height / x));
            }
            if level > 0.0 {
                found.add(level, &labels.words(*row));
            }
        }
        sort::by(&mut found.levels, |a, b| b.0.total_cmp(&a.0));
        found
    }

    fn add(&mut self, level: f64, label: &str) {
        match self.levels.iter_mut().find(|(known, _)| known.total_cmp(&level).is_eq()) {
            Some((_, labels)) if labels.split(", ").any(|known| known == label) => {}
            Some((_, labels)) => *labels = format!("{labels}, {label}"),
            None => self.levels.push((level, label.to_owned())),
        }
    }

    fn heights(&self) -> impl Iterator<Item = f64> + '_ {
        self.levels.iter().map(|(level, _)| *level)
    }

    /// The points at which the lines become level.
    fn knees(&self) -> impl Iterator<Item = f64> + '_ {
        self.slope.into_iter().flat_map(|slope| self.heights().map(move |height| height / slope))
    }

    /// The lines across the chart, with a name at the right end of each.
    fn drawn(&self, [first, last]: [f64; 2], place: impl Fn((f64, f64)) -> (f64, f64)) -> Markup {
        let rising =
            self.slope.zip(self.knees().next()).map(|(slope, end)| [(first, first * slope), (end, end * slope)]);
        let starts = self.knees().chain(std::iter::repeat(first));
        let level = starts.zip(self.heights()).map(|(start, height)| [(start, height), (last, height)]);
        let mut free = f64::MIN;
        let mut name = |(level, label): &(f64, String)| {
            let (x, y) = place((last, *level));
            let words = format!("{label}: {}", ChartUnit::Plain.words(*level));
            free = (y - 5.0).max(free + NAME_PITCH);
            text_at((x, free), TextStyle::END, &words, WIDTH)
        };
        html! {
            @for [start, end] in rising.into_iter().chain(level).map(|ends| ends.map(&place)) {
                polyline points={ (Px(start.0)) "," (Px(start.1)) " " (Px(end.0)) "," (Px(end.1)) } fill="none"
                    stroke="currentColor" stroke-opacity=".6" {}
            }
            @for level in &self.levels { (name(level)) }
        }
    }
}

/// Merges points by the squares of a grid, as fine as the limit allows.
fn marks(placed: &[(f64, f64, usize)]) -> Vec<PointMark> {
    let mut size = 2.0;
    loop {
        let mut squares: FxHashMap<(u32, u32), PointMark> = FxHashMap::default();
        for (x, y, row) in placed {
            let place = ((x / size) as u32, (y / size) as u32);
            squares.entry(place).or_insert(PointMark { x: *x, y: *y, count: 0, row: *row }).count += 1;
        }
        if squares.len() <= MAX_MARKS {
            let mut marks: Vec<_> = squares.into_values().collect();
            sort::by_key(&mut marks, |mark| mark.row);
            return marks;
        }
        size *= 1.5;
    }
}
