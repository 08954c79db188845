//! Tests labels of names.

use kinetoscope::label::Label;
use proptest::prelude::*;

/// Names from parts of kernels, frames and annotations, in any order.
fn name() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "void ",
        "at::native::",
        "(anonymous namespace)::",
        "elementwise_kernel",
        "reduce_kernel",
        "Kernel",
        "ReduceOp",
        "foo",
        "<",
        ">",
        "(",
        ")",
        ", ",
        "::",
        "operator()",
        "{lambda(int)#1}",
        "float",
        "4",
        "*",
        "&",
        "_ZN",
        "6kentry",
        "I",
        "E",
        "Li1E",
        "S_",
        ".py(",
        "12",
        "): ",
        "nn.Module: ",
        "<built-in method ",
        " of ",
        "/",
        ";",
        "ß",
        "€",
        " ",
        "std::enable_if<",
        ">::type ",
        "autograd::engine::evaluate_function: ",
        "99999999999999999999",
        "\u{0}",
    ]);
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_label_is_made_of_its_name(name in name()) {
        let label = Label::of(&name);
        prop_assert!(name.is_empty() || name.ends_with(": ") || !label.telling.is_empty(), "{name:?}: {label:?}");
        for part in label.telling.split(", ").chain([&*label.place]).filter(|part| !["built-in", "nn.Module"].contains(part)) {
            prop_assert!(name.contains(part), "{name:?}: {label:?}");
        }
    }

    #[test]
    fn what_fits_is_not_cut(name in name(), most in 0..40_usize) {
        let fits = |text: &str| text.chars().count() <= most;
        let fitting = Label::fitting(&name, fits);
        prop_assert!(!fits(&name) || fitting == name);
        prop_assert!(fits(&fitting) || fitting == Label::of(&name).telling);
    }
}

/// As deep as they are long: neither the time that they take nor the stack may grow with it.
#[test]
fn a_name_may_be_of_any_size() {
    let many = 300_000;
    let wrappers = ",ReduceOp<".repeat(many);
    let cut = |name: &str| format!("{name}{}ß{wrappers}", "1".repeat(4_095 - name.len()));
    for name in [
        "a::".repeat(many),
        format!("void {}", "elementwise_kernel<".repeat(many)),
        format!("void reduce_kernel<{}", "ReduceOp<".repeat(many)),
        cut("void reduce_kernel<"),
        format!("void elementwise_kernel<{}>", "float, ".repeat(many)),
        format!("_ZN{}", "1a".repeat(many)),
        format!("_ZN6Kernel{}", "ILi1E".repeat(many)),
        format!("_ZN6Kernel{}", "IN8ReduceOp".repeat(many)),
        "€".repeat(many),
    ] {
        assert!(Label::of(&name).to_string().len() <= name.len());
        assert!(Label::fitting(&name, |text| text.len() < 60).len() <= name.len());
    }
}
