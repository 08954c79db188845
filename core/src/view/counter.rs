//! Numbers over time, for as many pixels as there are.

use serde_json::{Value, json};

use super::overview::Shown;
use super::part::View;
use super::pixel::Pixels;
use super::request::Window;
use super::response::{ColumnData, Response};
use super::screen::Screen;
use super::series::{Course, Series};
use crate::analyze::interval::clip;
use crate::error::{Error, ErrorKind};
use crate::time::{TimeRange, Ts};

/// All counters: those of the first part, then those of the next.
fn all<'a>(screen: &Screen<'a>) -> impl Iterator<Item = (View<'a>, &'a Series)> {
    screen.parts.clone().into_iter().flat_map(|part| part.part().series().iter().map(move |series| (part, series)))
}

#[inline(never)] // a part of the compiled core begins here (wasm/build/parts.mjs)
pub(super) fn list(screen: &Screen<'_>) -> Response {
    let shown = Shown::of(screen);
    let counter = |(at, (part, series)): (usize, (View<'_>, &Series))| -> Value {
        let (least, greatest) = series.bounds();
        json!({
            "counter": at,
            "part": part.at,
            "group": shown.group_of(part, series.track),
            "name": series.name,
            "unit": series.unit,
            "least": least,
            "greatest": greatest,
        })
    };
    Response::of("counters", &json!({"counters": all(screen).enumerate().map(counter).collect::<Vec<_>>()}))
}

#[inline(never)] // a part of the compiled core begins here (wasm/build/parts.mjs)
pub(super) fn answer(screen: &Screen<'_>, counter: u32, window: Window) -> Result<Response, Error> {
    let Window { start, end, pixels } = window.expect_some()?;
    let Some((part, series)) = all(screen).nth(counter as usize) else {
        let expected = String::from("the number of a counter");
        return Err(ErrorKind::Request { expected, found: counter.to_string() }.into());
    };
    let window = part.time_range(start, end);
    let pixels = Pixels::new(part, window, pixels);
    let rows = match &series.course {
        Course::Steps(steps) => of_steps(steps, window, pixels),
        Course::Busy(busy) => of_busy(busy, clip(window, part.range), pixels),
    };
    let column = |get: fn(&Row) -> f64| ColumnData::F64(rows.iter().map(get).collect());
    Ok(Response::of("counter", &json!({"until": part.offset(part.range.end)})).with_columns(vec![
        ("start", ColumnData::F64(rows.iter().map(|row| part.offset(row.start)).collect())),
        ("least", column(|row| row.least)),
        ("greatest", column(|row| row.greatest)),
        ("last", column(|row| row.last)),
    ]))
}

/// What a value was within a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    start: Ts,
    least: f64,
    greatest: f64,
    last: f64,
}

impl Row {
    fn at(start: Ts, value: f64) -> Self {
        Self { start, least: value, greatest: value, last: value }
    }
}

fn of_steps(steps: &[(Ts, f64)], window: TimeRange, pixels: Pixels) -> Vec<Row> {
    let first = steps.partition_point(|(time, _)| *time < window.start);
    let before = first.checked_sub(1).map(|at| Row::at(window.start, steps[at].1));
    let mut rows: Vec<Row> = before.into_iter().collect();
    let mut here = i64::MIN;
    for (time, value) in steps[first..].iter().take_while(|(time, _)| *time < window.end) {
        let pixel = pixels.of(*time);
        match rows.last_mut() {
            Some(row) if pixel == here => {
                row.least = row.least.min(*value);
                row.greatest = row.greatest.max(*value);
                row.last = *value;
            }
            _ => rows.push(Row::at(*time, *value)),
        }
        here = pixel;
    }
    rows
}

/// The share of each pixel that is busy, where it is another than before.
fn of_busy(busy: &[TimeRange], window: TimeRange, pixels: Pixels) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut at = busy.partition_point(|range| range.end <= window.start);
    for pixel in pixels.of(window.start)..=pixels.of(window.end) {
        let time = TimeRange { start: pixels.start(pixel), end: pixels.start(pixel.saturating_add(1)) };
        let mut busy_ns = 0;
        while let Some(range) = busy.get(at).filter(|range| range.start < time.end) {
            busy_ns += clip(*range, time).dur().0;
            if range.end > time.end {
                break;
            }
            at += 1;
        }
        let share = busy_ns as f64 / pixels.pixel_ns as f64;
        if rows.last().is_none_or(|row| row.last.to_bits() != share.to_bits()) {
            rows.push(Row::at(time.start, share));
        }
    }
    rows
}
