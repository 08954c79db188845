//! A section of the page, and the line for one without content.

use std::fmt::Write as _;

use super::words::title as titled;
use crate::view::svg::escape;

const HALF: &str = "ks-half";
const WIDE: &str = "ks-wide";

/// A heading with its content.
pub(super) struct ReportSection {
    id: &'static str,
    title: &'static str,
    /// Beside the title, such as how many there are.
    note: String,
    body: String,
    class: &'static str,
}

/// The outcome of a section.
pub(super) enum SectionOutcome {
    Section(ReportSection),
    /// It could have something to show, and why it has not.
    Missing {
        title: &'static str,
        why: &'static str,
    },
    /// It never has of such a trace.
    Nothing,
}

impl ReportSection {
    /// Beside another where there is room for two.
    pub(super) fn half(id: &'static str, title: &'static str, body: String) -> Self {
        Self { id, title, note: String::new(), body, class: HALF }
    }

    /// As wide as the page.
    pub(super) fn wide(id: &'static str, title: &'static str, body: String) -> Self {
        Self { class: WIDE, ..Self::half(id, title, body) }
    }

    /// Widens those that have nobody beside them.
    pub(super) fn spread(sections: &mut [Self]) {
        let mut rest = sections;
        while let [first, others @ ..] = rest {
            let is_half = |section: &Self| section.class == HALF;
            let has_pair = is_half(first) && others.first().is_some_and(is_half);
            if !has_pair {
                first.class = WIDE;
            }
            rest = if has_pair { &mut others[1..] } else { others };
        }
    }

    pub(super) fn with_note(self, note: String) -> Self {
        Self { note, ..self }
    }

    /// The same with more below.
    pub(super) fn and(mut self, more: &str) -> Self {
        self.body.push_str(more);
        self
    }

    /// Its word in the contents.
    pub(super) fn entry(&self, out: &mut String) {
        let _ = write!(out, "<a href=\"#{}\">{}</a>", self.id, titled(self.id));
    }

    pub(super) fn html(&self, out: &mut String) {
        let Self { id, title, note, body, class } = self;
        let note = if note.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(note)) };
        // Writing into a `String` cannot fail.
        let _ = write!(out, "<section class=\"{class}\" id=\"{id}\"><h2>{title}{note}</h2>{body}</section>");
    }
}

/// A line for each section that has nothing to show.
pub(super) fn missing(all: &[(&'static str, &'static str)]) -> Option<ReportSection> {
    let mut body = String::from("<dl class=\"ks-missing\">");
    for (title, why) in all {
        let _ = write!(body, "<dt>{title}</dt><dd>{}.</dd>", escape(&titled(why)));
    }
    body.push_str("</dl>");
    (!all.is_empty()).then(|| ReportSection::wide("missing", "Not in this recording", body))
}
