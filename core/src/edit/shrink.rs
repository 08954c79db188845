//! Shrinks a trace to a size limit.
//!
//! Steps remove the least useful rows first, and stop once the result fits. Each counts its
//! removals. These always stay: device work, its launches with everything around them, annotations,
//! and the first and the last event. Ids and the total time range do not change.

use serde_json::json;

use super::edit_log::note;
use super::kept_rows::{KeptRows, count};
use super::rebuild::{compact, each_args};
use crate::error::{Error, ErrorKind, Position};
use crate::id::TemplateId;
use crate::link::{LinkMethod, LinkedTrace, MODULE_PREFIX};
use crate::trace::Trace;
use crate::trace::args::{Args, ArgsRef, ArgsTemplate, FieldValue, TemplateField};
use crate::trace::kind::EventKind;
use crate::trace::number_pool::NumberPool;
use crate::warning::WarningKind;

/// Durations, in nanoseconds, below which host events without device work go, one after another.
const SHORT_NS: [i64; 8] = [1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 16_000_000, i64::MAX];

/// The trace with as much left out as it takes for it to fit: the same trace where it does already.
///
/// Steps in order: arrows of launches that `correlation` repeats; Python calls without operators;
/// arguments without a column; instants and counters; Python calls other than modules; the
/// Execution Trace; all Python calls; host calls without device work, the shortest first.
///
/// # Errors
/// When all that is not enough.
pub fn shrink(linked: &LinkedTrace, fits: &mut dyn FnMut(&Trace) -> bool) -> Result<Trace, Error> {
    if fits(&linked.trace) {
        return Ok(linked.trace.clone());
    }
    let mut thinner = TraceShrinker::new(linked);
    for step in TraceShrinker::STEPS {
        step(&mut thinner);
        if let Some(trace) = thinner.fitting(fits) {
            return Ok(trace);
        }
    }
    for limit in SHORT_NS {
        thinner.leave_out_events(limit);
        if let Some(trace) = thinner.fitting(fits) {
            return Ok(trace);
        }
    }
    let expected = String::from(
        "a size limit that the device work alone fits in (trim the trace first, or raise the \
         limit)",
    );
    Err(ErrorKind::Request { expected, found: String::from("a smaller limit") }.into())
}

struct TraceShrinker<'a> {
    linked: &'a LinkedTrace,
    kept: KeptRows,
    /// The events that begin first and end last.
    ends: [Option<usize>; 2],
    keeps_arguments: bool,
    has_news: bool,
}

impl<'a> TraceShrinker<'a> {
    const STEPS: [fn(&mut Self); 7] = [
        Self::leave_out_flows,
        Self::leave_out_idle_frames,
        Self::leave_out_arguments,
        Self::leave_out_instants,
        Self::leave_out_functions,
        Self::leave_out_nodes,
        Self::leave_out_frames,
    ];

    fn new(linked: &'a LinkedTrace) -> Self {
        let (events, range) = (&linked.trace.events, linked.trace.range());
        let ends = [
            (0..events.len()).find(|row| events.start.at(*row) == range.start),
            (0..events.len()).find(|row| events.end(*row) == range.end),
        ];
        Self { linked, kept: KeptRows::all(&linked.trace), ends, keeps_arguments: true, has_news: false }
    }

    /// The trace as far as it was shrunk, if that fits.
    fn fitting(&mut self, fits: &mut dyn FnMut(&Trace) -> bool) -> Option<Trace> {
        if !std::mem::take(&mut self.has_news) {
            return None;
        }
        Some(self.trace()).filter(|trace| fits(trace))
    }

    fn trace(&self) -> Trace {
        let whole = &self.linked.trace;
        let mut trace = self.kept.rows_of(whole);
        if !self.keeps_arguments {
            let num_fewer = keep_known_arguments(&mut trace);
            trace.warnings.push_many(WarningKind::ShrunkArguments, num_fewer, Position::default);
        }
        let mut trace = compact(trace);
        let kinds = &whole.events.kind;
        let is_frame = |row: &usize| kinds[*row] == EventKind::Python;
        let left_out = || (0..whole.events.len()).filter(|row| !self.kept.events[*row]);
        let num_frames = left_out().filter(is_frame).count();
        let counts = [
            (WarningKind::ShrunkFlow, whole.flows.len() - count(&self.kept.flows)),
            (WarningKind::ShrunkFrame, num_frames),
            (WarningKind::ShrunkInstant, whole.instants.len() - count(&self.kept.instants)),
            (WarningKind::ShrunkNode, whole.nodes.len() - count(&self.kept.nodes)),
            (WarningKind::ShrunkEvent, left_out().count() - num_frames),
        ];
        for (kind, num_left_out) in counts {
            trace.warnings.push_many(kind, num_left_out as u64, Position::default);
        }
        let shrunk = trace.warnings.iter().filter(|warning| warning.kind.name().starts_with("shrunk_"));
        let counts: serde_json::Map<_, _> =
            shrunk.map(|warning| (warning.kind.name().to_owned(), json!(warning.count))).collect();
        note(&mut trace, &json!({"edit": "shrink", "left_out": counts}));
        trace
    }

    /// Leaves out the events that `is_unwanted`, by row, but for those that begin first or end
    /// last.
    fn leave_out(&mut self, is_unwanted: impl Fn(usize) -> bool) {
        for (row, is_kept) in self.kept.events.iter_mut().enumerate() {
            let goes = *is_kept && !self.ends.contains(&Some(row)) && is_unwanted(row);
            *is_kept &= !goes;
            self.has_news |= goes;
        }
    }

    /// Arrows from a launch to its work, unless they alone tell which work that is.
    fn leave_out_flows(&mut self) {
        let (trace, launched) = (&self.linked.trace, &self.linked.links.launched);
        let mut pairs = (0..launched.len()).filter_map(|at| launched.pair(at));
        if pairs.any(|(_, device)| launched.how(device) == LinkMethod::Flow) {
            return;
        }
        let is_arrow = |name: &str| matches!(name, "ac2g" | "async" | "async_cpu_to_gpu" | "async_gpu");
        self.kept.flows = trace.flows.iter().map(|end| !is_arrow(trace.strings.text(end.category))).collect();
        self.has_news = count(&self.kept.flows) < trace.flows.len();
    }

    /// Calls of Python with nothing inside but such calls.
    fn leave_out_idle_frames(&mut self) {
        let trace = &self.linked.trace;
        let is_frame = |row: usize| trace.events.kind[row] == EventKind::Python;
        let is_module = |row: usize| trace.event_name(row).starts_with(MODULE_PREFIX);
        let works = self.with_ancestors(|row| !is_frame(row) || is_module(row));
        self.leave_out(|row| is_frame(row) && !works[row]);
    }

    fn leave_out_arguments(&mut self) {
        self.keeps_arguments = false;
        self.has_news = true;
    }

    fn leave_out_instants(&mut self) {
        let (instants, range) = (&self.linked.trace.instants, self.linked.trace.range());
        let at = |time| instants.iter().position(|instant| instant.time == time);
        let ends = [at(range.start), at(range.end)];
        self.kept.instants = (0..instants.len()).map(|row| ends.contains(&Some(row))).collect();
        self.has_news = count(&self.kept.instants) < instants.len();
    }

    fn leave_out_functions(&mut self) {
        let trace = &self.linked.trace;
        self.leave_out(|row| {
            trace.events.kind[row] == EventKind::Python && !trace.event_name(row).starts_with(MODULE_PREFIX)
        });
    }

    fn leave_out_nodes(&mut self) {
        self.has_news = count(&self.kept.nodes) > 0;
        self.kept.nodes.fill(false);
    }

    fn leave_out_frames(&mut self) {
        let trace = &self.linked.trace;
        self.leave_out(|row| trace.events.kind[row] == EventKind::Python);
    }

    /// Host events shorter than that, with no device work that was launched in them.
    fn leave_out_events(&mut self, limit_ns: i64) {
        let (trace, links) = (&self.linked.trace, &self.linked.links);
        let is_kind = |row: usize| {
            matches!(
                trace.events.kind[row],
                EventKind::Operator | EventKind::Launch | EventKind::Overhead | EventKind::Other | EventKind::Python
            )
        };
        let mut has_work = vec![false; trace.events.len()];
        (0..links.launched.len())
            .filter_map(|at| links.launched.pair(at))
            .for_each(|(launch, _)| has_work[launch as usize] = true);
        links.named.iter().for_each(|named| has_work[named.operator as usize] = true);
        let works = self.with_ancestors(|row| has_work[row] || !is_kind(row));
        self.leave_out(|row| !trace.is_on_device(row) && !works[row] && trace.events.dur.at(row).0 < limit_ns);
    }

    /// The events that are of a sort, and all that those are inside of.
    fn with_ancestors(&self, is_it: impl Fn(usize) -> bool) -> Vec<bool> {
        let nesting = &self.linked.links.nesting;
        let mut found: Vec<bool> = (0..self.linked.trace.events.len()).map(is_it).collect();
        // Parents come before their children in this order.
        for row in nesting.order.iter().rev().map(|row| *row as usize) {
            if let Some(parent) = nesting.parent.get(row).filter(|_| found[row]) {
                found[parent as usize] = true;
            }
        }
        found
    }
}

/// Removes arguments of events that have no column; returns the number of reduced events.
fn keep_known_arguments(trace: &mut Trace) -> u64 {
    let from = std::mem::take(&mut trace.args);
    let mut to = ReducedArguments {
        from: &from,
        templates: Vec::new(),
        places: vec![[None; 2]; from.templates().len()],
        values: NumberPool::default(),
    };
    let mut num_fewer = 0;
    each_args(trace, &mut |before, is_of_event| {
        let args = to.args(before, !is_of_event);
        let is_fewer = || to.templates[args.template.index()].len() < from.template(before).fields().len();
        num_fewer += u64::from(is_of_event && is_fewer());
        args
    });
    let templates = to.templates.into_iter().map(|fields| ArgsTemplate::new(fields, &trace.strings)).collect();
    trace.args = Args::new(templates, to.values);
    num_fewer
}

/// Arguments in the making, with all keys or with known ones alone.
struct ReducedArguments<'a> {
    from: &'a Args,
    templates: Vec<Vec<TemplateField>>,
    /// Of each template that there was, the one that it became with known keys, and with all.
    places: Vec<[Option<TemplateId>; 2]>,
    values: NumberPool,
}

impl ReducedArguments<'_> {
    fn args(&mut self, args: ArgsRef, keeps_all: bool) -> ArgsRef {
        let template = self.from.template(args);
        let stays = |at: usize| keeps_all || template.is_known(at);
        let place = &mut self.places[args.template.index()][usize::from(keeps_all)];
        let id = *place.get_or_insert_with(|| {
            let fields = template.fields().iter().enumerate().filter(|(at, _)| stays(*at));
            self.templates.push(fields.map(|(_, field)| field.clone()).collect());
            TemplateId::from(self.templates.len() - 1)
        });
        let slots =
            template.fields().iter().enumerate().filter(|(_, field)| matches!(field.value, FieldValue::Slot(_)));
        let kept = slots.zip(self.from.values(args)).filter(|((at, _), _)| stays(*at));
        ArgsRef { template: id, start: self.values.add(kept.map(|(_, value)| value)) }
    }
}
