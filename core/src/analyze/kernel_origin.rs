//! Finds the operator and the line of Python that launched a kernel most.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::selection::Selection;
use crate::id::StrId;
use crate::label::without_addresses;
use crate::time::add_ns;
use crate::trace::arg_key::ArgKey;
use crate::trace::args::plain_text;

/// The origin of most device time of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelOrigin {
    /// The name of the operator; empty without one.
    pub operator: String,
    /// The line of Python, see [`EnclosingEvents::line`](crate::link::EnclosingEvents::line); empty
    /// without one.
    pub python_line: String,
    /// How many lines launched it; `None` without any.
    pub num_python_lines: Option<i64>,
}

impl KernelOrigin {
    /// Of the executions in these rows.
    pub(super) fn of(selection: &Selection<'_>, rows: &[usize]) -> Self {
        let (linked, events) = (selection.linked, &selection.linked.trace.events);
        let name = |row: u32| events.name.at(row as usize);
        let trace = &linked.trace;
        let text = |name: StrId| trace.strings.text(name);
        // Kernels of graphs may state what another file's capture knows of them.
        let stated = |row: usize, key| trace.args.json_id(trace.events.args(row), key);
        let times = |of: &dyn Fn(usize) -> Option<StrId>| {
            most(rows.iter().filter_map(|row| Some((of(*row)?, selection.dur_ns(*row)))), text)
        };
        let text = |name: &str| without_addresses(&plain_text(name)).into_owned();
        let operator = |row| stated(row, ArgKey::CapturedOperator).or_else(|| linked.links.operator.get(row).map(name));
        let line = |row| stated(row, ArgKey::CapturedLine).or_else(|| linked.frames().line.get(row).map(name));
        let (operator, _) = times(&operator).unzip();
        let (line, num_lines) = times(&line).unzip();
        Self {
            operator: operator.map_or_else(String::new, text),
            python_line: line.map_or_else(String::new, text),
            num_python_lines: num_lines,
        }
    }
}

/// The name of most time, and the number of different names.
fn most<'a>(names: impl Iterator<Item = (StrId, i64)>, text: impl Fn(StrId) -> &'a str) -> Option<(&'a str, i64)> {
    let mut times: FxHashMap<StrId, i64> = FxHashMap::default();
    names.for_each(|(name, ns)| add_ns(times.entry(name).or_default(), ns));
    let times: Vec<_> = times.into_iter().map(|(name, ns)| (ns, Reverse(text(name)))).collect();
    let (_, Reverse(name)) = times.iter().max()?;
    Some((*name, times.len() as i64))
}
