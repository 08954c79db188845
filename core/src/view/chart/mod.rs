//! A table as an SVG picture, for pages that run no script: bars, changes, functions of time, points.
//!
//! Marks are bounded, whatever the table holds. Texts take the colour of the page around them; opened by itself, the
//! picture follows the reader's preference for light or dark.

mod axis;
mod bars;
mod change;
mod column;
mod pillars;
mod points;
mod steps;

use std::fmt::Write as _;

use super::svg::{escape, fitted, width};
use crate::analyze::Plot;
use crate::table::{ColumnType, Rows};
use axis::{Axis, Unit};
pub(super) use column::{MOMENTS, find};
use column::{is_a_measure, is_a_moment};
pub(super) use pillars::{Pillar, pillars};

/// Pixels from side to side.
const WIDTH: f64 = 760.0;
/// Of most letters.
const SIZE: f64 = 11.0;
/// Of bars that lie: from one to the next, their height, and the room for their names.
const PITCH: f64 = 22.0;
const HEIGHT: f64 = 14.0;
const MAX_LABEL: f64 = 300.0;
/// The colours of Okabe and Ito, which nearly everybody can tell apart; the blue is lighter, to be seen on dark, too.
const COLOURS: [&str; 6] = ["#1a7fc4", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];
/// For what is nothing in particular: idle time, the sum of what is not shown.
const GREY: &str = "currentColor\" fill-opacity=\".22";
const STYLE: &str = "svg:root{color:#1f2328;background:#fff}\
    @media(prefers-color-scheme:dark){svg:root{color:#e6edf3;background:#0d1117}}";

/// What is drawn between a title and notes.
struct Drawing {
    /// What is measured, beside the title.
    subtitle: String,
    /// What it shows, in words.
    desc: String,
    legend: Vec<(String, &'static str)>,
    body: String,
    height: f64,
    notes: Vec<String>,
}

/// A [`Plot`] whose columns are places in a table.
enum Chosen {
    Bars { label: Option<usize>, parts: Vec<usize> },
    Change { label: usize, sides: [usize; 2] },
    Steps { time: usize, value: usize, series: Option<usize> },
    Points { x: usize, y: usize, label: usize, ceiling: Option<[usize; 3]> },
}

/// Draws a table as its plot says or, where there is none or it names other columns, as the table's columns suggest:
/// a function of `time_ns`, or bars of the first measure by the first text. Of no rows, it says the reason.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::{Input, Limits, LinkedTrace, analyze::analysis, read, view::chart};
/// let json = br#"[{"ph": "X", "cat": "kernel", "name": "a < b", "pid": 0, "tid": 7, "ts": 6, "dur": 4}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let answer = analysis("kernels")?.answer(&linked, "{}")?;
/// let svg = chart(&*answer.tables[0], answer.plot, answer.reason);
/// assert!(svg.starts_with("<svg ") && svg.contains("a &lt; b: 4 µs"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn chart(table: &dyn Rows, plot: Option<Plot>, reason: Option<&str>) -> String {
    framed(table.name(), table.doc(), &drawing(table, plot, reason), STYLE)
}

/// The same for a page that has a style of its own, and may forbid others.
pub(super) fn figure(table: &dyn Rows, plot: Option<Plot>, reason: Option<&str>) -> String {
    framed(table.name(), table.doc(), &drawing(table, plot, reason), "")
}

/// Nanoseconds in three digits and a unit.
pub(super) fn time_words(ns: f64) -> String {
    Unit::Time.words(ns)
}

/// Bytes in three digits and a unit.
pub(super) fn size_words(bytes: f64) -> String {
    Unit::Bytes.words(bytes)
}

fn drawing(table: &dyn Rows, plot: Option<Plot>, reason: Option<&str>) -> Drawing {
    let chosen =
        if table.num_rows() > 0 { plot.and_then(|plot| found(table, plot)).or_else(|| guess(table)) } else { None };
    match chosen {
        Some(Chosen::Bars { label, parts }) => bars::draw(table, label, &parts),
        Some(Chosen::Change { label, sides }) => change::draw(table, label, sides),
        Some(Chosen::Steps { time, value, series }) => steps::draw(table, time, value, series),
        Some(Chosen::Points { x, y, label, ceiling }) => points::draw(table, [x, y], label, ceiling),
        None => said(if table.num_rows() > 0 { "no column of it can be drawn" } else { reason.unwrap_or("no rows") }),
    }
}

fn found(table: &dyn Rows, plot: Plot) -> Option<Chosen> {
    let at = |name: &str| find(table, name);
    Some(match plot {
        Plot::Bars { label, parts } => {
            Chosen::Bars { label: Some(at(label)?), parts: parts.iter().map(|part| at(part)).collect::<Option<_>>()? }
        }
        Plot::Change { label, before, after } => Chosen::Change { label: at(label)?, sides: [at(before)?, at(after)?] },
        Plot::Steps { time, value, series } => {
            Chosen::Steps { time: at(time)?, value: at(value)?, series: series.and_then(at) }
        }
        Plot::Points { x, y, label, ceiling } => {
            let ceiling =
                ceiling.and_then(|ceiling| Some([at(ceiling.height)?, at(ceiling.level)?, at(ceiling.label)?]));
            Chosen::Points { x: at(x)?, y: at(y)?, label: at(label)?, ceiling }
        }
    })
}

fn guess(table: &dyn Rows) -> Option<Chosen> {
    let columns = 0..table.num_columns();
    let mut measures = columns.clone().filter(|at| is_a_measure(table, *at));
    let text = columns.clone().find(|at| table.column_type(*at) == ColumnType::Text);
    if let Some(time) = find(table, "time_ns").filter(|at| table.column_type(*at) == ColumnType::Int) {
        return Some(Chosen::Steps { time, value: measures.find(|at| *at > time)?, series: text });
    }
    let of_unit = |unit| columns.clone().find(|at| is_a_measure(table, *at) && table.column_unit(*at) == Some(unit));
    let part = of_unit("ns").or_else(|| of_unit("bytes")).or_else(|| measures.next())?;
    let first = || columns.clone().find(|at| *at != part && !is_a_moment(table.column_name(*at)));
    Some(Chosen::Bars { label: text.or_else(first), parts: vec![part] })
}

/// A picture of words alone.
fn said(words: &str) -> Drawing {
    let body = text_at((0.0, 14.0), "", words, 2000.0);
    Drawing {
        subtitle: String::new(),
        desc: words.to_owned(),
        legend: Vec::new(),
        body,
        height: 22.0,
        notes: Vec::new(),
    }
}

/// A picture with its title; with a style for whoever opens it by itself, or with none.
fn framed(name: &str, doc: &str, drawing: &Drawing, style: &str) -> String {
    let title = name.strip_suffix("_series").unwrap_or(name).replace('_', " ");
    let mut inside = format!("<text y=\"14\"><tspan font-size=\"13\" font-weight=\"600\">{}</tspan>", escape(&title));
    let _ = write!(inside, "<tspan dx=\"8\" fill-opacity=\".7\">{}</tspan></text>", escape(&drawing.subtitle));
    let mut top = legend(&mut inside, &drawing.legend);
    let _ = write!(inside, "<g transform=\"translate(0 {top:.0})\">{}</g>", drawing.body);
    top += drawing.height;
    for note in &drawing.notes {
        top += 16.0;
        inside.push_str(&text_at((0.0, top - 4.0), "fill-opacity=\".7\"", note, WIDTH));
    }
    let all = if drawing.subtitle.is_empty() { title } else { format!("{title}: {}", drawing.subtitle) };
    let (all, desc) = (escape(&all), escape(&format!("Each row is {doc}. {}", drawing.desc)));
    let (wide, high) = (WIDTH + 24.0, top + 16.0);
    let (fit, style) = if style.is_empty() {
        (" class=\"ks-chart\"", String::new())
    } else {
        (" style=\"max-width:100%;height:auto\"", format!("<style>{style}</style>"))
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-12 -10 {wide:.0} {high:.0}\" width=\"{wide:.0}\" role=\"img\"\
         {fit}><title>{all}</title><desc>{desc}</desc>{style}\
         <g font-family=\"system-ui,-apple-system,'Segoe UI',sans-serif\" font-size=\"{SIZE}\" fill=\"currentColor\">\
         {inside}</g></svg>"
    )
}

/// Writes what the colours mean, in as many lines as it takes; gives where the next thing begins.
fn legend(out: &mut String, entries: &[(String, &'static str)]) -> f64 {
    let (mut x, mut y) = (0.0, 26.0);
    for (name, colour) in entries {
        let name = fitted(name, 240.0, SIZE);
        let wide = width(&name, SIZE) + 34.0;
        if x > 0.0 && x + wide > WIDTH {
            (x, y) = (0.0, y + 17.0);
        }
        let _ = write!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"10\" height=\"10\" rx=\"2\" fill=\"{colour}\"/>");
        out.push_str(&text_at((x + 15.0, y + 9.0), "", &name, 260.0));
        x += wide;
    }
    if entries.is_empty() { 28.0 } else { y + 22.0 }
}

/// A text at a place, with attributes of its own, as much of it as there is room for.
fn text_at(at: (f64, f64), attributes: &str, text: &str, pixels: f64) -> String {
    let ((x, y), text) = (at, escape(&fitted(text, pixels, SIZE)));
    if text.is_empty() { text } else { format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>") }
}

/// Lines across, with their values to the left: the axis upwards.
fn upward(out: &mut String, axis: &Axis, left: f64, [pixels, height]: [f64; 2]) {
    for (value, words) in axis.ticks() {
        let y = height - axis.at(value);
        let _ =
            write!(out, "<path d=\"M{left:.1} {y:.1}h{pixels:.1}\" stroke=\"currentColor\" stroke-opacity=\".11\"/>");
        out.push_str(&text_at((left - 7.0, y + 4.0), "text-anchor=\"end\" fill-opacity=\".75\"", &words, left));
    }
}

/// Lines from the top down, with their values below: the axis to the right.
fn sideward(out: &mut String, axis: &Axis, left: f64, height: f64) {
    for (value, words) in axis.ticks() {
        let x = left + axis.at(value);
        let _ = write!(out, "<path d=\"M{x:.1} 0v{height:.1}\" stroke=\"currentColor\" stroke-opacity=\".11\"/>");
        out.push_str(&text_at((x, height + 15.0), "text-anchor=\"middle\" fill-opacity=\".75\"", &words, 100.0));
    }
}
