//! Lists the analyses that the report of a job shows.

#[cfg(feature = "python-reports")]
use crate::analyze::known_analysis;

/// The name of an analysis, with its options, a JSON object.
pub(in crate::view) type AnswerKey = (&'static str, &'static str);

/// The default options.
pub(super) const OPTIONS: &str = "{}";

/// The options for one row per device.
pub(super) const PER_SELECTION: &str = r#"{"per":"selection"}"#;

/// Analyses of each trace that the report of a job shows, with their options.
#[cfg(feature = "python-reports")]
pub(super) const OF_EACH: [AnswerKey; 9] = [
    (known_analysis("breakdown").name, PER_SELECTION),
    (known_analysis("breakdown").name, OPTIONS),
    (known_analysis("idle").name, OPTIONS),
    (known_analysis("kernels").name, OPTIONS),
    (known_analysis("operators").name, OPTIONS),
    (known_analysis("modules").name, OPTIONS),
    (known_analysis("overlap").name, OPTIONS),
    (known_analysis("memory").name, OPTIONS),
    (known_analysis("roofline").name, OPTIONS),
];

/// Analyses across ranks that the report of a job shows, with their options, a JSON object.
#[cfg(feature = "python-reports")]
pub const COMPARISONS: &[AnswerKey] = &[
    (known_analysis("heatmap").name, OPTIONS),
    #[cfg(feature = "machines")]
    (known_analysis("grouped_heatmap").name, OPTIONS),
    #[cfg(feature = "machines")]
    (known_analysis("topology").name, OPTIONS),
    (known_analysis("findings").name, OPTIONS),
    (known_analysis("stragglers").name, OPTIONS),
    (known_analysis("pipeline").name, OPTIONS),
    (known_analysis("job_critical_path").name, OPTIONS),
    (known_analysis("collectives").name, OPTIONS),
];
