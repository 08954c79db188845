//! Runs work on two or more threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder, ScopedJoinHandle};

use crate::sort;

/// Whether threads can be made: pages have none, and need no code for them.
pub(crate) const ARE_THERE: bool = cfg!(not(target_family = "wasm"));

/// Runs both and returns both results. With two threads, each gets its own, and the caller sleeps:
/// otherwise the system may queue a thread behind the caller for milliseconds.
pub(crate) fn both<A: Send, B: Send>(
    max_threads: usize,
    one: impl Fn() -> A + Sync,
    other: impl Fn() -> B + Sync,
) -> (A, B) {
    if !ARE_THERE || max_threads < 2 {
        return (one(), other());
    }
    thread::scope(|scope| {
        let handles = (Builder::new().spawn_scoped(scope, &one), Builder::new().spawn_scoped(scope, &other));
        (handles.0.map_or_else(|_| one(), joined), handles.1.map_or_else(|_| other(), joined))
    })
}

/// Runs `work` for each number below `num` and returns the results in order; free threads take the
/// next number.
pub(crate) fn each<T: Send>(max_threads: usize, num: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if !ARE_THERE || max_threads.min(num) < 2 {
        return (0..num).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let work_off = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|at| *at < num).map(|at| (at, work(at))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let spawn = |_| Builder::new().spawn_scoped(scope, work_off).ok();
        let handles: Vec<_> = (0..max_threads.min(num)).map_while(spawn).collect();
        handles.into_iter().flat_map(joined).collect::<Vec<_>>()
    });
    // Where no thread could be made, nothing has been done yet.
    done.extend(work_off());
    sort::by_key(&mut done, |(at, _)| *at);
    done.into_iter().map(|(_, given)| given).collect()
}

fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}
