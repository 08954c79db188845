//! Draws waterfall charts: from the value before, part by part, to the value after.

use maud::{Markup, html};

use super::axis::{ChartAxis, ChartUnit};
use super::column::{ChartColumn, apart};
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, GREY, HEIGHT, MAX_LABEL, PITCH, SIZE, TextStyle, WIDTH, sideward, text_at};
use crate::sort;
use crate::table::TableRows;
use crate::view::svg::{Px, WHOLE, clipped, fitted, name_in_sentence, spaced, width};

/// The most parts; smaller ones are merged into one.
const MAX_PARTS: usize = 14;
/// The most changes, one per rank.
const MAX_CHANGES: usize = 6;
/// Pixels for the value after a bar.
const VALUE: f64 = 84.0;
/// Below this share of the whole, the axis does not start at 0, so that changes stay visible.
const SMALL: f64 = 0.08;

/// The start and end of a bar.
struct WaterfallBar {
    name: String,
    from: f64,
    to: f64,
    sort: WaterfallBarKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WaterfallBarKind {
    Whole,
    Part,
    Rest,
}

/// A row before and after.
struct WaterfallRow {
    name: String,
    before: f64,
    after: f64,
}

impl WaterfallRow {
    /// Its contribution to the whole.
    fn by(&self) -> f64 {
        self.after - self.before
    }
}

/// Draws the first row, the whole, before; then the change of each further row; then the whole
/// after. A row with the name of the first begins another whole.
pub(super) fn draw(table: &dyn TableRows, label: usize, [before, after]: [usize; 2]) -> ChartDrawing {
    let columns = [before, after].map(|at| ChartColumn::of(table, at));
    let names = ChartColumn::of(table, label);
    let details = apart(table, &[label, before, after]);
    let unit = columns[0].unit;
    let mut changes: Vec<Vec<WaterfallRow>> = Vec::new();
    for at in 0..table.num_rows() {
        let [before, after] = [0, 1].map(|side| columns[side].number(at).unwrap_or(0.0));
        let name = |at: usize| spaced(&names.words(at)).into_owned();
        let row = WaterfallRow { name: name(at), before, after };
        match changes.last_mut() {
            Some(change) if row.name != name(0) => change.push(row),
            _ => {
                let details = details.iter().map(|column| column.words(at)).filter(|words| !words.is_empty());
                let name = [row.name.clone()].into_iter().chain(details).collect::<Vec<_>>().join(", ");
                changes.push(vec![WaterfallRow { name, ..row }]);
            }
        }
    }
    let num_left_out = changes.len().saturating_sub(MAX_CHANGES);
    changes.truncate(MAX_CHANGES);
    let desc = changes.iter().map(|change| described(change, unit)).collect::<Vec<_>>().join(" ");
    let steps: Vec<WaterfallBar> = changes.into_iter().flat_map(steps).collect();
    let (body, height, start) = body(&steps, unit);
    let begins = (start > 0.0).then(|| format!("the axis starts at {}", unit.words(start)));
    let left_out = (num_left_out > 0).then(|| format!("and {num_left_out} others"));
    let words = if unit == ChartUnit::Time { ["slower", "faster"] } else { ["grew", "shrank"] };
    ChartDrawing {
        subtitle: String::from("contributions to the change"),
        desc,
        legend: [("before and after", WHOLE_FILL), (words[0], LONGER), (words[1], SHORTER)]
            .map(|(name, fill)| (name.to_owned(), fill))
            .to_vec(),
        body,
        height,
        notes: begins.into_iter().chain(left_out).collect(),
    }
}

const WHOLE_FILL: ChartFill = ChartFill::of(COLOURS[0]);
const LONGER: ChartFill = ChartFill::of(COLOURS[5]);
const SHORTER: ChartFill = ChartFill::of(COLOURS[2]);

fn described(change: &[WaterfallRow], unit: ChartUnit) -> String {
    let Some((whole, parts)) = change.split_first() else { return String::new() };
    let parts = parts.iter().filter(|row| row.by() != 0.0).take(5);
    let parts: Vec<_> =
        parts.map(|row| format!("{} {}", name_in_sentence(&row.name), signed(unit, row.by()))).collect();
    let name = name_in_sentence(&whole.name);
    format!("{name}: from {} to {}: {}.", unit.words(whole.before), unit.words(whole.after), parts.join(", "))
}

/// The bars: the whole before, the changed parts, the whole after.
fn steps(change: Vec<WaterfallRow>) -> Vec<WaterfallBar> {
    let mut rows = change.into_iter();
    let Some(whole) = rows.next() else { return Vec::new() };
    let mut parts: Vec<(usize, WaterfallRow)> = rows.filter(|row| row.by() != 0.0).enumerate().collect();
    sort::by(&mut parts, |(_, a), (_, b)| b.by().abs().total_cmp(&a.by().abs()));
    let rest = parts.split_off(parts.len().min(MAX_PARTS));
    sort::by_key(&mut parts, |(place, _)| *place);
    let ends = |name: &str, to: f64| WaterfallBar {
        name: format!("{} {name}", whole.name),
        from: 0.0,
        to,
        sort: WaterfallBarKind::Whole,
    };
    let mut steps = vec![ends("before", whole.before)];
    let mut at = whole.before;
    let mut lead = |name: String, by: f64, sort: WaterfallBarKind| {
        steps.push(WaterfallBar { name, from: at, to: at + by, sort });
        at += by;
    };
    parts.into_iter().for_each(|(_, row)| {
        let by = row.by();
        lead(row.name, by, WaterfallBarKind::Part);
    });
    if !rest.is_empty() {
        let by = rest.iter().map(|(_, row)| row.by()).sum();
        lead(format!("{} others", rest.len()), by, WaterfallBarKind::Rest);
    }
    steps.push(ends("after", whole.after));
    steps
}

fn body(steps: &[WaterfallBar], unit: ChartUnit) -> (Markup, f64, f64) {
    let left = steps.iter().map(|step| width(&step.name, SIZE) + 8.0).fold(40.0, f64::max).min(MAX_LABEL) + 8.0;
    let [start, end] = range(steps);
    let axis = ChartAxis::linear(unit, start, end, WIDTH - left - VALUE);
    let height = steps.len() as f64 * PITCH + 4.0;
    let markup = html! {
        (sideward(&axis, left, height))
        @for (at, step) in steps.iter().enumerate() {
            @let top = at as f64 * PITCH + 6.0;
            @let ends = [step.from.min(step.to).max(start), step.from.max(step.to)].map(|value| left + axis.at(value));
            (bar(step, unit, top, (left, ends)))
            @if steps.get(at + 1).is_some_and(|next| leads_to(step, next)) {
                path d={ "M" (Px(left + axis.at(step.to))) " " (Px(top + HEIGHT)) "v" (PITCH - HEIGHT) }
                    stroke="currentColor" stroke-opacity=".5" {}
            }
        }
    };
    (markup, height + 24.0, start)
}

/// A bar with its name, its title and its value.
fn bar(step: &WaterfallBar, unit: ChartUnit, top: f64, (left, [start, end]): (f64, [f64; 2])) -> Markup {
    let is_whole = step.sort == WaterfallBarKind::Whole;
    let said = if is_whole { unit.words(step.to) } else { signed(unit, step.to - step.from) };
    let fill = fill(step);
    html! {
        g {
            title { (clipped(&step.name, WHOLE)) ": " (said) }
            text x=(Px(left - 8.0)) y=(Px(top + 11.0)) text-anchor="end" {
                (fitted(&step.name, MAX_LABEL - 12.0, SIZE))
            }
            rect x=(Px(start)) y=(Px(top)) width=(Px((end - start).max(1.0))) height=(HEIGHT) fill=(fill.colour)
                fill-opacity=[fill.opacity] {}
            (text_at((end + 6.0, top + 11.0), TextStyle::PLAIN, &said, VALUE))
        }
    }
}

/// Whether the next bar begins where a bar ends.
fn leads_to(step: &WaterfallBar, next: &WaterfallBar) -> bool {
    next.sort != WaterfallBarKind::Whole || (next.to - step.to).abs() <= 0.0
}

/// The range of the axis: from 0, or from near the parts if they would be invisible.
fn range(steps: &[WaterfallBar]) -> [f64; 2] {
    let parts = || {
        steps
            .iter()
            .flat_map(|step| if step.sort == WaterfallBarKind::Whole { [step.to; 2] } else { [step.from, step.to] })
    };
    let (least, most) = (parts().fold(f64::INFINITY, f64::min), parts().fold(0.0, f64::max));
    let room = most - least;
    let is_small = least.is_finite() && room > 0.0 && room < most * SMALL;
    [if is_small { (least - room).max(0.0) } else { least.min(0.0) }, most]
}

fn fill(step: &WaterfallBar) -> ChartFill {
    match step.sort {
        WaterfallBarKind::Whole => WHOLE_FILL,
        WaterfallBarKind::Rest => GREY,
        WaterfallBarKind::Part if step.to > step.from => LONGER,
        WaterfallBarKind::Part => SHORTER,
    }
}

fn signed(unit: ChartUnit, value: f64) -> String {
    if value > 0.0 { format!("+{}", unit.words(value)) } else { unit.words(value) }
}
