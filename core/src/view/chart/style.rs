//! Sizes and colours of charts, their texts and axes.

use std::fmt::Write as _;

use super::axis::ChartAxis;
use crate::view::svg::{escape, fitted};

/// Pixels from side to side.
pub(super) const WIDTH: f64 = 760.0;

/// Of most letters.
pub(super) const SIZE: f64 = 11.0;

/// Of bars that lie: from one to the next, their height, and the room for their names.
pub(super) const PITCH: f64 = 22.0;

pub(super) const HEIGHT: f64 = 14.0;

pub(super) const MAX_LABEL: f64 = 300.0;

/// The colours of Okabe and Ito, which nearly everybody can tell apart; the blue is lighter, to be
/// seen on dark, too.
pub(super) const COLOURS: [&str; 6] = ["#1a7fc4", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/// For unspecific parts: idle time, and the sum of the rest.
pub(super) const GREY: &str = "currentColor\" fill-opacity=\".22";

/// A text at a place, with attributes of its own, as much of it as there is room for.
pub(super) fn text_at(at: (f64, f64), attributes: &str, text: &str, pixels: f64) -> String {
    let ((x, y), text) = (at, escape(&fitted(text, pixels, SIZE)));
    if text.is_empty() { text } else { format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>") }
}

/// Lines across, with their values to the left: the axis upwards.
pub(super) fn upward(out: &mut String, axis: &ChartAxis, left: f64, [pixels, height]: [f64; 2]) {
    for (value, words) in axis.ticks() {
        let y = height - axis.at(value);
        let _ =
            write!(out, "<path d=\"M{left:.1} {y:.1}h{pixels:.1}\" stroke=\"currentColor\" stroke-opacity=\".11\"/>");
        out.push_str(&text_at((left - 7.0, y + 4.0), "text-anchor=\"end\" fill-opacity=\".75\"", &words, left));
    }
}

/// Lines from the top down, with their values below: the axis to the right.
pub(super) fn sideward(out: &mut String, axis: &ChartAxis, left: f64, height: f64) {
    for (value, words) in axis.ticks() {
        let x = left + axis.at(value);
        let _ = write!(out, "<path d=\"M{x:.1} 0v{height:.1}\" stroke=\"currentColor\" stroke-opacity=\".11\"/>");
        out.push_str(&text_at((x, height + 15.0), "text-anchor=\"middle\" fill-opacity=\".75\"", &words, 100.0));
    }
}
