//! Ranks in words.

/// More runs of ranks than these are counted.
const MAX_RUNS: usize = 6;

/// Ascending ranks in words: `rank 3`, `ranks 0 and 2`, `ranks 0-5, 8 and 12 more`.
pub(super) fn rank_words(ranks: &[i64]) -> String {
    let runs: Vec<&[i64]> = ranks.chunk_by(|one, next| one.checked_add(1) == Some(*next)).collect();
    let runs: Vec<&[i64]> =
        runs.into_iter().flat_map(|run| run.chunks(if run.len() < 3 { 1 } else { run.len() })).collect();
    let word = |run: &&[i64]| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    };
    let mut words: Vec<String> = runs.iter().take(MAX_RUNS).map(word).collect();
    let num_more: usize = runs.iter().skip(MAX_RUNS).map(|run| run.len()).sum();
    if num_more > 0 {
        words.push(format!("{num_more} more"));
    }
    let last = words.pop().unwrap_or_default();
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    if words.is_empty() { format!("{noun} {last}") } else { format!("{noun} {} and {last}", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::rank_words;

    #[test]
    fn runs_are_shortened() {
        assert_eq!(rank_words(&[3]), "rank 3");
        assert_eq!(rank_words(&[0, 1]), "ranks 0 and 1");
        assert_eq!(rank_words(&[0, 1, 2, 5, i64::MAX]), "ranks 0-2, 5 and 9223372036854775807");
        let even: Vec<i64> = (0..20).map(|rank| rank * 2).collect();
        assert_eq!(rank_words(&even), "ranks 0, 2, 4, 6, 8, 10 and 14 more");
    }
}
