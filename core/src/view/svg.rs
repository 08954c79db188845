//! Finishes markup, and measures and shortens its texts.

use std::borrow::Cow;
use std::fmt;

use maud::Markup;

use crate::label::Label;

/// The text of finished markup. Its templates escape texts of a trace; this removes the characters
/// that no page should hold.
pub(super) fn finished(markup: Markup) -> String {
    let mut text = markup.into_string();
    text.retain(is_shown);
    text
}

/// Excludes controls, characters that XML forbids, and marks of text direction.
fn is_shown(character: char) -> bool {
    (character == '\n' || !character.is_control())
        && !matches!(character, '\u{fffe}' | '\u{ffff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A coordinate in pixels, with one decimal.
#[derive(Clone, Copy)]
pub(super) struct Px(pub(super) f64);

impl fmt::Display for Px {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:.1}", self.0)
    }
}

/// The longest name shown in full; files may hold names of any size.
pub(super) const WHOLE: usize = 1_000;

/// Shortens a text in the middle: the ends distinguish kernel names.
pub(super) fn clipped(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let tail = most / 3;
    let head = most.saturating_sub(tail + 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

/// A name of ours in words: `exposed_copy` as `exposed copy`. Others stay, such as `aten::add_`.
pub(super) fn spaced(name: &str) -> Cow<'_, str> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_lowercase());
    if name.split('_').all(is_word) { Cow::Owned(name.replace('_', " ")) } else { Cow::Borrowed(name) }
}

/// A name short enough for a sentence.
pub(super) fn name_in_sentence(name: &str) -> String {
    const ROOM: usize = 120;
    clipped(&Label::fitting(name, |text| text.chars().count() <= ROOM), ROOM)
}

/// A name that fits into a number of pixels: in full, as its label, or as the ends of the label.
pub(super) fn fitted(name: &str, pixels: f64, size: f64) -> String {
    let text = &*Label::fitting(name, |text| width(text, size) <= pixels);
    if width(text, size) <= pixels {
        return text.to_owned();
    }
    let mean = width(text, size) / text.chars().count().max(1) as f64;
    let mut most = (pixels / mean) as usize + 1;
    while most > 1 && width(&clipped(text, most), size) > pixels {
        most -= 1;
    }
    clipped(text, most)
}

/// Safety margin for wide fonts.
const WIDE: f64 = 1.07;

/// Approximate width of a text in a sans-serif font of this size, in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let ems: f64 = text.chars().map(ems).sum();
    ems * size * WIDE
}

fn ems(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.28,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' => 0.36,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.88,
        'A'..='Z' | '<' | '>' | '~' | '+' | '=' | '_' | '…' => 0.68,
        '\u{1100}'.. => 1.05,
        _ => 0.57,
    }
}
