//! Two pieces of work at once.

use std::panic::resume_unwind;
use std::thread::{self, Builder, ScopedJoinHandle};

/// What both give. Where there may be two threads, each has one of its own, and the caller's sleeps: its processor then
/// takes over whichever the system has put behind the other, which would wait for milliseconds while this thread works.
pub(crate) fn both<A: Send, B: Send>(
    max_threads: usize,
    one: impl Fn() -> A + Sync,
    other: impl Fn() -> B + Sync,
) -> (A, B) {
    if max_threads < 2 {
        return (one(), other());
    }
    thread::scope(|scope| {
        let handles = (Builder::new().spawn_scoped(scope, &one), Builder::new().spawn_scoped(scope, &other));
        (handles.0.map_or_else(|_| one(), joined), handles.1.map_or_else(|_| other(), joined))
    })
}

fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}
