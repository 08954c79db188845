//! Two pieces of work at once.

use std::panic::resume_unwind;
use std::thread;

/// What `here` and `beside` give. Where there may be two threads, one of them is made for `beside`.
pub(crate) fn both<A, B: Send>(max_threads: usize, here: impl FnOnce() -> A, beside: impl Fn() -> B + Sync) -> (A, B) {
    if max_threads < 2 {
        return (here(), beside());
    }
    thread::scope(|scope| match thread::Builder::new().spawn_scoped(scope, &beside) {
        Ok(other) => (here(), other.join().unwrap_or_else(|panic| resume_unwind(panic))),
        Err(_) => (here(), beside()),
    })
}
