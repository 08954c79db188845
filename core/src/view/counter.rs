//! Answers counter series, one value range per pixel.

use serde_json::{Value, json};

use super::overview::ShownTracks;
use super::pixel::PixelScale;
use super::request::TimeWindow;
use super::response::{ColumnData, Response};
use super::screen::Screen;
use super::series::{SeriesCourse, TimeSeries};
use super::session_trace::TraceView;
use crate::analyze::interval::clip;
use crate::error::{Error, ErrorKind};
use crate::time::{TimeRange, Ts};

/// All counters: those of the first part, then those of the next.
fn all<'a>(screen: &Screen<'a>) -> impl Iterator<Item = (TraceView<'a>, &'a TimeSeries)> {
    screen.parts.clone().into_iter().flat_map(|part| part.part().series().iter().map(move |series| (part, series)))
}

pub(super) fn list(screen: &Screen<'_>) -> Response {
    let shown = ShownTracks::of(screen);
    let counter = |(at, (part, series)): (usize, (TraceView<'_>, &TimeSeries))| -> Value {
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

pub(super) fn answer(screen: &Screen<'_>, counter: u32, window: TimeWindow) -> Result<Response, Error> {
    let TimeWindow { start, end, pixels } = window.expect_some()?;
    let Some((part, series)) = all(screen).nth(counter as usize) else {
        let expected = String::from("the number of a counter");
        return Err(ErrorKind::Request { expected, found: counter.to_string() }.into());
    };
    let window = part.time_range(start, end);
    let pixels = PixelScale::new(part, window, pixels);
    let rows = match &series.course {
        SeriesCourse::Steps(steps) => of_steps(steps, window, pixels),
        SeriesCourse::Busy(busy) => of_busy(busy, clip(window, part.range), pixels),
    };
    let column = |get: fn(&CounterPixel) -> f64| ColumnData::F64(rows.iter().map(get).collect());
    Ok(Response::of("counter", &json!({"until": part.offset(part.range.end)})).with_columns(vec![
        ("start", ColumnData::F64(rows.iter().map(|row| part.offset(row.start)).collect())),
        ("least", column(|row| row.least)),
        ("greatest", column(|row| row.greatest)),
        ("last", column(|row| row.last)),
    ]))
}

/// The values of a counter within a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CounterPixel {
    start: Ts,
    least: f64,
    greatest: f64,
    last: f64,
}

impl CounterPixel {
    fn at(start: Ts, value: f64) -> Self {
        Self { start, least: value, greatest: value, last: value }
    }
}

fn of_steps(steps: &[(Ts, f64)], window: TimeRange, pixels: PixelScale) -> Vec<CounterPixel> {
    let first = steps.partition_point(|(time, _)| *time < window.start);
    let before = first.checked_sub(1).map(|at| CounterPixel::at(window.start, steps[at].1));
    let mut rows: Vec<CounterPixel> = before.into_iter().collect();
    let mut here = i64::MIN;
    for (time, value) in steps[first..].iter().take_while(|(time, _)| *time < window.end) {
        let pixel = pixels.of(*time);
        match rows.last_mut() {
            Some(row) if pixel == here => {
                row.least = row.least.min(*value);
                row.greatest = row.greatest.max(*value);
                row.last = *value;
            }
            _ => rows.push(CounterPixel::at(*time, *value)),
        }
        here = pixel;
    }
    rows
}

/// The share of each pixel that is busy, where it is another than before.
fn of_busy(busy: &[TimeRange], window: TimeRange, pixels: PixelScale) -> Vec<CounterPixel> {
    let mut rows: Vec<CounterPixel> = Vec::new();
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
            rows.push(CounterPixel::at(time.start, share));
        }
    }
    rows
}
