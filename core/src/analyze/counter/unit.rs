//! Finds the unit of a counter in its name.

/// Units that names state in parentheses, as they are written there.
const UNITS: [&str; 22] = [
    "%", "W", "mW", "J", "mJ", "C", "°C", "Hz", "MHz", "GHz", "V", "mV", "B/s", "MB/s", "GB/s", "B", "KB", "MB", "GB",
    "bytes", "ns", "RPM",
];

/// Endings of names, with their units.
const ENDINGS: [(&str, &str); 9] = [
    ("_bytes", "bytes"),
    ("_share", "share"),
    ("_w", "W"),
    ("_mhz", "MHz"),
    ("_c", "°C"),
    ("_j", "J"),
    ("_gbps", "GB/s"),
    // Derived counters of rocprofiler.
    ("Util", "%"),
    ("Utilization", "%"),
];

/// The unit of values, as the name of their counter states it: `SM Active (%)`, `GPU 0 · power_w`.
pub(super) fn unit_of(name: &str) -> Option<&'static str> {
    let inside = |open: char, close: char| name.strip_suffix(close)?.rsplit_once(open).map(|(_, inside)| inside);
    // Nsight Systems writes `[MHz]` beside numbers of Hz.
    if let Some(inside) = inside('[', ']') {
        return inside.ends_with('%').then_some("%");
    }
    if let Some(inside) = inside('(', ')') {
        let word = inside.rsplit(' ').next().unwrap_or_default();
        return UNITS.into_iter().find(|unit| *unit == word);
    }
    // `sm__cycles_active.avg.pct_of_peak_sustained_elapsed`
    if name.contains(".pct") {
        return Some("%");
    }
    ENDINGS.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::unit_of;

    #[test]
    fn names_state_units() {
        let cases = [
            ("SM Active (%)", Some("%")),
            ("Tensor Active [Throughput %]", Some("%")),
            ("SM Clock (MHz)", Some("MHz")),
            ("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", Some("%")),
            ("GPU 0 · power_w", Some("W")),
            ("GPU 0 · memory_used_bytes", Some("bytes")),
            ("MfmaUtil", Some("%")),
            ("Cycles (Current Kernel)", None),
            ("GPC Clock Frequency [MHz]", None),
            ("GPU Power [0] (S)", None),
            ("SQ_WAVES", None),
            (")", None),
            ("", None),
        ];
        for (name, unit) in cases {
            assert_eq!(unit_of(name), unit, "{name}");
        }
    }
}
