//! Parses search terms; an event must match all of them.
//!
//! Text other than terms such as `dur>1ms` or `stream=7` matches names, blanks included; so does
//! text between terms.

use std::ops::Range;

use super::shown_kind::ShownKind;

/// A condition on events. Texts are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SearchTerm {
    /// Its name holds this.
    Name(String),
    /// It lasts so many nanoseconds.
    Dur(Range<i64>),
    /// It is shown as one of that kind.
    Kind(String),
    /// The file calls its category that.
    Category(String),
    /// It has that id on the screen.
    Id(u32),
    /// It has an argument of that value, or its name holds the text.
    Arg { key: String, value: String, text: String },
}

/// The terms of a text; none where it is empty.
pub(super) fn terms(text: &str) -> Vec<SearchTerm> {
    let mut terms = Vec::new();
    let mut plain: Option<Range<usize>> = None;
    for token in tokens(text) {
        match term(&text[token.clone()]) {
            Some(term) => {
                terms.extend(plain.take().map(|plain| name(&text[plain])));
                terms.push(term);
            }
            None => plain = Some(plain.map_or(token.start, |plain| plain.start)..token.end),
        }
    }
    let rest = if terms.is_empty() { Some(0..text.len()) } else { plain };
    terms.extend(rest.map(|plain| name(&text[plain])));
    terms.retain(|term| *term != SearchTerm::Name(String::new()));
    terms
}

fn name(text: &str) -> SearchTerm {
    SearchTerm::Name(text.to_lowercase())
}

/// The ranges of a text's words, separated by white space outside of quotes. An unclosed quote is a
/// letter.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let (mut start, mut closing) = (None, None);
    for (at, letter) in text.char_indices() {
        let is_quoted = closing.is_some_and(|closing| at <= closing);
        if letter == '"' && !is_quoted {
            closing = text[at + 1..].find('"').map(|length| at + 1 + length);
        }
        if !letter.is_whitespace() || is_quoted {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            tokens.push(start..at);
        }
    }
    tokens.extend(start.map(|start| start..text.len()));
    tokens
}

/// The term that a word is; none where it is a part of a name.
fn term(token: &str) -> Option<SearchTerm> {
    if let Some(text) = quoted(token) {
        return Some(name(text));
    }
    let known = match token.split_once(':') {
        Some(("kind", kind)) => {
            let kind = kind.to_lowercase();
            ShownKind::names().contains(&kind.as_str()).then_some(SearchTerm::Kind(kind))
        }
        Some(("cat", category)) => Some(unquoted(category)).filter(|text| !text.is_empty()).map(SearchTerm::Category),
        Some(("id", id)) => id.parse().ok().map(SearchTerm::Id),
        _ => token.strip_prefix("dur").and_then(durs).map(SearchTerm::Dur),
    };
    known.or_else(|| arg(token))
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('"'))
}

fn unquoted(text: &str) -> String {
    quoted(text).unwrap_or(text).to_lowercase()
}

/// `key=value`, each of which may stand in quotes.
fn arg(token: &str) -> Option<SearchTerm> {
    // The sign outside of quotes: an even number of them stands before it.
    let is_outside = |at: &usize| token[..*at].matches('"').count().is_multiple_of(2);
    let at = token.match_indices('=').map(|(at, _)| at).find(is_outside)?;
    let (key, value) = (unquoted(&token[..at]), unquoted(&token[at + 1..]));
    (!key.is_empty() && !value.is_empty()).then(|| SearchTerm::Arg { key, value, text: token.to_lowercase() })
}

/// The durations that `>1ms` and the like leave, in nanoseconds.
fn durs(condition: &str) -> Option<Range<i64>> {
    let size = if condition.get(1..2) == Some("=") { 2 } else { 1 };
    let (relation, size) = (condition.get(..size)?, nanoseconds(condition.get(size..)?)?);
    match relation {
        ">" => Some(size.checked_add(1)?..i64::MAX),
        ">=" => Some(size..i64::MAX),
        "<" => Some(i64::MIN..size),
        "<=" => Some(i64::MIN..size.checked_add(1)?),
        _ => None,
    }
}

/// A decimal number with a unit of time, or without one, in whole nanoseconds.
fn nanoseconds(text: &str) -> Option<i64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let num_decimals = match &text[end..] {
        "" | "ns" => 0,
        "us" | "µs" | "μs" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return None,
    };
    let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], ""));
    let fraction = fraction.trim_end_matches('0');
    let is_number = !(whole.is_empty() && fraction.is_empty()) && fraction.len() <= num_decimals;
    is_number.then(|| format!("{whole}{fraction:0<num_decimals$}").parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arg_of(key: &str, value: &str, text: &str) -> SearchTerm {
        SearchTerm::Arg { key: key.into(), value: value.into(), text: text.into() }
    }

    #[test]
    fn a_text_without_terms_is_one_name() {
        let plain = [
            "void at::native<A, B>(int) ",
            "aten::add",
            " ",
            "std::less<int>",
            "dur>abc",
            "dur>",
            "dur",
            "dur>1.5",
            "dur>1e3",
            "dur>1..2ms",
            "dur>99999999999999999999s",
            "dur>é",
            "durée<3",
            "kind:nothing",
            "id:-1",
            "id:4294967296",
            "cat:",
            "a \"b",
            "=7",
            "stream=",
        ];
        for text in plain {
            assert_eq!(terms(text), [SearchTerm::Name(text.to_lowercase())], "{text}");
        }
        assert_eq!(terms(""), []);
        assert_eq!(terms("\"\""), []);
    }

    #[test]
    fn durations_have_units() {
        let durs = |text: &str| match terms(text).as_slice() {
            [SearchTerm::Dur(durs)] => durs.clone(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(durs("dur>1ms"), 1_000_001..i64::MAX);
        assert_eq!(durs("dur>=250"), 250..i64::MAX);
        assert_eq!(durs("dur<10us"), i64::MIN..10_000);
        assert_eq!(durs("dur<=1.50µs"), i64::MIN..1_501);
        assert_eq!(durs("dur>.5s"), 500_000_001..i64::MAX);
        assert_eq!(durs("dur>=2.ns"), 2..i64::MAX);
    }

    #[test]
    fn all_terms_are_found_and_words_between_them_stay_together() {
        let expected = [
            SearchTerm::Name("all  reduce".into()),
            SearchTerm::Dur(i64::MIN..5),
            SearchTerm::Name("b".into()),
            SearchTerm::Id(7),
        ];
        assert_eq!(terms(" All  Reduce dur<5 b id:7"), expected);
        assert_eq!(
            terms("kind:Kernel cat:CPU_op"),
            [SearchTerm::Kind("kernel".into()), SearchTerm::Category("cpu_op".into())]
        );
        assert_eq!(terms("\"dur>1ms\""), [SearchTerm::Name("dur>1ms".into())]);
        assert_eq!(terms("\"a b\" c"), [SearchTerm::Name("a b".into()), SearchTerm::Name("c".into())]);
    }

    #[test]
    fn arguments_may_have_spaces_in_quotes() {
        assert_eq!(terms("stream=7"), [arg_of("stream", "7", "stream=7")]);
        assert_eq!(terms("\"External id\"=12"), [arg_of("external id", "12", "\"external id\"=12")]);
        assert_eq!(terms("name=\"a = b\""), [arg_of("name", "a = b", "name=\"a = b\"")]);
        assert_eq!(terms("lr=0.1"), [arg_of("lr", "0.1", "lr=0.1")]);
    }
}
