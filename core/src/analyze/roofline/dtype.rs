//! Element types: spellings in files, sizes, and the matching device peak.

use crate::analyze::device::Precision;

/// A type of elements.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DtypeRow {
    /// As `torch` names it.
    pub name: &'static str,
    /// Bytes of an element.
    pub bytes: i64,
    /// The device peak for computing with it.
    pub precision: Option<Precision>,
    spellings: &'static [&'static str],
}

pub(super) type Dtype = &'static DtypeRow;

/// All types, each before those that it is promoted to. Packed types (two of four bits) have shapes
/// in bytes.
static DTYPES: [DtypeRow; 22] = [
    dtype("bool", 1, None, &["bool"]),
    dtype("uint8", 1, Some(Precision::Int8), &["unsigned char"]),
    dtype("int8", 1, Some(Precision::Int8), &["signed char", "char"]),
    dtype("uint16", 2, None, &["unsigned short", "uint16_t"]),
    dtype("int16", 2, None, &["short", "short int"]),
    dtype("uint32", 4, None, &["unsigned int", "uint32_t"]),
    dtype("int32", 4, None, &["int"]),
    dtype("uint64", 8, None, &["unsigned long", "uint64_t"]),
    dtype("int64", 8, None, &["long int", "long", "long long", "int64_t"]),
    dtype("float4_e2m1fn_x2", 1, None, &["Float4_e2m1fn_x2"]),
    dtype("float8_e8m0fnu", 1, Some(Precision::Float8), &["Float8_e8m0fnu"]),
    dtype("float8_e4m3fn", 1, Some(Precision::Float8), &["Float8_e4m3fn"]),
    dtype("float8_e5m2", 1, Some(Precision::Float8), &["Float8_e5m2"]),
    dtype("float8_e4m3fnuz", 1, Some(Precision::Float8), &["Float8_e4m3fnuz"]),
    dtype("float8_e5m2fnuz", 1, Some(Precision::Float8), &["Float8_e5m2fnuz"]),
    dtype("float16", 2, Some(Precision::Float16), &["Half"]),
    dtype("bfloat16", 2, Some(Precision::BFloat16), &["BFloat16"]),
    dtype("float32", 4, Some(Precision::Float32), &["float"]),
    dtype("float64", 8, Some(Precision::Float64), &["double"]),
    dtype("complex32", 4, None, &["complex<Half>", "complex<c10::Half>"]),
    dtype("complex64", 8, None, &["complex<float>"]),
    dtype("complex128", 16, None, &["complex<double>"]),
];

/// `c10::ScalarType` by its number, of types that results of scaled products have.
const NUMBERED: [(i64, &str); 6] =
    [(5, "float16"), (6, "float32"), (7, "float64"), (15, "bfloat16"), (23, "float8_e5m2"), (24, "float8_e4m3fn")];

const fn dtype(
    name: &'static str,
    bytes: i64,
    precision: Option<Precision>,
    spellings: &'static [&'static str],
) -> DtypeRow {
    DtypeRow { name, bytes, precision, spellings }
}

/// The type that a file spells so.
pub(super) fn spelled(text: &str) -> Option<Dtype> {
    let text = text.strip_prefix("c10::").unwrap_or(text);
    DTYPES.iter().find(|dtype| dtype.spellings.contains(&text))
}

/// The type of that name.
pub(super) fn named(name: &str) -> Option<Dtype> {
    DTYPES.iter().find(|dtype| dtype.name == name)
}

/// The type with that number.
pub(super) fn numbered(number: i64) -> Option<Dtype> {
    NUMBERED.iter().find(|(other, _)| *other == number).and_then(|(_, name)| named(name))
}

/// The type that both are promoted to.
pub(super) fn promoted(a: Dtype, b: Dtype) -> Dtype {
    let place = |dtype: Dtype| DTYPES.iter().position(|other| other == dtype);
    if place(a) < place(b) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_writer_have_their_size() {
        let cases = [("c10::BFloat16", 2), ("Half", 2), ("long int", 8), ("c10::Float8_e4m3fn", 1), ("double", 8)];
        for (name, bytes) in cases {
            assert_eq!(spelled(name).unwrap().bytes, bytes, "{name}");
        }
        assert!(spelled("Scalar").is_none());
        assert_eq!(promoted(spelled("int").unwrap(), spelled("c10::Half").unwrap()).name, "float16");
    }
}
