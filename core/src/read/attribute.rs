//! Attributes of a Chakra trace: a value of one type out of thirty, kept as JSON beside the name of its type.

use serde_json::Value;

use crate::chakra::Attribute;
use crate::chakra::message::{self, AttributeValue};
use crate::strings::Strings;

/// The attribute in columns.
pub(super) fn attribute(found: &message::Attribute, strings: &mut Strings) -> Attribute {
    let (value_type, value) = found.value.as_ref().map_or(("", Value::Null), typed_value);
    Attribute {
        name: strings.intern(&found.name),
        doc: strings.intern(&found.doc_string),
        value_type,
        value: strings.intern(&value.to_string()),
    }
}

fn typed_value(value: &AttributeValue) -> (&'static str, Value) {
    use AttributeValue as Of;
    match value {
        Of::Double(value) => ("double", float(*value)),
        Of::DoubleList(list) => ("double_list", list.values.iter().copied().map(float).collect()),
        Of::Float(value) => ("float", short_float(*value)),
        Of::FloatList(list) => ("float_list", list.values.iter().copied().map(short_float).collect()),
        Of::Int32(value) => ("int32", Value::from(*value)),
        Of::Int32List(list) => ("int32_list", Value::from(list.values.clone())),
        Of::Int64(value) => ("int64", Value::from(*value)),
        Of::Int64List(list) => ("int64_list", Value::from(list.values.clone())),
        Of::UInt32(value) => ("uint32", Value::from(*value)),
        Of::UInt32List(list) => ("uint32_list", Value::from(list.values.clone())),
        Of::UInt64(value) => ("uint64", Value::from(*value)),
        Of::UInt64List(list) => ("uint64_list", Value::from(list.values.clone())),
        Of::SInt32(value) => ("sint32", Value::from(*value)),
        Of::SInt32List(list) => ("sint32_list", Value::from(list.values.clone())),
        Of::SInt64(value) => ("sint64", Value::from(*value)),
        Of::SInt64List(list) => ("sint64_list", Value::from(list.values.clone())),
        Of::Fixed32(value) => ("fixed32", Value::from(*value)),
        Of::Fixed32List(list) => ("fixed32_list", Value::from(list.values.clone())),
        Of::Fixed64(value) => ("fixed64", Value::from(*value)),
        Of::Fixed64List(list) => ("fixed64_list", Value::from(list.values.clone())),
        Of::SFixed32(value) => ("sfixed32", Value::from(*value)),
        Of::SFixed32List(list) => ("sfixed32_list", Value::from(list.values.clone())),
        Of::SFixed64(value) => ("sfixed64", Value::from(*value)),
        Of::SFixed64List(list) => ("sfixed64_list", Value::from(list.values.clone())),
        Of::Bool(value) => ("bool", Value::from(*value)),
        Of::BoolList(list) => ("bool_list", Value::from(list.values.clone())),
        Of::String(value) => ("string", Value::from(value.as_str())),
        Of::StringList(list) => ("string_list", Value::from(list.values.clone())),
        Of::Bytes(value) => ("bytes", Value::from(value.clone())),
        Of::BytesList(list) => ("bytes_list", Value::from(list.values.clone())),
    }
}

/// JSON has no word for what is not finite: it becomes a text.
fn float(value: f64) -> Value {
    if value.is_finite() { Value::from(value) } else { Value::from(value.to_string()) }
}

/// The digits that tell it from its neighbours of 32 bits.
fn short_float(value: f32) -> Value {
    value.to_string().parse().map_or_else(|_| float(f64::from(value)), float)
}
