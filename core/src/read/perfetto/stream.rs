//! Streams of devices: their numbers and names in the name of a queue.

use rustc_hash::FxHashSet;

use super::track::PerfettoTracks;
use crate::read::event_text::EventText;

/// The number of a stream, and its name, in the name of a queue: `[07] stream 7`, where the number
/// in brackets is for the order of rows, or `Queue 3`.
pub(super) fn stream_of(queue: &[u8]) -> (Option<i64>, &[u8]) {
    let text = std::str::from_utf8(queue).unwrap_or_default();
    let bracket = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((digits, name)) = bracket
        && let Ok(number) = digits.parse()
    {
        return (Some(number), name.trim_start().as_bytes());
    }
    let digits = text.len() - text.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    (text[text.len() - digits..].parse().ok(), queue)
}

/// The devices and streams that were named.
#[derive(Debug, Default)]
pub(super) struct NamedStreams(FxHashSet<(i64, Option<i64>)>);

impl NamedStreams {
    /// Names a stream and its device where they come first.
    pub(super) fn name(
        &mut self,
        (device, stream): (i64, i64),
        name: &[u8],
        tracks: &PerfettoTracks,
        events: &mut EventText,
    ) {
        if !self.0.insert((device, Some(stream))) {
            return;
        }
        if self.0.insert((device, None)) && !tracks.has_process(device) {
            events.metadata("process_name", (device, 0), format!("GPU {device}").as_bytes());
            events.labels((device, 0), format!("GPU {device}").as_bytes());
        }
        if !name.is_empty() {
            events.metadata("thread_name", (device, stream), name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::stream_of;

    #[test]
    fn queues_have_numbers_and_names() {
        let of = |queue: &'static str| stream_of(queue.as_bytes());
        assert_eq!(of("[07] stream 7"), (Some(7), &b"stream 7"[..]));
        assert_eq!(of("[26674] DP"), (Some(26674), &b"DP"[..]));
        assert_eq!(of("Queue 3"), (Some(3), &b"Queue 3"[..]));
        assert_eq!(of("[x] compute"), (None, &b"[x] compute"[..]));
    }
}
