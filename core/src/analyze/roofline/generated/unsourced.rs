//! Stands in for sources of kernels where none can be given.

use super::super::call::OperatorCall;
use super::super::cost::{OperatorCost, OperatorFamily};
use crate::link::SourceFile;

/// No kernels.
#[derive(Debug, Default)]
pub(super) struct UnsourcedKernels;

impl UnsourcedKernels {
    pub(super) fn of(_: &[SourceFile]) -> Self {
        Self
    }

    pub(super) fn has(&self, _: &str, _: Option<&str>) -> bool {
        false
    }

    pub(super) fn fits(&self, _: &str, _: Option<&str>, _: Option<&OperatorCall>) -> bool {
        false
    }

    pub(super) fn cost(
        &self,
        _: &str,
        _: Option<&str>,
        _: Option<&OperatorCall>,
    ) -> Option<(OperatorFamily, OperatorCost)> {
        None
    }
}
