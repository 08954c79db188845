//! Lists the actions of the allocator that match a text.

use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::grid::{UNKNOWN, name};
use super::words::count;
use crate::analyze::tables::memory_origin;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::memory::snapshot::Action;
use crate::view::chart::{size_words, time_words};

/// The rows that an answer has.
const MAX_ROWS: usize = 100;

/// A table of the actions that match a text, from the `first` match on: by what they do, their
/// address, pool, or a frame of their stack.
pub(in crate::view) fn found_events(snapshot: &MemorySnapshot, text: &str, first: usize) -> Markup {
    let mut search = EventSearch { snapshot, text: text.trim().to_lowercase(), stacks: FxHashMap::default() };
    let matches: Vec<usize> = (0..snapshot.actions.len()).filter(|row| search.is_match(*row)).collect();
    let first = if first < matches.len() { first } else { 0 };
    let shown = &matches[first..(first + MAX_ROWS).min(matches.len())];
    let start = snapshot.actions.iter().find_map(|action| action.time);
    let which = if shown.is_empty() {
        String::from("none matches")
    } else {
        let last = count((first + shown.len()) as i64);
        format!("{} to {last} of {}", count(first as i64 + 1), count(matches.len() as i64))
    };
    html! {
        figure class="ks-table" data-first=(first) data-next=(first + shown.len()) data-count=(matches.len()) {
            div class="ks-scroll" tabindex="0" {
                table {
                    caption { "Actions of the allocator " small { (which) } }
                    thead { tr {
                        @for column in ["row", "time", "size"] { th scope="col" class="ks-number" { (column) } }
                        @for column in ["action", "device", "stream", "pool", "address"] {
                            th scope="col" { (column) }
                        }
                        th scope="col" class="ks-name" { "origin" }
                    } }
                    tbody {
                        @for row in shown { (event(snapshot, *row, start.map(|start| start.0))) }
                    }
                }
            }
        }
    }
}

fn event(snapshot: &MemorySnapshot, row: usize, start: Option<i64>) -> Markup {
    let Action { action, address, size, time, device, stream, pool, stack, .. } = snapshot.actions[row];
    let unknown = || UNKNOWN.to_owned();
    let number = |value: Option<i64>| value.map_or_else(unknown, |value| value.to_string());
    let after = time.zip(start).map(|(time, start)| time_words(time.0.wrapping_sub(start) as f64));
    let text = |id| snapshot.strings.text(id);
    let origin = stack.map(|stack| memory_origin(snapshot, Some(stack)));
    html! {
        tr data-row=(row) {
            td class="ks-number" { (row) }
            td class="ks-number" { (after.unwrap_or_else(unknown)) }
            td class="ks-number" { (size.map_or_else(unknown, |size| size_words(size as f64))) }
            td { (text(action)) }
            td { (number(device)) }
            td { (number(stream)) }
            td { (text(pool)) }
            td { (address.map_or_else(unknown, |address| format!("{address:#x}"))) }
            td class="ks-name" { (name(&origin.unwrap_or_default())) }
        }
    }
}

struct EventSearch<'a> {
    snapshot: &'a MemorySnapshot,
    /// In lower case.
    text: String,
    /// Whether a stack matches, for those that were asked for.
    stacks: FxHashMap<StackId, bool>,
}

impl EventSearch<'_> {
    fn is_match(&mut self, row: usize) -> bool {
        if self.text.is_empty() {
            return true;
        }
        let action = &self.snapshot.actions[row];
        self.has(self.snapshot.strings.text(action.action))
            || self.has(self.snapshot.strings.text(action.pool))
            || action.address.is_some_and(|address| self.has(&format!("{address:#x}")))
            || action.stack.is_some_and(|stack| self.has_stack(stack))
    }

    fn has(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.text)
    }

    fn has_stack(&mut self, stack: StackId) -> bool {
        if let Some(known) = self.stacks.get(&stack) {
            return *known;
        }
        let text = |id| self.snapshot.strings.text(id);
        let mut frames = self.snapshot.stacks.frames(stack);
        let found = frames.any(|frame| self.has(text(frame.function)) || self.has(text(frame.file)));
        self.stacks.insert(stack, found);
        found
    }
}
