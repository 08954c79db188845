//! Draws stacked columns: consecutive durations with their parts.

use maud::{Markup, html};

use super::axis::{ChartAxis, ChartUnit};
use super::style::{SIZE, TextStyle, WIDTH, text_at, upward};
use crate::view::svg::{Px, width};

/// A stacked column.
pub(in crate::view) struct ChartPillar {
    /// The tooltip's first line.
    pub(in crate::view) name: String,
    /// The text below.
    pub(in crate::view) label: String,
    /// The timeline address.
    pub(in crate::view) address: Option<String>,
    /// Durations in nanoseconds, from the bottom up.
    pub(in crate::view) parts: Vec<f64>,
    /// Whether it is marked as the slowest.
    pub(in crate::view) is_marked: bool,
}

const HEIGHT: f64 = 170.0;
/// Room for the mark above the highest.
const TOP: f64 = 16.0;
const WIDEST: f64 = 110.0;

/// Draws pillars in the given order; each part has a name and a CSS class.
pub(in crate::view) fn pillars(title: &str, pillars: &[ChartPillar], parts: &[(&str, &str)]) -> Markup {
    let sum = |pillar: &ChartPillar| pillar.parts.iter().sum::<f64>();
    let most = pillars.iter().map(sum).fold(0.0, f64::max);
    let axis = ChartAxis::linear(ChartUnit::Time, 0.0, most, HEIGHT);
    let left = axis.ticks().iter().map(|(_, words)| width(words, SIZE)).fold(20.0, f64::max) + 12.0;
    let pitch = ((WIDTH - left) / pillars.len().max(1) as f64).min(WIDEST);
    let (wide, high) = (WIDTH, HEIGHT + TOP + 20.0);
    html! {
        svg class="ks-chart" viewBox={ "0 -" (TOP) " " (wide) " " (high) } role="group" aria-label=(title) {
            g font-size=(SIZE) fill="currentColor" {
                (upward(&axis, left, [WIDTH - left, HEIGHT]))
                @for (at, pillar) in pillars.iter().enumerate() {
                    @let stack = stack(pillar, parts, (&axis, left + at as f64 * pitch, pitch));
                    @if let Some(address) = &pillar.address { a href=(address) { (stack) } } @else { g { (stack) } }
                }
                (labels(pillars, left, pitch))
            }
        }
    }
}

/// The parts of a pillar from the bottom up, with its title and its mark.
fn stack(pillar: &ChartPillar, parts: &[(&str, &str)], (axis, left, pitch): (&ChartAxis, f64, f64)) -> Markup {
    let gap = (pitch * 0.18).min(6.0);
    let (x, wide) = (left + gap / 2.0, (pitch - gap).max(0.5));
    let sum: f64 = pillar.parts.iter().sum();
    let shown = || parts.iter().zip(&pillar.parts).filter(|(_, ns)| **ns > 0.0);
    let mut before = 0.0;
    let mut ends = |ns: f64| {
        let (low, high) = (axis.at(before), axis.at(before + ns));
        before += ns;
        (HEIGHT - high, high - low)
    };
    let middle = (x + wide / 2.0).clamp(left + 24.0, (WIDTH - 24.0).max(left + 24.0));
    html! {
        title {
            (pillar.name) ": " (ChartUnit::Time.words(sum))
            @for ((name, _), ns) in shown() { "\n" (name) ": " (ChartUnit::Time.words(*ns)) }
        }
        @for ((_, class), ns) in shown() {
            @let (y, tall) = ends(*ns);
            rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(wide)) height=(Px(tall)) {}
        }
        @if pillar.is_marked {
            (text_at((middle, HEIGHT - axis.at(sum) - 5.0), TextStyle::MARK, "slowest", 100.0))
        }
    }
}

/// One label for each run of equal labels, as far as there is room.
fn labels(pillars: &[ChartPillar], left: f64, pitch: f64) -> Markup {
    let mut free = left - pitch;
    let places: Vec<_> = pillars.iter().enumerate().collect();
    let label = |same: &[(usize, &ChartPillar)]| {
        let (first, pillar) = same.first()?;
        let middle = left + (*first as f64 + same.len() as f64 / 2.0) * pitch;
        let half = width(&pillar.label, SIZE) / 2.0;
        if middle - half < free {
            return None;
        }
        free = middle + half + 6.0;
        Some(text_at((middle, HEIGHT + 14.0), TextStyle::MIDDLE, &pillar.label, 100.0))
    };
    html! {
        @for label in places.chunk_by(|(_, a), (_, b)| a.label == b.label).filter_map(label) { (label) }
    }
}
