//! Caches the cost of a call by name and arguments.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::call::{OperatorCall, UNTYPED_LIST};
use super::cost::{OperatorCost, OperatorFamily};
use super::generated::GeneratedKernels;
use super::registry::CostModel;
use super::serving;
use super::work::{OperatorName, TimedCall};
use crate::id::TemplateId;
use crate::link::LinkedTrace;
use crate::operator_name::base_name;
use crate::trace::arg_key::ArgKey;
use crate::trace::collective::known;
use crate::trace::kind::EventKind;

/// A call's cost, or why it is unknown.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CostOutcome {
    /// The cost, and the shapes that it is of.
    Modelled(OperatorFamily, OperatorCost, Arc<str>),
    /// Why there is none.
    Unmodelled(&'static str),
}

const NO_MODEL: &str = "no cost model";
const NO_SHAPES: &str = "shapes and types are not recorded";
const NO_CONTEXT: &str = "context lengths are not recorded (the name of the step may tell them)";
const UNCLEAR: &str = "arguments do not determine the cost";
const UNTYPED: &str = "types of tensor lists are not recorded (an Execution Trace has them)";
pub(super) const COMMUNICATION: &str = "communication (see collectives)";
const GENERATED: &str = "generated kernel: its operations are not recorded";
const TO_HOST: &str = "copies from or to the host";
const ANNOTATION: &str = "annotation, not an operator";

/// Outcomes by name and arguments.
#[derive(Debug, Default)]
pub(super) struct CostOutcomes {
    models: FxHashMap<OperatorName, Result<CostModel, &'static str>>,
    known: FxHashMap<(OperatorName, TemplateId), CostOutcome>,
    generated: GeneratedKernels,
}

impl CostOutcomes {
    pub(super) fn new(linked: &LinkedTrace) -> Self {
        Self { generated: GeneratedKernels::of(linked), ..Self::default() }
    }

    /// Whether the source of a generated kernel is known.
    pub(super) fn has_source(&self, kernel: &str) -> bool {
        self.generated.has(kernel)
    }

    pub(super) fn of(&mut self, linked: &LinkedTrace, call: &TimedCall) -> CostOutcome {
        let (row, trace) = (call.row as usize, &linked.trace);
        let name = call.name.text(trace);
        let name = base_name(&name);
        if serving::is_paged_attention(name) {
            return paged_attention(linked, name, call);
        }
        let model = *self.models.entry(call.name).or_insert_with(|| model_of(name));
        if trace.events.kind[row] == EventKind::Annotation && !matches!(model, Err(COMMUNICATION)) {
            return CostOutcome::Unmodelled(ANNOTATION);
        }
        let model = match model {
            Ok(model) => Some(model),
            Err(GENERATED) => None,
            Err(reason) => return CostOutcome::Unmodelled(reason),
        };
        if call.is_to_host {
            return CostOutcome::Unmodelled(TO_HOST);
        }
        let key = (call.name, trace.events.template.at(row));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = match model {
            Some(model) => outcome(linked, row, name, model),
            None => self.generated.outcome(linked, row, name).unwrap_or(CostOutcome::Unmodelled(GENERATED)),
        };
        let mut said = String::new();
        let mut says = |key| trace.args.write_text(&trace.strings, trace.events.args(row), key, &mut said);
        // The template does not contain the facts of a node.
        if says(ArgKey::InputShapes) && says(ArgKey::InputTypes) && !said.contains(UNTYPED_LIST) {
            self.known.insert(key, found.clone());
        }
        found
    }
}

fn outcome(linked: &LinkedTrace, row: usize, name: &str, model: CostModel) -> CostOutcome {
    let Some(call) = OperatorCall::of(linked, row) else { return CostOutcome::Unmodelled(NO_SHAPES) };
    match model.cost(name, &call) {
        Some((family, cost)) => CostOutcome::Modelled(family, cost, call.shapes.into()),
        None if call.has_untyped_list => CostOutcome::Unmodelled(UNTYPED),
        None => CostOutcome::Unmodelled(UNCLEAR),
    }
}

/// Attention to cached keys and values: the name of the step tells how many there are.
fn paged_attention(linked: &LinkedTrace, name: &str, call: &TimedCall) -> CostOutcome {
    let Some(operator) = OperatorCall::of(linked, call.row as usize) else { return CostOutcome::Unmodelled(NO_SHAPES) };
    let iteration = linked.links.iteration.get(call.at as usize).map(|at| linked.links.iterations[at as usize].facts);
    match iteration.and_then(|facts| serving::paged_attention_cost(name, &operator, &facts)) {
        Some(cost) => CostOutcome::Modelled(OperatorFamily::Attention, cost, operator.shapes.into()),
        None => CostOutcome::Unmodelled(NO_CONTEXT),
    }
}

/// The model of operators of a name, or why there is none.
fn model_of(name: &str) -> Result<CostModel, &'static str> {
    let is_generated = || GENERATORS.iter().any(|start| name.starts_with(start));
    CostModel::of(name).ok_or_else(|| {
        if !name.starts_with("aten::") && known(name).is_some() {
            COMMUNICATION
        } else if is_generated() {
            GENERATED
        } else {
            NO_MODEL
        }
    })
}

/// Names of kernels that a compiler fused from many operators.
const GENERATORS: [&str; 4] = ["triton_", "Torch-Compiled Region", "CompiledFxGraph", "## Call CompiledFxGraph"];
