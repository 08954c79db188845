//! The arrays that hold events and nodes: element by element, past those that are malformed.

use super::builder::Builder;
use super::element::Element;
use super::window::Window;
use crate::error::Error;
use crate::json::{Fault, Scanner};
use crate::warning::WarningKind;

/// Which array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// `traceEvents`, or a bare array.
    Events,
    /// `nodes`.
    Nodes,
}

/// How an array went.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Elements seen.
    pub(super) num_elements: u64,
    /// Those that could not be kept.
    pub(super) num_skipped: u64,
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
    let mut reader = SectionReader { section, builder, tally, opening: Vec::new() };
    loop {
        match reader.read_batch(window) {
            Batch::Closed => return Ok(reader.tally),
            Batch::Malformed => reader.recover(window)?,
            Batch::Starved if window.fill()? => {}
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
    /// The key that the first element opens with, by which the next one is found after a malformed one.
    opening: Vec<u8>,
}

impl SectionReader<'_> {
    /// Reads elements as far as the window goes and consumes them.
    fn read_batch(&mut self, window: &mut Window<'_>) -> Batch {
        let mut scanner = Scanner::new(window.text());
        let mut element = Element::default();
        let mut done = 0;
        let batch = loop {
            match scanner.next_element() {
                Ok(true) => {}
                Ok(false) => {
                    done = scanner.at();
                    break Batch::Closed;
                }
                Err(_) => break Batch::Starved,
            }
            self.mark(window.offset() + scanner.at() as u64);
            let start = scanner.at();
            match self.read_element(&mut element, &mut scanner) {
                Ok(()) => {}
                Err(Fault::End) => break Batch::Starved,
                Err(Fault::Unexpected) => break Batch::Malformed,
            }
            if self.opening.is_empty() {
                self.opening = opening_key(&window.text()[start..]);
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
        self.builder.byte = byte;
    }

    fn read_element<'a>(&mut self, element: &mut Element<'a>, scanner: &mut Scanner<'a>) -> Result<(), Fault> {
        if scanner.peek() != Some(b'{') {
            let value = scanner.skip_value()?;
            // A bare word that ends with the window may go on behind it.
            if scanner.peek().is_none() && !value.ends_with(b"]") {
                return Err(Fault::End);
            }
            self.builder.warn(WarningKind::NotAnEvent);
            self.tally.num_skipped += 1;
            return Ok(());
        }
        match self.section {
            Section::Events => {
                element.scan(scanner)?;
                self.builder.push(element);
            }
            Section::Nodes => {
                // Passed over once before it is read, so that nothing is counted twice when the window ends in it.
                let mut ahead = scanner.clone();
                ahead.skip_value()?;
                self.builder.read_node(scanner)?;
            }
        }
        Ok(())
    }

    /// Repairs a malformed element or passes over it. The window stands before it, perhaps before a comma.
    fn recover(&mut self, window: &mut Window<'_>) -> Result<(), Error> {
        loop {
            let mut scanner = Scanner::new(window.text());
            let _ = scanner.next_element();
            let start = scanner.at();
            self.mark(window.offset() + start as u64);
            let next = find_opening(window.text(), start + 1, self.opening());
            let limit = next.unwrap_or(window.text().len());
            let mut lenient = Scanner::lenient(&window.text()[..limit]);
            lenient.seek(start);
            let is_repaired = next.is_some() || window.is_last();
            let warning = if is_repaired && self.read_element(&mut Element::default(), &mut lenient).is_ok() {
                WarningKind::RepairedElement
            } else if next.is_some() || window.is_last() {
                lenient.seek(limit);
                self.tally.num_skipped += 1;
                WarningKind::MalformedElement
            } else {
                window.fill()?;
                continue;
            };
            self.builder.warn(warning);
            self.tally.num_elements += 1;
            let done = lenient.at();
            window.consume(done);
            return Ok(());
        }
    }

    fn opening(&self) -> &[u8] {
        match self.section {
            _ if !self.opening.is_empty() => &self.opening,
            Section::Events => b"\"ph\"",
            Section::Nodes => b"\"id\"",
        }
    }
}

/// The first key of an object with its quotes; empty when it has none.
fn opening_key(element: &[u8]) -> Vec<u8> {
    let mut scanner = Scanner::new(element);
    let key = scanner.enter_object().and_then(|()| scanner.string());
    key.map_or_else(|_| Vec::new(), |key| [b"\"", key.raw, b"\""].concat())
}

/// Where the next object that opens with `key` starts, not before `from`.
fn find_opening(text: &[u8], from: usize, key: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    let places = memchr::memmem::find_iter(rest, key).map(|at| rest[..at].trim_ascii_end());
    places.filter(|before| before.ends_with(b"{")).map(|before| from + before.len() - 1).next()
}
