//! Points on axes of powers: what lies together, and what lies apart.

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

/// Points that are drawn as one.
struct Mark {
    x: f64,
    y: f64,
    count: usize,
    /// Its first row.
    row: usize,
}

/// Draws a point a row, those that lie together as a larger one.
pub(super) fn draw(table: &dyn Rows, [x, y]: [usize; 2], label: usize) -> Drawing {
    let (xs, ys, names) = (Column::of(table, x), Column::of(table, y), Column::of(table, label));
    let rows: Vec<_> =
        (0..table.num_rows()).filter(|row| xs.number(*row).is_some() && ys.number(*row).is_some()).collect();
    if rows.is_empty() {
        return said(&format!("nothing to draw: no row has both {} and {}", xs.title(), ys.title()));
    }
    let of = |column: &Column, row: usize| column.number(row).unwrap_or(0.0);
    let all = |column: &Column| rows.iter().map(|row| of(column, *row)).collect::<Vec<_>>();
    let upwards = Axis::powers(ys.unit, &all(&ys), HEIGHT);
    let left = upwards.ticks().iter().map(|(_, words)| width(words, SIZE)).fold(20.0, f64::max) + 10.0;
    let along = Axis::powers(xs.unit, &all(&xs), WIDTH - left - RIGHT);
    let placed: Vec<_> =
        rows.iter().map(|row| (along.at(of(&xs, *row)), HEIGHT - upwards.at(of(&ys, *row)), *row)).collect();
    let marks = marks(&placed);
    let mut body = String::new();
    upward(&mut body, &upwards, left, [WIDTH - left - RIGHT, HEIGHT]);
    sideward(&mut body, &along, left, HEIGHT);
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
