//! Draws bar charts: the largest rows, with their parts.

use std::fmt::Write as _;

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::axis::{ChartAxis, ChartUnit};
use super::column::{ChartColumn, apart};
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, GREY, HEIGHT, MAX_LABEL, PITCH, SIZE, TextStyle, WIDTH, sideward, text_at};
use crate::sort;
use crate::table::TableRows;
use crate::view::svg::{Px, WHOLE, clipped, fitted, name_in_sentence, width};

/// The most bars that readers still compare.
const MAX_BARS: usize = 20;
/// The longest bar for the rest, relative to the longest other bar.
const MAX_REST: f64 = 1.5;
const MAX_DETAIL: f64 = 150.0;
/// Pixels for the value after a bar.
const VALUE: f64 = 76.0;

/// Rows of one label.
struct ChartBar {
    name: String,
    /// Text that distinguishes it from bars of the same name.
    detail: String,
    parts: Vec<f64>,
    is_the_rest: bool,
}

impl ChartBar {
    fn sum(&self) -> f64 {
        self.parts.iter().sum()
    }
}

/// Draws one bar per label, sorted by length; numeric labels keep their order.
pub(super) fn draw(table: &dyn TableRows, label: Option<usize>, parts: &[usize]) -> ChartDrawing {
    let columns: Vec<_> = parts.iter().map(|at| ChartColumn::of(table, *at)).collect();
    let label = label.map(|at| (at, ChartColumn::of(table, at)));
    let but: Vec<_> = parts.iter().copied().chain(label.as_ref().map(|(at, _)| *at)).collect();
    let label = label.map(|(_, column)| column);
    let bars = bars(table.num_rows(), label.as_ref(), &apart(table, &but), &columns);
    let is_ordered = label.as_ref().is_some_and(ChartColumn::is_ordered);
    let is_a_sum = columns.iter().all(ChartColumn::is_a_sum);
    let num_bars = bars.len();
    let (mut bars, rest) = most(bars, is_ordered);
    let unit = columns.first().map_or(ChartUnit::Plain, |column| column.unit);
    let notes = with_rest(&mut bars, rest, unit, [is_ordered, is_a_sum]);
    let is_there = |at: usize| bars.iter().any(|bar| bar.parts[at] > 0.0);
    let named = columns.iter().enumerate().filter(|(at, _)| columns.len() > 1 && is_there(*at));
    let legend: Vec<_> = named.map(part).collect();
    let (body, height) = body(&bars, &columns, unit);
    let what = columns.first().filter(|_| columns.len() == 1).map_or_else(|| String::from("parts"), ChartColumn::title);
    let by = label.map_or_else(String::new, |column| format!(" by {}", column.title()));
    let named = bars.iter().take(3).map(|bar| format!("{} {}", name_in_sentence(&bar.name), unit.words(bar.sum())));
    let desc = format!("{num_bars} bars of {what}{by}: {}.", named.collect::<Vec<_>>().join(", "));
    ChartDrawing { subtitle: format!("{what}{by}"), desc, legend, body, height, notes }
}

fn bars(num_rows: usize, label: Option<&ChartColumn>, apart: &[ChartColumn], columns: &[ChartColumn]) -> Vec<ChartBar> {
    let mut bars: Vec<ChartBar> = Vec::new();
    let mut known: FxHashMap<(String, String), usize> = FxHashMap::default();
    let may_merge = columns.iter().all(ChartColumn::is_a_sum);
    for row in 0..num_rows {
        let name = label.map_or_else(|| format!("row {row}"), |label| label.words(row));
        let details: Vec<_> = apart.iter().map(|column| column.words(row)).filter(|words| !words.is_empty()).collect();
        let parts: Vec<_> = columns.iter().map(|column| column.number(row).unwrap_or(0.0)).collect();
        let key = (name, details.join(", "));
        if let Some(bar) = known.get(&key).filter(|_| may_merge).and_then(|at| bars.get_mut(*at)) {
            bar.parts.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            continue;
        }
        bars.push(ChartBar { name: key.0.clone(), detail: key.1.clone(), parts, is_the_rest: false });
        known.insert(key, bars.len() - 1);
    }
    bars
}

/// The largest bars, and the sum of the others.
fn most(bars: Vec<ChartBar>, is_ordered: bool) -> (Vec<ChartBar>, Option<ChartBar>) {
    let mut sorted: Vec<_> = bars.into_iter().enumerate().collect();
    sort::by(&mut sorted, |(_, a), (_, b)| b.sum().total_cmp(&a.sum()));
    let left_out = sorted.split_off(sorted.len().min(MAX_BARS));
    if is_ordered {
        sort::by_key(&mut sorted, |(place, _)| *place);
    }
    let num_parts = sorted.first().map_or(0, |(_, bar)| bar.parts.len());
    let sum = |part: usize| left_out.iter().map(|(_, bar)| bar.parts[part]).sum();
    let rest = ChartBar {
        name: format!("{} others", left_out.len()),
        detail: String::new(),
        parts: (0..num_parts).map(sum).collect(),
        is_the_rest: true,
    };
    (sorted.into_iter().map(|(_, bar)| bar).collect(), Some(rest).filter(|_| !left_out.is_empty()))
}

/// Adds the rest as a bar if it has a sum and does not dwarf the others; otherwise as a note.
fn with_rest(
    bars: &mut Vec<ChartBar>,
    rest: Option<ChartBar>,
    unit: ChartUnit,
    [is_ordered, is_a_sum]: [bool; 2],
) -> Vec<String> {
    let Some(rest) = rest else { return Vec::new() };
    let longest = bars.iter().map(ChartBar::sum).fold(0.0, f64::max);
    if is_a_sum && !is_ordered && rest.sum() <= longest * MAX_REST {
        bars.push(rest);
        return Vec::new();
    }
    let together = if is_a_sum { format!(": {} together", unit.words(rest.sum())) } else { String::new() };
    vec![format!("and {}{together}", rest.name)]
}

fn part((at, column): (usize, &ChartColumn)) -> (String, ChartFill) {
    let name = column.title();
    let fill = if name.starts_with("idle") { GREY } else { ChartFill::of(COLOURS[at % COLOURS.len()]) };
    (name, fill)
}

fn body(bars: &[ChartBar], columns: &[ChartColumn], unit: ChartUnit) -> (Markup, f64) {
    let detail = |bar: &ChartBar| fitted(&bar.detail, MAX_DETAIL, SIZE);
    let needed = |bar: &ChartBar| width(&bar.name, SIZE) + width(&detail(bar), SIZE) + 12.0;
    let left = bars.iter().map(needed).fold(40.0, f64::max).min(MAX_LABEL) + 8.0;
    let longest = bars.iter().map(|bar| bar.parts.iter().map(|part| part.max(0.0)).sum()).fold(0.0, f64::max);
    let axis = ChartAxis::linear(unit, 0.0, longest, WIDTH - left - VALUE);
    let height = bars.len() as f64 * PITCH + 4.0;
    let markup = html! {
        (sideward(&axis, left, height))
        @for (at, bar) in bars.iter().enumerate() {
            @let top = at as f64 * PITCH + 6.0;
            @let (segments, end) = segments(bar, columns, (&axis, left, top));
            g {
                title { (title(bar, columns, unit)) }
                (label(bar, &detail(bar), (left - 8.0, top + 11.0)))
                (segments)
                (text_at((end + 6.0, top + 11.0), TextStyle::PLAIN, &unit.words(bar.sum()), VALUE))
            }
        }
    };
    (markup, height + 24.0)
}

fn label(bar: &ChartBar, detail: &str, (x, y): (f64, f64)) -> Markup {
    let room = MAX_LABEL - width(detail, SIZE) - 12.0;
    html! {
        text x=(Px(x)) y=(Px(y)) text-anchor="end" {
            (fitted(&bar.name, room, SIZE))
            @if !detail.is_empty() { tspan dx="6" fill-opacity=".65" { (detail) } }
        }
    }
}

/// The parts of a bar one after another, and where they end.
fn segments(bar: &ChartBar, columns: &[ChartColumn], (axis, left, top): (&ChartAxis, f64, f64)) -> (Markup, f64) {
    let mut before = 0.0;
    let mut place = |value: f64| {
        let (from, to) = (axis.at(before), axis.at(before + value));
        before += value;
        let gap = if to - from > 3.0 { 1.0 } else { 0.0 };
        (left + from, (to - from - gap).max(0.5))
    };
    let markup = html! {
        @for (at, value) in bar.parts.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            @let (name, own) = part((at, &columns[at]));
            @let fill = if bar.is_the_rest && columns.len() == 1 { GREY } else { own };
            @let (x, wide) = place(*value);
            rect x=(Px(x)) y=(Px(top)) width=(Px(wide)) height=(HEIGHT) fill=(fill.colour) fill-opacity=[fill.opacity] {
                @if columns.len() > 1 {
                    title { (clipped(&bar.name, WHOLE)) "\n" (name) ": " (columns[at].unit.words(*value)) }
                }
            }
        }
    };
    (markup, left + axis.at(before))
}

fn title(bar: &ChartBar, columns: &[ChartColumn], unit: ChartUnit) -> String {
    let name = [clipped(&bar.name, WHOLE), clipped(&bar.detail, WHOLE)];
    let name = name.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    let mut title = format!("{name}: {}", unit.words(bar.sum()));
    for (column, value) in columns.iter().zip(&bar.parts).filter(|_| columns.len() > 1) {
        let _ = write!(title, "\n{}: {}", column.title(), unit.words(*value));
    }
    title
}
