//! Parses mangled C++ names. Profilers leave very long names mangled.

use super::Label;
use super::words::{is_general, is_ordinary, is_vague, is_wrapper};

/// Later parameters of a kernel are ignored.
const MOST_GIVEN: usize = 16;

pub(super) fn label(name: &str) -> Option<Label<'_>> {
    let rest = name.strip_prefix("_ZTS").or_else(|| name.strip_prefix("_Z"))?;
    let (scope, kernel, rest) = last_parts(rest)?;
    if !is_general(kernel) {
        let scope = scope.filter(|_| is_vague(kernel));
        return Some(scope.map_or_else(|| Label::at(kernel, ""), |scope| Label::at(format!("{scope}::{kernel}"), "")));
    }
    Some(given(rest).map_or_else(|| Label::at(kernel, ""), |given| Label::at(given, kernel)))
}

/// The path of a mangled name: `deep_ep::intranode::dispatch`.
pub(super) fn path(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_ZTS").or_else(|| name.strip_prefix("_Z"))?;
    rest = rest.strip_prefix('N').unwrap_or(rest).trim_start_matches(['K', 'V']);
    let mut parts = Vec::new();
    while let Some((part, after)) = part(outer(rest)) {
        parts.push(part);
        rest = after;
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

/// The last part of a path, and the text after it.
fn last_part(text: &str) -> Option<(&str, &str)> {
    last_parts(text).map(|(_, last, rest)| (last, rest))
}

/// The part before the last of a path, the last, and the text after it.
fn last_parts(text: &str) -> Option<(Option<&str>, &str, &str)> {
    let mut rest = text.strip_prefix('N').unwrap_or(text).trim_start_matches(['K', 'V']);
    let (mut scope, mut last) = (None, None);
    loop {
        rest = outer(rest);
        let Some((part, after)) = part(rest) else { break };
        rest = after;
        if !part.starts_with("_GLOBAL__N_") {
            scope = last.replace(part);
        }
    }
    Some((scope, last?, rest))
}

/// The text after names that were met before: `S_`, `S1_`, `St`.
fn outer(text: &str) -> &str {
    let Some(rest) = text.strip_prefix('S') else { return text };
    if let Some(rest) = rest.strip_prefix('t') {
        return rest;
    }
    rest.split_once('_').filter(|(number, _)| number.len() <= 3).map_or(text, |(_, rest)| rest)
}

/// `6kentry`
fn part(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    (length > 0).then_some(())?;
    Some((rest.get(..length)?, rest.get(length..)?))
}

/// The first distinctive class among the arguments, inside of classes that only wrap it.
fn given(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('I')?;
    let mut wrapper = None;
    for _ in 0..MOST_GIVEN {
        rest = rest.trim_start_matches(|letter: char| letter.is_ascii_lowercase()); // types of numbers
        if let Some(literal) = rest.strip_prefix('L') {
            rest = literal.split_once('E')?.1;
            continue;
        }
        let Some((class, after)) = rest.starts_with('N').then(|| last_part(rest)).flatten() else { break };
        if is_wrapper(class) {
            wrapper = Some(class);
            rest = after.strip_prefix('I').unwrap_or("");
        } else if is_ordinary(class) {
            rest = after.strip_prefix('E').unwrap_or("");
        } else {
            return Some(class);
        }
    }
    wrapper
}
