//! Kinetoscope in the browser: a session holds one or more traces and answers requests.

use std::sync::Arc;

use kinetoscope::analyze::allocator_history;
use kinetoscope::base85::base85;
use kinetoscope::edit::{split, with_memory};
use kinetoscope::link::MergedRanks;
use kinetoscope::memory::MemorySnapshot;
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::read::{Container, FileHint, FileOrigin, FilePair, head, pair_up, rank_of, sniff, sniff_inside};
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{Error, Input, Limits, LinkedTrace, read, read_file, view, write_snapshot};
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// The loaded traces.
#[wasm_bindgen]
#[derive(Default)]
pub struct Session(view::Session);

#[wasm_bindgen]
impl Session {
    /// Holds nothing yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Session {
        Self::default()
    }

    /// Loads a snapshot after the others, with a display name, which may be empty, and its rank, if
    /// the trace does not state it. Throws `{message, byte, event}`.
    pub fn add(&mut self, snapshot: &[u8], name: &str, rank: Option<f64>) -> Result<(), JsValue> {
        let trace = read_snapshot(snapshot, Limits::default());
        // Ranks are far below what a float counts exactly.
        let added = trace.and_then(|trace| self.0.add(name, rank.map(|rank| rank as i64), LinkedTrace::new(trace)));
        added.map_err(|error| thrown(&error))
    }

    /// Reads trace files, plain or compressed, or a snapshot. Each rank of a merged file becomes a
    /// trace. `memory` is a memory snapshot of the same run. Throws `{message, byte, event}`.
    #[expect(clippy::needless_pass_by_value, reason = "optional arguments from JavaScript come by value")]
    pub fn read(kineto: &[u8], execution: Option<Box<[u8]>>, memory: Option<Box<[u8]>>) -> Result<Session, JsValue> {
        let inputs = [Some(kineto), execution.as_deref()].into_iter().flatten().map(Input::new);
        let trace = match sniff(kineto) {
            Container::Snapshot => read_snapshot(kineto, Limits::default()),
            _ => read(inputs, Limits::default()),
        };
        let mut linked = LinkedTrace::new(trace.map_err(|error| thrown(&error))?);
        if let Some(memory) = memory {
            let history = allocator_history(&memory_snapshot(&memory)?);
            linked = LinkedTrace::new(with_memory(&linked, history).map_err(|error| thrown(&error))?);
        }
        let Some(merged) = MergedRanks::of(&linked) else { return Ok(Self(view::Session::new(linked))) };
        let mut session = view::Session::default();
        for part in split(&linked, &merged) {
            session.add("", None, LinkedTrace::new(part.trace)).map_err(|error| thrown(&error))?;
        }
        Ok(Self(session))
    }

    /// One of the traces as other viewers read it, Chrome's JSON. Throws `{message, byte, event}`.
    pub fn chrome(&self, part: u32) -> Result<js_sys::Uint8Array, JsValue> {
        let mut json = Vec::new();
        let written = write_chrome(&self.trace(part)?.trace, &mut json);
        written.map_err(|error| JsValue::from_str(&error.to_string()))?;
        Ok(js_sys::Uint8Array::from(json.as_slice()))
    }

    /// One of the traces in the form that travels to a browser. Throws `{message, byte, event}`.
    pub fn snapshot(&self, part: u32) -> Result<js_sys::Uint8Array, JsValue> {
        Ok(js_sys::Uint8Array::from(self.packed(part)?.as_slice()))
    }

    /// The same as text, as pages carry it. Throws `{message, byte, event}`.
    pub fn snapshot_text(&self, part: u32) -> Result<String, JsValue> {
        Ok(base85(&self.packed(part)?))
    }

    fn packed(&self, part: u32) -> Result<Vec<u8>, JsValue> {
        write_snapshot(&self.trace(part)?.trace).map_err(|error| thrown(&error))
    }

    /// The traces again, or a part of them: `request` says which (see
    /// `kinetoscope::view::Session::copy`). Throws `{message, byte, event}`.
    pub fn copy(&self, request: &[u8]) -> Result<Session, JsValue> {
        self.0.copy(request).map(Self).map_err(|error| thrown(&error))
    }

    /// Answers one request (see docs/protocol.md).
    pub fn query(&self, request: &[u8]) -> js_sys::Uint8Array {
        js_sys::Uint8Array::from(self.0.query(request).as_slice())
    }
}

impl Session {
    fn trace(&self, part: u32) -> Result<&Arc<LinkedTrace>, JsValue> {
        let missing = || JsValue::from_str(&format!("expected the number of a trace, found {part}"));
        self.0.traces().nth(part as usize).ok_or_else(missing)
    }
}

/// A memory snapshot.
#[wasm_bindgen]
pub struct Memory(view::MemorySession);

#[wasm_bindgen]
impl Memory {
    /// Reads a file, plain or compressed. Throws `{message, byte, event}`.
    pub fn read(file: &[u8]) -> Result<Memory, JsValue> {
        memory_snapshot(file).map(view::MemorySession::new).map(Self)
    }

    /// The body of its page with this title.
    pub fn page(&self, title: &str) -> String {
        self.0.page(title)
    }

    /// Answers one request (see docs/protocol.md).
    pub fn query(&self, request: &[u8]) -> js_sys::Uint8Array {
        js_sys::Uint8Array::from(self.0.query(request).as_slice())
    }
}

fn memory_snapshot(file: &[u8]) -> Result<MemorySnapshot, JsValue> {
    match read_file(Input::new(file), Limits::default()).map_err(|error| thrown(&error))? {
        kinetoscope::Recording::MemorySnapshot(snapshot) => Ok(*snapshot),
        // The only other pickle that is read.
        _ => Err(JsValue::from_str("expected a memory snapshot, found a flight recorder: read it with ks.read")),
    }
}

/// Whether a file may be a memory snapshot, by its first bytes.
#[wasm_bindgen(js_name = mayBeMemory)]
pub fn is_memory(head: &[u8]) -> bool {
    matches!(sniff_inside(head), Container::Pickle | Container::MemorySnapshot)
}

/// Pairs files that a person chose, by name and first bytes.
#[wasm_bindgen(js_name = recordingsOf, unchecked_return_type = "Recordings")]
#[expect(clippy::needless_pass_by_value, reason = "arrays from JavaScript come by value")]
pub fn recordings_of(names: Vec<String>, heads: Vec<js_sys::Uint8Array>) -> Result<JsValue, JsValue> {
    let (mut files, mut places, mut memories) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (name, bytes)) in names.iter().zip(&heads).enumerate() {
        let bytes = bytes.to_vec();
        if is_memory(&bytes) {
            memories.push(at);
        } else {
            files.push(FileHint { name, head: head(&bytes) });
            places.push(at);
        }
    }
    let found = pair_up(&files, FileOrigin::Choice);
    let mut skipped: Vec<_> = found.copies.iter().map(|(at, why)| (places[*at], *why)).collect();
    let memory = memories.first().copied().filter(|_| memories.len() == 1 && found.pairs.len() == 1);
    if memory.is_none() {
        skipped.extend(
            memories.iter().map(|at| (*at, "a memory snapshot: choose it alone, or with the trace of its run")),
        );
    }
    let recording = |pair: &FilePair| Recording {
        memory,
        kineto: pair.kineto.map(|at| places[at]),
        execution: pair.execution.map(|at| places[at]),
        // Ranks are far below what a float counts exactly.
        rank: [pair.kineto, pair.execution]
            .into_iter()
            .flatten()
            .find_map(|at| rank_of(files[at].name))
            .map(|rank| rank as f64),
    };
    let recordings = found.pairs.iter().map(recording).collect();
    Ok(serde_wasm_bindgen::to_value(&Recordings { recordings, skipped })?)
}

/// Kinds of files by index.
#[wasm_bindgen(typescript_custom_section)]
const RECORDINGS: &str = r"
/** Chosen files, paired to recordings; numbers are indices of the files. */
export interface Recordings {
  /** Files of each recording, at least one, and the rank in their names. */
  readonly recordings: readonly {
    readonly kineto?: number;
    readonly execution?: number;
    readonly memory?: number;
    readonly rank?: number;
  }[];
  /** Skipped files, each with its reason. */
  readonly skipped: readonly (readonly [number, string])[];
}
";

#[derive(Serialize)]
struct Recordings {
    recordings: Vec<Recording>,
    skipped: Vec<(usize, &'static str)>,
}

#[derive(Serialize)]
struct Recording {
    kineto: Option<usize>,
    execution: Option<usize>,
    memory: Option<usize>,
    rank: Option<f64>,
}

#[derive(Serialize)]
struct Thrown {
    message: String,
    byte: Option<u64>,
    event: Option<u64>,
}

fn thrown(error: &Error) -> JsValue {
    let position = error.position();
    let thrown = Thrown {
        message: error.to_string(),
        byte: position.and_then(|position| position.byte),
        event: position.and_then(|position| position.event),
    };
    serde_wasm_bindgen::to_value(&thrown).unwrap_or_else(|_| JsValue::from_str(&thrown.message))
}
