//! Quotes text of a recording, so that it can neither break a digest nor pose as part of it.

use crate::label::Label;

/// Characters of a name in Markdown.
const MAX_NAME: usize = 80;
/// Characters of a sentence that may contain names.
const MAX_SENTENCE: usize = 320;
/// Characters of a name or a sentence in JSON.
const MAX_VALUE: usize = 400;

/// A name as a code span. `is_cell` says that it stands in a table.
pub(super) fn name_span(name: &str, is_cell: bool) -> String {
    span(&cut(&visible(name), MAX_NAME), is_cell)
}

/// A sentence as a code span.
pub(super) fn sentence_span(text: &str, is_cell: bool) -> String {
    span(&ended(&visible(text), MAX_SENTENCE), is_cell)
}

/// A name or a sentence as a value of JSON.
pub(super) fn plain_value(text: &str) -> String {
    ended(&visible(text), MAX_VALUE)
}

/// Escapes characters that are not seen, or that change the direction of others.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if is_hidden(char) {
            out.extend(char.escape_unicode());
        } else {
            out.push(char);
        }
    }
    out
}

fn span(text: &str, is_cell: bool) -> String {
    if text.is_empty() {
        return String::from("(empty)");
    }
    let text = text.replace('`', "\\u{60}");
    format!("`{}`", if is_cell { text.replace('|', "\\|") } else { text })
}

/// The distinctive part of a long name, or else both of its ends.
fn cut(name: &str, limit: usize) -> String {
    let fits = |text: &str| text.chars().count() <= limit;
    let name = Label::fitting(name, fits);
    if fits(&name) {
        return name.into_owned();
    }
    let tail = limit / 3;
    let chars: Vec<char> = name.chars().collect();
    let (first, last) = (&chars[..limit - tail - 1], &chars[chars.len() - tail..]);
    first.iter().chain(&['…']).chain(last).collect()
}

/// The beginning of a long text.
fn ended(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some(_) => text.chars().take(limit - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Controls, separators of lines, blanks other than the usual one, marks of direction, characters
/// without a shape, and those for private use.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || char.is_whitespace() && char != ' '
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{8e2}'
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}'
            | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::{MAX_NAME, MAX_SENTENCE, name_span, plain_value, sentence_span};

    #[test]
    fn text_stays_inside_its_quotes() {
        assert_eq!(name_span("a`b|c", true), "`a\\u{60}b\\|c`");
        assert_eq!(name_span("a\n# b\u{202e}\u{e0041}\u{a0}", false), "`a\\u{a}# b\\u{202e}\\u{e0041}\\u{a0}`");
        assert_eq!(sentence_span("``` end", false), "`\\u{60}\\u{60}\\u{60} end`");
        assert_eq!([name_span("", false), plain_value("\u{1b}[2J")], ["(empty)", "\\u{1b}[2J"]);
    }

    #[test]
    fn long_text_is_cut() {
        let [name, sentence] = [name_span(&"x".repeat(5_000), false), sentence_span(&"y".repeat(5_000), false)];
        assert_eq!([name.chars().count(), sentence.chars().count()], [MAX_NAME + 2, MAX_SENTENCE + 2]);
        assert!(name.contains('…') && sentence.ends_with("…`"));
    }
}
