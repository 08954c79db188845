//! Points on axes of powers: what lies together, and what lies apart.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::axis::Axis;
use super::column::Column;
use super::{COLOURS, Drawing, SIZE, WIDTH, said, sideward, text_at, upward};
use crate::sort;
use crate::table::Rows;
use crate::view::svg::{clipped, escape, width};

/// More marks make a page heavy; points that lie together become one.
const MAX_MARKS: usize = 600;
const HEIGHT: f64 = 300.0;
const RIGHT: f64 = 30.0;
const NAME: usize = 200;
/// Heights that differ by less are the same.
const ROUNDING: f64 = 1.000_001;

/// Points that are drawn as one.
struct Mark {
    x: f64,
    y: f64,
    count: usize,
    /// Its first row.
    row: usize,
}

/// Draws a point a row, those that lie together as a larger one; below lines of such a height and such a name, if any.
pub(super) fn draw(table: &dyn Rows, [x, y]: [usize; 2], label: usize, ceiling: Option<[usize; 2]>) -> Drawing {
    let (xs, ys, names) = (Column::of(table, x), Column::of(table, y), Column::of(table, label));
    let rows: Vec<_> =
        (0..table.num_rows()).filter(|row| xs.number(*row).is_some() && ys.number(*row).is_some()).collect();
    if rows.is_empty() {
        return said(&format!("nothing to draw: no row has both {} and {}", xs.title(), ys.title()));
    }
    let of = |column: &Column, row: usize| column.number(row).unwrap_or(0.0);
    let all = |column: &Column| rows.iter().map(|row| of(column, *row)).collect::<Vec<_>>();
    let ceilings =
        ceiling.map_or_else(Vec::new, |columns| ceilings(&xs, &rows, columns.map(|at| Column::of(table, at))));
    let heights = ceilings.iter().flat_map(|ceiling| ceiling.points.iter().map(|point| point.1));
    let upwards = Axis::powers(ys.unit, &all(&ys).into_iter().chain(heights).collect::<Vec<_>>(), HEIGHT);
    let left = upwards.ticks().iter().map(|(_, words)| width(words, SIZE)).fold(20.0, f64::max) + 10.0;
    let along = Axis::powers(xs.unit, &all(&xs), WIDTH - left - RIGHT);
    let placed: Vec<_> =
        rows.iter().map(|row| (along.at(of(&xs, *row)), HEIGHT - upwards.at(of(&ys, *row)), *row)).collect();
    let marks = marks(&placed);
    let mut body = String::new();
    upward(&mut body, &upwards, left, [WIDTH - left - RIGHT, HEIGHT]);
    sideward(&mut body, &along, left, HEIGHT);
    for ceiling in &ceilings {
        ceiling.draw(&mut body, |(x, y)| (left + along.at(x), HEIGHT - upwards.at(y)));
    }
    let _ = write!(body, "<g fill=\"{}\" fill-opacity=\".6\">", COLOURS[0]);
    for mark in &marks {
        let (x, y, size) = (left + mark.x, mark.y, (2.2 + (mark.count as f64).ln() * 0.75).min(8.0));
        let values =
            [&xs, &ys].map(|column| format!("{}: {}", column.title(), column.unit.words(of(column, mark.row))));
        let others = if mark.count > 1 { format!("\nand {} more here", mark.count - 1) } else { String::new() };
        let words = format!("{}\n{}{others}", clipped(&names.words(mark.row), NAME), values.join("\n"));
        let _ = write!(
            body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size:.1}\"><title>{}</title></circle>",
            escape(&words)
        );
    }
    body.push_str("</g>");
    let right = (WIDTH - RIGHT, HEIGHT + 31.0);
    body.push_str(&text_at(right, "text-anchor=\"end\" fill-opacity=\".75\"", &format!("{} →", xs.title()), WIDTH));
    let subtitle = format!("{} ↑ by {} →", ys.title(), xs.title());
    let desc = format!("{} points, of {} by {}.", rows.len(), ys.title(), xs.title());
    Drawing { subtitle, desc, legend: Vec::new(), body, height: HEIGHT + 40.0, notes: Vec::new() }
}

/// What no point is above.
struct Ceiling {
    name: String,
    /// From left to right.
    points: Vec<(f64, f64)>,
}

/// Lines through the heights over points, for each name one.
fn ceilings(xs: &Column, rows: &[usize], [heights, names]: [Column; 2]) -> Vec<Ceiling> {
    let mut lines: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        let (x, height) = (xs.number(*row).unwrap_or(0.0), heights.number(*row).unwrap_or(0.0));
        if x > 0.0 && height > 0.0 {
            lines.entry(names.words(*row)).or_default().push((x, height));
        }
    }
    let line = |(name, mut points): (String, Vec<(f64, f64)>)| {
        sort::by(&mut points, |a, b| a.0.total_cmp(&b.0));
        points.dedup();
        Ceiling { name, points: with_knee(points) }
    };
    lines.into_iter().map(line).collect()
}

/// The same with the point at which it ceases to rise.
fn with_knee(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let rises = |[a, b]: [(f64, f64); 2]| b.1 > a.1 * ROUNDING;
    let last = points.windows(2).rposition(|pair| rises([pair[0], pair[1]]));
    if let Some(at) = last {
        let ((x, height), most) = (points[at], points[at + 1].1);
        let knee = (x * most / height, most);
        if knee.0 < points[at + 1].0 {
            points.insert(at + 1, knee);
        }
    }
    points
}

impl Ceiling {
    fn draw(&self, out: &mut String, place: impl Fn((f64, f64)) -> (f64, f64)) {
        let [.., before, last] = &self.points[..] else { return };
        let points: Vec<_> =
            self.points.iter().map(|point| place(*point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\".6\"/>",
            points.join(" ")
        );
        // While it rises, it is that of all names.
        if before.1 * ROUNDING > last.1 {
            let (x, y) = place(*last);
            out.push_str(&text_at((x, y - 5.0), "text-anchor=\"end\" fill-opacity=\".75\"", &self.name, WIDTH));
        }
    }
}

/// Points by the square of a grid that they are in; as fine a grid as gives few enough.
fn marks(placed: &[(f64, f64, usize)]) -> Vec<Mark> {
    let mut size = 2.0;
    loop {
        let mut squares: FxHashMap<(u32, u32), Mark> = FxHashMap::default();
        for (x, y, row) in placed {
            let place = ((x / size) as u32, (y / size) as u32);
            squares.entry(place).or_insert(Mark { x: *x, y: *y, count: 0, row: *row }).count += 1;
        }
        if squares.len() <= MAX_MARKS {
            let mut marks: Vec<_> = squares.into_values().collect();
            sort::by_key(&mut marks, |mark| mark.row);
            return marks;
        }
        size *= 1.5;
    }
}
