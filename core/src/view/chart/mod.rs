//! Draws a table as an SVG chart, for pages without scripts: bars, waterfalls, steps, ranges,
//! flame graphs or points.
//!
//! Marks are bounded, whatever the table holds. Texts take the colour of the page around them;
//! opened by itself, the picture follows the reader's preference for light or dark.

mod axis;
mod bands;
mod bars;
mod change;
mod column;
mod drawing;
mod flame;
mod heat;
mod layout;
mod pillars;
#[cfg(feature = "machines")]
mod places;
mod points;
mod ranges;
mod steps;
mod style;

use maud::{Markup, html};

use super::svg::{Px, finished, fitted, width};
use crate::analyze::Plot;
use crate::analyze::tables::BANDS_OVER_TIME;
use crate::table::{ColumnType, TableRows};
use axis::{ChartAxis, ChartUnit};
pub(super) use bands::SIDES as BANDS_PLOT;
pub(super) use column::{MOMENTS, find};
use column::{is_a_measure, is_a_moment};
use drawing::{ChartDrawing, said};
pub(super) use pillars::{ChartPillar, pillars};
use style::{ChartFill, SIZE, TextStyle, WIDTH, text_at};

const STYLE: &str = "svg:root{color:#1f2328;background:#fff}\
    @media(prefers-color-scheme:dark){svg:root{color:#e6edf3;background:#0d1117}}";

/// Pixels from one note below a chart to the next.
const NOTE_PITCH: f64 = 16.0;

/// A [`Plot`] whose columns are places in a table.
enum PlotColumns {
    Bars {
        label: Option<usize>,
        parts: Vec<usize>,
    },
    Change {
        label: usize,
        sides: [usize; 2],
    },
    Bands {
        time: [usize; 2],
        bytes: [usize; 2],
        texts: [usize; 3],
    },
    Flame {
        texts: [usize; 2],
        numbers: [usize; 3],
        change: Option<usize>,
        unit: &'static str,
    },
    Heat {
        places: [usize; 2],
        name: Option<usize>,
        values: Vec<usize>,
    },
    Layout {
        bytes: usize,
        texts: [usize; 3],
        breaks: [usize; 2],
    },
    #[cfg(feature = "machines")]
    Places([usize; 4]),
    Ranges {
        lane: usize,
        ends: [usize; 2],
        series: usize,
        label: usize,
    },
    Steps {
        time: usize,
        value: usize,
        series: Option<usize>,
    },
    Points {
        x: usize,
        y: usize,
        label: usize,
        ceiling: Option<[usize; 3]>,
    },
}

/// Draws a table according to its plot. Without a plot, or if the plot names columns of another
/// table, draws bands of memory, a function of `time_ns`, or bars of the first measure by the first
/// text. Without rows, shows the reason.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::{Input, Limits, LinkedTrace, analyze::analysis, read, view::chart};
/// let json = br#"[{"ph": "X", "cat": "kernel", "name": "a < b", "pid": 0, "tid": 7, "ts": 6, "dur": 4}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let answer = analysis("kernels")?.answer(&linked, "{}")?;
/// let svg = chart(&*answer.tables[0], answer.plot, answer.reason.as_deref());
/// assert!(svg.starts_with("<svg ") && svg.contains("a &lt; b: 4 µs"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn chart(table: &dyn TableRows, plot: Option<Plot>, reason: Option<&str>) -> String {
    finished(framed(table.name(), table.doc(), &drawing(table, plot, reason), Some(STYLE)))
}

/// Draws a table for a page with its own style sheet and a strict content security policy.
pub(super) fn figure(table: &dyn TableRows, plot: Option<Plot>, reason: Option<&str>) -> Markup {
    framed(table.name(), table.doc(), &drawing(table, plot, reason), None)
}

/// Nanoseconds in three digits and a unit.
pub(super) fn time_words(ns: f64) -> String {
    ChartUnit::Time.words(ns)
}

/// Marks of an axis from 0 to `length` nanoseconds: where they are in pixels, and their labels.
pub(super) fn time_ticks(length: f64, pixels: f64) -> Vec<(f64, String)> {
    let axis = ChartAxis::linear(ChartUnit::Time, 0.0, length, pixels);
    axis.ticks().into_iter().map(|(ns, label)| (axis.at(ns), label)).collect()
}

/// Bytes in three digits and a unit.
pub(super) fn size_words(bytes: f64) -> String {
    ChartUnit::Bytes.words(bytes)
}

fn drawing(table: &dyn TableRows, plot: Option<Plot>, reason: Option<&str>) -> ChartDrawing {
    let chosen =
        if table.num_rows() > 0 { plot.and_then(|plot| found(table, plot)).or_else(|| guess(table)) } else { None };
    match chosen {
        Some(PlotColumns::Bars { label, parts }) => bars::draw(table, label, &parts),
        Some(PlotColumns::Change { label, sides }) => change::draw(table, label, sides),
        Some(PlotColumns::Bands { time, bytes, texts }) => bands::draw(table, time, bytes, texts),
        Some(PlotColumns::Flame { texts, numbers, change, unit }) => flame::draw(table, texts, numbers, (change, unit)),
        Some(PlotColumns::Heat { places, name, values }) => heat::draw(table, (places, name), &values),
        Some(PlotColumns::Layout { bytes, texts, breaks }) => layout::draw(table, bytes, texts, breaks),
        #[cfg(feature = "machines")]
        Some(PlotColumns::Places(columns)) => places::draw(table, columns),
        Some(PlotColumns::Ranges { lane, ends, series, label }) => ranges::draw(table, lane, ends, [series, label]),
        Some(PlotColumns::Steps { time, value, series }) => steps::draw(table, time, value, series),
        Some(PlotColumns::Points { x, y, label, ceiling }) => points::draw(table, [x, y], label, ceiling),
        None => said(if table.num_rows() > 0 { "no column can be drawn" } else { reason.unwrap_or("no rows") }),
    }
}

fn found(table: &dyn TableRows, plot: Plot) -> Option<PlotColumns> {
    let at = |name: &str| find(table, name);
    Some(match plot {
        Plot::Bars { label, parts } => PlotColumns::Bars {
            label: Some(at(label)?),
            parts: parts.iter().map(|part| at(part)).collect::<Option<_>>()?,
        },
        Plot::Change { label, before, after } => {
            PlotColumns::Change { label: at(label)?, sides: [at(before)?, at(after)?] }
        }
        Plot::Bands { time, bottom, height, label, colour, panel } => PlotColumns::Bands {
            time: [at(time[0])?, at(time[1])?],
            bytes: [at(bottom)?, at(height)?],
            texts: [at(label)?, at(colour)?, at(panel)?],
        },
        Plot::Flame { name, depth, start, weight, kind, change, unit } => PlotColumns::Flame {
            texts: [at(name)?, at(kind)?],
            numbers: [at(depth)?, at(start)?, at(weight)?],
            change: change.and_then(at),
            unit,
        },
        Plot::Heat { row, name, column, values } => PlotColumns::Heat {
            places: [at(row)?, at(column)?],
            name: name.and_then(at),
            values: values.iter().map(|value| at(value)).collect::<Option<_>>()?,
        },
        Plot::Layout { segment, bytes, state, label, pool, panel } => PlotColumns::Layout {
            bytes: at(bytes)?,
            texts: [at(state)?, at(label)?, at(pool)?],
            breaks: [at(segment)?, at(panel)?],
        },
        #[cfg(feature = "machines")]
        Plot::Places { rank, division, number, name } => {
            PlotColumns::Places([at(rank)?, at(division)?, at(number)?, at(name)?])
        }
        Plot::Ranges { lane, start, end, series, label } => PlotColumns::Ranges {
            lane: at(lane)?,
            ends: [at(start)?, at(end)?],
            series: at(series)?,
            label: at(label)?,
        },
        Plot::Steps { time, value, series } => {
            PlotColumns::Steps { time: at(time)?, value: at(value)?, series: series.and_then(at) }
        }
        Plot::Points { x, y, label, ceiling } => {
            let ceiling =
                ceiling.and_then(|ceiling| Some([at(ceiling.height)?, at(ceiling.level)?, at(ceiling.label)?]));
            PlotColumns::Points { x: at(x)?, y: at(y)?, label: at(label)?, ceiling }
        }
    })
}

fn guess(table: &dyn TableRows) -> Option<PlotColumns> {
    if let Some(bands) = found(table, BANDS_OVER_TIME) {
        return Some(bands);
    }
    let columns = 0..table.num_columns();
    let mut measures = columns.clone().filter(|at| is_a_measure(table, *at));
    let text = columns.clone().find(|at| table.column_type(*at) == ColumnType::Text);
    if let Some(time) = find(table, "time_ns").filter(|at| table.column_type(*at) == ColumnType::Int) {
        return Some(PlotColumns::Steps { time, value: measures.find(|at| *at > time)?, series: text });
    }
    let of_unit = |unit| columns.clone().find(|at| is_a_measure(table, *at) && table.column_unit(*at) == Some(unit));
    let part = of_unit("ns").or_else(|| of_unit("bytes")).or_else(|| measures.next())?;
    let first = || columns.clone().find(|at| *at != part && !is_a_moment(table.column_name(*at)));
    Some(PlotColumns::Bars { label: text.or_else(first), parts: vec![part] })
}

/// A picture with its title; `style` is for pictures that are opened by themselves.
fn framed(name: &str, doc: &str, drawing: &ChartDrawing, style: Option<&str>) -> Markup {
    let title = name.strip_suffix("_series").unwrap_or(name).replace('_', " ");
    let (legend, top) = legend(&drawing.legend);
    let notes = top + drawing.height;
    let high = notes + drawing.notes.len() as f64 * NOTE_PITCH + 16.0;
    let all = if drawing.subtitle.is_empty() { title.clone() } else { format!("{title}: {}", drawing.subtitle) };
    let wide = WIDTH + 24.0;
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "-12 -10 " (wide) " " (format_args!("{high:.0}")) } width=(wide)
            role="img" class=[style.is_none().then_some("ks-chart")]
            style=[style.is_some().then_some("max-width:100%;height:auto")] {
            title { (all) }
            desc { "Each row is " (doc) ". " (drawing.desc) }
            @if let Some(style) = style { style { (style) } }
            g font-family="system-ui,-apple-system,'Segoe UI',sans-serif" font-size=(SIZE) fill="currentColor" {
                text y="14" {
                    tspan font-size="13" font-weight="600" { (title) }
                    tspan dx="8" fill-opacity=".7" { (drawing.subtitle) }
                }
                (legend)
                g transform={ "translate(0 " (format_args!("{top:.0}")) ")" } { (drawing.body) }
                @for (at, note) in drawing.notes.iter().enumerate() {
                    (text_at((0.0, notes + (at + 1) as f64 * NOTE_PITCH - 4.0), TextStyle::NOTE, note, WIDTH))
                }
            }
        }
    }
}

/// The legend in as many lines as needed, and the position after it.
fn legend(entries: &[(String, ChartFill)]) -> (Markup, f64) {
    let (mut x, mut y) = (0.0, 26.0);
    let mut place = |name: &str| {
        let wide = width(name, SIZE) + 34.0;
        if x > 0.0 && x + wide > WIDTH {
            (x, y) = (0.0, y + 17.0);
        }
        x += wide;
        (x - wide, y)
    };
    let markup = html! {
        @for (name, fill) in entries {
            @let name = fitted(name, 240.0, SIZE);
            @let (x, y) = place(&name);
            rect x=(Px(x)) y=(Px(y)) width="10" height="10" rx="2" fill=(fill.colour) fill-opacity=[fill.opacity] {}
            (text_at((x + 15.0, y + 9.0), TextStyle::PLAIN, &name, 260.0))
        }
    };
    (markup, if entries.is_empty() { 28.0 } else { y + 22.0 })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Plot, PlotColumns, found};
    use crate::analyze::ANALYSES;
    use crate::{Input, Limits, LinkedTrace, read};

    #[test]
    fn every_plot_names_columns_of_its_table() {
        let trace = read([Input::new(b"[]")], Limits::default()).unwrap();
        let linked = Arc::new(LinkedTrace::new(trace));
        for analysis in ANALYSES {
            let answer = analysis.answer(&linked, "{}").unwrap();
            let Some(plot) = answer.plot else { continue };
            let drawn = answer.drawn.unwrap_or(answer.tables[0].name());
            let table = answer.tables.iter().find(|table| table.name() == drawn).unwrap();
            for plot in [plot, plot.with_device(true), plot.with_device(false)] {
                let is_whole = match (plot, found(&**table, plot)) {
                    (Plot::Steps { series, .. }, Some(PlotColumns::Steps { series: place, .. })) => {
                        series.is_some() == place.is_some()
                    }
                    (Plot::Points { ceiling, .. }, Some(PlotColumns::Points { ceiling: places, .. })) => {
                        ceiling.is_some() == places.is_some()
                    }
                    (_, columns) => columns.is_some(),
                };
                assert!(is_whole, "{}: {plot:?}", analysis.name);
            }
        }
    }
}
