//! Finds memory that each iteration keeps.

use super::kept_memory::found;
use super::rule::{Rule, RuleData, RuleScope};

pub(super) static LEAK: Rule = Rule {
    name: "memory_leak",
    doc: "each iteration after the first allocates memory that is never released, and the total grows",
    cost: "none in time: the detail says how many bytes each iteration keeps",
    advice: "keep numbers instead of tensors beyond an iteration (`loss.item()`), or copies without a graph on the host \
             (`x.detach().cpu()`); clear lists, dicts and hooks that collect tensors",
    is_pattern: false,
    data: RuleData::Memory,
    find: RuleScope::Trace(found),
};
