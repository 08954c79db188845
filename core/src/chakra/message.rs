//! Protobuf messages of a Chakra trace: package `ChakraProtoMsg`, proto3.

use prost::{Message, Oneof};

/// The first message of a file.
#[derive(Clone, PartialEq, Message)]
pub struct GlobalMetadata {
    /// Version of the schema.
    #[prost(string, tag = "1")]
    pub version: String,
    /// Other attributes of the writer.
    #[prost(message, repeated, tag = "2")]
    pub attr: Vec<AttributeMessage>,
}

/// Every other message of a file.
#[derive(Clone, PartialEq, Message)]
pub struct NodeMessage {
    /// Its id in this file.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Its name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Its type: see [`NodeType`](super::NodeType).
    #[prost(int32, tag = "3")]
    pub r#type: i32,
    /// Ids of the nodes that control when it starts.
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    /// Ids of the nodes that produce its inputs.
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    /// Its start, in microseconds.
    #[prost(uint64, tag = "6")]
    pub start_time_micros: u64,
    /// Its duration, in microseconds.
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    /// Inputs.
    #[prost(message, optional, tag = "8")]
    pub inputs: Option<IoInfo>,
    /// Outputs.
    #[prost(message, optional, tag = "9")]
    pub outputs: Option<IoInfo>,
    /// Other attributes of the writer.
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<AttributeMessage>,
}

/// Values that go into a node or come out of it (`IOInfo`), each as a text that lists them.
#[derive(Clone, PartialEq, Message)]
pub struct IoInfo {
    /// The values.
    #[prost(string, tag = "1")]
    pub values: String,
    /// Their shapes.
    #[prost(string, tag = "2")]
    pub shapes: String,
    /// Their types.
    #[prost(string, tag = "3")]
    pub types: String,
}

/// An attribute (`AttributeProto`).
#[derive(Clone, PartialEq, Message)]
pub struct AttributeMessage {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The writer's documentation.
    #[prost(string, tag = "2")]
    pub doc_string: String,
    /// Its value, of one type out of many.
    #[prost(
        oneof = "AttributeValue",
        tags = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32"
    )]
    pub value: Option<AttributeValue>,
}

/// An attribute's value.
#[derive(Clone, PartialEq, Oneof)]
pub enum AttributeValue {
    /// `double_val`.
    #[prost(double, tag = "3")]
    Double(f64),
    /// `double_list`.
    #[prost(message, tag = "4")]
    DoubleList(DoubleList),
    /// `float_val`.
    #[prost(float, tag = "5")]
    Float(f32),
    /// `float_list`.
    #[prost(message, tag = "6")]
    FloatList(FloatList),
    /// `int32_val`.
    #[prost(int32, tag = "7")]
    Int32(i32),
    /// `int32_list`.
    #[prost(message, tag = "8")]
    Int32List(Int32List),
    /// `int64_val`.
    #[prost(int64, tag = "9")]
    Int64(i64),
    /// `int64_list`.
    #[prost(message, tag = "10")]
    Int64List(Int64List),
    /// `uint32_val`.
    #[prost(uint32, tag = "11")]
    UInt32(u32),
    /// `uint32_list`.
    #[prost(message, tag = "12")]
    UInt32List(UInt32List),
    /// `uint64_val`.
    #[prost(uint64, tag = "13")]
    UInt64(u64),
    /// `uint64_list`.
    #[prost(message, tag = "14")]
    UInt64List(UInt64List),
    /// `sint32_val`.
    #[prost(sint32, tag = "15")]
    SInt32(i32),
    /// `sint32_list`.
    #[prost(message, tag = "16")]
    SInt32List(SInt32List),
    /// `sint64_val`.
    #[prost(sint64, tag = "17")]
    SInt64(i64),
    /// `sint64_list`.
    #[prost(message, tag = "18")]
    SInt64List(SInt64List),
    /// `fixed32_val`.
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    /// `fixed32_list`.
    #[prost(message, tag = "20")]
    Fixed32List(Fixed32List),
    /// `fixed64_val`.
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    /// `fixed64_list`.
    #[prost(message, tag = "22")]
    Fixed64List(Fixed64List),
    /// `sfixed32_val`.
    #[prost(sfixed32, tag = "23")]
    SFixed32(i32),
    /// `sfixed32_list`.
    #[prost(message, tag = "24")]
    SFixed32List(SFixed32List),
    /// `sfixed64_val`.
    #[prost(sfixed64, tag = "25")]
    SFixed64(i64),
    /// `sfixed64_list`.
    #[prost(message, tag = "26")]
    SFixed64List(SFixed64List),
    /// `bool_val`.
    #[prost(bool, tag = "27")]
    Bool(bool),
    /// `bool_list`.
    #[prost(message, tag = "28")]
    BoolList(BoolList),
    /// `string_val`.
    #[prost(string, tag = "29")]
    String(String),
    /// `string_list`.
    #[prost(message, tag = "30")]
    StringList(StringList),
    /// `bytes_val`.
    #[prost(bytes = "vec", tag = "31")]
    Bytes(Vec<u8>),
    /// `bytes_list`.
    #[prost(message, tag = "32")]
    BytesList(BytesList),
}

macro_rules! list {
    ($name:ident, $type:ty, $($encoding:tt)+) => {
        /// Several values of one type.
        #[derive(Clone, PartialEq, Message)]
        pub struct $name {
            /// The values.
            #[prost($($encoding)+, repeated, tag = "1")]
            pub values: Vec<$type>,
        }
    };
}

list!(DoubleList, f64, double);
list!(FloatList, f32, float);
list!(Int32List, i32, int32);
list!(Int64List, i64, int64);
list!(UInt32List, u32, uint32);
list!(UInt64List, u64, uint64);
list!(SInt32List, i32, sint32);
list!(SInt64List, i64, sint64);
list!(Fixed32List, u32, fixed32);
list!(Fixed64List, u64, fixed64);
list!(SFixed32List, i32, sfixed32);
list!(SFixed64List, i64, sfixed64);
list!(BoolList, bool, bool);
list!(StringList, String, string);
list!(BytesList, Vec<u8>, bytes = "vec");
