//! Writes tables in HTML that need no scripts. Each column has one unit, so digits align; columns
//! of times share it unless one has far shorter times.

use maud::{Markup, html};

use super::number_scale::{NumberScale, TimeUnit};
use super::rank_totals::RankTotals;
use super::report_frame::ReportFrame;
use super::source::ReportSource;
use super::words::{count, decimal, percents, plural};
use crate::analyze::known_analysis;
use crate::label::Label;
use crate::table::{ColumnType, Table, TableColumn, is_same};
use crate::view::svg::{Px, WHOLE, clipped, spaced};

/// A column of a table on the page.
pub(super) struct GridColumn {
    /// The column of the analysis.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) kind: CellKind,
}

/// A side of a comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ComparisonSide {
    Before,
    After,
}

impl ComparisonSide {
    fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    /// A name from the trace: its distinctive part, then the whole name.
    Name,
    /// A word that Kinetoscope defines.
    Word,
    /// Several, joined by underscores in the table.
    Words,
    /// A key of rows, such as a device; hidden if it is the same in all rows.
    Key,
    Count,
    Number,
    Time,
    /// A time with its sign, also drawn as a bar.
    Change,
    Bytes,
    /// A fraction, also drawn as a bar.
    Share,
    /// A fraction that may be negative.
    Percent,
    Flag,
    /// The id of an event, as a link to the timeline.
    Event,
    /// The same of the trace before, or of the one after.
    EventOf(ComparisonSide),
    /// The id of the event that ends a gap, as a link to the timeline.
    Gap,
    /// The start of a range, as a link to the timeline; this column holds its duration.
    Range(&'static str),
}

impl CellKind {
    /// Whether it can show values of this type.
    const fn takes(self, column: ColumnType) -> bool {
        match self {
            Self::Key => true,
            Self::Name | Self::Word | Self::Words => matches!(column, ColumnType::Text | ColumnType::Json),
            Self::Flag => matches!(column, ColumnType::Bool),
            Self::Number | Self::Share | Self::Percent => matches!(column, ColumnType::Float),
            Self::Count
            | Self::Time
            | Self::Change
            | Self::Bytes
            | Self::Event
            | Self::EventOf(_)
            | Self::Gap
            | Self::Range(_) => matches!(column, ColumnType::Int),
        }
    }
}

pub(super) const fn col(name: &'static str, title: &'static str, kind: CellKind) -> GridColumn {
    GridColumn { name, title, kind }
}

impl GridColumn {
    /// Compiles only if a table has the column, with values that can be written as its kind says.
    const fn check<S>(&self, table: &Table<S>) {
        match table.column_type(self.name) {
            Some(column) => assert!(self.kind.takes(column), "the column has another type"),
            // Tables of a job have it.
            None => assert!(is_same(self.name, "rank"), "the table has no column of this name"),
        }
        if let CellKind::Range(dur) = self.kind {
            assert!(table.column_type(dur).is_some(), "the table has no column of this duration");
        }
    }
}

/// A table of the page: its source, and its shown columns.
pub(super) struct ReportGrid {
    /// The name of the analysis with the table, for saving all rows; [`COMPARISON`] for those of
    /// [`of_comparison`](Self::of_comparison).
    pub(super) analysis: &'static str,
    pub(super) table: &'static str,
    pub(super) title: &'static str,
    pub(super) columns: &'static [GridColumn],
    /// The column that its rows are sorted by, the largest first.
    order: Option<&'static str>,
}

/// Stands for tables that scripts of the page cannot save: of a page without a timeline, or of an
/// analysis that is left out of browsers.
const UNSAVED: &str = "";

/// Stands for the comparison of two traces, which is no analysis of one.
pub(super) const COMPARISON: &str = "comparison";

impl ReportGrid {
    /// Columns of a table, whose names are checked at compile time.
    pub(super) const fn of<S>(
        analysis: &str,
        table: &Table<S>,
        title: &'static str,
        columns: &'static [GridColumn],
    ) -> Self {
        Self::checked(known_analysis(analysis).name, table, title, columns)
    }

    /// Columns of a table of a comparison, checked at compile time.
    pub(super) const fn of_comparison<S>(
        table: &Table<S>,
        title: &'static str,
        columns: &'static [GridColumn],
    ) -> Self {
        Self::checked(COMPARISON, table, title, columns)
    }

    /// Columns of a table that scripts of the page cannot save, checked at compile time.
    pub(super) const fn unsaved<S>(table: &Table<S>, title: &'static str, columns: &'static [GridColumn]) -> Self {
        Self::checked(UNSAVED, table, title, columns)
    }

    const fn checked<S>(
        analysis: &'static str,
        table: &Table<S>,
        title: &'static str,
        columns: &'static [GridColumn],
    ) -> Self {
        let mut at = 0;
        while at < columns.len() {
            columns[at].check(table);
            at += 1;
        }
        Self { analysis, table: table.name, title, columns, order: None }
    }

    /// Columns of sums over ranks, checked at compile time.
    pub(super) const fn of_totals(
        analysis: &str,
        totals: &RankTotals,
        title: &'static str,
        columns: &'static [GridColumn],
    ) -> Self {
        let mut at = 0;
        while at < columns.len() {
            assert!(totals.has(columns[at].name), "the sums over ranks have no column of this name");
            at += 1;
        }
        Self { analysis: known_analysis(analysis).name, table: totals.keys[0].table, title, columns, order: None }
    }

    /// The same table, with rows sorted by a column. Compiles only if it is shown.
    pub(super) const fn by(self, column: &'static str) -> Self {
        let mut at = 0;
        while !is_same(self.columns[at].name, column) {
            at += 1;
        }
        Self { order: Some(column), ..self }
    }

    /// A column of the table behind it.
    pub(super) const fn column(&self, shown: &GridColumn) -> TableColumn {
        TableColumn { table: self.table, name: shown.name }
    }

    fn times(&self, frame: &ReportFrame) -> impl Iterator<Item = f64> {
        let is_time = |shown: &&GridColumn| matches!(shown.kind, CellKind::Time | CellKind::Change);
        let numbers = move |shown| {
            let column = self.column(shown);
            (0..frame.num_rows).filter_map(move |row| frame.number(column, row))
        };
        self.columns.iter().filter(is_time).flat_map(numbers)
    }

    /// The same table in another analysis.
    pub(super) const fn in_analysis(self, analysis: &str) -> Self {
        Self { analysis: known_analysis(analysis).name, ..self }
    }

    /// The table with these rows; empty without rows.
    pub(super) fn html(&self, source: &ReportSource<'_>, frame: &ReportFrame) -> Markup {
        if frame.num_rows == 0 {
            return Markup::default();
        }
        let times = TimeUnit::of(self.times(frame));
        let is_order = |shown: &GridColumn| self.order == Some(shown.name);
        let rendered = |shown: &GridColumn| {
            let column = RenderedColumn::of(source, frame, self.table, (shown, times))?;
            Some(RenderedColumn { is_order: column.is_order && is_order(shown), ..column })
        };
        let columns: Vec<_> = self.columns.iter().filter_map(rendered).collect();
        let saved = |value| source.saved(value).filter(|_| self.analysis != UNSAVED);
        let rows = if frame.num_in_all > frame.num_rows {
            let which = if frame.is_top { "the top" } else { "the first" };
            format!("{which} {} of {}", frame.num_rows, count(frame.num_in_all as i64))
        } else {
            plural(frame.num_rows, "row")
        };
        html! {
            figure class="ks-table" data-analysis=[saved(self.analysis)] data-table=[saved(self.table)]
                data-options=[saved(source.options())] {
                div class="ks-scroll" tabindex="0" {
                    table {
                        caption { (self.title) " " small { (rows) } }
                        thead { tr { @for column in &columns { (column.head()) } } }
                        tbody {
                            @for row in 0..frame.num_rows {
                                tr { @for column in &columns { (column.cells[row]) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A column in HTML.
struct RenderedColumn {
    title: &'static str,
    unit: &'static str,
    class: Option<&'static str>,
    cells: Vec<Markup>,
    /// Whether its numbers fall from row to row.
    is_order: bool,
}

impl RenderedColumn {
    /// Renders a column; `None` if its values carry no information.
    fn of(
        source: &ReportSource<'_>,
        frame: &ReportFrame,
        table: &'static str,
        (shown, times): (&GridColumn, TimeUnit),
    ) -> Option<Self> {
        let (title, kind) = (shown.title, shown.kind);
        let known = |name| TableColumn { table, name };
        let column = known(shown.name);
        let rows = 0..frame.num_rows;
        let texts = || rows.clone().map(|row| frame.text(column, row).unwrap_or_default()).collect::<Vec<_>>();
        let numbers: Vec<_> = rows.clone().map(|row| frame.number(column, row)).collect();
        match kind {
            CellKind::Name => {
                let texts = texts();
                let cells = texts.iter().map(|text| html! { td class="ks-name" { (name(text)) } }).collect();
                let is_there = texts.iter().any(|text| !text.is_empty());
                is_there.then_some(Self { title, unit: "", class: Some("ks-name"), cells, is_order: false })
            }
            CellKind::Words => {
                let texts: Vec<_> = texts().into_iter().map(spaced).collect();
                let texts: Vec<_> = texts.iter().map(AsRef::as_ref).collect();
                texts.iter().any(|text| !text.is_empty()).then(|| Self::of_texts(title, &texts))
            }
            CellKind::Word => {
                let texts = texts();
                texts.iter().any(|text| !text.is_empty()).then(|| Self::of_texts(title, &texts))
            }
            CellKind::Flag => {
                let flags: Vec<_> = rows.map(|row| frame.flag(column, row).unwrap_or_default()).collect();
                let cells = flags.iter().map(|flag| html! { td { @if *flag { "yes" } } }).collect();
                flags.contains(&true).then_some(Self { title, unit: "", class: None, cells, is_order: false })
            }
            CellKind::Event | CellKind::EventOf(_) | CellKind::Gap | CellKind::Range(_) => {
                let address = |row| match kind {
                    CellKind::Range(dur) => {
                        source.range(frame, row, (frame.int(column, row)?, frame.int(known(dur), row)?))
                    }
                    CellKind::Gap => source.gap(frame, row, frame.int(column, row)?),
                    CellKind::EventOf(side) => source.event_of(frame, row, (side, frame.int(column, row)?)),
                    _ => source.event(frame, row, frame.int(column, row)?),
                };
                let links: Vec<_> = rows.map(address).collect();
                let words = match kind {
                    CellKind::EventOf(side) => side.word(),
                    _ => "show",
                };
                let cells = links.iter().map(|link| linked(link.as_deref(), title, words)).collect();
                let is_there = links.iter().any(Option::is_some);
                // Longer headings would widen the columns.
                is_there.then_some(Self { title: "", unit: "", class: Some(GO), cells, is_order: false })
            }
            CellKind::Share => {
                let is_there = numbers.iter().any(Option::is_some);
                let cells = numbers.iter().map(|share| shared(*share)).collect();
                let is_order = is_descending(&numbers);
                is_there.then_some(Self { title, unit: "%", class: Some("ks-number"), cells, is_order })
            }
            CellKind::Percent => {
                let cells =
                    numbers.iter().map(|share| numbered(share.map(|share| decimal(100.0 * share, 1)))).collect();
                let is_there = numbers.iter().any(Option::is_some);
                is_there.then_some(Self { title, unit: "%", class: Some("ks-number"), cells, is_order: false })
            }
            CellKind::Change => {
                let scale = NumberScale::of(CellKind::Time, &numbers, times);
                let most = numbers.iter().flatten().fold(1.0_f64, |most, number| most.max(number.abs()));
                let cells = numbers.iter().map(|number| changed(*number, most, &scale)).collect();
                let is_there = numbers.iter().flatten().any(|number| *number != 0.0);
                is_there.then_some(Self { title, unit: scale.unit, class: Some("ks-number"), cells, is_order: false })
            }
            CellKind::Key if rows.clone().any(|row| frame.text(column, row).is_some()) => {
                let texts = texts();
                texts.iter().any(|text| *text != texts[0]).then(|| Self::of_texts(title, &texts))
            }
            CellKind::Key if numbers.iter().all(|number| *number == numbers[0]) => None,
            _ if kind != CellKind::Key && numbers.iter().all(|number| number.is_none_or(|number| number == 0.0)) => {
                None
            }
            _ => {
                let scale = NumberScale::of(kind, &numbers, times);
                let cells = numbers.iter().map(|number| numbered(number.map(|number| scale.words(number)))).collect();
                let is_order = kind != CellKind::Key && is_descending(&numbers);
                Some(Self { title, unit: scale.unit, class: Some("ks-number"), cells, is_order })
            }
        }
    }

    fn of_texts(title: &'static str, texts: &[&str]) -> Self {
        let text = |text: &str| if text.is_empty() { UNKNOWN } else { text }.to_owned();
        let cells = texts.iter().map(|known| html! { td { (text(known)) } }).collect();
        Self { title, unit: "", class: None, cells, is_order: false }
    }

    fn head(&self) -> Markup {
        let label = (self.class == Some(GO)).then_some("in the timeline");
        let order = self.is_order.then_some("descending");
        html! {
            th scope="col" class=[self.class] aria-label=[label] aria-sort=[order] {
                (self.title)
                @if !self.unit.is_empty() { " " i { (self.unit) } }
            }
        }
    }
}

/// Stands for a value that is not known.
pub(super) const UNKNOWN: &str = "—";

/// Whether numbers fall from row to row, and are not all the same.
fn is_descending(numbers: &[Option<f64>]) -> bool {
    numbers.first() != numbers.last()
        && numbers.windows(2).all(|pair| pair[0].zip(pair[1]).is_some_and(|(before, after)| before >= after))
}

/// The class of links to the timeline.
const GO: &str = "ks-go";

/// A longer name does not fit beside its distinctive part; the tooltip has more of it.
const BESIDE: usize = 160;

/// A name: its distinctive part, then the whole name, shortened if it is long.
pub(super) fn name(text: &str) -> Markup {
    let whole = clipped(text, WHOLE);
    let telling = clipped(&Label::of(text).telling, WHOLE);
    html! {
        span title=(whole) {
            b { (telling) }
            @if telling != whole { " " small { (clipped(text, BESIDE)) } }
        }
    }
}

fn linked(address: Option<&str>, what: &str, words: &str) -> Markup {
    html! {
        td {
            @if let Some(address) = address { a href=(address) title={ (what) ": show in the timeline" } { (words) } }
        }
    }
}

fn numbered(words: Option<String>) -> Markup {
    html! { td class="ks-number" { (words.unwrap_or_else(|| UNKNOWN.to_owned())) } }
}

fn shared(share: Option<f64>) -> Markup {
    match share {
        Some(share) => html! { td class="ks-number ks-share" { (bar(share)) (percents(share)) } },
        None => numbered(None),
    }
}

/// A signed number, with a bar that shows its size beside the largest.
fn changed(number: Option<f64>, most: f64, scale: &NumberScale) -> Markup {
    let Some(number) = number else { return numbered(None) };
    let sign = if number > 0.0 { "+" } else { "" };
    let class = if number > 0.0 { "ks-slower" } else { "ks-faster" };
    html! {
        td class="ks-number ks-share" { span class=(class) { (bar(number.abs() / most)) } (sign) (scale.words(number)) }
    }
}

/// A bar whose length shows a fraction.
pub(super) fn bar(share: f64) -> Markup {
    let long = Px(share.clamp(0.0, 1.0) * 100.0);
    html! {
        svg class="ks-bar" aria-hidden="true" { rect width={ (long) "%" } height="100%" fill="currentColor" {} }
    }
}
