//! Draws stacked columns: consecutive durations with their parts.

use std::fmt::Write as _;

use super::axis::{ChartAxis, ChartUnit};
use super::style::{SIZE, WIDTH, text_at, upward};
use crate::view::svg::{escape, width};

/// Something that took time.
pub(in crate::view) struct ChartPillar {
    /// All that is known of it.
    pub(in crate::view) name: String,
    /// Text below.
    pub(in crate::view) label: String,
    /// Where it is to be seen.
    pub(in crate::view) address: Option<String>,
    /// In nanoseconds, from the ground up.
    pub(in crate::view) parts: Vec<f64>,
    /// Whether it is the one to look at.
    pub(in crate::view) is_marked: bool,
}

const HEIGHT: f64 = 170.0;
/// Room for the mark above the highest.
const TOP: f64 = 16.0;
const WIDEST: f64 = 110.0;

/// Draws pillars in their order; each part has a name and the class that gives it a colour.
pub(in crate::view) fn pillars(title: &str, pillars: &[ChartPillar], parts: &[(&str, &str)]) -> String {
    let sum = |pillar: &ChartPillar| pillar.parts.iter().sum::<f64>();
    let most = pillars.iter().map(sum).fold(0.0, f64::max);
    let axis = ChartAxis::linear(ChartUnit::Time, 0.0, most, HEIGHT);
    let left = axis.ticks().iter().map(|(_, words)| width(words, SIZE)).fold(20.0, f64::max) + 12.0;
    let pitch = ((WIDTH - left) / pillars.len().max(1) as f64).min(WIDEST);
    let mut body = String::new();
    upward(&mut body, &axis, left, [WIDTH - left, HEIGHT]);
    for (at, pillar) in pillars.iter().enumerate() {
        let from = left + at as f64 * pitch;
        draw(&mut body, pillar, parts, (&axis, from, pitch));
    }
    labels(&mut body, pillars, left, pitch);
    let (wide, high) = (WIDTH, HEIGHT + TOP + 20.0);
    format!(
        "<svg class=\"ks-chart\" viewBox=\"0 -{TOP} {wide} {high}\" role=\"group\" aria-label=\"{}\">\
         <g font-size=\"{SIZE}\" fill=\"currentColor\">{body}</g></svg>",
        escape(title)
    )
}

fn draw(out: &mut String, pillar: &ChartPillar, parts: &[(&str, &str)], (axis, left, pitch): (&ChartAxis, f64, f64)) {
    let gap = (pitch * 0.18).min(6.0);
    let (x, wide) = (left + gap / 2.0, (pitch - gap).max(0.5));
    let sum: f64 = pillar.parts.iter().sum();
    let mut title = format!("{}: {}", pillar.name, ChartUnit::Time.words(sum));
    for ((name, _), ns) in parts.iter().zip(&pillar.parts).filter(|(_, ns)| **ns > 0.0) {
        // Writing into a `String` cannot fail.
        let _ = write!(title, "\n{name}: {}", ChartUnit::Time.words(*ns));
    }
    let address = pillar.address.as_deref();
    out.push_str(&address.map_or_else(|| String::from("<g>"), |address| format!("<a href=\"{address}\">")));
    let _ = write!(out, "<title>{}</title>", escape(&title));
    let mut before = 0.0;
    for ((_, class), ns) in parts.iter().zip(&pillar.parts).filter(|(_, ns)| **ns > 0.0) {
        let (low, high) = (axis.at(before), axis.at(before + ns));
        before += ns;
        let (y, tall) = (HEIGHT - high, high - low);
        let _ =
            write!(out, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\"/>");
    }
    if pillar.is_marked {
        let middle = (x + wide / 2.0).clamp(left + 24.0, (WIDTH - 24.0).max(left + 24.0));
        let words = "text-anchor=\"middle\" font-weight=\"600\"";
        out.push_str(&text_at((middle, HEIGHT - axis.at(sum) - 5.0), words, "slowest", 100.0));
    }
    out.push_str(if address.is_some() { "</a>" } else { "</g>" });
}

/// The labels that there is room for, each where the first of its like stands.
fn labels(out: &mut String, pillars: &[ChartPillar], left: f64, pitch: f64) {
    let mut free = left - pitch;
    for same in pillars.iter().enumerate().collect::<Vec<_>>().chunk_by(|(_, a), (_, b)| a.label == b.label) {
        let Some((first, pillar)) = same.first() else { continue };
        let middle = left + (*first as f64 + same.len() as f64 / 2.0) * pitch;
        let half = width(&pillar.label, SIZE) / 2.0;
        if middle - half < free {
            continue;
        }
        free = middle + half + 6.0;
        out.push_str(&text_at(
            (middle, HEIGHT + 14.0),
            "text-anchor=\"middle\" fill-opacity=\".75\"",
            &pillar.label,
            100.0,
        ));
    }
}
