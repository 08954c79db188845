//! Rebuilds a trace with only the texts, templates and numbers that its rows use.

use rustc_hash::FxHashMap;

use crate::id::{StrId, TemplateId};
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::args::{Args, ArgsRef, ArgsTemplate, FieldValue, TemplateField};
use crate::trace::flow::FlowId;
use crate::trace::kind::EventKind;
use crate::trace::node::Node;
use crate::trace::number_pool::NumberPool;

/// The role of a text, which decides on its replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TextRole {
    /// `name` of an event.
    Event(EventKind),
    /// `name` of anything else: an instant, a counter, a flow, metadata.
    Name,
    /// `cat`.
    Category,
    /// `pid` or `tid`.
    Place,
    /// The name of a process, its labels, or the name of a thread.
    Title,
    /// `id` of a flow.
    FlowId,
    /// A key of arguments.
    Key,
    /// The value, as JSON, of an argument with this key.
    Value(StrId),
    /// A key of a header.
    HeaderKey,
    /// Its value, as JSON.
    HeaderValue(StrId),
    /// Any text of a node.
    Node,
}

/// Makes the replacement of a text.
pub(super) type TextMaker<'a> = dyn FnMut(&mut Strings, TextRole, StrId) -> StrId + 'a;

/// The same trace with the texts that it uses, and no others.
pub(super) fn compact(mut trace: Trace) -> Trace {
    let (strings, args) = (std::mem::take(&mut trace.strings), std::mem::take(&mut trace.args));
    compact_from(trace, &strings, &args)
}

/// Rows with the texts and the arguments that they use, out of those of a larger trace.
pub(super) fn compact_from(rows: Trace, old: &Strings, args: &Args) -> Trace {
    let mut known: FxHashMap<StrId, StrId> = FxHashMap::default();
    with_texts_made(rows, args, &mut |strings, _, id| *known.entry(id).or_insert_with(|| strings.intern(old.text(id))))
}

/// Rebuilds the rows of a trace with its arguments, and with the text that `make` returns for each
/// text, given the new strings, the role, and the old id.
pub(super) fn with_texts_made(mut trace: Trace, args: &Args, make: &mut TextMaker<'_>) -> Trace {
    let mut strings = Strings::default();
    let mut make = |role, id: StrId| if id == StrId::EMPTY { id } else { make(&mut strings, role, id) };
    for header in [&mut trace.header, &mut trace.execution_header] {
        for (key, value) in header {
            *value = make(TextRole::HeaderValue(*key), *value);
            *key = make(TextRole::HeaderKey, *key);
        }
    }
    places(&mut trace, &mut make);
    rows(&mut trace, &mut make);
    trace.nodes.iter_mut().flat_map(Node::texts_mut).for_each(|text| *text = make(TextRole::Node, *text));
    let fields = arguments(&mut trace, args, &mut make);
    trace.args = Args::new(
        fields.templates.into_iter().map(|fields| ArgsTemplate::new(fields, &strings)).collect(),
        fields.values,
    );
    trace.strings = strings;
    trace
}

fn places(trace: &mut Trace, make: &mut dyn FnMut(TextRole, StrId) -> StrId) {
    for track in &mut trace.tracks {
        track.process = make(TextRole::Place, track.process);
        track.thread = make(TextRole::Place, track.thread);
        track.name = make(TextRole::Title, track.name);
    }
    for process in &mut trace.processes {
        process.process = make(TextRole::Place, process.process);
        process.name = make(TextRole::Title, process.name);
        process.labels = make(TextRole::Title, process.labels);
    }
}

fn rows(trace: &mut Trace, make: &mut dyn FnMut(TextRole, StrId) -> StrId) {
    let names = trace.events.name.iter().zip(trace.events.kind.iter());
    trace.events.name = names.map(|(name, kind)| make(TextRole::Event(*kind), name)).collect();
    trace.events.category.map(|text| make(TextRole::Category, text));
    for row in &mut trace.instants {
        row.name = make(TextRole::Name, row.name);
        row.category = make(TextRole::Category, row.category);
    }
    for row in &mut trace.counters {
        row.name = make(TextRole::Name, row.name);
        row.series = make(TextRole::Key, row.series);
    }
    for row in &mut trace.flows {
        row.name = make(TextRole::Name, row.name);
        row.category = make(TextRole::Category, row.category);
        if let FlowId::Text(id) = &mut row.id {
            *id = make(TextRole::FlowId, *id);
        }
    }
    for row in &mut trace.metadata {
        row.name = make(TextRole::Name, row.name);
        row.process = make(TextRole::Place, row.process);
        row.thread = make(TextRole::Place, row.thread);
    }
}

/// Arguments on their way to a trace made anew.
#[derive(Default)]
struct MovedArguments {
    templates: Vec<Vec<TemplateField>>,
    /// Of each template that there was, the one that it became.
    places: Vec<Option<TemplateId>>,
    values: NumberPool,
    /// The last arguments that were moved: the series of a counter share theirs.
    last: Option<(ArgsRef, ArgsRef)>,
}

impl MovedArguments {
    fn args(&mut self, from: &Args, args: ArgsRef, make: &mut dyn FnMut(TextRole, StrId) -> StrId) -> ArgsRef {
        if let Some((_, new)) = self.last.filter(|(old, _)| *old == args) {
            return new;
        }
        let template = match self.places[args.template.index()] {
            Some(template) => template,
            None => {
                self.templates.push(from.template(args).fields().iter().map(|field| made(field, make)).collect());
                let template = TemplateId::from(self.templates.len() - 1);
                self.places[args.template.index()] = Some(template);
                template
            }
        };
        let start = self.values.add(from.values(args));
        let new = ArgsRef { template, start };
        self.last = Some((args, new));
        new
    }
}

fn made(field: &TemplateField, make: &mut dyn FnMut(TextRole, StrId) -> StrId) -> TemplateField {
    let value = match field.value {
        FieldValue::Slot(scale) => FieldValue::Slot(scale),
        FieldValue::Json(json) => FieldValue::Json(make(TextRole::Value(field.key), json)),
    };
    TemplateField { key: make(TextRole::Key, field.key), value, is_outer: field.is_outer }
}

fn arguments(trace: &mut Trace, from: &Args, make: &mut dyn FnMut(TextRole, StrId) -> StrId) -> MovedArguments {
    let mut moved = MovedArguments { places: vec![None; from.templates().len()], ..MovedArguments::default() };
    each_args(trace, &mut |args, _| moved.args(from, args, make));
    moved
}

/// Replaces all arguments with those that `new` returns: first of events, by row, then of all
/// others.
pub(super) fn each_args(trace: &mut Trace, new: &mut dyn FnMut(ArgsRef, bool) -> ArgsRef) {
    let events = &mut trace.events;
    for row in 0..events.len() {
        let args = new(events.args(row), true);
        events.set_args(row, args);
    }
    let points =
        trace.instants.iter_mut().map(|row| &mut row.args).chain(trace.flows.iter_mut().map(|row| &mut row.args));
    let others =
        trace.counters.iter_mut().map(|row| &mut row.args).chain(trace.metadata.iter_mut().map(|row| &mut row.args));
    points.chain(others).for_each(|args| *args = new(*args, false));
}
