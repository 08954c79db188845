//! Draws a flame graph: a bar for each frame, below the frame that it is in.

use maud::{Markup, html};

use super::axis::ChartUnit;
use super::column::ChartColumn;
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, GREY, TextStyle, WIDTH, text_at};
use crate::table::TableRows;
use crate::view::svg::{Px, WHOLE, clipped, name_in_sentence};

/// The most levels that a picture has.
const MAX_LEVELS: usize = 32;
/// The narrowest frame that is drawn, in pixels.
const NARROWEST: f64 = 3.0;
/// Distance from one level to the next, and the height of a bar.
const LEVEL: f64 = 17.0;
const BAR: f64 = 16.0;
/// Opacity of a bar with a text.
const PALE: &str = ".38";
/// The narrowest bar with a text.
const READABLE: f64 = 24.0;
/// Fewer frames around everything are drawn.
const FEW: usize = 3;

/// A frame at its place, in pixels.
struct FlameBar {
    level: usize,
    x: f64,
    width: f64,
    row: usize,
}

/// The frames of a table at their places.
struct FlameLayout {
    bars: Vec<FlameBar>,
    all: f64,
    /// Frames that are left out: around everything, too narrow, below the last level.
    num_outer: usize,
    num_narrow: usize,
    num_deep: usize,
}

/// The columns of the frames.
struct FlameTable {
    name: ChartColumn,
    kind: ChartColumn,
    weight: ChartColumn,
    /// The change of each weight, where two graphs are compared.
    change: Option<ChartColumn>,
    unit: ChartUnit,
}

/// Draws the frames that are wide enough to be seen.
pub(super) fn draw(
    table: &dyn TableRows,
    [name, kind]: [usize; 2],
    [depth, start, weight]: [usize; 3],
    (change, unit): (Option<usize>, &'static str),
) -> ChartDrawing {
    let column = |at: usize| ChartColumn::of(table, at);
    let frames = FlameTable {
        name: column(name),
        kind: column(kind),
        weight: column(weight),
        change: change.map(column),
        unit: ChartUnit::of(Some(unit), "", true),
    };
    let found = layout(table.num_rows(), [&column(depth), &column(start), &frames.weight]);
    let legend = frames.legend(&found.bars);
    let outermost = found.bars.iter().filter(|bar| bar.level == found.num_outer).take(3);
    let widest =
        outermost.map(|bar| format!("{} {}", name_in_sentence(&frames.name.words(bar.row)), frames.words(bar)));
    let widest = widest.collect::<Vec<_>>().join(", ");
    let levels = found.bars.iter().map(|bar| found.level(bar) + 1).max().unwrap_or(0);
    let all = frames.unit.words(found.all);
    ChartDrawing {
        subtitle: if change.is_some() { format!("{all} before and after") } else { format!("{all} in all") },
        desc: format!("{} frames on {levels} levels: {widest}.", found.bars.len()),
        body: body(&found, &frames, &legend),
        legend,
        height: levels as f64 * LEVEL + 4.0,
        notes: notes(&found),
    }
}

/// The kind of the frame for all that is in no other.
const NONE: &str = "none";

/// A smaller part of a weight is no change worth a colour.
const UNCHANGED: f64 = 0.02;

const MORE: &str = "more";
const LESS: &str = "less";
/// Colours of a change; darker where the change is larger.
const CHANGES: [(&str, &str); 2] = [(MORE, "#d62728"), (LESS, "#1a7fc4")];
const STEPS: [&str; 4] = [".15", ".3", ".5", ".75"];

impl FlameTable {
    fn words(&self, bar: &FlameBar) -> String {
        self.unit.words(self.weight.number(bar.row).unwrap_or_default())
    }

    /// Colours with their names: of kinds, or of changes.
    fn legend(&self, bars: &[FlameBar]) -> Vec<(String, ChartFill)> {
        if self.change.is_some() {
            return CHANGES.map(|(name, colour)| (name.to_owned(), ChartFill::of(colour))).into();
        }
        let mut kinds: Vec<String> = Vec::new();
        for bar in bars {
            let kind = self.kind.words(bar.row);
            if kind != NONE && !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds.into_iter().zip(COLOURS.iter().cycle()).map(|(kind, colour)| (kind, ChartFill::of(colour))).collect()
    }

    fn fill(&self, bar: &FlameBar, legend: &[(String, ChartFill)]) -> ChartFill {
        if let Some(change) = &self.change {
            let weight = self.weight.number(bar.row).unwrap_or_default().max(1e-9);
            let share = change.number(bar.row).unwrap_or_default() / weight;
            let step = STEPS[((share.abs() * STEPS.len() as f64) as usize).min(STEPS.len() - 1)];
            let (_, colour) = CHANGES[usize::from(share < 0.0)];
            return if share.abs() < UNCHANGED { GREY } else { ChartFill { colour, opacity: Some(step) } };
        }
        let kind = self.kind.words(bar.row);
        let known = legend.iter().find(|(known, _)| *known == kind);
        known.map_or(GREY, |(_, fill)| ChartFill { opacity: Some(PALE), ..*fill })
    }

    fn tip(&self, bar: &FlameBar, all: f64) -> String {
        let name = clipped(&self.name.words(bar.row), WHOLE);
        let weight = self.weight.number(bar.row).unwrap_or_default();
        if let Some(change) = &self.change {
            let change = change.number(bar.row).unwrap_or_default();
            let (before, after) = ((weight - change) / 2.0, f64::midpoint(weight, change));
            let sign = if change > 0.0 { "+" } else { "" };
            let [before, after, change] = [before, after, change].map(|value| self.unit.words(value));
            return format!("{name}: {before} before, {after} after, {sign}{change}");
        }
        format!("{name}: {} ({})", self.words(bar), ChartUnit::Share.words(weight / all))
    }
}

impl FlameLayout {
    /// The level of a frame in the picture.
    fn level(&self, bar: &FlameBar) -> usize {
        bar.level.saturating_sub(self.num_outer)
    }
}

fn notes(found: &FlameLayout) -> Vec<String> {
    let notes = [
        (found.num_outer, "frames around all others are left out"),
        (found.num_narrow, "narrow frames are left out"),
        (found.num_deep, "frames on deeper levels are left out"),
    ];
    notes.into_iter().filter(|(num, _)| *num > 0).map(|(num, text)| format!("{num} {text}")).collect()
}

fn layout(num_rows: usize, [depth, start, weight]: [&ChartColumn; 3]) -> FlameLayout {
    let level = |row: usize| depth.integer(row).and_then(|depth| usize::try_from(depth).ok()).unwrap_or(0);
    let value = |row: usize| weight.number(row).unwrap_or_default().max(0.0);
    let all: f64 = (0..num_rows).filter(|row| level(*row) == 0).map(value).sum();
    let is_around_all = |row: &usize| level(*row) == *row && value(*row) >= all;
    let num_around = (0..num_rows).take_while(is_around_all).count();
    let num_outer = if num_around > FEW { num_around - 1 } else { 0 };
    let mut found = FlameLayout { bars: Vec::new(), all: all.max(1.0), num_outer, num_narrow: 0, num_deep: 0 };
    let pixels = |weight: f64| weight / all.max(1.0) * WIDTH;
    // The graphs of several ranks stand side by side: where the present one begins, and ends.
    let (mut begin, mut end) = (0.0, 0.0);
    for row in num_outer..num_rows {
        let own = start.number(row).unwrap_or_default();
        if level(row) == 0 {
            begin = if begin + own < end { end } else { begin };
            end = begin + own + value(row);
        }
        let bar = FlameBar { level: level(row), x: pixels(begin + own), width: pixels(value(row)), row };
        if bar.level >= num_outer + MAX_LEVELS {
            found.num_deep += 1;
        } else if bar.width < NARROWEST {
            found.num_narrow += 1;
        } else {
            found.bars.push(bar);
        }
    }
    found
}

fn body(found: &FlameLayout, frames: &FlameTable, legend: &[(String, ChartFill)]) -> Markup {
    html! {
        @for bar in &found.bars {
            @let fill = frames.fill(bar, legend);
            @let y = found.level(bar) as f64 * LEVEL;
            g {
                title { (frames.tip(bar, found.all)) }
                rect x=(Px(bar.x)) y=(Px(y)) width=(Px((bar.width - 0.6).max(0.5))) height=(BAR)
                    fill=(fill.colour) fill-opacity=[fill.opacity] {}
                @if bar.width > READABLE {
                    (text_at((bar.x + 3.0, y + 12.0), TextStyle::PLAIN, &frames.name.words(bar.row), bar.width - 6.0))
                }
            }
        }
    }
}
