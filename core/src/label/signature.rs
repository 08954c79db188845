//! Parses C++ signatures of kernels.

use std::borrow::Cow;

use super::Label;
use super::words::{is_general, is_number, is_ordinary, is_vague, is_wrapper};

/// How compilers write a namespace without a name.
const NOWHERE: [&str; 3] = ["(anonymous namespace)", "<unnamed>", "{anonymous}"];

/// Limits for the parsed length and depth of a name: a file may contain one of any size.
const MOST: usize = 4_096;
const DEEPEST: usize = 8;

pub(super) fn label(name: &str) -> Option<Label<'_>> {
    let called = QualifiedName::of_kernel(name)?;
    if !is_general(called.name) {
        return Some(Label::at(called.short(), ""));
    }
    let mut given: Vec<_> = arguments(called.arguments).filter_map(|one| telling(one, DEEPEST)).collect();
    given.dedup();
    let telling = match &given[..] {
        [] if called.name.eq_ignore_ascii_case("kernel") => Cow::Borrowed(called.scope),
        [] => Cow::Borrowed(""),
        [one] => Cow::Borrowed(*one),
        several => Cow::Owned(several.join(", ")),
    };
    Some(if telling.is_empty() { Label::at(called.name, "") } else { Label::at(telling, called.name) })
}

/// `softmax_warp_forward<float, 8>` of a kernel that names its operation: without scopes and
/// parameters.
pub(super) fn plain(name: &str) -> Option<String> {
    let called =
        QualifiedName::of_kernel(name).filter(|called| !is_general(called.name) && !called.arguments.is_empty())?;
    let mut given = String::new();
    let mut rest =
        NOWHERE.iter().fold(Cow::Borrowed(called.arguments), |text, nowhere| text.replace(nowhere, "").into());
    if rest.contains(['(', '{']) {
        return None;
    }
    while let Some((before, after)) = rest.split_once("::") {
        given.push_str(before.trim_end_matches(is_letter));
        rest = after.to_owned().into();
    }
    Some(format!("{}<{given}{}>", called.short(), rest.trim_end()))
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The signature without its return type; `None` for other texts with brackets, such as sentences
/// or Python calls.
fn signature(name: &str) -> Option<&str> {
    if let Some(rest) = name.strip_prefix("std::enable_if<") {
        return rest.split_once(">::type ").map(|(_, rest)| rest);
    }
    match name.strip_prefix("void ") {
        // Every template of a kernel has it.
        Some(rest) => rest.contains(['<', '(']).then_some(rest),
        None => is_signature(name).then_some(name),
    }
}

/// Whether a text without a return type is a function with parameters, or a class with arguments.
fn is_signature(text: &str) -> bool {
    let mut path = NamePath::new(text);
    let first = path.next();
    let is_scoped = first.is_some_and(|(_, arguments)| arguments.is_empty()) && path.rest.starts_with("::");
    let has_arguments = |part: &(&str, &str)| !part.1.is_empty();
    let is_template = first.iter().any(has_arguments) || path.any(|part| has_arguments(&part));
    let rest = NamePath::after(text);
    let Some(inside) = rest.strip_prefix('(') else { return is_template && is_scoped && rest.is_empty() };
    let (parameters, behind) = inside.split_at(closing(inside));
    let behind = behind.strip_prefix(')').unwrap_or("").trim_start();
    let is_end = behind.is_empty() || ["const", "[clone", ".kd"].iter().any(|end| behind.starts_with(end));
    let is_type = |one: &str| {
        let is_class = one.contains("::") && is_scoped || one.contains('<') && one.contains('>');
        !one.contains('=') && (one.ends_with(['*', '&']) || is_class || one.split(' ').all(is_number))
    };
    is_end && (is_scoped || !is_template) && arguments(parameters).any(is_type)
}

/// The first function or class of a text: the last part of its path, with its arguments.
struct QualifiedName<'a> {
    name: &'a str,
    /// The part of the path before it; empty without one.
    scope: &'a str,
    /// Between `<` and `>`; empty without them.
    arguments: &'a str,
}

impl<'a> QualifiedName<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut path = NamePath::new(text);
        let mut last = path.next()?;
        let mut scope = "";
        for part in path {
            // Of `f::operator()` the function is `f`.
            if part.0 != "operator" {
                scope = last.0;
                last = part;
            }
        }
        let (name, arguments) = last;
        (name.len() > 2).then_some(Self { name, scope, arguments })
    }

    /// The name, with its scope if many functions have the name.
    fn short(&self) -> Cow<'a, str> {
        let is_clear = self.scope.is_empty() || !is_vague(self.name);
        if is_clear { Cow::Borrowed(self.name) } else { Cow::Owned(format!("{}::{}", self.scope, self.name)) }
    }

    fn of_kernel(name: &'a str) -> Option<Self> {
        let beginning = (0..4).find_map(|less| name.get(..MOST - less)).unwrap_or(name);
        let signature = signature(beginning)?;
        // An operator is told by its class, which may be a namespace: nothing tells them apart.
        (!NamePath::new(signature).any(|part| part.0 == "operator")).then(|| Self::of(signature))?
    }
}

/// Parts of a path, each with its arguments, up to the parameters of a function or a blank.
struct NamePath<'a> {
    rest: &'a str,
}

impl<'a> NamePath<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The rest after the path.
    fn after(text: &'a str) -> &'a str {
        let mut path = Self::new(text);
        while path.next().is_some() {}
        path.rest
    }
}

impl<'a> Iterator for NamePath<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = self.rest.strip_prefix("::").unwrap_or(self.rest);
        while let Some(rest) = NOWHERE.iter().find_map(|nowhere| text.strip_prefix(nowhere)?.strip_prefix("::")) {
            text = rest;
        }
        let end = text.find(|letter: char| !is_letter(letter) && letter != '~').unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        if name.is_empty() {
            return None;
        }
        let (arguments, rest) = match rest.strip_prefix('<') {
            Some(inside) => inside.split_at(closing(inside)),
            None => ("", rest),
        };
        self.rest = if arguments.is_empty() { rest } else { rest.strip_prefix('>').unwrap_or(rest) };
        Some((name, arguments))
    }
}

/// Where the bracket ends that a text is inside of, or the text.
fn closing(inside: &str) -> usize {
    let mut depth = 0_usize;
    let ends = inside.bytes().position(|byte| {
        match byte {
            b'<' | b'(' | b'{' => depth += 1,
            b'>' | b')' | b'}' if depth == 0 => return true,
            b'>' | b')' | b'}' => depth -= 1,
            _ => {}
        }
        false
    });
    ends.unwrap_or(inside.len())
}

/// The arguments, one by one.
fn arguments(mut list: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut depth = 0_usize;
        let end = list.bytes().position(|byte| {
            match byte {
                b'<' | b'(' | b'{' => depth += 1,
                b'>' | b')' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            byte == b',' && depth == 0
        });
        let (first, rest) = end.map_or((list, ""), |end| (&list[..end], &list[end + 1..]));
        list = rest;
        (!first.is_empty()).then(|| first.trim())
    })
}

/// The distinctive argument of a kernel.
fn telling(argument: &str, deepest: usize) -> Option<&str> {
    // A template of functions is told with its type, a function by its address.
    let argument = argument.strip_prefix("void ").unwrap_or(argument);
    let argument = argument.trim_start_matches(['(', '&']);
    if argument.starts_with(|letter: char| letter.is_ascii_digit()) || argument.ends_with(['*', '&']) {
        return None;
    }
    let called = QualifiedName::of(argument).filter(|called| !is_ordinary(called.name))?;
    if !is_wrapper(called.name) || deepest == 0 {
        return Some(called.name);
    }
    arguments(called.arguments).find_map(|one| telling(one, deepest - 1)).or(Some(called.name))
}
