//! Signatures of C++, as profilers write the names of kernels.

use std::borrow::Cow;

use super::Label;

const NOWHERE: &str = "(anonymous namespace)";

/// No more of a name is looked at: a file may hold one of any size.
const MOST: usize = 4_096;

/// Kernels that say nothing of what they compute: what they are given says that.
const GENERAL: [&str; 10] = [
    "reduce_kernel",
    "multi_tensor_apply_kernel",
    "device_kernel",
    "trampoline_kernel",
    "GeneralKernel",
    "Kernel",
    "Kernel2",
    "kernel",
    "kentry",
    "launch_kernel",
];

/// What is given to such kernels only to hand on something else.
const WRAPPERS: [&str; 12] = [
    "gpu_kernel_impl",
    "gpu_kernel_impl_nocast",
    "gpu_kernel_with_scalars",
    "gpu_index_kernel",
    "opmath_gpu_kernel_with_scalars",
    "opmath_symmetric_gpu_kernel_with_scalars",
    "ReduceOp",
    "func_wrapper_t",
    "BinaryFunctor",
    "AUnaryFunctor",
    "BUnaryFunctor",
    "GemmKernel",
];

/// What is given to many kernels, and tells none from another: types of numbers, lists of tensors, ways to load.
const ORDINARY: [&str; 40] = [
    "float",
    "double",
    "int",
    "long",
    "short",
    "char",
    "bool",
    "unsigned",
    "signed",
    "void",
    "true",
    "false",
    "half",
    "__half",
    "half2",
    "__half2",
    "__nv_bfloat16",
    "__nv_bfloat162",
    "__hip_bfloat16",
    "hip_bfloat16",
    "BFloat16",
    "bfloat16_t",
    "Half",
    "half_t",
    "complex",
    "OpaqueType",
    "array",
    "Array",
    "tuple",
    "integral_constant",
    "LoadWithoutCast",
    "StoreWithoutCast",
    "LoadWithCast",
    "StoreWithCast",
    "int8_t",
    "uint8_t",
    "int32_t",
    "int64_t",
    "uint32_t",
    "size_t",
];

pub(super) fn label(name: &str) -> Option<Label<'_>> {
    let signature = signature(name.get(..MOST).unwrap_or(name))?;
    let called = Called::of(signature)?;
    if !is_general(called.name) {
        return Some(Label::at(called.name, ""));
    }
    let given: Vec<_> = arguments(called.arguments).filter_map(telling).collect();
    let telling = match &given[..] {
        [] if called.name.eq_ignore_ascii_case("kernel") => Cow::Borrowed(called.scope),
        [] => return Some(Label::at(called.name, "")),
        [one] => Cow::Borrowed(*one),
        several => Cow::Owned(several.join(", ")),
    };
    Some(if telling.is_empty() { Label::at(called.name, "") } else { Label::at(telling, called.name) })
}

pub(super) fn is_general(kernel: &str) -> bool {
    kernel.contains("elementwise") || GENERAL.contains(&kernel)
}

/// The signature without its type, of what is one: what else has brackets may be a sentence, or a call of Python.
fn signature(name: &str) -> Option<&str> {
    if let Some(rest) = name.strip_prefix("void ") {
        return Some(rest);
    }
    if let Some(rest) = name.strip_prefix("std::enable_if<") {
        return rest.split_once(">::type ").map(|(_, rest)| rest);
    }
    let open = name.find(['<', '('])?;
    let is_cpp = name.contains('*') || name.contains("::") || name[open..].contains('<');
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':' || !byte.is_ascii();
    (is_cpp && open > 0 && name[..open].bytes().all(is_name)).then_some(name)
}

/// The first function or class that a text names: the last part of its path, and what that is given.
struct Called<'a> {
    name: &'a str,
    /// The part of the path before it; empty without one.
    scope: &'a str,
    /// Between `<` and `>`; empty without them.
    arguments: &'a str,
}

impl<'a> Called<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut path = Path::new(text);
        let mut last = path.next()?;
        let mut scope = "";
        for part in path {
            // Of `f::operator()` the function is `f`.
            if part.0 != "operator" {
                scope = last.0;
                last = part;
            }
        }
        let (name, arguments) = last;
        (name.len() > 2).then_some(Self { name, scope, arguments })
    }
}

/// Parts of a path, each with what it is given, as far as the arguments of a function or a blank.
struct Path<'a> {
    rest: &'a str,
}

impl<'a> Path<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Path<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(rest) = self.rest.strip_prefix(NOWHERE).and_then(|rest| rest.strip_prefix("::")) {
            self.rest = rest;
        }
        let end = self.rest.find([':', '<', '>', '(', ')', '{', ' ', ',']).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return None;
        }
        let (arguments, rest) = match rest.strip_prefix('<') {
            Some(inside) => inside.split_at(closing(inside)),
            None => ("", rest),
        };
        let rest = if arguments.is_empty() { rest } else { rest.strip_prefix('>').unwrap_or("") };
        self.rest = rest.strip_prefix("::").unwrap_or("");
        Some((name, arguments))
    }
}

/// Where the bracket ends that a text is inside of, or the text.
fn closing(inside: &str) -> usize {
    let mut depth = 0_usize;
    let ends = inside.bytes().position(|byte| {
        match byte {
            b'<' | b'(' | b'{' => depth += 1,
            b'>' | b')' | b'}' if depth == 0 => return true,
            b'>' | b')' | b'}' => depth -= 1,
            _ => {}
        }
        false
    });
    ends.unwrap_or(inside.len())
}

/// What is given, one by one.
fn arguments(mut list: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut depth = 0_usize;
        let end = list.bytes().position(|byte| {
            match byte {
                b'<' | b'(' | b'{' => depth += 1,
                b'>' | b')' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            byte == b',' && depth == 0
        });
        let (first, rest) = end.map_or((list, ""), |end| (&list[..end], &list[end + 1..]));
        list = rest;
        (!first.is_empty()).then(|| first.trim())
    })
}

/// What of that which is given to a kernel tells it from others.
fn telling(argument: &str) -> Option<&str> {
    let first = argument.bytes().next()?;
    if first.is_ascii_digit() || argument.ends_with(['*', '&']) {
        return None;
    }
    let called = Called::of(argument)?;
    if is_ordinary(called.name) {
        return None;
    }
    let inner = || arguments(called.arguments).find_map(telling);
    if WRAPPERS.contains(&called.name) { inner().or(Some(called.name)) } else { Some(called.name) }
}

fn is_ordinary(class: &str) -> bool {
    ORDINARY.contains(&class) || ["Metadata", "Calculator", "Params"].iter().any(|part| class.contains(part))
}
