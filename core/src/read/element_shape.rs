//! Recognizes elements by the shape of earlier ones, without a scan.
//!
//! Most elements of a trace repeat the text of an earlier element; only the name, times and numbers
//! differ. A tree stores the constant text between these values, one path per shape. An element
//! that matches a path needs comparisons only, which are many times faster than a scan. All other
//! elements are scanned, and their shape is added to the tree.

use memchr::memchr2;
use rustc_hash::FxHashMap;

use super::element::TraceElement;
use crate::id::{StrId, TemplateId};
use crate::json::word_len;
use crate::sort;
use crate::strings::Strings;
use crate::time::ns_from_micros;
use crate::trace::decimal::Decimal;

/// The fields that all elements of one shape share.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElementShape {
    pub(super) phase: u8,
    /// Of elements with a shared name.
    pub(super) name: StrId,
    pub(super) category: StrId,
    pub(super) place: (StrId, StrId),
    pub(super) template: TemplateId,
}

/// The fields of a single element.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnValues {
    pub(super) name: Option<StrId>,
    /// Nanoseconds, and whether they were given as a decimal.
    pub(super) time: i64,
    pub(super) is_fine: bool,
    pub(super) dur: i64,
    pub(super) flow: u64,
    /// The id of a flow, if it is no number.
    pub(super) flow_text: Option<StrId>,
}

impl OwnValues {
    /// Of an event with times in nanoseconds.
    pub(super) fn exact(time: i64, dur: i64) -> Self {
        Self { time, is_fine: time % 1000 != 0, dur, ..Self::default() }
    }
}

/// A recognized element: its length, its shape, and its own values. Its numbers are
/// [`ElementShapes::values`].
pub(super) struct MatchedElement {
    pub(super) size: usize,
    pub(super) shape: ElementShape,
    pub(super) own: OwnValues,
}

/// The kind of value after a piece of shared text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShapeHole {
    Name,
    Time,
    Dur,
    Flow,
    Slot,
    End,
}

#[derive(Debug)]
struct ShapeNode {
    /// Where its text is in [`ElementShapes::text`].
    start: usize,
    length: usize,
    /// Digits behind the point of the slot before it.
    scale: u8,
    hole: ShapeHole,
    /// The fork behind the hole; the shape behind the end. Behind a name there is a fork for each
    /// name.
    next: usize,
}

/// All shapes seen so far.
#[derive(Debug, Default)]
pub(super) struct ElementShapes {
    nodes: Vec<ShapeNode>,
    /// Nodes that may come next, those that came last first.
    forks: Vec<Vec<usize>>,
    by_name: FxHashMap<(usize, StrId), usize>,
    ends: Vec<ElementShape>,
    text: Vec<u8>,
    values: Vec<i64>,
    num_found: usize,
    num_learned: usize,
}

/// Nodes that one fork may have.
const MAX_BRANCHES: usize = 16;
/// Bytes of text that are remembered before all is forgotten.
const MAX_TEXT: usize = 1 << 24;
/// Nodes that are remembered before all is forgotten.
const MAX_NODES: usize = 1 << 17;
/// Elements longer than this are not remembered.
const MAX_ELEMENT: usize = 1 << 16;
/// So many are learned before any has to have been of use.
const MIN_TRIALS: usize = 1 << 12;

impl ElementShapes {
    /// The numbers of the element that was found last.
    pub(super) fn values(&self) -> &[i64] {
        &self.values
    }

    /// Recognises the element that `text` starts with.
    pub(super) fn find(&mut self, strings: &Strings, text: &[u8]) -> Option<MatchedElement> {
        self.values.clear();
        let mut own = OwnValues::default();
        let (mut at, mut fork, mut scale) = (0, 0, 0);
        loop {
            let node = self.follow(fork, scale, &text[at..])?;
            at += node.length;
            scale = 0;
            let (hole, next) = (node.hole, node.next);
            let rest = &text[at..];
            if hole == ShapeHole::End {
                self.num_found += 1;
                return Some(MatchedElement { size: at, shape: self.ends[next], own });
            }
            if hole == ShapeHole::Name {
                let length = memchr2(b'"', b'\\', rest)?;
                let name = strings.get(&rest[..length])?;
                own.name = Some(name);
                fork = *self.by_name.get(&(next, name))?;
                at += length;
                continue;
            }
            let word = &rest[..word_len(rest)];
            // Texts that the scanner would not read as a number are left to it.
            if !matches!(word.first(), Some(b'0'..=b'9' | b'-')) {
                return None;
            }
            at += word.len();
            fork = next;
            match hole {
                ShapeHole::Time => {
                    own.time = ns_from_micros(word)?;
                    own.is_fine = is_fine(word, own.time);
                }
                ShapeHole::Dur => own.dur = ns_from_micros(word).filter(|dur| *dur >= 0)?,
                ShapeHole::Flow => own.flow = flow_id(word)?,
                _ => {
                    let number = Decimal::parse(word)?;
                    scale = number.scale;
                    self.values.push(number.mantissa);
                }
            }
        }
    }

    /// The node at a fork that matches the next text.
    #[inline]
    fn follow(&mut self, fork: usize, scale: u8, rest: &[u8]) -> Option<&ShapeNode> {
        let branches = self.forks.get_mut(fork)?;
        let fits = |node: &usize| {
            let node = &self.nodes[*node];
            node.scale == scale && starts_with(rest, &self.text[node.start..node.start + node.length])
        };
        let place = branches.iter().position(fits)?;
        branches.swap(0, place);
        Some(&self.nodes[branches[0]])
    }

    /// Remembers an element that was scanned, and whose name, where it has one, is `name`.
    pub(super) fn learn(&mut self, text: &[u8], element: &TraceElement<'_>, name: StrId, shape: ElementShape) {
        if text.len() > MAX_ELEMENT || self.num_learned > self.num_found.max(MIN_TRIALS) {
            return;
        }
        let Some(holes) = holes(text, element) else { return };
        if self.text.len() > MAX_TEXT || self.nodes.len() > MAX_NODES {
            *self = Self { num_found: self.num_found, num_learned: self.num_learned, ..Self::default() };
        }
        if self.forks.is_empty() {
            self.forks.push(Vec::new());
        }
        self.num_learned += 1;
        let (mut at, mut fork, mut scale) = (0, 0, 0);
        for (hole, start, value) in holes {
            let next = self.grow(fork, scale, &text[at..start], hole);
            scale = if hole == ShapeHole::Slot { Decimal::parse(value).map_or(0, |number| number.scale) } else { 0 };
            fork = if hole == ShapeHole::Name { self.fork_of_name(next, name) } else { next };
            at = start + value.len();
        }
        let last = self.grow(fork, scale, &text[at..], ShapeHole::End);
        self.ends.resize(self.ends.len().max(last + 1), shape);
        self.ends[last] = shape;
    }

    /// The node of this text at a fork; created if missing.
    fn grow(&mut self, fork: usize, scale: u8, text: &[u8], hole: ShapeHole) -> usize {
        let is_it = |node: &&usize| {
            let node = &self.nodes[**node];
            node.scale == scale && node.hole == hole && self.text[node.start..node.start + node.length] == *text
        };
        if let Some(node) = self.forks[fork].iter().find(is_it) {
            return self.nodes[*node].next;
        }
        let next = if hole == ShapeHole::End { self.ends.len() } else { self.forks.len() };
        if hole != ShapeHole::End {
            self.forks.push(Vec::new());
        }
        let (start, length) = (self.text.len(), text.len());
        self.text.extend_from_slice(text);
        let branches = &mut self.forks[fork];
        branches.truncate(MAX_BRANCHES - 1);
        branches.insert(0, self.nodes.len());
        self.nodes.push(ShapeNode { start, length, scale, hole, next });
        next
    }

    fn fork_of_name(&mut self, fork: usize, name: StrId) -> usize {
        let forks = &mut self.forks;
        *self.by_name.entry((fork, name)).or_insert_with(|| {
            forks.push(Vec::new());
            forks.len() - 1
        })
    }
}

/// Whether `text` starts with `start`, which is long: compared by the width of a register, without
/// a call.
#[inline]
fn starts_with(text: &[u8], start: &[u8]) -> bool {
    let Some(text) = text.get(..start.len()) else { return false };
    let ((text, text_rest), (start, start_rest)) = (text.as_chunks::<WIDTH>(), start.as_chunks::<WIDTH>());
    text.iter().zip(start).all(|(text, start)| text == start) && text_rest == start_rest
}

/// Bytes compared at once.
const WIDTH: usize = 16;

/// Whether a time is more precise than whole microseconds.
pub(super) fn is_fine(text: &[u8], ns: i64) -> bool {
    text.contains(&b'.') || ns % 1000 != 0
}

/// The number of a flow.
pub(super) fn flow_id(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The variable parts of a shape in text order: kind, position, and text.
fn holes<'a>(text: &[u8], element: &TraceElement<'a>) -> Option<Vec<(ShapeHole, usize, &'a [u8])>> {
    let place = |value: &[u8]| (value.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    let is_quoted = |value: &[u8]| place(value).checked_sub(1).and_then(|before| text.get(before)) == Some(&b'"');
    // A name with escapes is compared as it stands.
    let name = element.name.filter(|name| !name.escaped && is_quoted(name.raw)).map(|name| name.raw);
    let has_dur = element.phase == b'X' || element.phase == b'E' && !element.dur.is_empty();
    let dur = has_dur.then_some(element.dur);
    let flow = matches!(element.phase, b's' | b't' | b'f').then(|| super::element::unquoted(element.flow_id));
    let singles = [
        (ShapeHole::Name, name),
        (ShapeHole::Time, Some(element.time)),
        (ShapeHole::Dur, dur),
        (ShapeHole::Flow, flow),
    ];
    let singles = singles.into_iter().filter_map(|(hole, value)| Some((hole, place(value?), value?)));
    let slots = element.args.slots.iter().map(|value| (ShapeHole::Slot, place(value), *value));
    let mut holes: Vec<_> = singles.chain(slots).collect();
    sort::by_key(&mut holes, |(_, start, _)| *start);
    let is_inside = |(_, start, value): &(ShapeHole, usize, &[u8])| {
        start.checked_add(value.len()).is_some_and(|end| end <= text.len())
    };
    holes.iter().all(is_inside).then_some(holes)
}
