//! What is known of a call's cost, found once for calls that say the same.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::call::Call;
use super::model::{Cost, Family, Model};
use super::work::TimedCall;
use crate::id::{StrId, TemplateId};
use crate::link::LinkedTrace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// A call's cost, or why it is unknown.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// The cost, and the shapes that it is of.
    Modelled(Family, Cost, Arc<str>),
    /// Why there is none.
    Unmodelled(&'static str),
}

const NO_MODEL: &str = "no model";
const NO_SHAPES: &str = "its shapes and types are not recorded";
const UNCLEAR: &str = "its arguments do not say enough";
const TO_HOST: &str = "it copies from or to the host";
const ANNOTATION: &str = "an annotation, no operator";

/// Outcomes by name and arguments.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    models: FxHashMap<StrId, Option<Model>>,
    known: FxHashMap<(StrId, TemplateId), Outcome>,
}

impl Outcomes {
    pub(super) fn of(&mut self, linked: &LinkedTrace, call: &TimedCall) -> Outcome {
        let (row, trace) = (call.row as usize, &linked.trace);
        let name = trace.event_name(row);
        if trace.events.kind[row] != EventKind::Operator {
            return Outcome::Unmodelled(ANNOTATION);
        }
        let model = *self.models.entry(trace.events.name[row]).or_insert_with(|| Model::of(name));
        let Some(model) = model else { return Outcome::Unmodelled(NO_MODEL) };
        if call.is_to_host {
            return Outcome::Unmodelled(TO_HOST);
        }
        let key = (trace.events.name[row], trace.events.template[row]);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = outcome(linked, row, name, model);
        // What a node says is not in the template.
        let mut shapes = String::new();
        if trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::InputShapes, &mut shapes) {
            self.known.insert(key, found.clone());
        }
        found
    }
}

fn outcome(linked: &LinkedTrace, row: usize, name: &str, model: Model) -> Outcome {
    let Some(call) = Call::of(linked, row) else { return Outcome::Unmodelled(NO_SHAPES) };
    match model.cost(name, &call) {
        Some(cost) => Outcome::Modelled(model.family, cost, call.shapes.into()),
        None => Outcome::Unmodelled(UNCLEAR),
    }
}
