//! Kinetoscope in the browser: a session holds one trace and answers requests about it.

use wasm_bindgen::prelude::*;

/// One loaded trace. (Skeleton; replaced when the core is in place.)
#[wasm_bindgen]
pub struct Session {
    size: usize,
}

#[wasm_bindgen]
impl Session {
    /// Loads a snapshot.
    #[wasm_bindgen(constructor)]
    pub fn new(snapshot: &[u8]) -> Session {
        Session { size: snapshot.len() }
    }

    /// Answers one request.
    pub fn query(&self, request: &[u8]) -> Vec<u8> {
        vec![0; self.size.min(request.len())]
    }
}
