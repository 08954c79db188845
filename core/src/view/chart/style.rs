//! Sizes and colours of charts, their texts and axes.

use maud::{Markup, html};

use super::axis::ChartAxis;
use crate::view::svg::{Px, fitted};

/// Width of a chart in pixels.
pub(super) const WIDTH: f64 = 760.0;

/// Font size of most texts.
pub(super) const SIZE: f64 = 11.0;

/// Distance from one horizontal bar to the next, the height of a bar, and the room for its name.
pub(super) const PITCH: f64 = 22.0;

pub(super) const HEIGHT: f64 = 14.0;

pub(super) const MAX_LABEL: f64 = 300.0;

/// The palette of Okabe and Ito for colour-blind readers; its blue is lighter for dark pages.
pub(super) const COLOURS: [&str; 6] = ["#1a7fc4", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/// A colour with its opacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChartFill {
    pub(super) colour: &'static str,
    pub(super) opacity: Option<&'static str>,
}

impl ChartFill {
    /// An opaque colour.
    pub(super) const fn of(colour: &'static str) -> Self {
        Self { colour, opacity: None }
    }
}

/// For unspecific parts: idle time, and the sum of the rest.
pub(super) const GREY: ChartFill = ChartFill { colour: "currentColor", opacity: Some(".22") };

/// Attributes of a text.
#[derive(Clone, Copy)]
pub(super) struct TextStyle {
    anchor: Option<&'static str>,
    opacity: Option<&'static str>,
    weight: Option<&'static str>,
}

impl TextStyle {
    pub(super) const PLAIN: Self = Self { anchor: None, opacity: None, weight: None };
    /// A remark below a chart.
    pub(super) const NOTE: Self = Self { opacity: Some(".7"), ..Self::PLAIN };
    /// Beside an axis: ends at its place.
    pub(super) const END: Self = Self { anchor: Some("end"), opacity: Some(".75"), ..Self::PLAIN };
    /// Below an axis: centred on its place.
    pub(super) const MIDDLE: Self = Self { anchor: Some("middle"), ..Self::END };
    /// Above one of several panels.
    pub(super) const PANEL: Self = Self { weight: Some("600"), ..Self::PLAIN };
    /// A mark above a bar.
    pub(super) const MARK: Self = Self { anchor: Some("middle"), opacity: None, weight: Some("600") };
}

/// A text at a place, as much of it as fits into that many pixels.
pub(super) fn text_at((x, y): (f64, f64), style: TextStyle, text: &str, pixels: f64) -> Markup {
    let text = fitted(text, pixels, SIZE);
    html! {
        @if !text.is_empty() {
            text x=(Px(x)) y=(Px(y)) text-anchor=[style.anchor] fill-opacity=[style.opacity]
                font-weight=[style.weight] { (text) }
        }
    }
}

/// The vertical axis: horizontal lines, with their values to the left.
pub(super) fn upward(axis: &ChartAxis, left: f64, [pixels, height]: [f64; 2]) -> Markup {
    html! {
        @for (value, words) in axis.ticks() {
            @let y = height - axis.at(value);
            path d={ "M" (Px(left)) " " (Px(y)) "h" (Px(pixels)) } stroke="currentColor" stroke-opacity=".11" {}
            (text_at((left - 7.0, y + 4.0), TextStyle::END, &words, left))
        }
    }
}

/// The horizontal axis: vertical lines, with their values below.
pub(super) fn sideward(axis: &ChartAxis, left: f64, height: f64) -> Markup {
    html! {
        @for (value, words) in axis.ticks() {
            @let x = left + axis.at(value);
            path d={ "M" (Px(x)) " 0v" (Px(height)) } stroke="currentColor" stroke-opacity=".11" {}
            (text_at((x, height + 15.0), TextStyle::MIDDLE, &words, 100.0))
        }
    }
}
