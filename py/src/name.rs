//! Exposes the name parsers of the core: for files, kernels and categories.

use kinetoscope::analyze::WorkClass;
use kinetoscope::read;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// A name from Python; invalid Unicode is replaced.
pub(crate) struct Name(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for Name {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(name.cast::<PyString>()?.to_string_lossy().into_owned()))
    }
}

/// Whether the name is that of a trace: JSON or a database, plain or compressed, a snapshot, or a
/// report of nsys.
#[pyfunction]
pub(crate) fn is_trace(name: Name) -> bool {
    read::is_trace(&name.0)
}

/// Whether the name is that of an archive.
#[pyfunction]
pub(crate) fn is_archive_name(name: Name) -> bool {
    read::is_archive_name(&name.0)
}

/// Whether the name is that of a report of Nsight Systems.
#[pyfunction]
pub(crate) fn is_report(name: Name) -> bool {
    read::is_report(&name.0)
}

/// Whether the name is that of an Execution Trace: `torch_et_0.json.gz`, `rank-3.et.json`,
/// `linear_et.json`.
#[pyfunction]
pub(crate) fn is_execution(name: Name) -> bool {
    read::is_execution(&name.0)
}

/// The rank that a name tells.
#[pyfunction]
pub(crate) fn rank_of(name: Name) -> Option<i64> {
    read::rank_of(&name.0)
}

/// The rank that the name of a dump of a flight recorder tells.
#[pyfunction]
pub(crate) fn rank_of_dump(name: Name) -> Option<i64> {
    read::rank_of_dump(&name.0)
}

/// Whether a file that starts with these bytes is a dump of a flight recorder.
#[pyfunction]
pub(crate) fn is_flight_dump(head: &[u8]) -> bool {
    read::is_flight_dump(head)
}

/// The key of natural sort order.
#[pyfunction]
pub(crate) fn natural(name: Name) -> Vec<u8> {
    read::natural(&name.0)
}

/// The place of the Execution Trace that was recorded with a Kineto trace, among the names in its
/// folder.
#[pyfunction]
pub(crate) fn execution_beside(kineto: Name, names: Vec<Name>) -> Option<usize> {
    let names: Vec<_> = names.iter().map(|name| name.0.as_str()).collect();
    read::execution_beside(&kineto.0, &names)
}

/// The class of a kernel by its name: `computation`, `communication`, `memory` or `other`.
#[pyfunction]
pub(crate) fn class_of_kernel(name: Name) -> &'static str {
    WorkClass::of_kernel(&name.0).name()
}

/// The kind of an event by its category: `operator`, `launch`, `kernel`, `copy`, `fill` and so on.
#[pyfunction]
pub(crate) fn kind_of_category(category: Name) -> &'static str {
    kinetoscope::category_kind(&category.0).0.name()
}
