//! Finds the name that a mistyped one stands for.

/// Longer names are compared by their beginnings.
const MAX_CHARS: usize = 64;

/// The most similar of some names, if it differs in less than half of its letters.
pub(crate) fn nearest_name<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = word.chars().take(MAX_CHARS).collect();
    let near = names.into_iter().map(|name| (distance(&letters, name), name));
    let (distance, name) = near.min()?;
    (distance * 2 < letters.len().max(name.chars().count().min(MAX_CHARS))).then_some(name)
}

/// A remark for an error: the nearest name, if there is one.
pub(crate) fn suggestion<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest_name(word, names).map(|name| format!(": did you mean {name}?")).unwrap_or_default()
}

/// How many letters to insert, remove, replace or swap with their neighbour.
fn distance(letters: &[char], name: &str) -> usize {
    let mut last: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=letters.len()).collect();
    let mut before = None;
    for (at, other) in name.chars().take(MAX_CHARS).enumerate() {
        let mut next = vec![at + 1];
        for (place, letter) in letters.iter().enumerate() {
            let replaced = row[place] + usize::from(*letter != other);
            let mut least = replaced.min(row[place + 1] + 1).min(next[place] + 1);
            if place > 0 && before == Some(*letter) && letters[place - 1] == other {
                least = least.min(last[place - 1] + 1);
            }
            next.push(least);
        }
        last = std::mem::replace(&mut row, next);
        before = Some(other);
    }
    row[letters.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_most_similar() {
        let names = ["step", "slowest_step", "peak_memory"];
        assert_eq!(nearest_name("peak_memroy", names), Some("peak_memory"));
        assert_eq!(nearest_name("setp", names), Some("step"));
        assert_eq!(nearest_name("colour", names), None);
        assert_eq!(nearest_name("", names), None);
    }
}
