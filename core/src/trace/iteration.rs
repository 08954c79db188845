//! Parses names of iterations.

/// The number in the name of an iteration, as the profiler gives it: `ProfilerStep#7`, in some
/// files `ProfilerStep # 7`.
pub fn iteration_number(name: &str) -> Option<i64> {
    let number = name.strip_prefix("ProfilerStep")?.trim_start().strip_prefix('#')?;
    number.trim_start().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_with_spaces_and_without() {
        let names =
            ["ProfilerStep#7", "ProfilerStep # 12", "ProfilerStep#", "ProfilerStep#x", "ProfilerStep7", "Step#7"];
        assert_eq!(names.map(iteration_number), [Some(7), Some(12), None, None, None, None]);
    }
}
