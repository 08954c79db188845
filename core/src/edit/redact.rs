//! Redacts a trace for sharing: replaces every text that is not known to be harmless.
//!
//! Kept: numbers, shapes, types, times and links; public names of operators, calls and devices;
//! names of kernels without a path. Replaced: Python functions, files and stacks; private names of
//! operators, modules, annotations, processes, threads and groups; unknown keys and values; and all
//! of the headers except how the trace was recorded (no hosts, users, jobs or environments). A
//! strict redaction also replaces kernels and types that no known library has. A text has the same
//! pseudonym everywhere.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::edit_log::note;
use super::harmless_words::{HarmlessWords, has_path, is_device, is_header};
use super::pseudonym::Pseudonyms;
use super::public::MAX_DIGITS;
use super::rebuild::{TextRole, with_texts_made};
use super::texts::{JsonString, with_strings};
use crate::error::{Error, ErrorKind, Position};
use crate::id::StrId;
use crate::link::MODULE_PREFIX;
use crate::sort;
use crate::strings::Strings;
use crate::trace::Trace;
use crate::trace::iteration::GAPS;
use crate::trace::kind::{EventKind, category_kind};
use crate::trace::node::{Node, NodeKind};
use crate::vendor::is_tool_title;
use crate::warning::{WarningKind, Warnings};

/// Names of the nodes that give an Execution Trace its structure.
const PROCESS: &str = "[pytorch|profiler|execution_trace|process]";
const THREAD: &str = "[pytorch|profiler|execution_trace|thread]";
const PROCESS_GROUP: &str = "## process_group:init ##";

/// Texts to keep and to replace, beside those that always are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Redaction {
    /// Keep the names of the modules' classes (`nn.Module: MyLayer_0`).
    pub keeps_modules: bool,
    /// Replace the names of kernels that no known library has.
    pub is_strict: bool,
}

impl Redaction {
    /// The redaction of a level: `names`, or `strict`.
    ///
    /// # Errors
    /// Another level.
    ///
    /// ```
    /// use kinetoscope::edit::Redaction;
    /// assert!(Redaction::of_level("strict")?.is_strict && !Redaction::of_level("names")?.is_strict);
    /// let error = Redaction::of_level("all").unwrap_err();
    /// assert!(error.to_string().contains("expected a redaction (names or strict), found all"));
    /// # Ok::<(), kinetoscope::Error>(())
    /// ```
    pub fn of_level(level: &str) -> Result<Self, Error> {
        match level {
            "names" => Ok(Self::default()),
            "strict" => Ok(Self { is_strict: true, ..Self::default() }),
            _ => {
                let [expected, found] = ["a redaction (names or strict)", level].map(String::from);
                Err(ErrorKind::Request { expected, found }.into())
            }
        }
    }
}

/// Redacts traces; rows and ids stay the same. A text in several traces has one pseudonym in all,
/// so traces of one job still match each other.
///
/// ```
/// use kinetoscope::edit::{Redaction, redact};
/// use kinetoscope::{Input, Limits, read};
/// let json = br#"{"username": "alice", "traceEvents": [
///     {"ph": "X", "cat": "python_function", "name": "/data/alice/train.py(3): step", "tid": 1, "ts": 1, "dur": 2}]}"#;
/// let traces = redact([&read([Input::new(json)], Limits::default())?], Redaction::default());
/// assert_eq!(traces[0].event_name(0), "frame_1");
/// assert!(traces[0].header_value("username").is_none());
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn redact<'a>(traces: impl IntoIterator<Item = &'a Trace>, redaction: Redaction) -> Vec<Trace> {
    let mut redactor = Redactor { redaction, ..Redactor::default() };
    traces.into_iter().map(|trace| redactor.trace(trace.clone())).collect()
}

/// Removes unknown keys from headers; returns their number.
fn drop_unknown_keys(trace: &mut Trace) -> u64 {
    let mut num_keys = 0;
    for header in [&mut trace.header, &mut trace.execution_header] {
        let num_before = header.len();
        header.retain(|(key, _)| is_header(trace.strings.text(*key)));
        num_keys += (num_before - header.len()) as u64;
    }
    num_keys
}

/// Rows of the events that mark iterations for the user. Removes the user's names of them.
fn take_marks(trace: &mut Trace) -> Vec<usize> {
    let Some(marks) = trace.iteration_names() else { return Vec::new() };
    trace.set_iteration_patterns(&[]);
    (0..trace.events.len())
        .filter(|row| marks[trace.events.name.at(*row).index()] && !trace.is_on_device(*row))
        .collect()
}

fn without_files(warnings: &Warnings) -> Warnings {
    let mut all = Warnings::default();
    for warning in warnings {
        all.push_many(warning.kind, warning.count, || Position { file: None, ..warning.first.clone() });
    }
    all
}

#[derive(Debug, Default)]
struct Redactor {
    redaction: Redaction,
    words: HarmlessWords,
    pseudonyms: Pseudonyms,
    /// New names of nodes by old name, and so of the events of the same calls.
    names: FxHashMap<String, String>,
}

impl Redactor {
    fn trace(&mut self, mut trace: Trace) -> Trace {
        let is_by_gaps = trace.has_iterations_by_gaps();
        let marks = take_marks(&mut trace);
        let mut num_texts = self.nodes(&mut trace);
        let num_keys = drop_unknown_keys(&mut trace);
        let (strings, args) = (std::mem::take(&mut trace.strings), std::mem::take(&mut trace.args));
        let mut known: FxHashMap<(TextRole, StrId), StrId> = FxHashMap::default();
        let mut trace = with_texts_made(trace, &args, &mut |made, role, id| {
            *known.entry((role, id)).or_insert_with(|| {
                let (before, now) = (strings.text(id), self.text(&strings, role, strings.text(id)));
                num_texts += u64::from(before != now);
                made.intern(&now)
            })
        });
        let marks = sort::distinct(marks.into_iter().map(|row| trace.event_name(row).to_owned()));
        let marks = if marks.is_empty() && is_by_gaps { vec![GAPS.to_owned()] } else { marks };
        trace.set_iteration_patterns(&marks);
        trace.warnings = without_files(&trace.warnings);
        trace.warnings.push_many(WarningKind::Redacted, num_texts + num_keys, Position::default);
        note(&mut trace, &json!({"edit": "redact", "num_texts": num_texts, "num_header_keys_left_out": num_keys}));
        trace
    }

    /// Redacts the nodes; how many texts of theirs are others now.
    fn nodes(&mut self, trace: &mut Trace) -> u64 {
        let mut nodes = std::mem::take(&mut trace.nodes);
        let mut known: FxHashMap<StrId, StrId> = FxHashMap::default();
        let mut replaced: FxHashSet<StrId> = FxHashSet::default();
        for node in &mut nodes {
            let before = node.texts_mut().map(|text| *text);
            self.node(&mut trace.strings, &mut known, node);
            let pairs = before.into_iter().zip(node.texts_mut());
            replaced.extend(pairs.filter(|(before, now)| before != *now).map(|(before, _)| before));
        }
        trace.nodes = nodes;
        replaced.len() as u64
    }

    fn text(&mut self, strings: &Strings, role: TextRole, text: &str) -> String {
        match role {
            TextRole::Event(kind) => self.event(kind, text),
            TextRole::Name => self.harmless(text, "name"),
            TextRole::Category => self.category(text),
            TextRole::Place => self.harmless(text, "place"),
            TextRole::Title if self.is_title(text) => text.to_owned(),
            TextRole::Title => self.harmless(text, "title"),
            TextRole::FlowId => self.harmless(text, "flow"),
            TextRole::Key => self.harmless(text, "key"),
            TextRole::Value(key) | TextRole::HeaderValue(key) => self.value(strings.text(key), text),
            TextRole::HeaderKey | TextRole::Node => text.to_owned(),
        }
    }

    fn event(&mut self, kind: EventKind, name: &str) -> String {
        match kind {
            EventKind::Kernel => self.kernel(name),
            EventKind::Python => self.frame(name),
            EventKind::Launch if self.pseudonyms.public.is_call(name) => name.to_owned(),
            EventKind::Launch | EventKind::Copy | EventKind::Fill | EventKind::Sync | EventKind::Overhead => {
                self.harmless(name, "name")
            }
            EventKind::Other if self.words.are_all_of(name) => name.to_owned(),
            EventKind::Operator | EventKind::Annotation | EventKind::Other => match self.names.get(name) {
                Some(other) => other.clone(),
                None if kind == EventKind::Annotation => self.pseudonyms.name(name, NodeKind::Annotation),
                None => self.pseudonyms.name(name, NodeKind::Operator),
            },
        }
    }

    /// The name of a process or thread that a tool gives.
    fn is_title(&self, text: &str) -> bool {
        is_tool_title(text) && self.words.are_all_of(&text.replace('/', " "))
    }

    /// Kernels are public but for the paths that compilers write into the names of lambdas.
    fn kernel(&mut self, name: &str) -> String {
        if self.redaction.is_strict {
            return self.pseudonyms.kernel(name);
        }
        if has_path(name) { self.pseudonyms.of(name, "kernel") } else { name.to_owned() }
    }

    /// A Python function, or a module with the number of its instance.
    fn frame(&mut self, name: &str) -> String {
        let Some(module) = name.strip_prefix(MODULE_PREFIX) else { return self.pseudonyms.of(name, "frame") };
        let (class, number) = module.rsplit_once('_').filter(|(_, number)| is_count(number)).unwrap_or((module, ""));
        let stays = self.pseudonyms.public.has("module", class) || self.redaction.keeps_modules && !has_path(class);
        let class = if stays { class.to_owned() } else { self.pseudonyms.of(class, "module") };
        if number.is_empty() { format!("{MODULE_PREFIX}{class}") } else { format!("{MODULE_PREFIX}{class}_{number}") }
    }

    /// A category that tells a kind stays, and one that nobody knows keeps the ending that tells
    /// it.
    fn category(&mut self, category: &str) -> String {
        // Those of launches alone are known by their endings, the others by all of their letters.
        let is_known = !matches!(category_kind(category).0, EventKind::Launch | EventKind::Other);
        if is_known || self.words.are_all_of(category) {
            return category.to_owned();
        }
        let ending = ["_runtime", "_driver"].into_iter().find(|ending| category.to_ascii_lowercase().ends_with(ending));
        format!("{}{}", self.pseudonyms.of(category, "category"), ending.unwrap_or(""))
    }

    fn harmless(&mut self, text: &str, noun: &str) -> String {
        if self.words.are_all_of(text) { text.to_owned() } else { self.pseudonyms.of(text, noun) }
    }

    /// The texts and keys in a value.
    fn value(&mut self, key: &str, json: &str) -> String {
        with_strings(json, &mut |part| match part {
            JsonString::Key(inner) => (!self.words.are_all_of(inner)).then(|| self.pseudonyms.of(inner, "key")),
            JsonString::Text(inner, text) => self.inside(key, inner, text),
        })
    }

    /// A text in the value of `key`, perhaps under a key within that.
    fn inside(&mut self, key: &str, inner: &str, text: &str) -> Option<String> {
        match (key, inner) {
            ("deviceProperties" | "computeProperties", "name") if is_device(text) => None,
            ("name" | "labels", "") if self.is_title(text) => None,
            ("kernel" | "kernel_name", "") => Some(self.kernel(text)),
            // A text that is JSON itself: the process groups of an Execution Trace.
            _ if text.starts_with(['[', '{']) && serde_json::from_str::<Value>(text).is_ok() => {
                Some(self.value(inner, text))
            }
            _ if self.words.are_all_of(text) || self.pseudonyms.public.is_operator(text) => None,
            _ => Some(self.pseudonyms.of(text, "text")),
        }
    }

    fn node_name(&mut self, kind: NodeKind, name: &str) -> String {
        if let Some(other) = self.names.get(name) {
            return other.clone();
        }
        let other = match kind {
            _ if self.pseudonyms.public.has("annotation", name) => name.to_owned(),
            // Structure: the name has to keep the node's kind.
            NodeKind::Root if name.ends_with("|thread]") => return THREAD.to_owned(),
            NodeKind::Root => return PROCESS.to_owned(),
            NodeKind::ProcessGroup => return PROCESS_GROUP.to_owned(),
            NodeKind::Operator | NodeKind::Annotation => self.pseudonyms.name(name, kind),
        };
        self.names.insert(name.to_owned(), other.clone());
        other
    }

    /// The schema of a node whose name was `name` and is `other` now.
    fn schema(&mut self, schema: &str, name: &str, other: &str) -> String {
        let made = format!("{other}(...) -> ...");
        match () {
            () if schema.is_empty() => String::new(),
            () if name != other => made,
            () if schema == made || self.pseudonyms.public.is_schema(schema) => schema.to_owned(),
            () if self.pseudonyms.public.is_operator(name) => made,
            () => self.pseudonyms.of(schema, "schema"),
        }
    }

    /// Redacts a node; `known` maps earlier values to their replacements.
    fn node(&mut self, strings: &mut Strings, known: &mut FxHashMap<StrId, StrId>, node: &mut Node) {
        let name = strings.text(node.name).to_owned();
        let other = self.node_name(node.kind(&name), &name);
        let schema = self.schema(strings.text(node.schema), &name, &other);
        (node.name, node.schema) = (strings.intern(&other), strings.intern(&schema));
        for (text, noun) in [(&mut node.kernel_file, "file"), (&mut node.kernel_backend, "text")] {
            let made = self.harmless(strings.text(*text), noun);
            *text = strings.intern(&made);
        }
        let [.., rest, layout] = node.texts_mut();
        let mut value = |text: &mut StrId| {
            *text = *known.entry(*text).or_insert_with(|| {
                let made = self.value("", strings.text(*text));
                strings.intern(&made)
            });
        };
        [rest, layout].into_iter().for_each(&mut value);
        for values in [&mut node.inputs, &mut node.outputs] {
            [&mut values.values, &mut values.shapes, &mut values.types, &mut values.strides]
                .into_iter()
                .for_each(&mut value);
        }
    }
}

fn is_count(text: &str) -> bool {
    (1..=MAX_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
