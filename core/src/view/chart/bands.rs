//! Draws memory over time as stacked bands, a panel for each device.

use maud::{Markup, html};

use super::axis::{ChartAxis, ChartUnit};
use super::column::{ChartColumn, find};
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, GREY, TextStyle, WIDTH, sideward, text_at, upward};
use crate::memory::timeline::MemoryCategory;
use crate::sorted_map::SortedMap;
use crate::table::TableRows;
use crate::view::svg::{Px, WHOLE, clipped};

/// Room for the labels of sizes, and height of a panel.
const LEFT: f64 = 70.0;
/// The left and the right side of the bands.
pub(in crate::view) const SIDES: [f64; 2] = [LEFT, WIDTH];
const HEIGHT: f64 = 260.0;
/// From one panel to the next: its axis and its title.
const PITCH: f64 = HEIGHT + 56.0;
const MAX_PANELS: usize = 8;
/// The narrowest and the smallest rectangle that is drawn, in pixels. Many low ones fill as much as
/// a high one.
const NARROWEST: f64 = 0.4;
const SMALLEST: f64 = 0.12;

/// A time of a band.
struct BandPiece {
    /// Its row in the table: scripts ask about it.
    row: usize,
    time: [i64; 2],
    bottom: f64,
    height: f64,
    label: String,
    /// The place of its category among all; `None` of other allocations, and of memory from before.
    category: Option<usize>,
}

impl BandPiece {
    fn top(&self) -> f64 {
        self.bottom + self.height
    }
}

/// Draws a rectangle for each row that can be seen.
pub(super) fn draw(
    table: &dyn TableRows,
    [start, end]: [usize; 2],
    [bottom, height]: [usize; 2],
    [label, category, panel]: [usize; 3],
) -> ChartDrawing {
    let column = |at: usize| ChartColumn::of(table, at);
    let (start, end, bottom, height) = (column(start), column(end), column(bottom), column(height));
    let (label, category, panel) = (column(label), column(category), column(panel));
    let apart: Vec<ChartColumn> = ["rank", "window"].iter().filter_map(|name| find(table, name)).map(column).collect();
    let panel_of = |row: usize| {
        let columns = || apart.iter().chain([&panel]);
        let names: Vec<_> = columns().map(|column| column.words(row)).filter(|words| !words.is_empty()).collect();
        (columns().map(|column| column.integer(row)).collect::<Vec<_>>(), names.join(", "))
    };
    let mut panels: SortedMap<(Vec<Option<i64>>, String), Vec<BandPiece>> =
        SortedMap::of((0..table.num_rows()).map(panel_of));
    for row in 0..table.num_rows() {
        let (Some(start), Some(end)) = (start.integer(row), end.integer(row)) else { continue };
        let (bottom, height) = (bottom.number(row).unwrap_or_default(), height.number(row).unwrap_or_default());
        let category = category.words(row);
        let category = MemoryCategory::ALL.iter().position(|known| known.name() == category);
        let (time, height, label) = ([start, end.max(start)], height.max(0.0), label.words(row));
        let piece = BandPiece { row, time, bottom, height, label, category };
        if let Some(pieces) = panels.get_mut(&panel_of(row)) {
            pieces.push(piece);
        }
    }
    let (unit, across) = (height.unit, start.unit);
    let num_left_out = panels.iter().len().saturating_sub(MAX_PANELS);
    let name = |((_, name), pieces): ((_, String), Vec<BandPiece>)| {
        (if name.is_empty() { device_name(None) } else { name }, pieces)
    };
    // In the order of the table.
    let mut panels = panels.into_vec();
    crate::sort::by_key(&mut panels, |(_, pieces)| pieces.first().map(|piece| piece.row));
    let shown: Vec<_> = panels.into_iter().take(MAX_PANELS).map(name).collect();
    let peaks = shown.iter().map(|(device, pieces)| {
        let peak = pieces.iter().map(BandPiece::top).fold(0.0, f64::max);
        format!("{device}: {} at the peak", unit.words(peak))
    });
    let desc = peaks.collect::<Vec<_>>().join("; ");
    let is_drawn = |at: usize| shown.iter().any(|(_, pieces)| pieces.iter().any(|piece| piece.category == Some(at)));
    let drawn: Vec<usize> = (0..MemoryCategory::ALL.len()).filter(|at| is_drawn(*at)).collect();
    // Where no purpose can be told, origins have colours.
    let is_told = drawn.iter().any(|at| MemoryCategory::ALL[*at] != MemoryCategory::Unknown);
    let legend = drawn.iter().filter(|_| is_told);
    let legend = legend.map(|at| (MemoryCategory::ALL[*at].name().replace('_', " "), of_category(*at, 0))).collect();
    let mut notes = Vec::new();
    if num_left_out > 0 {
        notes.push(format!("{num_left_out} further devices are left out"));
    }
    ChartDrawing {
        subtitle: format!(
            "each allocation is a band, {}",
            if across == ChartUnit::Time { "over time" } else { "by action" }
        ),
        desc: format!("{desc}."),
        legend,
        height: shown.len() as f64 * PITCH,
        body: html! {
            @for (at, (device, pieces)) in shown.iter().enumerate() {
                g transform={ "translate(0 " (Px(at as f64 * PITCH)) ")" } {
                    (panel_with((device, pieces), [across, unit], is_told))
                }
            }
        },
        notes,
    }
}

pub(super) fn device_name(device: Option<i64>) -> String {
    device.map_or_else(|| String::from("pinned memory of the host"), |device| format!("device {device}"))
}

fn panel_with((device, pieces): (&str, &[BandPiece]), [axis, unit]: [ChartUnit; 2], is_told: bool) -> Markup {
    let first = pieces.iter().map(|piece| piece.time[0]).min().unwrap_or(0);
    let last = pieces.iter().map(|piece| piece.time[1]).max().unwrap_or(0);
    let after = |time: i64| time.wrapping_sub(first) as u64 as f64;
    let most = pieces.iter().map(BandPiece::top).fold(0.0, f64::max);
    let pixels = WIDTH - LEFT;
    let across = ChartAxis::linear(axis, 0.0, after(last), pixels);
    let up = ChartAxis::linear(unit, 0.0, most, HEIGHT);
    let peak = pieces.iter().find(|piece| piece.top() >= most);
    let seen: Vec<(&BandPiece, [f64; 4], ChartFill)> = pieces
        .iter()
        .filter_map(|piece| {
            let x = across.at(after(piece.time[0]));
            let size = [across.at(after(piece.time[1])) - x, up.at(piece.top()) - up.at(piece.bottom)];
            let shade = shade(&piece.label);
            let fill = match piece.category {
                None => GREY,
                Some(category) if is_told => of_category(category, shade / COLOURS.len()),
                Some(_) => ChartFill {
                    opacity: Some(OPACITIES[shade / COLOURS.len()]),
                    colour: COLOURS[shade % COLOURS.len()],
                },
            };
            // Pieces of the grey bands lie side by side: without the narrow ones, there were holes.
            let is_wide = size[0] >= NARROWEST || piece.category.is_none();
            let is_seen = is_wide && size[0] * size[1] >= SMALLEST;
            is_seen.then_some((piece, [x, HEIGHT - up.at(piece.top()), size[0], size[1]], fill))
        })
        .collect();
    html! {
        (text_at((LEFT, 12.0), TextStyle::PLAIN, device, 300.0))
        g transform="translate(0 20)" {
            (sideward(&across, LEFT, HEIGHT))
            (upward(&up, LEFT, [pixels, HEIGHT]))
            @for (piece, [x, y, wide, high], fill) in &seen {
                @let narrowest = if piece.category.is_some() { 0.5 } else { 0.1 };
                rect x=(Px(LEFT + x)) y=(Px(*y)) width=(Px(wide.max(narrowest))) height=(Px(high.max(0.1)))
                    fill=(fill.colour) fill-opacity=[fill.opacity] data-row=(piece.row) {
                    title { (tip(piece, [axis, unit])) }
                }
            }
            @if let Some(peak) = peak {
                @let x = LEFT + across.at(after(peak.time[0]));
                path d={ "M" (Px(x)) " 0v" (Px(HEIGHT)) } stroke="currentColor" stroke-dasharray="3 3" {}
                @let style = if x > WIDTH / 2.0 { TextStyle::END } else { TextStyle::PLAIN };
                @let x = if x > WIDTH / 2.0 { x - 5.0 } else { x + 5.0 };
                (text_at((x, 12.0), style, &format!("peak {}", unit.words(most)), 200.0))
            }
        }
    }
}

/// The shade of an origin: the same in each picture, whatever else is in it.
fn shade(label: &str) -> usize {
    // FNV-1a, which gives the same numbers in a browser as elsewhere.
    let hash = label.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash >> 16) as usize % (COLOURS.len() * OPACITIES.len())
}

/// Shades of a colour, where there are more origins than colours.
const OPACITIES: [&str; 3] = [".85", ".55", ".35"];
/// Shades of memory of an unknown purpose.
const GREYS: [&str; 3] = [".3", ".22", ".14"];

/// A shade of the colour of a category, given by its place; unknown is grey. No stack tells inputs.
fn of_category(place: usize, shade: usize) -> ChartFill {
    let colour = place - usize::from(place > INPUT);
    match COLOURS.get(colour) {
        Some(colour) => ChartFill { colour, opacity: Some(OPACITIES[shade]) },
        None => ChartFill { opacity: Some(GREYS[shade]), ..GREY },
    }
}

/// The place of inputs among the categories.
const INPUT: usize = MemoryCategory::Input as usize;

fn tip(piece: &BandPiece, [axis, unit]: [ChartUnit; 2]) -> String {
    let lasted = piece.time[1].wrapping_sub(piece.time[0]) as u64;
    let name = clipped(&piece.label, WHOLE);
    let noun = match axis {
        ChartUnit::Time => "",
        _ if lasted == 1 => " action",
        _ => " actions",
    };
    let (bytes, long) = (unit.words(piece.height), axis.words(lasted as f64));
    format!("{name}: {bytes}, here for {long}{noun}")
}
