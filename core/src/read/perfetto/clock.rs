//! Brings times of all clocks to the clock of the trace.

use rustc_hash::FxHashMap;

use crate::read::wire::{WireFields, WireValue};

/// Clocks with numbers from here to the next belong to the sequence that declares them.
const FIRST_OWN: u64 = 64;
const FIRST_GLOBAL: u64 = 128;
/// Time since 1970, and the usual clock of a trace.
const REALTIME: u64 = 1;
const BOOTTIME: u64 = 6;

/// The clocks of a trace, as its snapshots relate them.
#[derive(Debug)]
pub(super) struct PerfettoClocks {
    main: u64,
    known: FxHashMap<(u64, u64), PerfettoClock>,
    /// Time from 1970 to the start of the main clock.
    pub(super) base_ns: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
struct PerfettoClock {
    /// Time to add for the main clock; `None` if no snapshot has both.
    shift_ns: Option<i64>,
    unit_ns: i64,
    /// For times that count from the last one: that one.
    last: Option<i64>,
}

impl Default for PerfettoClocks {
    fn default() -> Self {
        Self { main: BOOTTIME, known: FxHashMap::default(), base_ns: None }
    }
}

impl PerfettoClocks {
    /// Takes a snapshot of several clocks at one time.
    pub(super) fn snapshot(&mut self, sequence: u64, message: &[u8]) {
        let mut shown = Vec::new();
        for (field, value) in WireFields::new(message) {
            match (field, value) {
                (1, WireValue::Bytes(clock)) => shown.push(shown_clock(clock)),
                (2, WireValue::Number(main)) => self.main = main,
                _ => {}
            }
        }
        let at = |id: u64| shown.iter().find(|clock| clock.id == id).map(ShownClock::ns);
        let main = at(self.main);
        if self.base_ns.is_none() {
            self.base_ns = at(REALTIME).zip(main).map(|(real, main)| real.saturating_sub(main));
        }
        for clock in &shown {
            let shift_ns = main.map(|main| main.saturating_sub(clock.ns()));
            let last = clock.is_incremental.then(|| clock.ns());
            let known = PerfettoClock { shift_ns, unit_ns: clock.unit_ns, last };
            self.known.insert(key(sequence, clock.id), known);
        }
    }

    /// A time of the main clock; `None` for a clock that no snapshot relates to it.
    pub(super) fn time(&mut self, sequence: u64, clock: Option<u64>, timestamp: u64) -> Option<i64> {
        let time = i64::try_from(timestamp).ok();
        let Some(id) = clock else { return time };
        let Some(known) = self.known.get_mut(&key(sequence, id)) else {
            // Clocks of the system have numbers: a trace with one alone needs no snapshot.
            return time.filter(|_| id == self.main || id < FIRST_OWN && self.known.is_empty());
        };
        let mut time = time?.saturating_mul(known.unit_ns);
        if let Some(last) = &mut known.last {
            time = last.saturating_add(time);
            *last = time;
        }
        if id == self.main { Some(time) } else { Some(time.saturating_add(known.shift_ns?)) }
    }
}

fn key(sequence: u64, id: u64) -> (u64, u64) {
    (if (FIRST_OWN..FIRST_GLOBAL).contains(&id) { sequence } else { 0 }, id)
}

/// A clock in a snapshot.
struct ShownClock {
    id: u64,
    timestamp: u64,
    is_incremental: bool,
    unit_ns: i64,
}

impl ShownClock {
    fn ns(&self) -> i64 {
        i64::try_from(self.timestamp).unwrap_or(i64::MAX).saturating_mul(self.unit_ns)
    }
}

fn shown_clock(message: &[u8]) -> ShownClock {
    let mut clock = ShownClock { id: 0, timestamp: 0, is_incremental: false, unit_ns: 1 };
    for (field, value) in WireFields::new(message) {
        let Some(number) = value.number() else { continue };
        match field {
            1 => clock.id = number,
            2 => clock.timestamp = number,
            3 => clock.is_incremental = number != 0,
            4 => clock.unit_ns = i64::try_from(number).unwrap_or(i64::MAX).max(1),
            _ => {}
        }
    }
    clock
}
