//! Fuzzes JSON: the scanner skips whatever `serde_json` accepts, and canonical text keeps its
//! meaning.
#![no_main]

use kinetoscope::json::{Scanner, canonical};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|bytes: &[u8]| {
    let mut scanner = Scanner::new(bytes);
    let skipped = scanner.skip_value().map(<[u8]>::to_vec);
    let rest = scanner.peek();
    let text = canonical(bytes).text;
    // A number beyond `f64` is JSON, though no `Value`.
    assert!(serde_json::from_str::<&RawValue>(&text).is_ok() || text.is_empty());
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        assert!(skipped.is_ok_and(|raw| raw == bytes.trim_ascii()));
        assert_eq!(rest, None);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
    }
});
