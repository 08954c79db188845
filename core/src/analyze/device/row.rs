//! The device whose peaks the roofline uses, or the reason for having none.

use super::peaks::Peaks;
use super::precision::Precision;
use crate::table::{Column, Table, float, put, text};

/// The device.
#[derive(Debug, Clone)]
pub(crate) struct DevicePeaksRow {
    name: Option<String>,
    peaks: Option<Peaks>,
}

pub(crate) static TABLE: Table<Vec<DevicePeaksRow>> = Table {
    name: "roofline_device",
    doc: "the device with its peaks and their source, or the reason for having none",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<DevicePeaksRow>>] = &[
    text("device_name", |rows, at, out| put(out, rows[at].name.as_deref().unwrap_or(""))),
    text("peaks_of", |rows, at, out| put(out, rows[at].peaks.as_ref().map_or("", |peaks| peaks.name))),
    float("bandwidth_gbps", |rows, at| Some(rows[at].peaks.as_ref()?.bandwidth_gbps)),
    float("matrix_float64_tflops", |rows, at| rows[at].tflops(Precision::Float64, true)),
    float("matrix_float32_tflops", |rows, at| rows[at].tflops(Precision::Float32, true)),
    float("matrix_tf32_tflops", |rows, at| rows[at].tflops(Precision::Tf32, true)),
    float("matrix_float16_tflops", |rows, at| rows[at].tflops(Precision::Float16, true)),
    float("matrix_bfloat16_tflops", |rows, at| rows[at].tflops(Precision::BFloat16, true)),
    float("matrix_float8_tflops", |rows, at| rows[at].tflops(Precision::Float8, true)),
    float("vector_float64_tflops", |rows, at| rows[at].tflops(Precision::Float64, false)),
    float("vector_float32_tflops", |rows, at| rows[at].tflops(Precision::Float32, false)),
    text("source", |rows, at, out| put(out, rows[at].peaks.as_ref().map_or("", |peaks| peaks.source))),
    text("reason", |rows, at, out| put(out, rows[at].reason())),
];

impl DevicePeaksRow {
    pub(in crate::analyze) fn new(name: Option<String>, peaks: Option<Peaks>) -> Self {
        Self { name, peaks }
    }

    fn tflops(&self, precision: Precision, is_of_matrices: bool) -> Option<f64> {
        self.peaks.as_ref()?.tflops(precision, is_of_matrices)
    }

    fn reason(&self) -> &'static str {
        match (&self.name, &self.peaks) {
            (_, Some(_)) => "",
            (Some(_), None) => {
                "peaks of this device are unknown, or its name is ambiguous (select one with the option device)"
            }
            (None, None) => "the file names no device (select one with the option device)",
        }
    }
}
