//! Collects the sections of a digest, and what a recording lacks.

use std::borrow::Cow;

use super::digest_block::DigestBlock;
use super::digest_commands::DigestCommands;
use super::digest_item::{DigestItem, ItemWeights};
use super::digest_section::DigestSection;
use super::digest_value::DigestValue;
use crate::analyze::AnalysisResult;
use crate::table::TableColumn;
use crate::view::report::grid::ReportGrid;
use crate::view::report::report_frame::ReportFrame;
use crate::view::report::source::{ReportResult, ReportSource, table as named};

/// Weight of the reasons for missing data.
const MISSING: ItemWeights = ItemWeights { first: 60, step: 4 };

/// Sections, with the reasons for missing ones.
pub(super) struct DigestContents<'a> {
    pub(super) source: &'a ReportSource<'a>,
    pub(super) commands: DigestCommands,
    pub(super) sections: Vec<DigestSection>,
    missing: Vec<(&'static str, Cow<'static, str>)>,
}

/// A table of a digest: the grid, its rows, and their place in the order of importance.
pub(super) struct DigestTable {
    pub(super) grid: &'static ReportGrid,
    /// The options of the analysis in a request, and on the command line.
    pub(super) options: [&'static str; 2],
    /// The column of the largest rows; the order of the table without one.
    pub(super) by: Option<TableColumn>,
    pub(super) limit: usize,
    pub(super) weights: ItemWeights,
}

impl<'a> DigestContents<'a> {
    pub(super) fn new(source: &'a ReportSource<'a>, commands: DigestCommands) -> Self {
        Self { source, commands, sections: Vec::new(), missing: Vec::new() }
    }

    /// Adds a section with its blocks; an empty one gets a reason, if there is one.
    pub(super) fn add(&mut self, id: &'static str, title: &'static str, blocks: ReportResult<Vec<DigestBlock>>) {
        match blocks {
            Ok(blocks) => {
                let blocks: Vec<_> = blocks.into_iter().filter(|block| !block.items.is_empty()).collect();
                if !blocks.is_empty() {
                    self.sections.push(DigestSection { id, title, blocks });
                }
            }
            Err(error) => self.missing.push((title, Cow::Owned(format!("the analysis failed: {error}")))),
        }
    }

    /// Notes why an analysis has no rows, if it says so.
    pub(super) fn note_missing(&mut self, title: &'static str, reason: Option<Cow<'static, str>>) {
        self.missing.extend(reason.map(|reason| (title, reason)));
    }

    /// The rows of a table of an analysis.
    pub(super) fn rows(&self, table: &DigestTable) -> ReportResult<(DigestBlock, Option<Cow<'static, str>>)> {
        let grid = table.grid;
        let answer = self.source.ask(grid.analysis, table.options[0])?;
        let found = named(&answer, grid.table)?;
        let rows = match table.by {
            Some(by) => ReportFrame::top(found, by, table.limit),
            None => ReportFrame::of(&**found, table.limit),
        };
        let command = self.command(&answer, grid, table.options[1]);
        let reason = answer.reason.clone().filter(|_| rows.num_rows == 0);
        Ok((DigestBlock::of_grid(grid, &rows, command, table.weights), reason))
    }

    /// The same of rows that were chosen before.
    pub(super) fn block(&self, answer: &AnalysisResult, table: &DigestTable, rows: &ReportFrame) -> DigestBlock {
        let command = self.command(answer, table.grid, table.options[1]);
        DigestBlock::of_grid(table.grid, rows, command, table.weights)
    }

    fn command(&self, answer: &AnalysisResult, grid: &ReportGrid, options: &str) -> String {
        let first = answer.tables.first().map(|table| &**table);
        self.commands.table((grid.analysis, options), grid.table, first)
    }

    /// Ends with the reasons for missing data.
    pub(super) fn finish(mut self) -> Vec<DigestSection> {
        let items = self.missing.iter().enumerate().map(|(at, (title, reason))| {
            let words = match reason {
                Cow::Borrowed(words) => DigestValue::Words((*words).to_owned()),
                Cow::Owned(words) => DigestValue::Quoted(words.clone()),
            };
            DigestItem::new(MISSING.at(at))
                .with("section", "", DigestValue::Words((*title).to_owned()))
                .with("reason", "", words)
        });
        let items: Vec<_> = items.collect();
        if !items.is_empty() {
            let command = self.commands.other("doctor", "");
            let blocks = vec![DigestBlock::list("Reasons", command, items)];
            self.sections.push(DigestSection { id: "missing", title: "Missing data", blocks });
        }
        self.sections
    }
}
