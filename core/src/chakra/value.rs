//! Converts attribute values between protobuf and JSON, for about thirty types.

use serde_json::Value;
use serde_json::value::RawValue;

use super::message::{self, AttributeValue};

/// A type of value that attributes have, alone or in a list.
trait AttributeElement: Sized {
    fn to_json(&self) -> Value;
    /// The value that was written so; exact, which a number that was JSON's in between is not.
    fn from_json(json: &str) -> Option<Self>;
}

macro_rules! plain {
    ($($type:ty),+) => {$(
        impl AttributeElement for $type {
            fn to_json(&self) -> Value {
                Value::from(self.clone())
            }

            fn from_json(json: &str) -> Option<Self> {
                serde_json::from_str(json).ok()
            }
        }
    )+};
}

plain!(i32, i64, u32, u64, bool, String, Vec<u8>);

impl AttributeElement for f64 {
    /// JSON has no non-finite numbers, so they become texts.
    fn to_json(&self) -> Value {
        if self.is_finite() { Value::from(*self) } else { Value::from(self.to_string()) }
    }

    fn from_json(json: &str) -> Option<Self> {
        json.trim_matches('"').parse().ok()
    }
}

impl AttributeElement for f32 {
    /// The digits that tell it from its neighbours of 32 bits.
    fn to_json(&self) -> Value {
        self.to_string().parse::<f64>().map_or(Value::Null, |digits| digits.to_json())
    }

    fn from_json(json: &str) -> Option<Self> {
        json.trim_matches('"').parse().ok()
    }
}

macro_rules! values {
    ($($name:literal $one:ident, $names:literal $list:ident;)+) => {
        /// The name of a value's type, and the value as JSON.
        pub(crate) fn typed_value(value: &AttributeValue) -> (&'static str, Value) {
            match value {
                $(AttributeValue::$one(value) => ($name, value.to_json()),
                AttributeValue::$list(list) => ($names, list.values.iter().map(AttributeElement::to_json).collect()),)+
            }
        }

        /// The value of a type by its name; `None` when the JSON is of another type.
        pub(crate) fn value_from_json(value_type: &str, json: &str) -> Option<AttributeValue> {
            Some(match value_type {
                $($name => AttributeValue::$one(AttributeElement::from_json(json)?),
                $names => AttributeValue::$list(message::$list { values: list_from_json(json)? }),)+
                _ => return None,
            })
        }
    };
}

values! {
    "double" Double, "double_list" DoubleList;
    "float" Float, "float_list" FloatList;
    "int32" Int32, "int32_list" Int32List;
    "int64" Int64, "int64_list" Int64List;
    "uint32" UInt32, "uint32_list" UInt32List;
    "uint64" UInt64, "uint64_list" UInt64List;
    "sint32" SInt32, "sint32_list" SInt32List;
    "sint64" SInt64, "sint64_list" SInt64List;
    "fixed32" Fixed32, "fixed32_list" Fixed32List;
    "fixed64" Fixed64, "fixed64_list" Fixed64List;
    "sfixed32" SFixed32, "sfixed32_list" SFixed32List;
    "sfixed64" SFixed64, "sfixed64_list" SFixed64List;
    "bool" Bool, "bool_list" BoolList;
    "string" String, "string_list" StringList;
    "bytes" Bytes, "bytes_list" BytesList;
}

fn list_from_json<T: AttributeElement>(json: &str) -> Option<Vec<T>> {
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    items.into_iter().map(|item| T::from_json(item.get())).collect()
}
