//! Names that `PyTorch`, its libraries and the runtimes of devices have. `scripts/public_names.py`
//! lists them from the packages that `public_names.sources.txt` names.

use std::cell::OnceCell;
use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

/// Sections of sorted names, one a line, below a line `# kind group`. A character stands for what a
/// name shares with the one before it: `0` for nothing, `1` for one letter.
const LIST: &str = include_str!("public_names.txt");

/// The names by section.
#[derive(Debug)]
pub(super) struct PublicNames {
    sections: FxHashMap<&'static str, String>,
    /// Words of the names of operators: compilers name a kernel after the operators in it.
    operator_words: OnceCell<FxHashSet<String>>,
}

impl Default for PublicNames {
    fn default() -> Self {
        let sections = LIST.trim_start_matches("# ").split("\n# ").filter_map(|section| section.split_once('\n'));
        let named = sections.map(|(title, lines)| (title, expanded(lines)));
        Self { sections: named.collect(), operator_words: OnceCell::new() }
    }
}

/// The names of a section, in full.
fn expanded(lines: &str) -> String {
    let mut all = String::new();
    let mut before = 0;
    for line in lines.lines() {
        let (shared, rest) = line.split_at(1);
        let shared = usize::from(shared.as_bytes()[0] - b'0');
        let start = all.len();
        let name = all[before..before + shared].to_owned();
        all.push_str(&name);
        all.push_str(rest);
        all.push('\n');
        before = start;
    }
    all
}

impl PublicNames {
    /// Whether a section has a name.
    pub(super) fn has(&self, section: &str, name: &str) -> bool {
        self.sections.get(section).is_some_and(|names| contains(names, name))
    }

    /// The groups of a kind, each with its names.
    pub(super) fn groups(&self, kind: &'static str) -> impl Iterator<Item = (&'static str, &str)> {
        let group = move |title: &&'static str| title.strip_prefix(kind)?.strip_prefix(' ');
        self.sections.iter().filter_map(move |(title, names)| Some((group(title)?, &**names)))
    }

    /// Whether a word, in lower case, is one of the name of an operator.
    pub(super) fn is_operator_word(&self, word: &str) -> bool {
        let all = || self.groups("operator").flat_map(|(_, names)| words(names)).map(str::to_ascii_lowercase).collect();
        self.operator_words.get_or_init(all).contains(word)
    }
}

/// Whether sorted lines have a name.
pub(super) fn contains(lines: &str, name: &str) -> bool {
    let (mut start, mut end) = (0, lines.len());
    while start < end {
        let middle = usize::midpoint(start, end);
        let from = lines[..middle].rfind('\n').map_or(0, |at| at + 1);
        let to = lines[middle..].find('\n').map_or(lines.len(), |at| middle + at);
        match name.cmp(&lines[from..to]) {
            Ordering::Less => end = from,
            Ordering::Greater => start = to + 1,
            Ordering::Equal => return !name.is_empty(),
        }
    }
    false
}

/// The words of a name, as `snake_case`, `camelCase` and digits divide it: `CUDAFunctor_add2` has
/// `CUDA`, `Functor` and `add`.
pub(super) fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_ascii_alphabetic()).flat_map(|run| {
        let mut rest = run;
        std::iter::from_fn(move || {
            let (word, after) = rest.split_at(word_length(rest));
            rest = after;
            (!word.is_empty()).then_some(word)
        })
    })
}

/// The length of the first word among letters. The last of several capitals starts a word if a
/// small letter follows.
fn word_length(letters: &str) -> usize {
    let is_small = |at: usize| letters.as_bytes().get(at).is_some_and(u8::is_ascii_lowercase);
    let num_capitals = letters.bytes().take_while(u8::is_ascii_uppercase).count();
    match num_capitals {
        0 | 1 if is_small(num_capitals) => {
            num_capitals + letters[num_capitals..].bytes().take_while(u8::is_ascii_lowercase).count()
        }
        _ if is_small(num_capitals) => num_capitals - 1,
        _ => num_capitals,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_sorted() {
        let names = PublicNames::default();
        assert!(names.sections.len() > 30);
        for (section, lines) in &names.sections {
            assert!(lines.is_ascii() && lines.lines().is_sorted(), "{section}");
            assert!(lines.lines().all(|name| contains(lines, name)), "{section}");
        }
    }

    #[test]
    fn names_are_written_in_full() {
        assert_eq!(expanded("0add\n3_\n0mul\n1m"), "add\nadd_\nmul\nmm\n");
    }

    #[test]
    fn names_are_found_exactly() {
        for name in ["", "a", "ab", "abd", "b", "bcd", "z"] {
            assert_eq!(contains("abc\nb\nbc\n", name), name == "b", "{name}");
        }
        assert!(!contains("", "a") && !contains("", ""));
    }

    #[test]
    fn names_have_words() {
        let of = |name| words(name).collect::<Vec<_>>();
        assert_eq!(of("CUDAFunctor_add2"), ["CUDA", "Functor", "add"]);
        assert_eq!(of("BFloat16"), ["B", "Float"]);
        assert_eq!(of("urEnqueueUSMMemcpy"), ["ur", "Enqueue", "USM", "Memcpy"]);
        assert_eq!(of("_s3cr3t"), ["s", "cr", "t"]);
    }
}
