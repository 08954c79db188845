//! The arrays that hold events and nodes: element by element, past those that are malformed.

use super::builder::Builder;
use super::element::Element;
use super::repair::repair;
use super::window::Window;
use crate::error::Error;
use crate::json::{Fault, Scanner};
use crate::warning::WarningKind;

/// Which array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Section {
    /// `traceEvents`, or a bare array.
    #[default]
    Events,
    /// `nodes`.
    Nodes,
}

/// How an array went.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Elements seen.
    pub(super) num_elements: u64,
    /// Those that are events or nodes.
    pub(super) num_kept: u64,
    /// Whether the text ended before the array did.
    pub(super) is_cut: bool,
}

/// Why reading a batch of elements came to an end.
enum Batch {
    /// The array is closed.
    Closed,
    /// The window ends inside an element.
    Starved,
    /// An element is not valid JSON.
    Malformed,
}

/// Reads the array that the window stands inside of, up to its closing bracket or the end of the text. `tally` is how
/// an array under the same key went before, should a file have two.
pub(super) fn read_section(
    section: Section,
    tally: Tally,
    window: &mut Window<'_>,
    builder: &mut Builder,
) -> Result<Tally, Error> {
    let mut reader = SectionReader { section, builder, tally };
    loop {
        match reader.read_batch(window) {
            Batch::Closed => return Ok(reader.tally),
            Batch::Malformed => reader.recover(window)?,
            // A quote too few makes all that follows look like the inside of one element.
            Batch::Starved if window.text().len() > SUSPICIOUS && reader.has_next(window) => reader.recover(window)?,
            Batch::Starved if window.fill_past_blanks()? => {}
            Batch::Starved if reader.has_next(window) => reader.recover(window)?,
            Batch::Starved => {
                reader.tally.is_cut = true;
                return Ok(reader.tally);
            }
        }
    }
}

struct SectionReader<'b> {
    section: Section,
    builder: &'b mut Builder,
    tally: Tally,
}

impl SectionReader<'_> {
    /// Reads elements as far as the window goes and consumes them.
    fn read_batch(&mut self, window: &mut Window<'_>) -> Batch {
        let mut scanner = Scanner::new(window.text());
        let mut element = Element::default();
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
                    None if !window.is_last() && scanner.rest(scanner.at()).len() < MAX_BLANKS => break Batch::Starved,
                    _ => {
                        done = scanner.at();
                        break Batch::Closed;
                    }
                },
                Err(_) => {
                    done = scanner.at();
                    break Batch::Starved;
                }
            }
            self.mark(window.offset() + scanner.at() as u64);
            match self.read_element(&mut element, &mut scanner) {
                Ok(()) => {}
                Err(Fault::End) => break Batch::Starved,
                Err(Fault::Unexpected) => break Batch::Malformed,
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

    fn read_element<'a>(&mut self, element: &mut Element<'a>, scanner: &mut Scanner<'a>) -> Result<(), Fault> {
        if scanner.peek() != Some(b'{') {
            let value = scanner.skip_value()?;
            // A bare word that ends with the window may go on behind it.
            if scanner.peek().is_none() && !value.ends_with(b"]") {
                return Err(Fault::End);
            }
            self.builder.warn(WarningKind::NotAnEvent);
            return Ok(());
        }
        let is_kept = match self.section {
            Section::Events => self.read_event(element, scanner)?,
            Section::Nodes => {
                // Passed over once before it is read, so that nothing is counted twice when the window ends in it.
                scanner.clone().skip_value()?;
                self.builder.read_node(scanner)?
            }
        };
        self.tally.num_kept += u64::from(is_kept);
        Ok(())
    }

    fn read_event<'a>(&mut self, element: &mut Element<'a>, scanner: &mut Scanner<'a>) -> Result<bool, Fault> {
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
    fn has_next(&self, window: &Window<'_>) -> bool {
        let mut scanner = Scanner::new(window.text());
        let _ = scanner.next_element();
        matches!(self.find_next(window.text(), scanner.at() + 1), Next::At(_))
    }

    /// Repairs a malformed element or passes over it. The window stands before it, perhaps before a comma.
    fn recover(&mut self, window: &mut Window<'_>) -> Result<(), Error> {
        loop {
            let text = window.text();
            let mut scanner = Scanner::new(text);
            let _ = scanner.next_element();
            let start = scanner.at();
            let next = match self.find_next(text, start + 1) {
                Next::At(next) => next,
                _ if window.fill()? => continue,
                _ => end_of_array(window.text(), start),
            };
            self.mark(window.offset() + start as u64);
            let repaired = repair(&window.text()[start..next]);
            let read = repaired.and_then(|(json, size)| {
                self.read_element(&mut Element::default(), &mut Scanner::new(&json)).ok().map(|()| start + size)
            });
            self.builder.warn(read.map_or(WarningKind::MalformedElement, |_| WarningKind::RepairedElement));
            self.tally.num_elements += 1;
            window.consume(read.unwrap_or(next));
            return Ok(());
        }
    }

    /// Where the next object that is an event or a node starts, not before `from`.
    fn find_next(&self, text: &[u8], from: usize) -> Next {
        let rest = text.get(from..).unwrap_or_default();
        let mut budget = MAX_LOOK_AHEAD;
        let mut found = Next::None;
        for offset in memchr::memchr_iter(b'{', rest) {
            let candidate = &rest[offset..];
            let candidate = candidate.get(..budget).unwrap_or(candidate);
            let mut scanner = Scanner::new(candidate);
            match self.is_element(&mut scanner) {
                Ok(true) => return Next::At(from + offset),
                Ok(false) | Err(Fault::Unexpected) => {}
                Err(Fault::End) => found = Next::Unknown,
            }
            budget = budget.saturating_sub(scanner.at());
            if budget == 0 {
                break;
            }
        }
        found
    }

    /// Whether an object has the keys that tell an event or a node from what may be inside one. One that is malformed
    /// further on counts too.
    fn is_element(&self, scanner: &mut Scanner<'_>) -> Result<bool, Fault> {
        let mut marks = Marks::default();
        match self.find_marks(scanner, &mut marks) {
            Err(Fault::End) => Err(Fault::End),
            Ok(()) => Ok(marks.phase && (marks.time || marks.metadata) || marks.id && marks.name),
            Err(Fault::Unexpected) => Ok(marks.phase || marks.id && marks.name),
        }
    }

    fn find_marks(&self, scanner: &mut Scanner<'_>, marks: &mut Marks) -> Result<(), Fault> {
        scanner.enter_object()?;
        while let Some(key) = scanner.next_key()? {
            // A name that is not escaped goes wrong at its end: its key counts before that.
            marks.name |= self.section == Section::Nodes && key.raw == b"name";
            let value = scanner.skip_value()?;
            match (self.section, key.raw) {
                (Section::Events, b"ph") => {
                    marks.phase |= value.len() == 3;
                    marks.metadata |= value == b"\"M\"";
                }
                (Section::Events, b"ts") => marks.time = true,
                (Section::Nodes, b"id") => marks.id = true,
                _ => {}
            }
        }
        Ok(())
    }
}

/// What has been seen of an object's keys.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one key")]
struct Marks {
    phase: bool,
    metadata: bool,
    time: bool,
    id: bool,
    name: bool,
}

/// After so many blanks nothing is expected behind a closing bracket.
const MAX_BLANKS: usize = 1 << 16;

/// An element longer than this is looked at for others inside it.
const SUSPICIOUS: usize = 1 << 23;

/// Bytes that are looked through for the element after a malformed one, counting those looked at more than once.
const MAX_LOOK_AHEAD: usize = 1 << 26;

/// What was found behind a malformed element.
enum Next {
    /// Another element.
    At(usize),
    /// The text ends before it can be told.
    Unknown,
    /// No element.
    None,
}

/// The byte behind a closing bracket, and behind a comma if there is one.
fn after_closing(scanner: &mut Scanner<'_>) -> Option<u8> {
    scanner.take(b',');
    scanner.peek()
}

/// Where the array that a malformed last element stands in is closed; the end of the text where it is not.
fn end_of_array(text: &[u8], from: usize) -> usize {
    let closing = memchr::memchr_iter(b']', &text[from..]).map(|offset| from + offset);
    let is_end = |at: &usize| {
        let is_after_object = text[from..*at].trim_ascii_end().ends_with(b"}");
        is_after_object && matches!(text[at + 1..].trim_ascii_start().first(), None | Some(b',' | b'}'))
    };
    closing.into_iter().find(is_end).unwrap_or(text.len())
}
