//! Draws a map of values by row and column, a panel for each measure.

use maud::{Markup, html};

use super::axis::ChartUnit;
use super::column::ChartColumn;
use super::drawing::ChartDrawing;
use super::style::{COLOURS, ChartFill, TextStyle, WIDTH, text_at};
use crate::sort;
use crate::table::TableRows;
use crate::view::svg::Px;

/// Room for the numbers of rows, and for their names.
const LEFT: [f64; 2] = [60.0, 130.0];
const HEAD: f64 = 22.0;
const FOOT: f64 = 30.0;
/// Height of a panel with many rows.
const HEIGHT: f64 = 220.0;
const HIGHEST_ROW: f64 = 16.0;
/// More rows or columns are drawn together, as the largest of them.
const MAX_ROWS: usize = 128;
const MAX_COLUMNS: usize = 120;
/// Shades of a colour, from the least to the most.
const SHADES: [&str; 9] = [".06", ".14", ".24", ".35", ".47", ".6", ".73", ".86", "1"];
/// The least part of the largest value that the shades span, so that noise stays faint.
const LEAST_SPAN: f64 = 0.05;
/// Distance from one name of a row to the next.
const NAME_PITCH: f64 = 14.0;

/// The places of rows, columns and values in the map.
struct HeatGrid {
    rows: Vec<Option<i64>>,
    /// A name for each row, if a column has names.
    names: Option<Vec<String>>,
    columns: Vec<Option<i64>>,
    cells: Vec<(usize, usize, usize)>,
}

impl HeatGrid {
    fn of([row, column]: [&ChartColumn; 2], name: Option<&ChartColumn>, num_rows: usize) -> Self {
        let places: Vec<_> = (0..num_rows).map(|at| (at, row.integer(at), column.integer(at))).collect();
        let rows = sort::distinct(places.iter().map(|(_, row, _)| *row));
        let columns = sort::distinct(places.iter().map(|(.., column)| *column));
        let cell = |(at, row, column): (usize, Option<i64>, Option<i64>)| {
            Some((at, rows.binary_search(&row).ok()?, columns.binary_search(&column).ok()?))
        };
        let cells: Vec<_> = places.into_iter().filter_map(cell).collect();
        let names = name.map(|name| {
            let mut names = vec![String::new(); rows.len()];
            cells.iter().for_each(|(at, row, _)| names[*row] = name.words(*at));
            names
        });
        Self { rows, names, columns, cells }
    }
}

/// Draws the values of each measure.
pub(super) fn draw(
    table: &dyn TableRows,
    (places, name): ([usize; 2], Option<usize>),
    values: &[usize],
) -> ChartDrawing {
    let [row, column] = places.map(|at| ChartColumn::of(table, at));
    let name = name.map(|at| ChartColumn::of(table, at));
    let grid = HeatGrid::of([&row, &column], name.as_ref(), table.num_rows());
    let panels: Vec<_> = values.iter().filter_map(|at| HeatPanel::of(&grid, &ChartColumn::of(table, *at))).collect();
    let high = grid.high() + HEAD + FOOT;
    let words: Vec<_> = panels.iter().map(HeatPanel::words).collect();
    ChartDrawing {
        subtitle: String::from("darker is more"),
        desc: format!("{}.", words.join("; ")),
        legend: Vec::new(),
        height: panels.len() as f64 * high,
        body: html! {
            @for (at, panel) in panels.iter().enumerate() {
                g transform={ "translate(0 " (Px(at as f64 * high)) ")" } { (panel.draw(&grid)) }
            }
        },
        notes: Vec::new(),
    }
}

impl HeatGrid {
    /// The rows that are drawn as one.
    fn rows_in_one(&self) -> usize {
        self.rows.len().div_ceil(MAX_ROWS).max(1)
    }

    fn columns_in_one(&self) -> usize {
        self.columns.len().div_ceil(MAX_COLUMNS).max(1)
    }

    fn num_lines(&self) -> usize {
        self.rows.len().div_ceil(self.rows_in_one())
    }

    fn left(&self) -> f64 {
        LEFT[usize::from(self.names.is_some())]
    }

    fn line_height(&self) -> f64 {
        (HEIGHT / self.num_lines().max(1) as f64).min(HIGHEST_ROW)
    }

    fn high(&self) -> f64 {
        self.line_height() * self.num_lines() as f64
    }

    /// The columns in words, and what a line is.
    fn axis(&self) -> String {
        let columns = match (self.columns.first().copied().flatten(), self.columns.last().copied().flatten()) {
            (Some(first), Some(last)) if first == last => format!("iteration {first}"),
            (Some(first), Some(last)) => format!("iterations {first} to {last}"),
            _ => String::from("the whole recording"),
        };
        match self.rows_in_one() {
            1 => columns,
            many if self.names.is_some() => format!("{columns}; each line is the largest of {many}"),
            many => format!("{columns}; each line is the largest of {many} ranks"),
        }
    }

    /// The name of a row in a sentence.
    fn name(&self, row: usize) -> String {
        match (&self.names, self.rows[row]) {
            (Some(names), _) => names[row].clone(),
            (None, Some(rank)) => format!("rank {rank}"),
            (None, None) => String::from("this rank"),
        }
    }

    /// The name of a row beside it.
    fn short_name(&self, row: usize) -> String {
        match &self.names {
            Some(names) => names[row].clone(),
            None => self.rows[row].map_or_else(String::new, |rank| rank.to_string()),
        }
    }
}

/// The values of one measure.
struct HeatPanel {
    title: String,
    unit: ChartUnit,
    /// The largest value of each line and block of columns, and the place of its row.
    lines: Vec<Vec<Option<(f64, usize)>>>,
    least: f64,
    most: f64,
    /// The row and column of the largest value.
    place: (usize, usize),
}

impl HeatPanel {
    /// The measure; `None` without values.
    fn of(grid: &HeatGrid, values: &ChartColumn) -> Option<Self> {
        let (by_row, by_column) = (grid.rows_in_one(), grid.columns_in_one());
        let num_blocks = grid.columns.len().div_ceil(by_column);
        let mut lines: Vec<Vec<Option<(f64, usize)>>> = vec![vec![None; num_blocks]; grid.num_lines()];
        let (mut least, mut most, mut place) = (f64::INFINITY, f64::NEG_INFINITY, (0, 0));
        for (at, row, column) in &grid.cells {
            let Some(value) = values.number(*at) else { continue };
            if value > most {
                (most, place) = (value, (*row, *column));
            }
            least = least.min(value);
            let cell = &mut lines[row / by_row][column / by_column];
            if cell.is_none_or(|(known, _)| value > known) {
                *cell = Some((value, *row));
            }
        }
        let is_there = most > 0.0;
        is_there.then(|| Self { title: values.title(), unit: values.unit, lines, least, most, place })
    }

    /// The shade of a value, by place.
    fn shade(&self, value: f64) -> usize {
        let span = (self.most - self.least).max(LEAST_SPAN * self.most);
        let share = 1.0 - (self.most - value) / span;
        ((share * SHADES.len() as f64) as usize).min(SHADES.len() - 1)
    }

    fn words(&self) -> String {
        format!("{}: up to {}", self.title, self.unit.words(self.most))
    }

    fn draw(&self, grid: &HeatGrid) -> Markup {
        let (high, num_blocks) = (grid.line_height(), self.lines.first().map_or(1, Vec::len));
        let left = grid.left();
        let wide = (WIDTH - left) / num_blocks.max(1) as f64;
        let fill = ChartFill::of(COLOURS[5]);
        let every = (NAME_PITCH / high).ceil().max(1.0) as usize;
        let by_row = grid.rows_in_one();
        let (row, column) = self.place;
        let most = format!(
            "{} at {}{}",
            self.unit.words(self.most),
            grid.name(row),
            grid.columns[column].map_or_else(String::new, |column| format!(", iteration {column}"))
        );
        html! {
            (text_at((left, 13.0), TextStyle::PANEL, &self.title, 300.0))
            (text_at((WIDTH, 13.0), TextStyle::END, &format!("{} to {most}", self.unit.words(self.least)), WIDTH - 320.0))
            g transform={ "translate(" (Px(left)) " " (Px(HEAD)) ")" } {
                @for (line, blocks) in self.lines.iter().enumerate() {
                    @if line % every == 0 {
                        (text_at((-6.0, line as f64 * high + high / 2.0 + 4.0), TextStyle::END, &grid.short_name(line * by_row), left))
                    }
                    @for run in self.runs(blocks) {
                        rect x=(Px(run.start as f64 * wide)) y=(Px(line as f64 * high))
                            width=(Px((run.end - run.start) as f64 * wide - 0.4)) height=(Px((high - 0.4).max(0.5)))
                            fill=(fill.colour) fill-opacity=(SHADES[run.shade]) {
                            title { (self.tip(grid, &run)) }
                        }
                    }
                }
                (text_at((0.0, grid.high() + 14.0), TextStyle::NOTE, &grid.axis(), WIDTH - left))
            }
        }
    }

    /// Blocks of one shade beside each other.
    fn runs(&self, blocks: &[Option<(f64, usize)>]) -> Vec<HeatRun> {
        let mut runs: Vec<HeatRun> = Vec::new();
        for (at, cell) in blocks.iter().enumerate() {
            let Some((value, row)) = *cell else { continue };
            let shade = self.shade(value);
            match runs.last_mut().filter(|run| run.end == at && run.shade == shade) {
                Some(run) => {
                    run.end = at + 1;
                    if value > run.value {
                        (run.value, run.row) = (value, row);
                    }
                }
                None => runs.push(HeatRun { start: at, end: at + 1, shade, value, row }),
            }
        }
        runs
    }

    fn tip(&self, grid: &HeatGrid, run: &HeatRun) -> String {
        let by = grid.columns_in_one();
        let (first, last) = (run.start * by, (run.end * by).min(grid.columns.len()) - 1);
        let iterations = match (grid.columns[first], grid.columns[last]) {
            (Some(first), Some(last)) if first < last => format!(", iterations {first} to {last}: up to "),
            (_, Some(one)) => format!(", iteration {one}: "),
            _ => String::from(": "),
        };
        format!("{}{iterations}{}", grid.name(run.row), self.unit.words(run.value))
    }
}

/// Blocks that are drawn as one.
struct HeatRun {
    start: usize,
    end: usize,
    shade: usize,
    /// The largest value, and the place of its row.
    value: f64,
    row: usize,
}
