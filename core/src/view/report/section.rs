//! Sections of the page, and the list of those without content.

use std::borrow::Cow;

use maud::{Markup, html};

use super::source::ReportResult;
use super::words::{sentence, title as titled};

/// The content of a section.
pub(super) struct SectionContent {
    /// A note beside the title, such as a count.
    note: String,
    body: Markup,
    is_wide: bool,
}

/// The outcome of a section.
pub(super) enum SectionOutcome {
    Shown(SectionContent),
    /// Applies to the trace but has no data, with the reason.
    Missing(Cow<'static, str>),
    /// Does not apply to the trace.
    Nothing,
}

impl SectionOutcome {
    /// A section of half the width, if the page has room for two.
    pub(super) fn half(body: Markup) -> Self {
        Self::Shown(SectionContent { note: String::new(), body, is_wide: false })
    }

    /// A section of the full width.
    pub(super) fn wide(body: Markup) -> Self {
        Self::Shown(SectionContent { note: String::new(), body, is_wide: true })
    }

    /// Adds a note beside the title.
    pub(super) fn with_note(self, note: String) -> Self {
        match self {
            Self::Shown(content) => Self::Shown(SectionContent { note, ..content }),
            other => other,
        }
    }

    /// Missing data, with the reason of the analysis or the given one.
    pub(super) fn missing(reason: Option<&Cow<'static, str>>, or: &'static str) -> Self {
        Self::Missing(reason.cloned().unwrap_or(Cow::Borrowed(or)))
    }
}

/// A section with its place on the page.
struct ReportSection {
    id: &'static str,
    title: &'static str,
    content: SectionContent,
}

/// The sections of a page in their order, and those without content.
#[derive(Default)]
pub(super) struct ReportSections {
    shown: Vec<ReportSection>,
    missing: Vec<(&'static str, Cow<'static, str>)>,
}

impl ReportSections {
    /// Adds a section with its id and its title. An error becomes the reason why it is missing.
    pub(super) fn add(&mut self, id: &'static str, title: &'static str, outcome: ReportResult<SectionOutcome>) {
        match outcome {
            Ok(SectionOutcome::Shown(content)) => self.shown.push(ReportSection { id, title, content }),
            Ok(SectionOutcome::Missing(reason)) => self.missing.push((title, reason)),
            Ok(SectionOutcome::Nothing) => {}
            Err(error) => self.missing.push((title, Cow::Owned(format!("the analysis failed: {error}")))),
        }
    }

    /// Ends the page with the list of missing sections, and widens sections that stand alone.
    pub(super) fn finish(&mut self) {
        let missing = std::mem::take(&mut self.missing);
        if !missing.is_empty() {
            self.add("missing", "Unavailable sections", Ok(SectionOutcome::wide(list(&missing))));
        }
        let mut rest = &mut self.shown[..];
        while let [first, others @ ..] = rest {
            let is_half = |section: &ReportSection| !section.content.is_wide;
            let has_pair = is_half(first) && others.first().is_some_and(is_half);
            if !has_pair {
                first.content.is_wide = true;
            }
            rest = if has_pair { &mut others[1..] } else { others };
        }
    }

    /// Links to all sections.
    pub(super) fn contents(&self) -> Markup {
        html! {
            nav class="ks-nav" aria-label="Contents" {
                @for section in &self.shown { a href={ "#" (section.id) } { (titled(section.id)) } }
            }
        }
    }

    pub(super) fn html(&self) -> Markup {
        html! {
            div class="ks-grid" {
                @for ReportSection { id, title, content } in &self.shown {
                    section class=(if content.is_wide { "ks-wide" } else { "ks-half" }) id=(id) {
                        h2 {
                            (title)
                            @if !content.note.is_empty() { " " small { (content.note) } }
                        }
                        (content.body)
                    }
                }
            }
        }
    }
}

/// A line for each section without content.
fn list(missing: &[(&str, Cow<'_, str>)]) -> Markup {
    html! {
        dl class="ks-missing" {
            @for (title, reason) in missing { dt { (title) } dd { (sentence(reason)) "." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::ReportSections;
    use crate::analyze::analysis;

    #[test]
    fn an_error_is_shown_as_the_reason() {
        let mut sections = ReportSections::default();
        sections.add("idle", "Idle", Err(Rc::new(analysis("<idle>").unwrap_err())));
        sections.finish();
        let page = sections.html().into_string();
        assert!(page.contains("<dt>Idle</dt><dd>The analysis failed: expected one of the analyses"), "{page}");
        assert!(page.contains("found &lt;idle&gt;"), "{page}");
    }
}
