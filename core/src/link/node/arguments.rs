//! Checks whether two calls of one recording have other arguments.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use serde_json::Value;

use crate::id::TemplateId;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// The facts of each input: those of its kind, then its value.
const FACTS: [ArgKey; 3] = [ArgKey::InputShapes, ArgKey::InputTypes, ArgKey::ConcreteInputs];

/// The number of facts that make the kind.
const NUM_KINDS: usize = 2;

/// A hash of each fact of each input; `None` where it is unknown.
type InputFacts = [Vec<Option<u64>>; FACTS.len()];

/// Arguments of two calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ArgumentMatch {
    /// An input has another shape or type.
    OtherKind,
    /// An input has another value, as an index that the loop moves.
    OtherValue,
    /// No input is known to differ, but for floats: a learning rate may change.
    Alike,
}

/// The arguments of calls, read once for each text that there is.
pub(super) struct InputArguments<'a> {
    trace: &'a Trace,
    of_events: RefCell<FxHashMap<TemplateId, InputFacts>>,
}

impl<'a> InputArguments<'a> {
    pub(super) fn new(trace: &'a Trace) -> Self {
        Self { trace, of_events: RefCell::default() }
    }

    /// Whether the recording tells anything of an event's inputs.
    pub(super) fn are_known(&self, event: u32) -> bool {
        let facts = self.trace.args.template(self.trace.events.args(event as usize));
        FACTS.iter().any(|key| facts.has(*key))
    }

    /// How alike the arguments of two events are.
    pub(super) fn compare(&self, events: [u32; 2]) -> ArgumentMatch {
        let mut of_events = self.of_events.borrow_mut();
        let templates = events.map(|event| self.trace.events.template.at(event as usize));
        for (event, template) in events.into_iter().zip(templates) {
            of_events.entry(template).or_insert_with(|| FACTS.map(|key| self.facts(event, key)));
        }
        let [one, other] = templates.map(|template| &of_events[&template]);
        match one.iter().zip(other).position(|(one, other)| are_different(one, other)) {
            Some(..NUM_KINDS) => ArgumentMatch::OtherKind,
            Some(_) => ArgumentMatch::OtherValue,
            None => ArgumentMatch::Alike,
        }
    }

    fn facts(&self, event: u32, key: ArgKey) -> Vec<Option<u64>> {
        let mut text = String::new();
        let args = self.trace.events.args(event as usize);
        self.trace.args.write_text(&self.trace.strings, args, key, &mut text);
        serde_json::from_str::<Vec<Value>>(&text).unwrap_or_default().iter().map(fact).collect()
    }
}

fn are_different(one: &[Option<u64>], other: &[Option<u64>]) -> bool {
    if one.is_empty() || other.is_empty() {
        return false;
    }
    one.len() != other.len()
        || one.iter().zip(other).any(|(one, other)| one.is_some() && other.is_some() && one != other)
}

/// A hash of one input's text; `None` if it is empty, or a float.
fn fact(value: &Value) -> Option<u64> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_float = |text: &str| text.trim().parse::<i64>().is_err() && text.trim().parse::<f64>().is_ok();
    if text.is_empty() || text.trim_matches(['[', ']']).split(',').any(is_float) {
        return None;
    }
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_but_floats_are_not() {
        let [one, other] = ["512", "640"].map(|text| fact(&Value::from(text)));
        assert!(one.is_some() && one != other);
        assert_ne!(fact(&Value::from("[1, 2]")), fact(&Value::from("[12]")));
        for unknown in ["", "0.1", "1e-05", "[-0.001, -0.001]", "nan", "-inf"] {
            assert_eq!(fact(&Value::from(unknown)), None, "{unknown}");
        }
        assert!(are_different(&[one, None], &[other, None]));
        assert!(!are_different(&[one, None], &[one, other]));
        assert!(!are_different(&[one], &[]) && are_different(&[one], &[one, one]));
    }
}
