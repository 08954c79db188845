//! The body of a chart, between its title and its notes.

use maud::Markup;

use super::style::{ChartFill, TextStyle, text_at};

/// The body of a chart, between title and notes.
pub(super) struct ChartDrawing {
    /// The measured quantity, beside the title.
    pub(super) subtitle: String,
    /// A description in words.
    pub(super) desc: String,
    pub(super) legend: Vec<(String, ChartFill)>,
    pub(super) body: Markup,
    pub(super) height: f64,
    pub(super) notes: Vec<String>,
}

/// A drawing that consists of a text.
pub(super) fn said(words: &str) -> ChartDrawing {
    let body = text_at((0.0, 14.0), TextStyle::PLAIN, words, 2000.0);
    ChartDrawing {
        subtitle: String::new(),
        desc: words.to_owned(),
        legend: Vec::new(),
        body,
        height: 22.0,
        notes: Vec::new(),
    }
}
