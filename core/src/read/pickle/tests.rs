use super::*;

/// A value written out, as Python's `repr` would.
fn shown(pickle: &Pickle<'_>, id: ValueId) -> String {
    let all = |items: &[ValueId]| items.iter().map(|item| shown(pickle, *item)).collect::<Vec<_>>().join(", ");
    match pickle.values.get(id) {
        PickleValue::None => String::from("None"),
        PickleValue::Bool(flag) => format!("{flag}"),
        PickleValue::Int(number) => number.to_string(),
        PickleValue::Float(number) => format!("{number:?}"),
        PickleValue::Text(text) => format!("{text:?}"),
        PickleValue::Bytes(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
        PickleValue::List(items) => format!("[{}]", all(items)),
        PickleValue::Tuple(items) => format!("({})", all(items)),
        PickleValue::Set(items) => format!("{{{}}}", all(items)),
        PickleValue::Dict(entries) => {
            let entry = |(key, value): &(_, _)| format!("{}: {}", shown(pickle, *key), shown(pickle, *value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

fn read(bytes: &[u8]) -> String {
    let pickle = read_pickle(bytes, None).unwrap();
    shown(&pickle, pickle.root)
}

fn error(bytes: &[u8]) -> String {
    let file = Arc::from("x.pickle");
    read_pickle(bytes, Some(&file)).unwrap_err().to_string()
}

#[test]
fn scalars_are_exact() {
    let cases: [(&[u8], &str); 18] = [
        (b"N.", "None"),
        (b"\x88.", "true"),
        (b"\x89.", "false"),
        (b"K\xff.", "255"),
        (b"M\x01\x02.", "513"),
        (b"J\xff\xff\xff\xff.", "-1"),
        (b"\x8a\x00.", "0"),
        (b"\x8a\x02\x00\xff.", "-256"),
        (b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.", "18446744073709551615"),
        (b"\x8b\x01\0\0\0\x80.", "-128"),
        (b"G\x3f\xf8\0\0\0\0\0\0.", "1.5"),
        (b"\x8c\x02\xc3\xa9.", "\"\u{e9}\""),
        (b"X\x01\0\0\0a.", "\"a\""),
        (b"\x8d\x01\0\0\0\0\0\0\0a.", "\"a\""),
        (b"C\x01\xff.", "b\"\\xff\""),
        (b"B\x01\0\0\0a.", "b\"a\""),
        (b"\x8e\x01\0\0\0\0\0\0\0a.", "b\"a\""),
        (b"\x96\x01\0\0\0\0\0\0\0a.", "b\"a\""),
    ];
    for (bytes, text) in cases {
        assert_eq!(read(&[b"\x80\x05", bytes].concat()), text);
    }
}

#[test]
fn containers_hold_what_is_added() {
    let cases: [(&[u8], &str); 13] = [
        (b").", "()"),
        (b"K\x01\x85.", "(1)"),
        (b"K\x01K\x02\x86.", "(1, 2)"),
        (b"K\x01K\x02K\x03\x87.", "(1, 2, 3)"),
        (b"(K\x01K\x02t.", "(1, 2)"),
        (b"](K\x01K\x02eK\x03a.", "[1, 2, 3]"),
        (b"(K\x01l.", "[1]"),
        (b"}(K\x01K\x02uK\x03]s.", "{1: 2, 3: []}"),
        (b"(K\x01Nd.", "{1: None}"),
        (b"\x8f(K\x01\x90.", "{1}"),
        (b"(K\x01\x91.", "{1}"),
        (b"K\x012\x86K\x070.", "(1, 1)"),
        (b"K\x01(K\x02K\x031(0.", "1"),
    ];
    for (bytes, text) in cases {
        assert_eq!(read(bytes), text);
    }
}

#[test]
fn the_memo_gives_the_same_value_again() {
    assert_eq!(read(b"]q\x00h\x00\x86."), "([], [])");
    assert_eq!(read(b"\x80\x04]\x94K\x01\x94(h\x00h\x01g0\nt."), "([], 1, [])");
    assert_eq!(read(b"\x80\x02K\x05p0\n0j\0\0\0\0."), "5");
    let pickle = read_pickle(b"]q\x00h\x00a.", None).unwrap();
    assert_eq!(pickle.values.items(pickle.root), Some(&[pickle.root][..]));
}

#[test]
fn what_is_no_plain_data_is_refused() {
    let system = b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.";
    let expected = "expected a pickle of plain data, found the opcode STACK_GLOBAL, which runs code on load \
                    (x.pickle, byte 17)";
    assert_eq!(error(system), expected);
    let names = [
        (&b"cos\nsystem\n"[..], "GLOBAL"),
        (b"(S'id'\nios\nsystem\n", "STRING"),
        (b"(ios\nsystem\n", "INST"),
        (b"(No", "OBJ"),
        (b"NNR", "REDUCE"),
        (b"NNb", "BUILD"),
        (b"N)\x81", "NEWOBJ"),
        (b"N)}\x92", "NEWOBJ_EX"),
        (b"\x82\x01", "EXT1"),
        (b"\x83\x01\0", "EXT2"),
        (b"\x84\x01\0\0\0", "EXT4"),
        (b"P1\n", "PERSID"),
        (b"NQ", "BINPERSID"),
        (b"\x97", "NEXT_BUFFER"),
        (b"N\x98", "READONLY_BUFFER"),
        (b"I1\n", "INT"),
    ];
    for (bytes, name) in names {
        assert!(error(bytes).contains(&format!("the opcode {name}, ")), "{}", error(bytes));
    }
}

#[test]
fn errors_say_expected_found_and_where() {
    let cases: [(&[u8], &str); 16] = [
        (b"", "expected a complete pickle, found the end of the file (x.pickle, byte 0)"),
        (b"\x80\x04]", "expected a complete pickle, found the end of the file (x.pickle, byte 3)"),
        (b"X\xff\xff\xff\xffa.", "expected a complete pickle, found the end of the file (x.pickle, byte 0)"),
        (
            b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff.",
            "expected a complete pickle, found the end of the file (x.pickle, byte 0)",
        ),
        (b"\x95\x09\0\0\0\0\0\0\0N.", "expected a complete pickle, found the end of the file (x.pickle, byte 0)"),
        (b"\x80\x06N.", "expected a pickle of protocol 2 to 5, found protocol 6 (x.pickle, byte 0)"),
        (b"\xff", "expected an opcode, found the byte 0xff (x.pickle, byte 0)"),
        (b".", "expected a value on the stack, found none (x.pickle, byte 0)"),
        (b"K\x01(\x85", "expected a value on the stack, found none (x.pickle, byte 3)"),
        (b"Nt", "expected a mark on the stack, found none (x.pickle, byte 1)"),
        (b"h\x07", "expected a used index of the memo, found 7 (x.pickle, byte 0)"),
        (b"Nr\xff\xff\xff\xff", "expected the next index of the memo, found 4294967295 (x.pickle, byte 1)"),
        (b"Npx\n", "expected an index of the memo, found a line that is not a number (x.pickle, byte 1)"),
        (b"NNa", "expected a list or a set to extend, found None (x.pickle, byte 2)"),
        (b"}(Nu", "expected a value for each key, found a key without a value (x.pickle, byte 3)"),
        (
            b"\x8a\x11aaaaaaaaaaaaaaaaa.",
            "expected an int of at most 128 bits, found an int of 17 bytes (x.pickle, byte 0)",
        ),
    ];
    for (bytes, message) in cases {
        assert_eq!(error(bytes), message);
    }
}

#[test]
fn bad_text_and_what_follows_are_counted() {
    let pickle = read_pickle(b"\x80\x02X\x03\0\0\0\xed\xb2\x80.\0\0", None).unwrap();
    assert_eq!(shown(&pickle, pickle.root), "\"\u{fffd}\u{fffd}\u{fffd}\"");
    let seen: Vec<_> = pickle.warnings.iter().map(|warning| (warning.kind, warning.first.byte)).collect();
    assert_eq!(seen, [(WarningKind::InvalidUtf8, Some(2)), (WarningKind::TrailingText, Some(11))]);
}

#[test]
fn deep_nesting_takes_no_stack() {
    let lists = vec![b']'; 1_000_000];
    let appends = vec![b'a'; 999_999];
    read_pickle(&[&lists[..], &appends, b"."].concat(), None).unwrap();
    let error = error(&vec![b'('; 1_000_000]);
    assert!(error.contains("the end of the file"), "{error}");
}

#[test]
fn equal_frames_are_one_value() {
    // Texts come from the memo, as the second time that Python writes them.
    let texts = b"\x8c\x04name\x94\x8c\x08filename\x94\x8c\x04line\x94\x8c\x01f\x94";
    let frame = |line: u8| [b"}\x94(h\0h\x03h\x01h\x03h\x02K" as &[u8], &[line], b"u"].concat();
    let bytes = [b"\x80\x04" as &[u8], texts, b"](", &frame(7), &frame(8), &frame(7), b"h\x06h\x04e."].concat();
    let pickle = read_pickle(&bytes, None).unwrap();
    let items = pickle.values.items(pickle.root).unwrap();
    // The memo has frames at 4, 5 and 6; the last is the first again.
    assert_eq!((items[0], items[0]), (items[2], items[3]));
    assert_eq!((items[0], items[0] == items[1]), (items[4], false));
    assert_eq!(shown(&pickle, items[2]), "{\"name\": \"f\", \"filename\": \"f\", \"line\": 7}");
}

#[test]
fn a_frame_that_gets_more_entries_is_no_other_one() {
    let texts = b"\x8c\x04name\x94\x8c\x08filename\x94\x8c\x04line\x94\x8c\x01f\x94";
    let frame = b"}\x94(h\0h\x03h\x01h\x03h\x02K\x07u";
    // The second gets a fourth entry; then both are taken from the memo.
    let bytes = [b"\x80\x04" as &[u8], texts, b"](", frame, frame, b"h\x03K\x01sh\x04h\x05e."].concat();
    let plain = "{\"name\": \"f\", \"filename\": \"f\", \"line\": 7}";
    let longer = plain.replace('}', ", \"f\": 1}");
    assert_eq!(read(&bytes), format!("[{plain}, {longer}, {plain}, {longer}]"));
    // A dict that two places of the memo refer to stays itself.
    let twice = [b"\x80\x04" as &[u8], texts, b"](", frame, b"}\x94\x94(", &frame[3..], b"h\x05h\x06e."].concat();
    let pickle = read_pickle(&twice, None).unwrap();
    let items = pickle.values.items(pickle.root).unwrap();
    assert_eq!((items[1], items[0] == items[1]), (items[2], false));
    assert_eq!(items[1], items[3]);
}
