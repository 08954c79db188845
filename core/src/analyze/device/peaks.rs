//! Peaks of devices: memory bandwidth and operations per second, from a table with sources.

use super::precision::Precision;
use crate::sort;

/// The peaks of a device.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::analyze) struct Peaks {
    pub name: &'static str,
    /// Of the device's memory, in GB/s.
    pub bandwidth_gbps: f64,
    matrix: [Option<f64>; NUM_PRECISIONS],
    vector: [Option<f64>; 2],
    /// Where the numbers are from.
    pub source: &'static str,
    words: &'static str,
}

const NUM_PRECISIONS: usize = 7;

/// The table: see its first lines.
const TABLE: &str = include_str!("peaks.csv");

impl Peaks {
    /// The device of that name, as the profiler or a person writes it; none where it might be
    /// several.
    pub(in crate::analyze) fn of(name: &str) -> Option<Self> {
        let words = words(name);
        // The name of a device slice (MIG) states its memory, not its share of compute.
        if words.iter().any(|word| word == "laptop" || word == "mig") {
            return None;
        }
        let has_all = |words: &[String], alternative: &str| {
            alternative.split(' ').all(|word| words.iter().any(|other| other == word))
        };
        let num_found = |peaks: &Self| {
            let alternatives = peaks.words.split('|').filter(|alternative| has_all(&words, alternative));
            alternatives.map(|alternative| alternative.split(' ').count()).max()
        };
        let mut found: Vec<_> = all().filter_map(|peaks| Some((num_found(&peaks)?, peaks))).collect();
        sort::by_key(&mut found, |(count, _)| *count);
        found.pop().map(|(_, peaks)| peaks)
    }

    /// Operations per second in 10¹², by units for matrices or by the others.
    pub(in crate::analyze) fn tflops(&self, precision: Precision, is_of_matrices: bool) -> Option<f64> {
        if is_of_matrices {
            return self.matrix[precision as usize];
        }
        match precision {
            Precision::Float64 => self.vector[0],
            // Smaller floats are computed with as floats.
            Precision::Float32 | Precision::Tf32 | Precision::Float16 | Precision::BFloat16 | Precision::Float8 => {
                self.vector[1]
            }
            Precision::Int8 => None,
        }
    }
}

fn all() -> impl Iterator<Item = Peaks> {
    TABLE.lines().skip(1).filter(|line| !line.starts_with('#')).filter_map(row)
}

fn row(line: &'static str) -> Option<Peaks> {
    let mut cells = line.splitn(13, ',');
    let (name, words) = (cells.next()?, cells.next()?);
    let mut number = || cells.next()?.parse().ok();
    let bandwidth_gbps = number()?;
    let matrix = std::array::from_fn(|_| number());
    let vector = std::array::from_fn(|_| number());
    Some(Peaks { name, bandwidth_gbps, matrix, vector, source: cells.next()?, words })
}

/// Words in lower case: letters and digits.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_ascii_lowercase();
    lower.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_known_by_the_names_that_the_profiler_writes() {
        let cases = [
            ("NVIDIA H100 80GB HBM3", "H100 SXM"),
            ("NVIDIA H100 PCIe", "H100 PCIe"),
            ("NVIDIA A100-SXM4-40GB", "A100 SXM4 40GB"),
            ("NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"),
            ("NVIDIA A100-PCIE-40GB", "A100 PCIe 40GB"),
            ("NVIDIA A100-PG509-200", "A100 SXM4 40GB"),
            ("Tesla V100-SXM2-16GB", "V100 SXM2"),
            ("NVIDIA GeForce RTX 2080 Ti", "RTX 2080 Ti"),
            ("NVIDIA L4", "L4"),
            ("NVIDIA L40S", "L40S"),
            ("NVIDIA H200", "H200 SXM"),
            ("NVIDIA RTX A6000", "RTX A6000"),
            ("AMD Instinct MI300X VF", "MI300X"),
            ("h100 sxm", "H100 SXM"),
        ];
        for (name, expected) in cases {
            assert_eq!(Peaks::of(name).map(|peaks| peaks.name), Some(expected), "{name}");
        }
        for unknown in [
            "NVIDIA H100",
            "AMD Radeon Graphics",
            "",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        ] {
            assert_eq!(Peaks::of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn every_row_is_whole_and_has_its_source() {
        let num_rows = TABLE.lines().skip(1).filter(|line| !line.starts_with('#')).count();
        assert_eq!(all().count(), num_rows);
        for peaks in all() {
            assert!(peaks.bandwidth_gbps >= 300.0 && peaks.bandwidth_gbps <= 10_000.0, "{}", peaks.name);
            assert!(crate::vendor::of_device(peaks.source).is_some(), "{}: no maker in its source", peaks.name);
            assert!(peaks.tflops(Precision::Float32, false).is_some(), "{}", peaks.name);
            assert!(peaks.tflops(Precision::Float16, true) >= peaks.tflops(Precision::Tf32, true), "{}", peaks.name);
            assert!(peaks.tflops(Precision::Float16, true) > peaks.tflops(Precision::Float16, false), "{}", peaks.name);
        }
    }
}
