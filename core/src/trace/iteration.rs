//! Parses names of iterations, and keeps the user's.

use serde_json::{Value, json};

use super::Trace;

/// The number in the name of an iteration, as the profiler gives it: `ProfilerStep#7`, in some
/// files `ProfilerStep # 7`.
pub fn iteration_number(name: &str) -> Option<i64> {
    let number = name.strip_prefix("ProfilerStep")?.trim_start().strip_prefix('#')?;
    number.trim_start().parse().ok()
}

/// Key of the header that keeps the names of the events that mark iterations.
const PATTERNS: &str = "kinetoscope_iterations";

/// In place of a name: iterations are what long gaps divide.
pub(crate) const GAPS: &str = "gaps";

impl Trace {
    /// Names of the events that mark iterations, as the user gave them; `*` stands for any text.
    pub fn iteration_patterns(&self) -> Vec<String> {
        let Some(Value::Array(patterns)) = self.header_value(PATTERNS) else { return Vec::new() };
        patterns.iter().filter_map(|pattern| Some(pattern.as_str()?.to_owned())).collect()
    }

    /// For each text, whether it is a name that the user gave; `None` if the user gave none.
    pub(crate) fn iteration_names(&self) -> Option<Vec<bool>> {
        let patterns = self.iteration_patterns();
        let is_one = |text: &str| patterns.iter().any(|pattern| is_like(text, pattern));
        (!patterns.is_empty()).then(|| self.strings.iter().map(is_one).collect())
    }

    /// Whether the user wants the gaps between calls to divide iterations.
    pub(crate) fn has_iterations_by_gaps(&self) -> bool {
        matches!(&self.iteration_patterns()[..], [only] if only == GAPS)
    }

    /// Sets the names of the events that mark iterations; none for the usual ones. Applies when the
    /// trace is linked.
    pub fn set_iteration_patterns(&mut self, patterns: &[String]) {
        let key = self.strings.intern(PATTERNS);
        self.header.retain(|(name, _)| *name != key);
        if !patterns.is_empty() {
            let value = self.strings.intern(&json!(patterns).to_string());
            self.header.push((key, value));
        }
    }
}

/// Whether a name is like a pattern, in which `*` stands for any text.
pub(crate) fn is_like(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').map_or((None, rest), |(middle, last)| (Some(middle), last));
    for part in middle.into_iter().flat_map(|middle| middle.split('*')) {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, names, others) in [
            ("step", &["step"][..], &["steps", "", "ste"][..]),
            ("step*", &["step", "step 7"], &["astep", "ste"]),
            ("*step", &["step", "a step"], &["step 7"]),
            ("a*b*c", &["abc", "a-b-c", "abbcc"], &["ac", "acb", "abcd"]),
            ("ab*ba", &["abba", "ab-ba"], &["aba", "ab"]),
            ("*", &["", "anything"], &[]),
            ("**", &["", "anything"], &[]),
            ("step[*]", &["step[1]"], &["step1"]),
        ] {
            assert!(names.iter().all(|name| is_like(name, pattern)), "{pattern}");
            assert!(!others.iter().any(|name| is_like(name, pattern)), "{pattern}");
        }
    }

    #[test]
    fn patterns_are_kept_in_the_header() {
        let mut trace = Trace::default();
        for patterns in [vec![String::from("a\"*")], vec![String::from("b"), String::from("c")], Vec::new()] {
            trace.set_iteration_patterns(&patterns);
            assert_eq!(trace.iteration_patterns(), patterns);
        }
        assert_eq!(trace.header, []);
    }

    #[test]
    fn a_number_is_found_with_spaces_and_without() {
        let names =
            ["ProfilerStep#7", "ProfilerStep # 12", "ProfilerStep#", "ProfilerStep#x", "ProfilerStep7", "Step#7"];
        assert_eq!(names.map(iteration_number), [Some(7), Some(12), None, None, None, None]);
    }
}
