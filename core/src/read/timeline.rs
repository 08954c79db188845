//! Reads memory timelines of `export_memory_timeline`.
//!
//! `.json` is `[times, sizes]`: times in microseconds, and for each time
//! `[0, bytes of each category …]`. `.raw.json` is `[[nanoseconds, action, bytes, category], …]`;
//! the running sums of its bytes are the sizes.

use std::sync::Arc;

use super::text_window::TextWindow;
use crate::error::{Error, ErrorKind, Position};
use crate::json::{ScanFault, Scanner};
use crate::memory::MemoryTimeline;
use crate::memory::timeline::{CategorySizes, MemoryCategory, TensorAction, TensorActionKind};
use crate::time::{Ts, ns_from_micros};
use crate::warning::WarningKind;

const NUM_CATEGORIES: usize = MemoryCategory::ALL.len();

/// Whether a JSON text begins as that of a memory timeline does: an array of arrays of numbers.
pub(super) fn is_memory_timeline(head: &[u8]) -> bool {
    let mut scanner = Scanner::new(head);
    if !(scanner.take(b'[') && scanner.take(b'[')) {
        return false;
    }
    match scanner.peek() {
        Some(b']') => scanner.take(b']') && scanner.take(b',') && scanner.take(b'['),
        first => first.is_some_and(|byte| byte == b'-' || byte.is_ascii_digit()),
    }
}

/// Reads a text that begins as that of a memory timeline does, all of which is in the window.
pub(super) fn read_memory_timeline(window: &TextWindow<'_>, file: Option<Arc<str>>) -> Result<MemoryTimeline, Error> {
    let (scanner, timeline) = (Scanner::new(window.text()), MemoryTimeline::default());
    let mut reader = TimelineReader { scanner, file, row: 0, timeline };
    let end = reader.read();
    let num_others = reader.timeline.warnings.count(WarningKind::NotAnEntry);
    let is_other = end == Err(ScanFault::Unexpected) || end == Ok(()) && num_others > 0;
    if is_other && reader.timeline.sizes.is_empty() {
        let (expected, found) = ("a memory timeline", String::from("an array of another form"));
        return Err(ErrorKind::Malformed { expected, found, position: reader.position() }.into());
    }
    if window.is_damaged {
        reader.warn(WarningKind::DamagedCompression);
    }
    match end {
        Err(ScanFault::Unexpected) => reader.warn(WarningKind::MalformedElement),
        Err(ScanFault::End) => reader.warn(WarningKind::Truncated),
        Ok(()) if reader.scanner.peek().is_some() => reader.warn(WarningKind::TrailingText),
        Ok(()) => {}
    }
    Ok(reader.timeline)
}

struct TimelineReader<'a> {
    scanner: Scanner<'a>,
    file: Option<Arc<str>>,
    /// Place of the entry now read.
    row: u64,
    timeline: MemoryTimeline,
}

impl TimelineReader<'_> {
    fn read(&mut self) -> Result<(), ScanFault> {
        self.scanner.enter_array()?;
        let first = self.scanner.clone();
        self.scanner.skip_value()?;
        let mut next = self.scanner.clone();
        let is_sizes = next.take(b',') && next.take(b'[') && matches!(next.peek(), Some(b'[' | b']'));
        if is_sizes {
            self.read_sizes(first)
        } else {
            self.scanner = first;
            self.read_actions()
        }
    }

    /// Reads the second of two arrays, beside the times in the first.
    fn read_sizes(&mut self, first: Scanner<'_>) -> Result<(), ScanFault> {
        let times = self.read_times(first)?;
        self.scanner.next_element()?;
        self.scanner.enter_array()?;
        while self.scanner.next_element()? {
            let sizes = numbers::<{ NUM_CATEGORIES + 1 }>(self.scanner.skip_value()?);
            match (times.get(self.row as usize), sizes) {
                (Some(time), Some([0, bytes @ ..])) => self.timeline.sizes.push(CategorySizes { time: *time, bytes }),
                _ => self.warn(WarningKind::NotAnEntry),
            }
            self.row += 1;
        }
        let num_more = (times.len() as u64).saturating_sub(self.row);
        let position = self.position();
        self.timeline.warnings.push_many(WarningKind::NotAnEntry, num_more, || position);
        self.finish_array()
    }

    fn read_times(&mut self, mut scanner: Scanner<'_>) -> Result<Vec<Option<Ts>>, ScanFault> {
        let mut times = Vec::new();
        scanner.enter_array()?;
        while scanner.next_element()? {
            times.push(self.micros(scanner.skip_value()?));
        }
        Ok(times)
    }

    /// A time in microseconds; `None` where there is none, as before the first allocation.
    fn micros(&mut self, text: &[u8]) -> Option<Ts> {
        let ns = ns_from_micros(text);
        if ns.is_none() {
            self.warn(WarningKind::InvalidNumber);
        }
        ns.filter(|ns| *ns >= 0).map(Ts)
    }

    fn read_actions(&mut self) -> Result<(), ScanFault> {
        let mut bytes = [0; NUM_CATEGORIES];
        let outcome = loop {
            let entry = match self.scanner.next_element() {
                Ok(true) => self.scanner.skip_value(),
                Ok(false) => break Ok(()),
                Err(fault) => break Err(fault),
            };
            match entry.map(action) {
                Ok(Some(action)) => self.push_action(action, &mut bytes),
                Ok(None) => self.warn(WarningKind::NotAnEntry),
                Err(fault) => break Err(fault),
            }
            self.row += 1;
        };
        self.place_preexisting();
        outcome
    }

    fn push_action(&mut self, action: TensorAction, bytes: &mut [i64; NUM_CATEGORIES]) {
        let sum = &mut bytes[action.category as usize];
        *sum = sum.saturating_add(action.size);
        self.timeline.actions.push(action);
        let sizes = CategorySizes { time: action.time, bytes: *bytes };
        match self.timeline.sizes.last_mut() {
            Some(last) if last.time == action.time => *last = sizes,
            _ => self.timeline.sizes.push(sizes),
        }
    }

    /// Memory allocated before the recording is in use from its first time on.
    fn place_preexisting(&mut self) {
        let sizes = &mut self.timeline.sizes;
        let first = sizes.iter().filter_map(|sizes| sizes.time).min();
        sizes.iter_mut().for_each(|sizes| sizes.time = sizes.time.or(first));
    }

    /// Skips the text after the two arrays.
    fn finish_array(&mut self) -> Result<(), ScanFault> {
        while self.scanner.next_element()? {
            self.scanner.skip_value()?;
            self.warn(WarningKind::NotAnEntry);
        }
        Ok(())
    }

    fn position(&self) -> Position {
        Position { file: self.file.clone(), byte: Some(self.scanner.at() as u64), event: Some(self.row), node: None }
    }

    fn warn(&mut self, kind: WarningKind) {
        let position = self.position();
        self.timeline.warnings.push(kind, || position);
    }
}

/// `[nanoseconds, action, bytes, category]`; `None` when it is not that.
fn action(entry: &[u8]) -> Option<TensorAction> {
    let [time, kind, size, category] = numbers(entry)?;
    let kind = TensorActionKind::ALL.get(usize::try_from(kind).ok()?.checked_sub(1)?);
    let category = MemoryCategory::ALL.get(usize::try_from(category).ok()?);
    let time = Some(Ts(time)).filter(|time| time.0 >= 0);
    Some(TensorAction { time, kind: *kind?, category: *category?, size })
}

/// The integers of an array that has just as many.
fn numbers<const COUNT: usize>(array: &[u8]) -> Option<[i64; COUNT]> {
    let mut scanner = Scanner::new(array);
    let mut numbers = [0; COUNT];
    scanner.enter_array().ok()?;
    for number in &mut numbers {
        let is_there = scanner.next_element().ok()?;
        let text = scanner.skip_value().ok().filter(|_| is_there)?;
        *number = std::str::from_utf8(text).ok()?.parse().ok()?;
    }
    let is_longer = scanner.next_element().ok()?;
    (!is_longer).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::read::Limits;

    fn read(text: &str) -> MemoryTimeline {
        assert!(is_memory_timeline(text.as_bytes()), "{text}");
        outcome(text).unwrap()
    }

    fn outcome(text: &str) -> Result<MemoryTimeline, Error> {
        let window = TextWindow::over(Cow::Borrowed(text.as_bytes()), Limits::default())?;
        read_memory_timeline(&window, None)
    }

    fn sizes(timeline: &MemoryTimeline) -> Vec<(Option<i64>, [i64; NUM_CATEGORIES])> {
        timeline.sizes.iter().map(|sizes| (sizes.time.map(|time| time.0), sizes.bytes)).collect()
    }

    fn warnings(timeline: &MemoryTimeline) -> Vec<(&str, u64)> {
        timeline.warnings.iter().map(|warning| (warning.kind.name(), warning.count)).collect()
    }

    #[test]
    fn a_trace_is_no_timeline() {
        for trace in ["[]", "[", "[{", "[[", "[[{}]]", "[[]]", "[[\"a\"]]", "{\"a\": [[1]]}"] {
            assert!(!is_memory_timeline(trace.as_bytes()), "{trace}");
        }
        assert!(is_memory_timeline(b" [ [ ] , [ ] ]") && is_memory_timeline(b"[[-1,"));
    }

    #[test]
    fn sizes_are_the_sums_of_actions() {
        let timeline = read("[[-1, 1, 8, 7], [5, 2, 3, 0], [5, 3, -8, 7], [5, 3, 8, 4], [9, 4, -3, 0]]");
        assert_eq!(timeline.actions.len(), 5);
        assert_eq!((timeline.actions[0].time, timeline.actions[1].time), (None, Some(Ts(5))));
        let expected = [
            (Some(5), [0, 0, 0, 0, 0, 0, 0, 8]),
            (Some(5), [3, 0, 0, 0, 8, 0, 0, 0]),
            (Some(9), [0, 0, 0, 0, 8, 0, 0, 0]),
        ];
        assert_eq!(sizes(&timeline), expected);
        assert_eq!(timeline.sizes[1].total(), 11);
        assert_eq!(warnings(&timeline), []);
    }

    #[test]
    fn microseconds_become_nanoseconds() {
        let timeline = read(
            "[[2, 2, -1, 3.5], [[0,1,2,3,4,5,6,7,8], [0,1,2,3,4,5,6,7,9], [0,0,0,0,0,0,0,0,0], [0,1,1,1,1,1,1,1,1]]]",
        );
        let times: Vec<_> = timeline.sizes.iter().map(|sizes| sizes.time.map(|time| time.0)).collect();
        assert_eq!(times, [Some(2_000), Some(2_000), None, Some(3_500)]);
        assert_eq!(timeline.sizes[0].bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(timeline.actions.is_empty());
        assert_eq!(read("[[], []]").sizes.len(), 0);
    }

    #[test]
    fn what_has_another_form_is_counted() {
        let timeline =
            read("[[1, 2, 3, 0], [1, 0, 3, 0], [1, 5, 3, 0], [1, 2, 3, 8], [1, 2, 3], {}, [1, 2, 3.5, 0], null] x");
        assert_eq!(timeline.actions.len(), 1);
        assert_eq!(warnings(&timeline), [("not_an_entry", 7), ("trailing_text", 1)]);
        let timeline = read("[[1, 2, \"a\"], [[0,1,2,3,4,5,6,7,8], [1,1,2,3,4,5,6,7,8], [0,1,2,3,4,5,6,7,8], 4], 5]");
        assert_eq!(timeline.sizes.len(), 2);
        assert_eq!(warnings(&timeline), [("invalid_number", 1), ("not_an_entry", 3)]);
    }

    #[test]
    fn a_text_cut_anywhere_gives_what_is_whole() {
        for text in
            ["[[-1, 1, 8, 7], [5, 2, 3, 0], [9, 4, -3, 0]]", "[[2, 3], [[0,1,2,3,4,5,6,7,8], [0,1,2,3,4,5,6,7,9]]]"]
        {
            let mut last = 0;
            for end in 3..text.len() {
                let timeline = outcome(&text[..end]).unwrap();
                assert!(timeline.sizes.len() >= last && timeline.warnings.count(WarningKind::Truncated) == 1, "{end}");
                last = timeline.sizes.len();
            }
        }
        let error = outcome("[[1, ?]]").unwrap_err().to_string();
        assert_eq!(error, "expected a memory timeline, found an array of another form (byte 8, event 1)");
    }
}
