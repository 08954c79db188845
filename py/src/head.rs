//! Reads heads of files and pairs files for Python.

use kinetoscope::read::{self, FileHead, FileHint, FileOrigin};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::memory::detached;
use crate::name::Name;
use crate::trace::Trace;

/// Whether a file is an Execution Trace, and its rank.
type Known = (Option<bool>, Option<i64>);

/// The positions of a Kineto trace and of its Execution Trace, and the pairing method.
type Pair = (Option<usize>, Option<usize>, &'static str);

/// Pairs, and the positions of copies with the reason.
type Paired = (Vec<Pair>, Vec<(usize, &'static str)>);

/// Facts from a file's first bytes.
#[pyfunction]
pub(crate) fn head(py: Python<'_>, bytes: PyBackedBytes) -> PyResult<Known> {
    detached(py, || read::head(&bytes)).map(known)
}

/// Facts about a file that was read.
#[pyfunction]
pub(crate) fn head_of(trace: PyRef<'_, Trace>) -> Known {
    known(FileHead::of(&trace.linked().trace))
}

/// The recordings among the files of a folder, by their names and heads, and files that are copies
/// of others, with why.
#[pyfunction]
pub(crate) fn pair_up(py: Python<'_>, files: Vec<(Name, Known)>) -> PyResult<Paired> {
    let known = files.iter().map(|(_, (is_execution, rank))| FileHead { is_execution: *is_execution, rank: *rank });
    let told: Vec<_> = files.iter().zip(known).map(|((name, _), head)| FileHint { name: &name.0, head }).collect();
    let found = detached(py, || read::pair_up(&told, FileOrigin::Place))?;
    Ok((found.pairs.iter().map(|pair| (pair.kineto, pair.execution, pair.how.word())).collect(), found.copies))
}

fn known(head: FileHead) -> Known {
    (head.is_execution, head.rank)
}
