//! Sums the work of replayed graphs by the operator that captured it.

use rustc_hash::FxHashMap;

use super::selection::Selection;
use crate::time::add_ns;
use crate::trace::arg_key::ArgKey;

/// The work of graphs that operators of one name captured, with inputs of the same shapes and types
/// if those are asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct CapturedWork {
    pub name: String,
    pub shapes: String,
    pub types: String,
    pub ns: i64,
    /// Id of the work that took the longest, and its time.
    pub longest: (u32, i64),
}

/// Selected work of graphs with a known operator, the first first.
pub(super) fn captured_work(selection: &Selection<'_>, is_by_shape: bool) -> Vec<CapturedWork> {
    let linked = selection.linked;
    let trace = &linked.trace;
    let mut places: FxHashMap<(String, String, String), usize> = FxHashMap::default();
    let mut found: Vec<CapturedWork> = Vec::new();
    for row in selection.device_work() {
        let Some(name) = linked.captured_operator(row) else { continue };
        // The operator of this file has the inputs; work of another file's capture has them itself.
        let inputs = match linked.captured(row) {
            Some(captured) if !captured.has_inputs() => None,
            Some(_) => linked.links.operator.get(row).map(|operator| operator as usize),
            None => Some(row),
        };
        let text = |key| {
            let mut text = String::new();
            if let Some(row) = inputs.filter(|_| is_by_shape) {
                trace.args.write_text(&trace.strings, trace.events.args(row), key, &mut text);
            }
            text
        };
        let key = (name.into_owned(), text(ArgKey::InputShapes), text(ArgKey::InputTypes));
        let place = *places.entry(key.clone()).or_insert_with(|| {
            let (name, shapes, types) = key;
            found.push(CapturedWork { name, shapes, types, longest: (0, -1), ..CapturedWork::default() });
            found.len() - 1
        });
        let (work, ns) = (&mut found[place], selection.dur_ns(row));
        add_ns(&mut work.ns, ns);
        if ns > work.longest.1 {
            work.longest = (trace.events.position.at(row), ns);
        }
    }
    found
}
