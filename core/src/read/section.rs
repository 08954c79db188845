//! Reads the arrays of events and nodes, past malformed elements.

use super::builder::TraceBuilder;
use super::element::TraceElement;
use super::repair::repair;
use super::text_window::TextWindow;
use super::trace_array::TraceArray;
use crate::error::Error;
use crate::json::{ScanFault, Scanner};
use crate::warning::WarningKind;

/// How an array went.
#[derive(Debug, Default)]
pub(super) struct ArrayTally {
    /// Elements seen.
    pub(super) num_elements: u64,
    /// Those that are events or nodes.
    pub(super) num_kept: u64,
    /// Whether the text ended before the array did.
    pub(super) is_cut: bool,
}

/// Why reading a batch of elements came to an end.
enum BatchEnd {
    /// The array is closed.
    Closed,
    /// The window ends inside an element.
    Starved,
    /// An element is not valid JSON.
    Malformed,
}

/// Reads the array that the window stands inside of, up to its closing bracket or the end of the
/// text. `tally` is how an array under the same key went before, should a file have two.
pub(super) fn read_section(
    section: TraceArray,
    tally: ArrayTally,
    window: &mut TextWindow<'_>,
    builder: &mut TraceBuilder,
) -> Result<ArrayTally, Error> {
    let mut reader = SectionReader { section, builder, tally };
    loop {
        match reader.read_batch(window) {
            BatchEnd::Closed => return Ok(reader.tally),
            BatchEnd::Malformed => reader.recover(window)?,
            // A quote too few makes all that follows look like the inside of one element.
            BatchEnd::Starved if window.text().len() > SUSPICIOUS && reader.has_next(window) => {
                reader.recover(window)?;
            }
            BatchEnd::Starved if window.fill_past_blanks()? => {}
            BatchEnd::Starved if reader.has_next(window) => reader.recover(window)?,
            BatchEnd::Starved => {
                reader.tally.is_cut = true;
                return Ok(reader.tally);
            }
        }
    }
}

struct SectionReader<'b> {
    section: TraceArray,
    builder: &'b mut TraceBuilder,
    tally: ArrayTally,
}

impl SectionReader<'_> {
    /// Reads elements as far as the window goes and consumes them.
    fn read_batch(&mut self, window: &mut TextWindow<'_>) -> BatchEnd {
        let mut scanner = Scanner::new(window.text());
        let mut element = TraceElement::default();
        let mut done = 0;
        let batch = loop {
            let before = scanner.at();
            match scanner.next_element() {
                Ok(true) => {}
                Ok(false) => match after_closing(&mut scanner.clone()) {
                    Some(b'{') => {
                        self.mark(window.offset() + before as u64);
                        self.builder.warn(WarningKind::IrregularJson);
                        done = scanner.at();
                        continue;
                    }
                    None if !window.is_last() && scanner.rest(scanner.at()).len() < MAX_BLANKS => {
                        break BatchEnd::Starved;
                    }
                    _ => {
                        done = scanner.at();
                        break BatchEnd::Closed;
                    }
                },
                Err(_) => {
                    done = scanner.at();
                    break BatchEnd::Starved;
                }
            }
            self.mark(window.offset() + scanner.at() as u64);
            match self.read_element(&mut element, &mut scanner) {
                Ok(()) => {}
                Err(ScanFault::End) => break BatchEnd::Starved,
                Err(ScanFault::Unexpected) => break BatchEnd::Malformed,
            }
            if scanner.take_irregular() > 0 {
                self.builder.warn(WarningKind::IrregularJson);
            }
            self.tally.num_elements += 1;
            done = scanner.at();
        };
        window.consume(done);
        batch
    }

    /// Tells the builder where the next element stands.
    fn mark(&mut self, byte: u64) {
        self.builder.position = self.tally.num_elements as u32;
        self.builder.section = self.section;
        self.builder.byte = Some(byte);
    }

    fn read_element<'a>(&mut self, element: &mut TraceElement<'a>, scanner: &mut Scanner<'a>) -> Result<(), ScanFault> {
        if scanner.peek() != Some(b'{') {
            let value = scanner.skip_value()?;
            // A bare word that ends with the window may go on behind it.
            if scanner.peek().is_none() && !value.ends_with(b"]") {
                return Err(ScanFault::End);
            }
            self.builder.warn(WarningKind::NotAnEvent);
            return Ok(());
        }
        // XLA ends every file with an empty element, which nothing is lost with.
        let mut ahead = scanner.clone();
        if ahead.take(b'{') && ahead.take(b'}') {
            *scanner = ahead;
            return Ok(());
        }
        let is_kept = match self.section {
            TraceArray::Events => self.read_event(element, scanner)?,
            TraceArray::Nodes => {
                // Passed over once before it is read, so that nothing is counted twice when the
                // window ends in it.
                scanner.clone().skip_value()?;
                self.builder.read_node(scanner)?
            }
        };
        self.tally.num_kept += u64::from(is_kept);
        Ok(())
    }

    fn read_event<'a>(&mut self, element: &mut TraceElement<'a>, scanner: &mut Scanner<'a>) -> Result<bool, ScanFault> {
        let start = scanner.at();
        if let Some(size) = self.builder.push_alike(scanner.rest(start)) {
            scanner.seek(start + size);
            return Ok(true);
        }
        element.scan(scanner)?;
        let text = (!scanner.is_irregular()).then(|| scanner.since(start));
        Ok(self.builder.push(element, text))
    }

    /// Whether another element follows the one that the window stands before.
    fn has_next(&self, window: &TextWindow<'_>) -> bool {
        let mut scanner = Scanner::new(window.text());
        let _ = scanner.next_element();
        matches!(self.find_next(window.text(), scanner.at() + 1), NextElement::At(_))
    }

    /// Repairs a malformed element or passes over it. The window stands before it, perhaps before a
    /// comma.
    fn recover(&mut self, window: &mut TextWindow<'_>) -> Result<(), Error> {
        loop {
            let text = window.text();
            let mut scanner = Scanner::new(text);
            let _ = scanner.next_element();
            let start = scanner.at();
            let next = match self.find_next(text, start + 1) {
                NextElement::At(next) => next,
                _ if window.fill()? => continue,
                _ => end_of_array(window.text(), start),
            };
            self.mark(window.offset() + start as u64);
            let repaired = repair(&window.text()[start..next]);
            let read = repaired.and_then(|(json, size)| {
                self.read_element(&mut TraceElement::default(), &mut Scanner::new(&json)).ok().map(|()| start + size)
            });
            self.builder.warn(read.map_or(WarningKind::MalformedElement, |_| WarningKind::RepairedElement));
            self.tally.num_elements += 1;
            window.consume(read.unwrap_or(next));
            return Ok(());
        }
    }

    /// Where the next object that is an event or a node starts, not before `from`.
    fn find_next(&self, text: &[u8], from: usize) -> NextElement {
        let rest = text.get(from..).unwrap_or_default();
        let mut budget = MAX_LOOK_AHEAD;
        let mut found = NextElement::None;
        for offset in memchr::memchr_iter(b'{', rest) {
            let candidate = &rest[offset..];
            let candidate = candidate.get(..budget).unwrap_or(candidate);
            let mut scanner = Scanner::new(candidate);
            match self.is_element(&mut scanner) {
                Ok(true) => return NextElement::At(from + offset),
                Ok(false) | Err(ScanFault::Unexpected) => {}
                Err(ScanFault::End) => found = NextElement::Unknown,
            }
            budget = budget.saturating_sub(scanner.at());
            if budget == 0 {
                break;
            }
        }
        found
    }

    /// Whether an object has the keys of an event or a node, and not of a nested object. Objects
    /// malformed further on count, too.
    fn is_element(&self, scanner: &mut Scanner<'_>) -> Result<bool, ScanFault> {
        let mut marks = SeenKeys::default();
        match self.find_marks(scanner, &mut marks) {
            Err(ScanFault::End) => Err(ScanFault::End),
            Ok(()) => Ok(marks.phase && (marks.time || marks.metadata) || marks.id && marks.name),
            Err(ScanFault::Unexpected) => Ok(marks.phase || marks.id && marks.name),
        }
    }

    fn find_marks(&self, scanner: &mut Scanner<'_>, marks: &mut SeenKeys) -> Result<(), ScanFault> {
        scanner.enter_object()?;
        while let Some(key) = scanner.next_key()? {
            // A name that is not escaped goes wrong at its end: its key counts before that.
            marks.name |= self.section == TraceArray::Nodes && key.raw == b"name";
            let value = scanner.skip_value()?;
            match (self.section, key.raw) {
                (TraceArray::Events, b"ph") => {
                    marks.phase |= value.len() == 3;
                    marks.metadata |= value == b"\"M\"";
                }
                (TraceArray::Events, b"ts") => marks.time = true,
                (TraceArray::Nodes, b"id") => marks.id = true,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The keys of an object seen so far.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one key")]
struct SeenKeys {
    phase: bool,
    metadata: bool,
    time: bool,
    id: bool,
    name: bool,
}

/// After so many blanks nothing is expected behind a closing bracket.
const MAX_BLANKS: usize = 1 << 16;

/// An element longer than this is searched for other elements inside it.
const SUSPICIOUS: usize = 1 << 23;

/// Bytes that are looked through for the element after a malformed one, counting those looked at
/// more than once.
const MAX_LOOK_AHEAD: usize = 1 << 26;

/// The text after a malformed element.
enum NextElement {
    /// Another element.
    At(usize),
    /// The text ends before this is known.
    Unknown,
    /// No element.
    None,
}

/// The byte behind a closing bracket, and behind a comma if there is one.
fn after_closing(scanner: &mut Scanner<'_>) -> Option<u8> {
    scanner.take(b',');
    scanner.peek()
}

/// Where the array that a malformed last element stands in is closed; the end of the text where it
/// is not.
fn end_of_array(text: &[u8], from: usize) -> usize {
    let closing = memchr::memchr_iter(b']', &text[from..]).map(|offset| from + offset);
    let is_end = |at: &usize| {
        let is_after_object = text[from..*at].trim_ascii_end().ends_with(b"}");
        is_after_object && matches!(text[at + 1..].trim_ascii_start().first(), None | Some(b',' | b'}'))
    };
    closing.into_iter().find(is_end).unwrap_or(text.len())
}
