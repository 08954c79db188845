//! Finds the operator and the line of Python that launched a kernel most.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::selection::Selection;
use crate::id::StrId;
use crate::label::without_addresses;
use crate::time::add_ns;

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
        let name = |row: u32| events.name[row as usize];
        let text = |name: StrId| linked.trace.strings.text(name);
        let times = |of: &dyn Fn(usize) -> Option<u32>| {
            most(rows.iter().filter_map(|row| Some((name(of(*row)?), selection.dur_ns(*row)))), text)
        };
        let text = |name: &str| without_addresses(name).into_owned();
        let (operator, _) = times(&|row| linked.links.operator.get(row)).unzip();
        let (line, num_lines) = times(&|row| linked.frames().line.get(row)).unzip();
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
