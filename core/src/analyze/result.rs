//! Holds the tables of an analysis, the reason why they are empty, and how to draw them.

use std::borrow::Cow;
use std::sync::Arc;

use super::plot::Plot;
use crate::link::rank::windows;
use crate::table::{PartKey, StackedTable, Table, TablePart, TableRows};

/// The result of an analysis.
#[derive(Clone)]
pub struct AnalysisResult {
    /// Its tables, the one that answers first.
    pub tables: Vec<Arc<dyn TableRows>>,
    /// Why the first table has no rows, where it has none.
    pub reason: Option<Cow<'static, str>>,
    /// How it is drawn, where it can be.
    pub plot: Option<Plot>,
    /// The name of the table that is drawn; the first, where none is named.
    pub drawn: Option<&'static str>,
}

impl AnalysisResult {
    /// One table, and the reason for its having no rows when it has none.
    pub fn of<R: Send + Sync>(table: &'static Table<Vec<R>>, rows: Vec<R>, reason: &'static str) -> Self {
        let reason = rows.is_empty().then_some(reason);
        Self::with(table.of(&Arc::new(rows)), reason)
    }

    /// One table, and why it has no rows, if it has none.
    pub(super) fn with(table: Arc<dyn TableRows>, reason: Option<&'static str>) -> Self {
        Self { tables: vec![table], reason: reason.map(Cow::Borrowed), plot: None, drawn: None }
    }

    /// The same with a further table.
    #[must_use]
    pub fn and<R: Send + Sync>(mut self, table: &'static Table<Vec<R>>, rows: Vec<R>) -> Self {
        self.tables.push(table.of(&Arc::new(rows)));
        self
    }

    /// The same with a further table, whose rows are computed on first use.
    #[must_use]
    pub(super) fn and_later<R: Send + Sync>(
        mut self,
        table: &'static Table<Vec<R>>,
        make: impl FnOnce() -> Vec<R> + Send + 'static,
    ) -> Self {
        self.tables.push(table.later(make));
        self
    }

    /// Answers about the traces of these ranks as one.
    pub(crate) fn stacked(ranks: &[Option<i64>], answers: &[Self]) -> Self {
        let places = ranks.iter().zip(windows(ranks));
        let keys: Vec<_> = places.map(|(rank, window)| PartKey::Rank { rank: *rank, window }).collect();
        Self::stacked_by(&keys, answers)
    }

    /// Answers about parts as one.
    pub(super) fn stacked_by(keys: &[PartKey], answers: &[Self]) -> Self {
        let tables = (0..answers.first().map_or(0, |answer| answer.tables.len())).filter_map(|table| {
            let tables = answers.iter().filter_map(|answer| answer.tables.get(table));
            let part =
                |(key, rows_of): (&PartKey, &Arc<dyn TableRows>)| TablePart { key: *key, rows_of: Arc::clone(rows_of) };
            let stacked: Arc<dyn TableRows> = Arc::new(StackedTable::new(keys.iter().zip(tables).map(part).collect())?);
            Some(stacked)
        });
        let has_rows = answers.iter().any(|answer| answer.reason.is_none());
        let reason = answers.iter().find_map(|answer| answer.reason.clone()).filter(|_| !has_rows);
        let (plot, drawn) = answers.first().map_or((None, None), |answer| (answer.plot, answer.drawn));
        Self { tables: tables.collect(), reason, plot, drawn }
    }

    /// The same with how the first table is drawn.
    #[must_use]
    pub fn drawn(mut self, plot: Plot) -> Self {
        self.plot = Some(plot);
        self
    }

    /// The same with how a table beside the first is drawn in its place.
    #[must_use]
    pub fn drawn_from(mut self, table: &'static str, plot: Plot) -> Self {
        self.drawn = Some(table);
        self.drawn(plot)
    }
}
