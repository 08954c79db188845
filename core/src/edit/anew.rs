//! A trace made anew, with the texts, templates and numbers that its rows still have, and no others.

use crate::id::{StrId, TemplateId};
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::args::{Args, ArgsRef, Field, FieldValue, Template};
use crate::trace::flow::FlowId;
use crate::trace::kind::EventKind;
use crate::trace::node::Node;
use crate::trace::pool::Pool;

/// What a text is, which decides what may stand in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// `name` of an event.
    Event(EventKind),
    /// `name` of anything else: an instant, a counter, a flow, metadata.
    Name,
    /// `cat`.
    Category,
    /// `pid` or `tid`.
    Place,
    /// What a process, its labels, or a thread is called.
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

/// What makes the text that stands in the place of another.
pub(super) type Make<'a> = dyn FnMut(&mut Strings, Role, StrId) -> StrId + 'a;

/// The same trace with the texts that it uses, and no others.
pub(super) fn compact(mut trace: Trace) -> Trace {
    let mut known: Vec<Option<StrId>> = vec![None; trace.strings.len()];
    let old = std::mem::take(&mut trace.strings);
    with_texts_made(trace, &mut |strings, _, id| match known.get_mut(id.index()) {
        Some(place) => *place.get_or_insert_with(|| strings.intern(old.text(id))),
        None => StrId::EMPTY,
    })
}

/// The trace with what `make` gives for each text, given the new texts, what it is, and its id among the old ones.
pub(super) fn with_texts_made(mut trace: Trace, make: &mut Make<'_>) -> Trace {
    let mut strings = Strings::default();
    let mut make = |role, id: StrId| if id == StrId::EMPTY { id } else { make(&mut strings, role, id) };
    for header in [&mut trace.header, &mut trace.execution_header] {
        for (key, value) in header {
            *value = make(Role::HeaderValue(*key), *value);
            *key = make(Role::HeaderKey, *key);
        }
    }
    places(&mut trace, &mut make);
    rows(&mut trace, &mut make);
    trace.nodes.iter_mut().flat_map(Node::texts_mut).for_each(|text| *text = make(Role::Node, *text));
    let fields = arguments(&mut trace, &mut make);
    trace.args =
        Args::new(fields.templates.into_iter().map(|fields| Template::new(fields, &strings)).collect(), fields.values);
    trace.strings = strings;
    trace
}

fn places(trace: &mut Trace, make: &mut dyn FnMut(Role, StrId) -> StrId) {
    for track in &mut trace.tracks {
        track.process = make(Role::Place, track.process);
        track.thread = make(Role::Place, track.thread);
        track.name = make(Role::Title, track.name);
    }
    for process in &mut trace.processes {
        process.process = make(Role::Place, process.process);
        process.name = make(Role::Title, process.name);
        process.labels = make(Role::Title, process.labels);
    }
}

fn rows(trace: &mut Trace, make: &mut dyn FnMut(Role, StrId) -> StrId) {
    for (name, kind) in trace.events.name.iter_mut().zip(&trace.events.kind) {
        *name = make(Role::Event(*kind), *name);
    }
    trace.events.category.iter_mut().for_each(|text| *text = make(Role::Category, *text));
    for row in &mut trace.instants {
        row.name = make(Role::Name, row.name);
        row.category = make(Role::Category, row.category);
    }
    for row in &mut trace.counters {
        row.name = make(Role::Name, row.name);
        row.series = make(Role::Key, row.series);
    }
    for row in &mut trace.flows {
        row.name = make(Role::Name, row.name);
        row.category = make(Role::Category, row.category);
        if let FlowId::Text(id) = &mut row.id {
            *id = make(Role::FlowId, *id);
        }
    }
    for row in &mut trace.metadata {
        row.name = make(Role::Name, row.name);
        row.process = make(Role::Place, row.process);
        row.thread = make(Role::Place, row.thread);
    }
}

/// Arguments on their way to a trace made anew.
#[derive(Default)]
struct Moved {
    templates: Vec<Vec<Field>>,
    /// Of each template that there was, the one that it became.
    places: Vec<Option<TemplateId>>,
    values: Pool,
    /// The last arguments that were moved: the series of a counter share theirs.
    last: Option<(ArgsRef, ArgsRef)>,
}

impl Moved {
    fn args(&mut self, from: &Args, args: ArgsRef, make: &mut dyn FnMut(Role, StrId) -> StrId) -> ArgsRef {
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
        let start = self.values.len() as u32;
        self.values.extend(from.values(args));
        let new = ArgsRef { template, start };
        self.last = Some((args, new));
        new
    }
}

fn made(field: &Field, make: &mut dyn FnMut(Role, StrId) -> StrId) -> Field {
    let value = match field.value {
        FieldValue::Slot(scale) => FieldValue::Slot(scale),
        FieldValue::Json(json) => FieldValue::Json(make(Role::Value(field.key), json)),
    };
    Field { key: make(Role::Key, field.key), value, is_outer: field.is_outer }
}

fn arguments(trace: &mut Trace, make: &mut dyn FnMut(Role, StrId) -> StrId) -> Moved {
    let from = std::mem::take(&mut trace.args);
    let mut moved = Moved { places: vec![None; from.templates().len()], ..Moved::default() };
    each_args(trace, &mut |args, _| moved.args(&from, args, make));
    moved
}

/// Puts what `new` gives in the place of all arguments: first of those of events, which it is told, then of all others.
pub(super) fn each_args(trace: &mut Trace, new: &mut dyn FnMut(ArgsRef, bool) -> ArgsRef) {
    let events = &mut trace.events;
    for row in 0..events.len() {
        let args = new(events.args(row), true);
        (events.template[row], events.values[row]) = (args.template, args.start);
    }
    let points =
        trace.instants.iter_mut().map(|row| &mut row.args).chain(trace.flows.iter_mut().map(|row| &mut row.args));
    let others =
        trace.counters.iter_mut().map(|row| &mut row.args).chain(trace.metadata.iter_mut().map(|row| &mut row.args));
    points.chain(others).for_each(|args| *args = new(*args, false));
}
