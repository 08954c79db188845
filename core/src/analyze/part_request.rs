//! A request for a part of a trace.

use serde_json::{Map, Value};

use super::named_calls::{CallKind, named_part, names_of};
use super::options::{Options, unexpected};
use super::part::TracePart;
use super::selection::MAX_NAMED;
use crate::error::Error;
use crate::link::{Iteration, LinkedTrace, StepState};
use crate::sort;
use crate::time::{TimeRange, Ts};
use crate::trace::step_name::Phase;

/// A request for a part of a trace; each field may be missing, and all are met together.
#[derive(Debug, Clone, Default)]
pub struct PartRequest {
    /// Start of the range, as the tables count time.
    pub start_ns: Option<i64>,
    /// Its end.
    pub end_ns: Option<i64>,
    /// The number of an iteration, in place of a range.
    pub iteration: Option<i64>,
    /// The phase of the iterations, such as `decode`.
    pub phase: Option<String>,
    /// The state of the loop in the iterations, such as `steady`.
    pub state: Option<String>,
    /// The name of user annotations, in which `*` stands for any text.
    pub annotation: Option<String>,
    /// The name of modules, likewise.
    pub module: Option<String>,
    /// Whether iterations in which the observer of the Execution Trace ran are selected, too, if no
    /// range and no iteration is asked for.
    pub is_with_observed: bool,
    /// Whether a trace without the phase, annotation or module has an empty part: another trace of
    /// the job has it.
    pub is_lenient: bool,
}

impl PartRequest {
    /// Removes the keys of the part from a request.
    pub(super) fn take(request: &mut Map<String, Value>) -> Result<Self, Error> {
        Ok(Self {
            start_ns: integer(request, "start_ns")?,
            end_ns: integer(request, "end_ns")?,
            iteration: integer(request, "iteration")?,
            phase: text(request, "phase")?,
            state: text(request, "state")?,
            annotation: text(request, "annotation")?,
            module: text(request, "module")?,
            is_with_observed: flag(request, "observed", false)?,
            is_lenient: false,
        })
    }

    /// Reads a request: a JSON object whose keys may all be missing, as those of
    /// [`Analysis::answer`](super::Analysis::answer).
    ///
    /// # Errors
    /// When it has other keys, or values of other types.
    pub fn parse(request: &str) -> Result<Self, Error> {
        let read = |error: serde_json::Error| unexpected("a JSON object of options", &error.to_string());
        let mut asked = serde_json::from_str(request).map_err(read)?;
        let part = Self::take(&mut asked)?;
        Options::new(&[], asked)?;
        Ok(part)
    }

    /// A range; everything, without one.
    pub fn of_range(range: Option<TimeRange>) -> Self {
        Self { start_ns: range.map(|range| range.start.0), end_ns: range.map(|range| range.end.0), ..Self::default() }
    }

    /// The same for each phase of the iterations of any of the traces, with its name.
    pub(super) fn of_phases(&self, traces: &[&LinkedTrace]) -> Result<Vec<(&'static str, Self)>, Error> {
        let mut found = Vec::new();
        for linked in traces {
            let range = self.range(linked)?;
            let phases = Phase::ALL.into_iter();
            let has_it = |phase: &Phase| self.iterations(linked, Some(phase.name()), range).next().is_some();
            found.extend(phases.filter(has_it));
        }
        if found.is_empty() {
            return Err(unexpected("iterations with a phase, such as `decode`", "none"));
        }
        let is_asked_for = |phase: &Phase| self.phase.as_ref().is_none_or(|name| name == phase.name());
        let phases = Phase::ALL.into_iter().filter(|phase| found.contains(phase)).filter(is_asked_for);
        let of_phase = |phase: Phase| Self { phase: Some(phase.name().to_owned()), is_lenient: true, ..self.clone() };
        Ok(phases.map(|phase| (phase.name(), of_phase(phase))).collect())
    }

    /// Whether a part is chosen by name, which a trace of a job may lack.
    pub(super) fn is_by_name(&self) -> bool {
        self.phase.is_some() || self.state.is_some() || self.annotation.is_some() || self.module.is_some()
    }

    /// The part of a trace; `None` for all of it. An error where the trace does not have it.
    pub fn part(&self, linked: &LinkedTrace) -> Result<Option<TracePart>, Error> {
        let range = self.range(linked)?;
        if self.phase.is_none() && self.state.is_none() {
            return self.of_calls(linked, range.map(TracePart::of));
        }
        let found = self.iterations(linked, self.phase.as_deref(), range);
        let times: Vec<TimeRange> = found.map(Iteration::range).collect();
        if times.is_empty() && !self.is_lenient {
            return Err(self.without_iterations(linked));
        }
        self.of_calls(linked, Some(TracePart::of_ranges(times)))
    }

    /// The named calls in a part, if any are asked for.
    fn of_calls(&self, linked: &LinkedTrace, part: Option<TracePart>) -> Result<Option<TracePart>, Error> {
        let (kind, noun, pattern) = match (&self.annotation, &self.module) {
            (None, None) => return Ok(part),
            (Some(pattern), None) => (CallKind::Annotation, "an annotation", pattern),
            (None, Some(pattern)) => (CallKind::Module, "a module", pattern),
            (Some(_), Some(_)) => return Err(unexpected("an annotation or a module", "both")),
        };
        match named_part(linked, kind, pattern, part.as_ref()) {
            None if !self.is_lenient => {
                let names = names_of(linked, kind, MAX_NAMED);
                let known = if names.is_empty() { String::from("which has none") } else { format!("one of {names:?}") };
                Err(unexpected(&format!("{noun} of the trace, {known}"), pattern))
            }
            found => Ok(Some(found.unwrap_or_else(|| TracePart::of_ranges(Vec::new())))),
        }
    }

    /// The iterations of a phase and of the wanted state that begin in a range.
    fn iterations<'a>(
        &self,
        linked: &'a LinkedTrace,
        phase: Option<&str>,
        range: Option<TimeRange>,
    ) -> impl Iterator<Item = &'a Iteration> + use<'a> {
        let wanted = |name: Option<&str>, names: &[&str]| name.map(|name| names.iter().position(|one| *one == name));
        let phase = wanted(phase, &Phase::ALL.map(Phase::name));
        let state = wanted(self.state.as_deref(), &StepState::ALL.map(StepState::name));
        let is_inside = move |start: Ts| range.is_none_or(|range| range.start <= start && start < range.end);
        linked.links.iterations.iter().filter(move |one| {
            let is_phase = |place: Option<usize>| place.is_some() && one.facts.phase.map(|own| own as usize) == place;
            let is_state = |place: Option<usize>| place.is_some() && one.state.map(|own| own as usize) == place;
            phase.is_none_or(is_phase) && state.is_none_or(is_state) && is_inside(one.start)
        })
    }

    /// Says which phases or states there are.
    fn without_iterations(&self, linked: &LinkedTrace) -> Error {
        let all = || linked.links.iterations.iter();
        let [noun, asked, names] = match (&self.phase, &self.state) {
            (Some(phase), None) => ["a phase", phase, &named(all().filter_map(|one| Some(one.facts.phase?.name())))],
            (None, Some(state)) => ["a state", state, &named(all().filter_map(|one| Some(one.state?.name())))],
            _ => ["phase and state", "none that has both", &named(all().filter_map(|one| Some(one.state?.name())))],
        };
        unexpected(&format!("{noun} of these iterations, {names}"), asked)
    }

    fn range(&self, linked: &LinkedTrace) -> Result<Option<TimeRange>, Error> {
        let (start, end) = (self.start_ns.map(Ts), self.end_ns.map(Ts));
        if let Some(number) = self.iteration {
            if start.or(end).is_some() {
                return Err(unexpected("a range or an iteration", "both"));
            }
            let iterations = &linked.links.iterations;
            let Some(iteration) = iterations.iter().find(|iteration| iteration.number == number) else {
                let numbers: Vec<_> = iterations.iter().take(MAX_NAMED).map(|iteration| iteration.number).collect();
                return Err(unexpected(&format!("one of the iterations {numbers:?}"), &number.to_string()));
            };
            return Ok(Some(iteration.range()));
        }
        if start.or(end).is_none() {
            return Ok(if self.is_with_observed { None } else { linked.clean_range() });
        }
        let whole = linked.range();
        let range = TimeRange { start: start.unwrap_or(whole.start), end: end.unwrap_or(whole.end) };
        if start.is_some() && end.is_some() && range.end < range.start {
            let found = format!("{} to {}", range.start.0, range.end.0);
            return Err(unexpected("a range that ends after its start", &found));
        }
        Ok(Some(TimeRange { end: range.end.max(range.start), ..range }))
    }
}

/// Removes an integer from a request.
pub(super) fn integer(request: &mut Map<String, Value>, name: &str) -> Result<Option<i64>, Error> {
    match request.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            value.as_i64().map(Some).ok_or_else(|| unexpected(&format!("an integer as {name}"), &value.to_string()))
        }
    }
}

/// Removes a flag from a request.
pub(super) fn flag(request: &mut Map<String, Value>, name: &str, default: bool) -> Result<bool, Error> {
    match request.remove(name) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(is_wanted)) => Ok(is_wanted),
        Some(other) => Err(unexpected(&format!("true or false as {name}"), &other.to_string())),
    }
}

fn text(request: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Error> {
    match request.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(unexpected(&format!("a string as {name}"), &other.to_string())),
    }
}

/// Names in alphabetical order, each once, as the end of a sentence.
fn named(names: impl Iterator<Item = &'static str>) -> String {
    let names = sort::distinct(names);
    if names.is_empty() { String::from("which have none") } else { format!("one of {names:?}") }
}
