//! Reads the rank that a merger wrote into the name of a process.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::id::StrId;
use crate::sort;
use crate::trace::Trace;

/// Words for a position in a job, from the slowest to the fastest dimension: neighbours in the last
/// one have neighbouring ranks.
const DIMENSIONS: [&str; 9] = ["rank", "pp", "dp", "pcp", "dcp", "cp", "ep", "sp", "tp"];

/// The most ranks that a file may have.
pub(super) const MAX_RANKS: usize = 1_024;

/// The dimension that is the rank itself.
const RANK: u8 = 0;

/// The longest separator between a word and its number, as in `rank: 3`.
const MAX_SEPARATOR: usize = 2;

/// The rank that a text names: `TP00-DP01` of `[TP00-DP01] 4242`, `rank 3` of `RANK 3 - GPU`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RankLabel {
    /// Dimensions with their numbers, sorted.
    numbers: Vec<(u8, u32)>,
    /// The text in brackets without a known dimension.
    other: String,
}

impl RankLabel {
    /// The labels of processes, in their `pid`, or else in any of their names: mergers add a second
    /// `process_name`.
    pub(super) fn of_processes(trace: &Trace) -> FxHashMap<StrId, Self> {
        let mut labels: FxHashMap<StrId, Option<Self>> = FxHashMap::default();
        let named = trace.processes.iter().map(|row| row.process);
        for process in trace.tracks.iter().map(|track| track.process).chain(named) {
            labels.entry(process).or_insert_with(|| Self::of_pid(trace.strings.text(process)));
        }
        let name_key = trace.strings.get(b"process_name");
        for row in trace.metadata.iter().filter(|row| Some(row.name) == name_key) {
            let label = labels.entry(row.process).or_default();
            if label.is_none() {
                let mut values = trace.args.pairs(&trace.strings, row.args).filter(|(key, _)| *key == "name");
                *label = values.find_map(|(_, name)| Self::of_text(&name));
            }
        }
        labels.into_iter().filter_map(|(process, label)| Some((process, label?))).collect()
    }

    /// The label in a `pid`: that in brackets before it, or any other.
    fn of_pid(pid: &str) -> Option<Self> {
        let Some((label, _)) = pid.strip_prefix('[').and_then(|pid| pid.split_once(']')) else {
            return Self::of_text(pid);
        };
        let other = || (!label.is_empty()).then(|| Self { other: label.to_owned(), ..Self::default() });
        Self::of_text(label).or_else(|| short(label)).or_else(other)
    }

    /// The label before the name of an event, `[R3] `, and the name itself.
    pub(super) fn of_event_name(name: &str) -> Option<(Self, &str)> {
        let (label, rest) = name.strip_prefix('[')?.split_once("] ")?;
        Some((Self::of_text(label).or_else(|| short(label))?, rest))
    }

    /// The label of a number that a merger added to the arguments.
    pub(super) fn of_number(number: u32) -> Self {
        Self { numbers: vec![(RANK, number)], ..Self::default() }
    }

    /// All dimensions in a text, each a word of its own with a number.
    fn of_text(text: &str) -> Option<Self> {
        let mut numbers: Vec<(u8, u32)> = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic()) {
            let word = word(&rest[start..]);
            let is_begun = rest[..start].ends_with(|before: char| before.is_alphanumeric());
            rest = &rest[start + word.len()..];
            let Some(dimension) = dimension(word).filter(|_| !is_begun) else { continue };
            // `tp_rank 3` is a position in that dimension.
            let after = rest.trim_start_matches(['_', ' ', '-']);
            if dimension != RANK && self::dimension(self::word(after)) == Some(RANK) {
                rest = &after[self::word(after).len()..];
            }
            // The rank of the job and that of a node are both ranks: the first counts.
            let is_first = numbers.iter().all(|(other, _)| *other != dimension);
            if let Some(number) = number(rest).filter(|_| is_first) {
                numbers.push((dimension, number));
            }
        }
        sort::ascending(&mut numbers);
        (!numbers.is_empty()).then(|| Self { numbers, other: String::new() })
    }

    /// The number in a dimension.
    fn number(&self, dimension: u8) -> Option<u32> {
        self.numbers.iter().find(|(other, _)| *other == dimension).map(|(_, number)| *number)
    }
}

impl fmt::Display for RankLabel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.other)?;
        for (at, (dimension, number)) in self.numbers.iter().enumerate() {
            let separator = if at == 0 { "" } else { "-" };
            match *dimension {
                RANK => write!(out, "{separator}rank {number}")?,
                other => write!(out, "{separator}{}{number}", DIMENSIONS[usize::from(other)].to_ascii_uppercase())?,
            }
        }
        Ok(())
    }
}

/// The name of an event without the label that a merger put before it.
pub(crate) fn name_without_rank(name: &str) -> Option<&str> {
    RankLabel::of_event_name(name).map(|(_, name)| name)
}

/// The rank of each label: its number, if one dimension alone tells all labels apart. `None` if
/// only their order is known.
pub(super) fn ranks(labels: &[RankLabel]) -> Option<Vec<i64>> {
    let fastest_first = (1..DIMENSIONS.len() as u8).rev();
    std::iter::once(RANK).chain(fastest_first).find_map(|dimension| {
        let numbers: Option<Vec<i64>> = labels.iter().map(|label| label.number(dimension).map(i64::from)).collect();
        numbers.filter(|numbers| {
            let mut sorted = numbers.clone();
            sort::ascending(&mut sorted);
            sorted.windows(2).all(|pair| pair[0] != pair[1])
        })
    })
}

/// The letters at the start of a text.
fn word(text: &str) -> &str {
    &text[..text.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(text.len())]
}

fn dimension(word: &str) -> Option<u8> {
    DIMENSIONS.iter().position(|other| word.eq_ignore_ascii_case(other)).map(|at| at as u8)
}

/// The number that follows a word, perhaps after a separator.
fn number(text: &str) -> Option<u32> {
    let digits = text.trim_start_matches([' ', '_', '-', ':', '=', '#']);
    if text.len() - digits.len() > MAX_SEPARATOR {
        return None;
    }
    digits[..digits.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(digits.len())].parse().ok()
}

/// `R3`, which only brackets make a label.
fn short(label: &str) -> Option<RankLabel> {
    let number = label.strip_prefix(['R', 'r'])?;
    let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
    number.parse().ok().filter(|_| is_number).map(RankLabel::of_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(pid: &str) -> Option<String> {
        RankLabel::of_pid(pid).map(|label| label.to_string())
    }

    #[test]
    fn mergers_name_ranks_in_many_ways() {
        let cases = [
            ("[TP00] 4242", "TP0"),
            ("[TP01-DP02-PP03-EP04] Spans", "PP3-DP2-EP4-TP1"),
            ("[DP00_TP01] 7", "DP0-TP1"),
            ("[R3] 7", "rank 3"),
            ("[Unknown] 7", "Unknown"),
            ("rank_0_4242", "rank 0"),
            ("rank3_Spans", "rank 3"),
            ("rank 12: 4242", "rank 12"),
            ("Rank 5", "rank 5"),
            ("RANK 3 - GPU", "rank 3"),
            ("global_rank=7", "rank 7"),
            ("rank 9 (local rank 1)", "rank 9"),
            ("tp_rank: 2", "TP2"),
            ("VLLM::Worker_DP0_TP1_EP1", "DP0-EP1-TP1"),
            ("sglang::scheduler_TP7", "TP7"),
        ];
        for (pid, expected) in cases {
            assert_eq!(label(pid).as_deref(), Some(expected), "{pid}");
        }
    }

    #[test]
    fn other_processes_have_no_label() {
        for pid in ["4242", "0", "Spans", "python3.10", "frank 3", "rank", "rank of 8", "http0", "[] 7", "GPU 0", ""] {
            assert_eq!(label(pid), None, "{pid}");
        }
    }

    #[test]
    fn one_dimension_that_tells_labels_apart_is_the_rank() {
        let ranks_of = |pids: &[&str]| {
            let labels: Vec<_> = pids.iter().filter_map(|pid| RankLabel::of_pid(pid)).collect();
            ranks(&labels)
        };
        assert_eq!(ranks_of(&["[TP00] 1", "[TP03] 1"]), Some(vec![0, 3]));
        assert_eq!(ranks_of(&["[TP00-PP01] 1", "[TP00-PP02] 1"]), Some(vec![1, 2]));
        assert_eq!(ranks_of(&["[TP00-PP00] 1", "[TP01-PP00] 1", "[TP00-PP01] 1"]), None);
        assert_eq!(ranks_of(&["rank 4 (TP0)", "rank 5 (TP0)"]), Some(vec![4, 5]));
    }
}
