//! Encodes responses: a JSON header and binary columns.

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::Error;

/// An answer in the making.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Response {
    header: Value,
    columns: Vec<(&'static str, ColumnData)>,
}

/// A binary column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ColumnData {
    F64(Vec<f64>),
    U32(Vec<u32>),
    U8(Vec<u8>),
}

/// Columns start at multiples of this, so that they can be read in place.
const ALIGNMENT: usize = 8;

impl Response {
    /// An answer without columns.
    pub(super) fn of(kind: &str, data: &impl Serialize) -> Self {
        // Numbers, texts and lists always have a JSON form; null would say that they had none.
        let data = serde_json::to_value(data).unwrap_or_default();
        Self { header: json!({"ok": true, "type": kind, "data": data}), columns: Vec::new() }
    }

    /// The same answer with columns.
    pub(super) fn with_columns(self, columns: Vec<(&'static str, ColumnData)>) -> Self {
        Self { columns, ..self }
    }

    pub(super) fn error(error: &Error) -> Self {
        Self { header: json!({"ok": false, "error": error.to_string()}), columns: Vec::new() }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut entries = Vec::new();
        for (name, data) in &self.columns {
            body.resize(body.len().next_multiple_of(ALIGNMENT), 0);
            entries.push(json!({"name": name, "type": data.type_name(), "offset": body.len(), "length": data.len()}));
            data.write(&mut body);
        }
        let mut header = self.header.clone();
        header["columns"] = Value::Array(entries);
        let header = header.to_string();
        let mut bytes = (header.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        bytes.extend_from_slice(&body);
        bytes
    }
}

/// A share to the millionth: more digits than any screen shows, and few enough for every reader to
/// read the same.
pub(super) fn rounded(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}

impl ColumnData {
    fn type_name(&self) -> &'static str {
        match self {
            Self::F64(_) => "f64",
            Self::U32(_) => "u32",
            Self::U8(_) => "u8",
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U8(values) => values.len(),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::F64(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::U32(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::U8(values) => out.extend_from_slice(values),
        }
    }
}
