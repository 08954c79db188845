//! Recognises dumps of the flight recorder, and the rank in their names.

use super::container::{Container, sniff};
use super::flight::MARKS;
use super::pairing::rank_of;

/// Whether a file that starts with these bytes is a dump: in JSON, or a pickle with its keys.
pub fn is_flight_dump(head: &[u8]) -> bool {
    let has = |mark: &&[u8]| {
        let mark = &mark[1..mark.len() - 1];
        head.windows(mark.len()).any(|window| window == mark)
    };
    match sniff(head) {
        Container::FlightRecorder => true,
        Container::Pickle => MARKS.iter().any(has),
        _ => false,
    }
}

/// The rank that the name of a dump tells: behind the word `rank`, or at the end of the name.
pub fn rank_of_dump(name: &str) -> Option<i64> {
    let stem = ["gz", "json", "pickle", "pkl"]
        .iter()
        .fold(name, |name, ending| name.strip_suffix(ending).and_then(|name| name.strip_suffix('.')).unwrap_or(name));
    let digits = stem.len() - stem.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    rank_of(name).or_else(|| stem[stem.len() - digits..].parse().ok())
}
