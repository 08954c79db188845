//! Tells the names of `PyTorch` from private ones.

use super::public_names::{PublicNames, contains, words};
use crate::trace::iteration::iteration_number;
use crate::trace::step_name::StepFacts;
use crate::vendor::{self, is_backend};

/// The largest number of an id (of 64 bits) has as many digits.
pub(super) const MAX_DIGITS: usize = 20;

/// Versions of calls have fewer digits.
const MAX_VERSION_DIGITS: usize = 5;

impl PublicNames {
    /// Whether a name is one that `PyTorch` gives: an operator, a function of the backward graph
    /// (`AddmmBackward0`), an annotation, a step of the profiler or of a serving engine.
    pub(super) fn is_public(&self, name: &str) -> bool {
        self.has("annotation", name)
            || self.is_operator(name)
            || iteration_number(name).is_some()
            || StepFacts::of(name).is_some()
            || self.is_backward(name)
            || self.is_fused(name)
            || is_number(name)
    }

    /// Whether a name is that of an operator of a public namespace, or of a communication, which
    /// alone has one colon (`nccl:send 0->1`).
    pub(super) fn is_operator(&self, name: &str) -> bool {
        let Some((namespace, rest)) = name.split_once(':') else { return false };
        let Some(operator) = rest.strip_prefix(':') else {
            return (is_backend(namespace) || self.has("backend", namespace)) && self.is_collective(rest);
        };
        let (operator, overload) = operator.split_once('.').map_or((operator, None), |(name, rest)| (name, Some(rest)));
        self.has(&format!("operator {namespace}"), operator)
            && overload.is_none_or(|overload| self.has("overload", overload))
    }

    /// A collective, with the ranks if they are two: `send 0->1`.
    fn is_collective(&self, name: &str) -> bool {
        let (collective, ranks) = name.split_once(' ').unwrap_or((name, ""));
        let is_rank = |byte: u8| byte.is_ascii_digit() || b"<->".contains(&byte);
        ranks.len() <= MAX_DIGITS && ranks.bytes().all(is_rank) && self.has("collective", collective)
    }

    /// Generated functions have a number behind their names, those of Python none.
    fn is_backward(&self, name: &str) -> bool {
        let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let is_function = |name: &str| self.has("function", name) || self.has("module", name);
        let is_of_function = || name.strip_suffix("Backward").is_some_and(is_function) || self.has("function", name);
        (name.len() - stem.len() < 3 && self.has("backward", stem)) || is_of_function()
    }

    /// Whether a name is that of a kernel that `PyTorch`'s compiler makes of operators.
    fn is_fused(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix("triton_") else { return false };
        let Some((kind, operators)) = rest.split_once("_fused_") else { return false };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_part = |part: &str| is_number(part) && part.len() < 5 || self.is_operator_part(part);
        matches!(kind, "poi" | "red" | "per" | "tem" | "for" | "spl" | "mix" | "unk")
            && operators.bytes().all(is_plain)
            && operators.split('_').all(is_part)
    }

    /// Whether a part of a name is a word of operators, perhaps with digits: `conv2d`.
    fn is_operator_part(&self, part: &str) -> bool {
        words(part).all(|word| word.len() > 1 && self.is_operator_word(&word.to_ascii_lowercase()) || word == "d")
            && part.bytes().filter(u8::is_ascii_digit).count() < 5
    }

    /// Whether the rest of an optimizer's annotation is public: `SGD.step`.
    pub(super) fn is_optimizer_call(&self, call: &str) -> bool {
        let class = call.strip_suffix(".step").or_else(|| call.strip_suffix(".zero_grad"));
        class.is_some_and(|class| self.has("optimizer", class))
    }

    /// Whether a schema is one of an operator that `PyTorch` has, and only has words of such.
    pub(super) fn is_schema(&self, schema: &str) -> bool {
        let Some((operator, rest)) = schema.split_once('(') else { return false };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _.,:;?!=*|&-+'()[]<>".contains(&byte);
        let is_known = |word: &str| match word.as_bytes().first() {
            None => true,
            Some(b'0'..=b'9') => {
                word.len() <= MAX_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'e')
            }
            Some(_) => self.has("schema", word),
        };
        let mut words = rest.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        self.is_operator(operator) && rest.bytes().all(is_plain) && words.all(is_known)
    }

    /// Whether a text is the name of a function of a runtime or driver. Runtimes without a list
    /// have calls of known words.
    pub(super) fn is_call(&self, name: &str) -> bool {
        let plain = without_version(name);
        let is_listed = |(prefix, _): (&str, &str)| plain.trim_start_matches('_').starts_with(prefix);
        let is_of_words = || {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@".contains(&byte);
            let is_known = |word: &str| self.has("callword", &word.to_ascii_lowercase());
            let num_digits = plain.bytes().filter(u8::is_ascii_digit).count();
            num_digits < MAX_VERSION_DIGITS && plain.bytes().all(is_plain) && words(plain).all(is_known)
        };
        self.has("annotation", name)
            || self.groups("call").any(|(_, names)| contains(names, plain))
            || vendor::has_call_prefix(name) && !self.groups("call").any(is_listed) && is_of_words()
    }
}

/// A call without the version that drivers append: `cuMemcpyHtoDAsync_v2`, `cudaMemcpy_ptsz`.
fn without_version(name: &str) -> &str {
    let Some((stem, suffix)) = name.rsplit_once('_') else { return name };
    let is_version = |digits: &str| {
        !digits.is_empty() && digits.len() <= MAX_VERSION_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_suffix = matches!(suffix, "ptsz" | "ptds") || suffix.strip_prefix('v').is_some_and(is_version);
    if is_suffix { without_version(stem) } else { name }
}

/// Such as the numbers of a compiled region, `0/1`; and a name that is none.
fn is_number(name: &str) -> bool {
    name.len() <= MAX_DIGITS && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pytorch_names_is_public() {
        let names = PublicNames::default();
        for name in [
            "aten::add",
            "aten::add.Tensor",
            "nccl:all_reduce",
            "gloo:all_reduce",
            "ProfilerStep#12",
            "AddmmBackward0",
            "AddmmBackward",
            "CompiledFunctionBackward",
            "torch::autograd::AccumulateGrad",
            "nccl:send 0->1",
            "nccl:recv 1<-0",
            "triton_poi_fused__unsafe_view_add_3",
            "triton_poi_fused_convolution_0",
            "c10d::allreduce_",
            "fbgemm::permute_2D_sparse_data",
            "torchvision::nms",
        ] {
            assert!(names.is_public(name), "{name}");
        }
        for name in [
            "mycorp::rank",
            "## forward secret ##",
            "SecretBackward",
            "SecretBackward0",
            "AddmmBackward0123",
            "ProfilerStep#x",
            "torch::autograd::CppNode<Mine>",
            "torch:secret project 7",
            "aten::secret",
            "aten::add.Secret",
            "aten::add.",
            "nccl:secret",
            "nccl:all_reduce secret",
            "torch::secret",
            "[pytorch|profiler|secret|thread]",
            "triton_poi_fused_secret_0",
            "triton_secret_fused_add_0",
            "123456789012345678901",
        ] {
            assert!(!names.is_public(name), "{name}");
        }
    }

    #[test]
    fn calls_are_known_exactly() {
        let names = PublicNames::default();
        for name in [
            "cudaLaunchKernel",
            "cudaLaunchKernelExC_v11060",
            "cuMemcpyHtoDAsync_v2",
            "cudaMemcpyAsync_ptsz",
            "hipGetDevicePropertiesR0600",
            "AscendCL@aclrtLaunchKernelWithHostArgs",
            "urEnqueueKernelLaunch",
        ] {
            assert!(names.is_call(name), "{name}");
        }
        for name in
            ["cudaSecret", "cuda_secret", "cudaLaunchKernel_v110600", "synSecret", "customCall", "zebra", "cudaé"]
        {
            assert!(!names.is_call(name), "{name}");
        }
    }

    #[test]
    fn schemas_have_public_words() {
        let names = PublicNames::default();
        let add = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
        assert!(names.is_schema(add) && names.is_schema("aten::relu_(Tensor(a!) self) -> Tensor(a!)"));
        for schema in ["", "aten::add", "mine::add(Tensor self) -> Tensor", &add.replace("alpha", "secret")] {
            assert!(!names.is_schema(schema), "{schema}");
        }
    }
}
