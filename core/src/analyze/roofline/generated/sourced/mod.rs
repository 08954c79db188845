//! Kernels whose sources were given.

mod body;
mod definition;
mod expression;
mod product;

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::call::OperatorCall;
use super::super::cost::{OperatorCost, OperatorFamily};
use super::super::dtype::{Dtype, promoted};
use super::super::elementwise::common;
use crate::link::SourceFile;
use body::KernelWork;
use definition::{KernelDefinition, KernelDefinitions, KernelParameter};

/// The kernels of all given sources.
#[derive(Debug, Default)]
pub(super) struct SourcedKernels {
    definitions: KernelDefinitions,
    /// The work of a kernel by its place and the sizes of a launch.
    known: RefCell<FxHashMap<KernelLaunch, Option<Rc<KernelWork>>>>,
}

/// The place of a kernel, and its sizes.
type KernelLaunch = (usize, Vec<Option<i64>>);

impl SourcedKernels {
    pub(super) fn of(files: &[SourceFile]) -> Self {
        Self { definitions: KernelDefinitions::of(files), known: RefCell::default() }
    }

    /// Whether there is a source of that name, or in that file.
    pub(super) fn has(&self, name: &str, file: Option<&str>) -> bool {
        self.definitions.find(name, file).is_some()
    }

    /// Whether there is a source that fits a call.
    pub(super) fn fits(&self, name: &str, file: Option<&str>, call: Option<&OperatorCall>) -> bool {
        self.place(name, file, call).is_some()
    }

    /// The cost of a call by its source; `None` where no source fits, or it does not tell.
    pub(super) fn cost(
        &self,
        name: &str,
        file: Option<&str>,
        call: Option<&OperatorCall>,
    ) -> Option<(OperatorFamily, OperatorCost)> {
        self.by_source(self.place(name, file, call)?, call)
    }

    fn place(&self, name: &str, file: Option<&str>, call: Option<&OperatorCall>) -> Option<usize> {
        self.definitions.find(name, file).filter(|at| fits(self.definitions.at(*at), call))
    }

    fn by_source(&self, at: usize, call: Option<&OperatorCall>) -> Option<(OperatorFamily, OperatorCost)> {
        let kernel = self.definitions.at(at);
        if product::is_product(kernel) {
            return product::by_source(kernel, call).or_else(|| stated(kernel, call));
        }
        let size = |at: usize| call?.value(at)?.as_i64();
        let sizes: Vec<_> = (0..kernel.parameters.len()).map(size).collect();
        let walk = || body::work(kernel, &sizes).map(Rc::new);
        let work = self.known.borrow_mut().entry((at, sizes.clone())).or_insert_with(walk).clone();
        let Some(work) = work else { return stated(kernel, call) };
        let bytes = moved(kernel, &work, call).or(kernel.stated_bytes)?;
        Some((OperatorFamily::Fused, OperatorCost { flops: work.flops, bytes, dtype: dtype(kernel, call)? }))
    }
}

/// Whether a call has the arguments of a kernel.
fn fits(kernel: &KernelDefinition, call: Option<&OperatorCall>) -> bool {
    let Some(call) = call else { return true };
    let is_alike =
        |(at, parameter): (usize, &KernelParameter)| parameter.pointer.is_some() == call.tensor(at).is_some();
    let contradicts = |(at, parameter): (usize, &KernelParameter)| {
        let size = call.value(at).and_then(serde_json::Value::as_i64);
        parameter.pointer.is_none() && size.is_some_and(|size| sets_other(kernel, &parameter.name, size))
    };
    let mut parameters = kernel.parameters.iter().enumerate();
    call.num_arguments() == kernel.parameters.len() && parameters.clone().all(is_alike) && !parameters.any(contradicts)
}

/// Whether the source sets a size to another constant: a kernel of another run may have its name.
fn sets_other(kernel: &KernelDefinition, name: &str, size: i64) -> bool {
    let value = |text: &String| text.strip_prefix(name)?.strip_prefix(" = ")?.trim().parse::<i64>().ok();
    kernel.statements.iter().filter_map(value).any(|other| other != size)
}

/// The bytes of all pointers; `None` where the size of one is needed and unknown.
fn moved(kernel: &KernelDefinition, work: &KernelWork, call: Option<&OperatorCall>) -> Option<i64> {
    let mut bytes = 0_i64;
    for (at, parameter) in kernel.parameters.iter().enumerate() {
        let (Some(dtype), Some(of)) = (parameter.pointer, work.pointers.get(&parameter.name)) else { continue };
        let tensor = call.and_then(|call| call.tensor(at));
        if tensor.is_none() && of.needs_size {
            return None;
        }
        let size = tensor.map_or(i64::MAX, |tensor| tensor.num_stored).min(of.reach());
        let num_moved = of.num_read.min(size).saturating_add(of.num_written.min(size));
        bytes = bytes.saturating_add(num_moved.saturating_mul(tensor.map_or(dtype, |tensor| tensor.dtype).bytes));
    }
    Some(bytes)
}

/// The type that tensors are promoted to.
fn dtype(kernel: &KernelDefinition, call: Option<&OperatorCall>) -> Option<Dtype> {
    let of_source = || kernel.parameters.iter().filter_map(|parameter| parameter.pointer).reduce(promoted);
    call.map_or_else(of_source, common)
}

/// The cost that Inductor counted.
fn stated(kernel: &KernelDefinition, call: Option<&OperatorCall>) -> Option<(OperatorFamily, OperatorCost)> {
    let (bytes, dtype) = (kernel.stated_bytes?, dtype(kernel, call)?);
    Some(match kernel.stated_flops {
        Some(flops) if product::is_product(kernel) => (OperatorFamily::Matmul, OperatorCost { flops, bytes, dtype }),
        _ => (OperatorFamily::FusedOfUnknownOperations, OperatorCost { flops: 0, bytes, dtype }),
    })
}
