//! What is known of files before they are read, and which of them belong together.

use kinetoscope::read::{self, Head, Origin, Told};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::name::Name;
use crate::trace::Trace;

/// Whether a file is an Execution Trace, and its rank.
type Known = (Option<bool>, Option<i64>);

/// The places of a Kineto trace and of its Execution Trace, and by what they were paired.
type Pair = (Option<usize>, Option<usize>, &'static str);

/// What a file's first bytes tell.
#[pyfunction]
pub(crate) fn head(py: Python<'_>, bytes: PyBackedBytes) -> Known {
    known(py.detach(|| read::head(&bytes)))
}

/// What is known of a file that was read.
#[pyfunction]
pub(crate) fn head_of(trace: PyRef<'_, Trace>) -> Known {
    known(Head::of(&trace.linked().trace))
}

/// The recordings among the files of a folder, by their names and heads, and files that are copies of others, with why.
#[pyfunction]
pub(crate) fn pair_up(py: Python<'_>, files: Vec<(Name, Known)>) -> (Vec<Pair>, Vec<(usize, &'static str)>) {
    let known = files.iter().map(|(_, (is_execution, rank))| Head { is_execution: *is_execution, rank: *rank });
    let told: Vec<_> = files.iter().zip(known).map(|((name, _), head)| Told { name: &name.0, head }).collect();
    let found = py.detach(|| read::pair_up(&told, Origin::Place));
    (found.pairs.iter().map(|pair| (pair.kineto, pair.execution, pair.how.word())).collect(), found.copies)
}

fn known(head: Head) -> Known {
    (head.is_execution, head.rank)
}
