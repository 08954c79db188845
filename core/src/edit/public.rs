//! Tells the names of `PyTorch` from private ones.

use crate::trace::iteration::iteration_number;
use crate::vendor::is_backend;

/// Namespaces of operators that everyone has.
const NAMESPACES: [&str; 16] = [
    "aten",
    "autograd",
    "c10d",
    "_c10d_functional",
    "c10d_functional",
    "cudnn",
    "fbgemm",
    "inductor",
    "onednn",
    "prim",
    "prims",
    "quantized",
    "rng_prims",
    "symm_mem",
    "torch",
    "torchvision",
];

/// Names that stand alone.
const NAMES: [&str; 2] = ["record_param_comms", "DistributedDataParallel.forward"];

/// Whether a name is one that `PyTorch` gives: an operator of its namespaces, a backward function
/// that it generates (`AddmmBackward0`), a step of the profiler.
pub(super) fn is_public(name: &str) -> bool {
    NAMES.contains(&name)
        || is_operator(name)
        || iteration_number(name).is_some()
        || is_backward(name)
        || is_number(name)
}

/// Whether a name is that of an operator of a public namespace, or of a communication, which alone
/// has one colon (`nccl:send 0->1`).
pub(super) fn is_operator(name: &str) -> bool {
    let Some((namespace, operator)) = name.split_once(':') else { return false };
    let is_communication = is_backend(namespace);
    let is_plain = |character: char| {
        character.is_ascii_alphanumeric()
            || matches!(character, '_' | '.' | ':')
            || is_communication && matches!(character, '>' | '-' | ' ')
    };
    (is_communication || NAMESPACES.contains(&namespace) && operator.starts_with(':')) && operator.chars().all(is_plain)
}

/// Such as the numbers of a compiled region, `0/1`; and a name that is none.
fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/')
}

/// Names by users end in `Backward`; generated ones have a number after it.
fn is_backward(name: &str) -> bool {
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    stem.len() < name.len()
        && stem.strip_suffix("Backward").is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pytorch_names_is_public() {
        for name in [
            "aten::add",
            "nccl:all_reduce",
            "ProfilerStep#12",
            "AddmmBackward0",
            "torch::autograd::AccumulateGrad",
            "nccl:send 0->1",
        ] {
            assert!(is_public(name), "{name}");
        }
        for name in [
            "mycorp::rank",
            "## forward secret ##",
            "SecretBackward",
            "ProfilerStep#x",
            "torch::autograd::CppNode<Mine>",
            "torch:secret project 7",
            "aten::secret project",
        ] {
            assert!(!is_public(name), "{name}");
        }
    }
}
