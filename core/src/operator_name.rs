//! Splits names of operators from their overloads.

/// The name of an operator without its overload: `aten::add_` of `aten::add_.Tensor`.
///
/// Kineto writes overloads if asked to (`capture_overload_names=True`); the Execution Trace never
/// does. Other names stay as they are.
///
/// ```
/// use kinetoscope::operator_name::base_name;
/// assert_eq!(base_name("aten::sum.dim_IntList"), "aten::sum");
/// assert_eq!(base_name("Optimizer.step#SGD.step"), "Optimizer.step#SGD.step");
/// ```
pub fn base_name(name: &str) -> &str {
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_');
    match name.rsplit_once('.') {
        Some((base, overload)) if is_word(overload) && base.contains("::") && base.split("::").all(is_word) => base,
        _ => name,
    }
}

/// The overload in the name of an operator: `Tensor` of `aten::add_.Tensor`.
pub fn overload(name: &str) -> Option<&str> {
    name.strip_prefix(base_name(name))?.strip_prefix('.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_overloads_of_operators_are_split_off() {
        for (name, base) in [
            ("aten::add_.Tensor", "aten::add_"),
            ("aten::empty.memory_format", "aten::empty"),
            ("my_lib::sub::scale.v2", "my_lib::sub::scale"),
            ("aten::mm", "aten::mm"),
        ] {
            assert_eq!(base_name(name), base);
        }
        for name in [
            "torch/nn/functional.py(12): relu",
            "autograd::engine::evaluate_function: AddBackward0",
            "void at::native::kernel<4>(float, 1.5)",
            "model.layer::1.",
            "::a.b",
            ".",
            "",
        ] {
            assert_eq!((base_name(name), overload(name)), (name, None), "{name}");
        }
    }

    proptest! {
        #[test]
        fn base_and_overload_make_up_the_name(name in "[a-z:._ ]{0,12}") {
            let whole = overload(&name).map(|overload| format!("{}.{overload}", base_name(&name)));
            prop_assert_eq!(whole.unwrap_or_else(|| base_name(&name).to_owned()), name);
        }
    }
}
