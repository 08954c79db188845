//! Opcodes of pickles: the supported opcodes of plain data, and names of the refused opcodes.

pub(super) const MARK: u8 = b'(';
pub(super) const STOP: u8 = b'.';
pub(super) const POP: u8 = b'0';
pub(super) const POP_MARK: u8 = b'1';
pub(super) const DUP: u8 = b'2';
pub(super) const PROTO: u8 = 0x80;
pub(super) const FRAME: u8 = 0x95;

pub(super) const NONE: u8 = b'N';
pub(super) const NEWTRUE: u8 = 0x88;
pub(super) const NEWFALSE: u8 = 0x89;
pub(super) const BININT: u8 = b'J';
pub(super) const BININT1: u8 = b'K';
pub(super) const BININT2: u8 = b'M';
pub(super) const LONG1: u8 = 0x8a;
pub(super) const LONG4: u8 = 0x8b;
pub(super) const BINFLOAT: u8 = b'G';
pub(super) const SHORT_BINUNICODE: u8 = 0x8c;
pub(super) const BINUNICODE: u8 = b'X';
pub(super) const BINUNICODE8: u8 = 0x8d;
pub(super) const SHORT_BINBYTES: u8 = b'C';
pub(super) const BINBYTES: u8 = b'B';
pub(super) const BINBYTES8: u8 = 0x8e;
pub(super) const BYTEARRAY8: u8 = 0x96;

pub(super) const EMPTY_TUPLE: u8 = b')';
pub(super) const TUPLE1: u8 = 0x85;
pub(super) const TUPLE2: u8 = 0x86;
pub(super) const TUPLE3: u8 = 0x87;
pub(super) const TUPLE: u8 = b't';
pub(super) const EMPTY_LIST: u8 = b']';
pub(super) const LIST: u8 = b'l';
pub(super) const APPEND: u8 = b'a';
pub(super) const APPENDS: u8 = b'e';
pub(super) const EMPTY_DICT: u8 = b'}';
pub(super) const DICT: u8 = b'd';
pub(super) const SETITEM: u8 = b's';
pub(super) const SETITEMS: u8 = b'u';
pub(super) const EMPTY_SET: u8 = 0x8f;
pub(super) const ADDITEMS: u8 = 0x90;
pub(super) const FROZENSET: u8 = 0x91;

pub(super) const PUT: u8 = b'p';
pub(super) const BINPUT: u8 = b'q';
pub(super) const LONG_BINPUT: u8 = b'r';
pub(super) const MEMOIZE: u8 = 0x94;
pub(super) const GET: u8 = b'g';
pub(super) const BINGET: u8 = b'h';
pub(super) const LONG_BINGET: u8 = b'j';

macro_rules! code {
    ($name:literal) => {
        concat!("the opcode ", $name, ", which runs code on load")
    };
}

macro_rules! elsewhere {
    ($name:literal) => {
        concat!("the opcode ", $name, ", which refers to an object outside the file")
    };
}

macro_rules! old {
    ($name:literal) => {
        concat!("the opcode ", $name, ", which Python 3 writes only in protocols 0 and 1")
    };
}

/// Names other opcodes; `None` for bytes that are none.
pub(super) fn refused(opcode: u8) -> Option<&'static str> {
    Some(match opcode {
        b'c' => code!("GLOBAL"),
        b'i' => code!("INST"),
        b'o' => code!("OBJ"),
        b'R' => code!("REDUCE"),
        b'b' => code!("BUILD"),
        0x81 => code!("NEWOBJ"),
        0x82 => code!("EXT1"),
        0x83 => code!("EXT2"),
        0x84 => code!("EXT4"),
        0x92 => code!("NEWOBJ_EX"),
        0x93 => code!("STACK_GLOBAL"),
        b'P' => elsewhere!("PERSID"),
        b'Q' => elsewhere!("BINPERSID"),
        0x97 => elsewhere!("NEXT_BUFFER"),
        0x98 => elsewhere!("READONLY_BUFFER"),
        b'I' => old!("INT"),
        b'L' => old!("LONG"),
        b'F' => old!("FLOAT"),
        b'S' => old!("STRING"),
        b'T' => old!("BINSTRING"),
        b'U' => old!("SHORT_BINSTRING"),
        b'V' => old!("UNICODE"),
        _ => return None,
    })
}
