//! Replaces private names by pseudonyms.
//!
//! Public names stay, with their schemas and text arguments (a reduction, an equation). All other
//! names, files and texts are replaced; numbers, shapes, types and the structure stay. A text gets
//! the same pseudonym everywhere, numbered by first occurrence, so that it reveals nothing.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::execution_draft::ExecutionDraft;
use super::public_names::PublicNames;
use super::texts::with_texts;
use crate::strings::Strings;
use crate::trace::node::{Node, NodeKind};
use crate::vendor::is_device_type;

/// Prefixes that `PyTorch` adds to foreign names.
const PREFIXES: [&str; 5] = [
    "autograd::engine::evaluate_function: ",
    "Optimizer.step#",
    "Optimizer.zero_grad#",
    "Torch-Compiled Region: ",
    "enumerate(DataLoader)#",
];

/// The annotation of a compiled graph, before and after its hash.
const COMPILED: (&str, &str) = ("## Call CompiledFxGraph ", " ##");

/// Keys with harmless texts: methods of communication or measurement.
const KEPT: [&str; 14] = [
    "collective_name",
    "dtype",
    "in_split_size",
    "out_split_size",
    "pg_name",
    "backend_config",
    "tensor_range",
    "is_asynchronized_op",
    "cat",
    "ph",
    "stream",
    "ts",
    "inclusive_dur",
    "exclusive_dur",
];

/// Puts pseudonyms in the place of private texts, in all nodes.
pub(super) fn anonymise(draft: &mut ExecutionDraft) {
    let mut pseudonyms = Pseudonyms::default();
    let mut nodes = std::mem::take(&mut draft.nodes);
    for node in &mut nodes {
        pseudonyms.node(&mut draft.strings, node);
    }
    draft.nodes = nodes;
}

/// Pseudonyms by the texts that they replace, and the names that get none.
#[derive(Debug, Default)]
pub(super) struct Pseudonyms {
    numbers: FxHashMap<String, usize>,
    pub(super) public: PublicNames,
}

impl Pseudonyms {
    fn node(&mut self, strings: &mut Strings, node: &mut Node) {
        let name = strings.text(node.name).to_owned();
        let kind = node.kind(&name);
        if matches!(kind, NodeKind::Operator | NodeKind::Annotation) {
            let other = self.name(&name, kind);
            if other != name && !strings.text(node.schema).is_empty() {
                node.schema = strings.intern(&format!("{other}(...) -> ..."));
            }
            node.name = strings.intern(&other);
        }
        if !strings.text(node.kernel_file).is_empty() {
            let file = self.of(strings.text(node.kernel_file), "file");
            node.kernel_file = strings.intern(&file);
        }
        let rest = with_texts(strings.text(node.rest), |key, text| self.field(key, text));
        node.rest = strings.intern(&rest);
        if self.public.is_operator(&name) {
            return;
        }
        for values in [&mut node.inputs, &mut node.outputs] {
            let (json, types) = (strings.text(values.values), strings.text(values.types));
            let json = match kind {
                NodeKind::ProcessGroup => self.groups(json),
                _ if name == "record_param_comms" => self.communication(json),
                _ => self.values(json, types),
            };
            values.values = strings.intern(&json);
        }
    }

    /// A name or its pseudonym; annotations get one that readers recognize as no operator.
    pub(super) fn name(&mut self, name: &str, kind: NodeKind) -> String {
        if self.public.has("annotation", name) {
            return name.to_owned();
        }
        let prefix = PREFIXES.into_iter().find(|prefix| name.starts_with(prefix)).unwrap_or("");
        let own = &name[prefix.len()..];
        if let Some(graph) = own.strip_prefix(COMPILED.0).and_then(|rest| rest.strip_suffix(COMPILED.1)) {
            return format!("{}{}{}", COMPILED.0, self.of(graph, "graph"), COMPILED.1);
        }
        match kind {
            _ if self.public.is_public(own) || !prefix.is_empty() && self.public.is_optimizer_call(own) => {
                name.to_owned()
            }
            NodeKind::Annotation if prefix.is_empty() => format!("## {} ##", self.of(own, "name")),
            _ => format!("{prefix}{}", self.of(own, "name")),
        }
    }

    /// The pseudonym of a text; nothing stays nothing.
    pub(super) fn of(&mut self, text: &str, noun: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let number = self.numbers.len() + 1;
        format!("{noun}_{}", self.numbers.entry(text.to_owned()).or_insert(number))
    }

    /// A text under a key that may hold anything.
    fn field(&mut self, key: &str, text: &str) -> Option<String> {
        (!KEPT.contains(&key)).then(|| self.of(text, "text"))
    }

    /// Texts among values; the mark for values without text (`<None>`) is none.
    fn values(&mut self, json: &str, types: &str) -> String {
        let types: Vec<String> = serde_json::from_str(types).unwrap_or_default();
        if !types.iter().any(|name| name.contains("String")) {
            return json.to_owned();
        }
        with_texts(json, |_, text| (!is_tag(text)).then(|| self.of(text, "text")))
    }

    /// The inputs of a communication: of its texts, the description of its process group may be
    /// private, which stands behind the group's name.
    fn communication(&mut self, json: &str) -> String {
        let values: Vec<Value> = serde_json::from_str(json).unwrap_or_default();
        let group = values.iter().find_map(|value| match value.as_array()?.as_slice() {
            [Value::String(_), Value::String(description)] => Some(description.as_str()),
            _ => None,
        });
        with_texts(json, |_, text| (Some(text) == group).then(|| self.of(text, "text")))
    }

    /// The process groups, which are JSON within a text.
    fn groups(&mut self, json: &str) -> String {
        with_texts(json, |_, groups| Some(with_texts(groups, |key, text| self.field(key, text))))
    }
}

/// Whether a text stands for a thing without a value (`<None>`), or for a device.
fn is_tag(text: &str) -> bool {
    let device = text.split(':').next().unwrap_or_default();
    text.starts_with('<') && text.ends_with('>') || matches!(device, "cpu" | "meta") || is_device_type(device)
}
