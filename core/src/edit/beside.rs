//! Moves the trace of another tool to the time axis of a trace.

use serde_json::{Value, json};

use super::edit_log::{BESIDE, note};
use crate::error::{Error, ErrorKind};
use crate::link::{AnnotationClock, annotation_clock};
use crate::time::Ts;
use crate::trace::Trace;

/// The method that finds the offset between two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompanionAlignment {
    /// By annotations that both traces have; else by clocks, if both count from 1970.
    #[default]
    Any,
    /// By annotations that both traces have.
    Annotations,
    /// Times as recorded.
    Recorded,
    /// So many nanoseconds are added to the times of the other trace.
    Offset(i64),
}

impl CompanionAlignment {
    /// From JSON: `null`, `"annotations"`, `"recorded"` or `{"offset_ns": 5}`.
    ///
    /// # Errors
    /// For another value.
    pub fn of(value: &Value) -> Result<Self, Error> {
        match value.as_str() {
            None if value.is_null() => return Ok(Self::Any),
            Some("annotations") => return Ok(Self::Annotations),
            Some("recorded") => return Ok(Self::Recorded),
            _ => {}
        }
        let offset = value.as_object().filter(|object| object.len() == 1);
        let offset = offset.and_then(|object| object.get("offset_ns")?.as_i64());
        let expected = r#"align of "annotations", "recorded" or {"offset_ns": a whole number}"#;
        offset.map(Self::Offset).ok_or_else(|| fault(expected, value.to_string()))
    }
}

/// The trace of another tool with times of the clock of `main`. Its header tells how it was moved.
///
/// # Errors
/// When no offset is certain.
///
/// ```
/// use kinetoscope::edit::{Companion, CompanionAlignment, beside};
/// use kinetoscope::{Input, Limits, read};
/// let main = r#"[
///     {"ph": "X", "cat": "user_annotation", "name": "load", "tid": 1, "ts": 1000, "dur": 10},
///     {"ph": "X", "cat": "user_annotation", "name": "step", "tid": 1, "ts": 1020, "dur": 40}]"#;
/// let other = r#"[
///     {"ph": "X", "name": "load", "tid": 1, "ts": 500, "dur": 10},
///     {"ph": "X", "name": "step", "tid": 1, "ts": 520, "dur": 40}]"#;
/// let [main, other] = [main, other].map(|json| read([Input::new(json.as_bytes())], Limits::default()));
/// let moved = beside(&main?, &other?, CompanionAlignment::Any)?;
/// assert_eq!(moved.events.start.at(0).0, 1_000_000);
/// assert_eq!(Companion::of(&moved).map(|companion| (companion.offset_ns, companion.num_matches)), Some((500_000, 2)));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn beside(main: &Trace, other: &Trace, align: CompanionAlignment) -> Result<Trace, Error> {
    let mut words = json!({"edit": BESIDE, "tool": other.tool()});
    let (align, offset_ns) = match align {
        CompanionAlignment::Offset(offset_ns) => ("offset", offset_ns),
        CompanionAlignment::Recorded => ("recorded", 0),
        CompanionAlignment::Annotations => of_clock(&annotation_clock(main, other, false), &mut words)?,
        CompanionAlignment::Any => of_any(main, other, &mut words)?,
    };
    words["align"] = align.into();
    words["offset_ns"] = offset_ns.into();
    let mut moved = other.clone();
    moved.shift(offset_ns);
    note(&mut moved, &words);
    Ok(moved)
}

/// Clocks that count from 1970 agree to a fraction of this; traces of one run are not further
/// apart.
const FAR_NS: i64 = 1_000_000_000;

/// Times from this on count from 1970: it is the year 2001.
const ABSOLUTE: Ts = Ts(1_000_000_000_000_000_000);

fn of_any(main: &Trace, other: &Trace, words: &mut Value) -> Result<(&'static str, i64), Error> {
    let [here, there] = [main, other].map(Trace::range);
    let is_one_clock = here.start >= ABSOLUTE && there.start >= ABSOLUTE;
    let clock = annotation_clock(main, other, is_one_clock);
    if !is_one_clock {
        return of_clock(&clock, words);
    }
    let apart_ns = here.start.0.max(there.start.0).saturating_sub(here.end.0.min(there.end.0));
    if !clock.is_certain() {
        if apart_ns > FAR_NS {
            let expected = r#"recordings of one run whose times overlap, or align of {"offset_ns": …}"#;
            return Err(fault(expected, format!("traces that are {} s apart", apart_ns / FAR_NS)));
        }
        state(&clock, words);
        words["spread_ns"] = Value::Null;
        return Ok(("recorded", 0));
    }
    if clock.offset_ns.saturating_abs() > FAR_NS {
        let expected = r#"annotations and clocks that agree, or align of "annotations" or "recorded""#;
        let found = format!("{}, {} s away from the clocks", matches(&clock), clock.offset_ns / FAR_NS);
        return Err(fault(expected, found));
    }
    of_clock(&clock, words)
}

fn state(clock: &AnnotationClock, words: &mut Value) {
    words["spread_ns"] = clock.spread_ns.into();
    words["num_matches"] = clock.num_matches.into();
    words["num_common"] = clock.num_common.into();
}

fn of_clock(clock: &AnnotationClock, words: &mut Value) -> Result<(&'static str, i64), Error> {
    if clock.is_certain() {
        state(clock, words);
        return Ok(("annotations", clock.offset_ns));
    }
    let next = r#"or align of "recorded" or {"offset_ns": …}"#;
    Err(match clock.rival_ns {
        _ if clock.num_common < 2 => {
            let found = if clock.num_common == 0 {
                String::from("none")
            } else {
                format!("one, {:?}, which gives {{\"offset_ns\": {}}}", clock.example, clock.offset_ns)
            };
            fault(&format!("at least two annotations with the same name in both traces, {next}"), found)
        }
        Some(rival_ns) if clock.num_matches * 2 > clock.num_common => {
            let found = format!("{}, and no fewer at {rival_ns} ns", matches(clock));
            fault(&format!("annotations that fit one offset alone, {next}"), found)
        }
        _ => fault(&format!("annotations that fit one offset, {next}"), matches(clock)),
    })
}

fn matches(clock: &AnnotationClock) -> String {
    let AnnotationClock { offset_ns, num_matches, num_common, .. } = clock;
    format!("{num_matches} of {num_common} common annotations that fit {offset_ns} ns")
}

fn fault(expected: &str, found: String) -> Error {
    ErrorKind::Request { expected: expected.to_owned(), found }.into()
}
