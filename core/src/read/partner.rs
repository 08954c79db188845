//! Which Execution Trace was recorded with which Kineto trace, where files come without a folder's order.

use serde::Deserialize;

/// Words that say what sort of file it is, and how it is packed.
const WORDS: [&str; 13] =
    ["kineto", "trace", "torch", "pytorch", "execution", "et", "eg", "pt", "json", "gz", "xz", "zst", "kscope"];

/// What is known of a file before it is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Told {
    /// Its name.
    pub name: String,
    /// The rank in its head.
    pub rank: Option<i64>,
    /// Whether it is an Execution Trace.
    pub is_execution: bool,
}

/// The partner of each file, by its place among them: those with names that are equal but for words such as `kineto`, then
/// those of the same rank, then the only ones left of both sorts.
///
/// A rank is what the file says, else the number behind `rank` in its name, else, of Execution Traces that do not say it, the
/// last number in the name.
///
/// ```
/// use kinetoscope::read::{Told, partners};
/// let told = |name: &str, rank, is_execution| Told { name: String::from(name), rank, is_execution };
/// let files = [told("worker1.123.pt.trace.json", Some(1), false), told("worker0.124.pt.trace.json", Some(0), false),
///     told("dlrm_eg_0.json", None, true), told("dlrm_eg_1.json", None, true)];
/// assert_eq!(partners(&files), [Some(3), Some(2), Some(1), Some(0)]);
/// ```
pub fn partners(files: &[Told]) -> Vec<Option<usize>> {
    let mut found = vec![None; files.len()];
    pair(files, &mut found, |file| Some(bare(&file.name)));
    pair(files, &mut found, |file| rank(file).map(|rank| rank.to_string()));
    pair(files, &mut found, |file| match rank(file) {
        None if file.is_execution => numbers(&file.name).last().map(|number| number.to_string()),
        rank => rank.map(|rank| rank.to_string()),
    });
    pair(files, &mut found, |_| Some(String::new()));
    found
}

/// Pairs what is left and is the only one of its sort with a key.
fn pair(files: &[Told], found: &mut [Option<usize>], key: impl Fn(&Told) -> Option<String>) {
    let left = |is_execution: bool| {
        let is_left = |at: &usize| files[*at].is_execution == is_execution && found[*at].is_none();
        let mut keyed: Vec<_> =
            (0..files.len()).filter(is_left).filter_map(|at| Some((key(&files[at])?, at))).collect();
        keyed.sort_unstable();
        keyed
    };
    let (kinetos, executions) = (left(false), left(true));
    let only = |among: &[(String, usize)], key: &str| {
        let from = among.partition_point(|(other, _)| other.as_str() < key);
        let is_same = |at: usize| among.get(at).is_some_and(|(other, _)| other == key);
        (is_same(from) && !is_same(from + 1)).then(|| among[from].1)
    };
    for (key, kineto) in &kinetos {
        if let (Some(_), Some(execution)) = (only(&kinetos, key), only(&executions, key)) {
            (found[*kineto], found[execution]) = (Some(execution), Some(*kineto));
        }
    }
}

fn rank(file: &Told) -> Option<i64> {
    let lower = file.name.to_lowercase();
    let named = |word: &str| {
        let (_, behind) = lower.split_once(word)?;
        let digits = behind.trim_start_matches(['-', '_']);
        numbers(digits).next().filter(|_| digits.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    file.rank.or_else(|| ["rank", "kineto_trace_", "torch_et_"].into_iter().find_map(named))
}

fn numbers(name: &str) -> impl Iterator<Item = i64> {
    name.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

/// What the names of the two files of a recording have in common.
fn bare(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(['.', '_', '-']).filter(|word| !word.is_empty() && !WORDS.contains(word));
    words.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::{Told, partners};

    fn files(all: &[(&str, Option<i64>)]) -> Vec<Told> {
        let told = |(name, rank): &(&str, Option<i64>)| Told {
            name: String::from(*name),
            rank: *rank,
            is_execution: name.starts_with("et") || name.contains("_et"),
        };
        all.iter().map(told).collect()
    }

    #[test]
    fn names_say_more_than_ranks_and_ranks_more_than_order() {
        let found = partners(&files(&[
            ("kineto_trace_0.json.gz", None),
            ("kineto_trace_1.json.gz", None),
            ("torch_et_1.json", None),
            ("torch_et_0.json.gz", None),
        ]));
        assert_eq!(found, [Some(3), Some(2), Some(1), Some(0)]);
        let found = partners(&files(&[("a.json", Some(4)), ("b.json", Some(5)), ("run_rank-5_et.json", None)]));
        assert_eq!(found, [None, Some(2), Some(1)]);
        assert_eq!(partners(&files(&[("a.json", None), ("x_et.json", None)])), [Some(1), Some(0)]);
    }

    #[test]
    fn what_is_not_the_only_one_is_left_alone() {
        let found = partners(&files(&[("a.json", None), ("b.json", None), ("x_et.json", None)]));
        assert_eq!(found, [None, None, None]);
        let twice = partners(&files(&[("a.json", Some(0)), ("b.json", Some(0)), ("et_rank_0.json", None)]));
        assert_eq!(twice, [None, None, None]);
        assert_eq!(partners(&[]), []);
    }
}
