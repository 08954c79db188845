//! Writes the document around nodes: the header, the nodes, and the last key.

use std::io;

use super::pretty::write_indented;
use crate::id::StrId;
use crate::json::write_string;
use crate::trace::Trace;

/// The key that `PyTorch` writes behind the nodes, when it is done.
const LAST_KEY: &str = "finish_ts";

/// Where nodes stand in an indented document.
const DEPTH: usize = 2;

/// Where the white space goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentStyle {
    /// A node a line.
    Lines,
    /// As Python indents by four.
    Indented,
}

/// A document that is being written.
pub(super) struct NodeDocument<'a> {
    trace: &'a Trace,
    out: &'a mut dyn io::Write,
    style: DocumentStyle,
    text: String,
    num_nodes: usize,
}

impl<'a> NodeDocument<'a> {
    /// A document up to its nodes.
    pub(super) fn open(trace: &'a Trace, style: DocumentStyle, out: &'a mut dyn io::Write) -> Self {
        let mut page = Self { trace, out, style, text: String::new(), num_nodes: 0 };
        let mut before = String::from("{");
        for (key, value) in page.header(false) {
            page.write_entry(&mut before, key, value);
            before.push(',');
        }
        before.push_str("\"nodes\":[");
        page.lay(&before, 0);
        page
    }

    /// The next node.
    ///
    /// # Errors
    /// Those of the file.
    pub(super) fn push(&mut self, node: &str) -> io::Result<()> {
        match (self.style, self.num_nodes) {
            (DocumentStyle::Lines, 0) => self.text.push('\n'),
            (DocumentStyle::Lines, _) => self.text.push_str(",\n"),
            (DocumentStyle::Indented, 0) => {}
            (DocumentStyle::Indented, _) => self.lay(",", DEPTH),
        }
        self.num_nodes += 1;
        self.lay(node, DEPTH);
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// The keys after the nodes.
    ///
    /// # Errors
    /// Those of the file.
    pub(super) fn close(mut self) -> io::Result<()> {
        let mut after = String::from("]");
        for (key, value) in self.header(true) {
            after.push(',');
            self.write_entry(&mut after, key, value);
        }
        after.push('}');
        match self.style {
            DocumentStyle::Lines => self.text.extend(["\n", &after, "\n"]),
            DocumentStyle::Indented => self.lay(&after, DEPTH),
        }
        self.out.write_all(self.text.as_bytes())?;
        self.out.flush()
    }

    fn lay(&mut self, json: &str, depth: usize) {
        match self.style {
            DocumentStyle::Lines => self.text.push_str(json),
            DocumentStyle::Indented => write_indented(&mut self.text, json, depth),
        }
    }

    /// The header's keys that stand behind the nodes, or those before.
    fn header(&self, is_last: bool) -> Vec<(StrId, StrId)> {
        let is_wanted = |(key, _): &(StrId, StrId)| (self.trace.strings.text(*key) == LAST_KEY) == is_last;
        self.trace.execution_header.iter().copied().filter(is_wanted).collect()
    }

    fn write_entry(&self, out: &mut String, key: StrId, value: StrId) {
        write_string(out, self.trace.strings.text(key));
        out.push(':');
        out.push_str(self.trace.strings.text(value));
    }
}
