//! Measures metrics by iteration, in two traces.

use std::collections::BTreeMap;

use super::super::change::NameChange;
use super::super::device_parts::device_parts;
use super::super::name_keys::NameKeys;
use super::super::samples;
use super::super::side::DiffSide;
use super::super::step_times::StepTimes;
use super::metric::{GateMetric, NameKind};
use crate::analyze::finding::{NO_DEVICE, NO_MEMORY};
use crate::analyze::memory::changes;
use crate::analyze::selection::Selection;
use crate::time::add_ns;
use crate::trace::iteration::is_like;

/// Values of one metric by iteration, of both traces.
pub(in crate::analyze::diff) type PairValues = [Vec<i64>; 2];

/// Values of a metric by name, or the reason for their lack. Metrics without names have an empty
/// one.
pub(in crate::analyze::diff) type MeasuredMetric = Result<BTreeMap<String, PairValues>, &'static str>;

/// Two traces, whose tables are computed at their first use.
pub(in crate::analyze::diff) struct PairMeasures<'a> {
    sides: &'a [DiffSide<'a>; 2],
    keys: &'a NameKeys,
    named: BTreeMap<NameKind, BTreeMap<String, PairValues>>,
    parts: Option<BTreeMap<&'static str, PairValues>>,
}

impl<'a> PairMeasures<'a> {
    pub(in crate::analyze::diff) fn of(sides: &'a [DiffSide<'a>; 2], keys: &'a NameKeys) -> Self {
        Self { sides, keys, named: BTreeMap::new(), parts: None }
    }

    pub(in crate::analyze::diff) fn measure(&mut self, metric: &GateMetric) -> MeasuredMetric {
        if metric.is_of_device() && self.sides.iter().any(|side| side.num_left_out() * FEW_LEFT_OUT > side.num_all()) {
            return Err(MANY_LOST);
        }
        match metric {
            GateMetric::Step | GateMetric::Phase(_) => self.steps().map(unnamed),
            GateMetric::Memory if self.sides.iter().any(|side| side.selection.linked.lost_work().is_cut()) => Err(CUT),
            GateMetric::Memory => {
                let peaks = self.sides.each_ref().map(memory_peaks);
                let [Some(before), Some(after)] = peaks else { return Err(NO_MEMORY) };
                Ok(unnamed([before, after]))
            }
            GateMetric::Device => self.device().map(unnamed),
            GateMetric::Part(part) => self.part(part).map(unnamed),
            GateMetric::Named(kind, pattern) => {
                let named = self.named(*kind)?;
                // A kernel may have `*` in its name.
                let pattern = pattern.as_str();
                let is_wanted =
                    |name: &str| if named.contains_key(pattern) { name == pattern } else { is_like(name, pattern) };
                let found = named.iter().filter(|(name, _)| is_wanted(name));
                let found: BTreeMap<_, _> = found.map(|(name, values)| (name.clone(), values.clone())).collect();
                let is_zero = found.values().flatten().flatten().all(|ns| *ns == 0);
                match kind {
                    NameKind::Operator if !found.is_empty() && is_zero => Err(NO_OWN_OF_OPERATOR),
                    NameKind::Module if !found.is_empty() && is_zero => Err(NO_OWN_OF_MODULE),
                    _ => Ok(found),
                }
            }
        }
    }

    /// All names of a kind.
    pub(in crate::analyze::diff) fn named(
        &mut self,
        kind: NameKind,
    ) -> Result<&BTreeMap<String, PairValues>, &'static str> {
        let (sides, keys, compared) = (self.sides, self.keys, self.sides[0].compared);
        match kind {
            NameKind::Operator if !compared.operators => return Err("operators were not recorded"),
            NameKind::Module if !compared.modules => return Err("modules were not recorded"),
            NameKind::Kernel if !compared.device => return Err(NO_DEVICE),
            // Their host time in place of their device time would be another number.
            NameKind::Operator | NameKind::Module if !compared.device && sides.iter().any(DiffSide::has_device) => {
                return Err(NO_DEVICE);
            }
            NameKind::Operator | NameKind::Module
                if compared.device && sides.iter().any(|side| !side.has_owner(kind)) =>
            {
                return Err(NO_OWNER);
            }
            _ => {}
        }
        Ok(self.named.entry(kind).or_insert_with(|| {
            let changes = match kind {
                NameKind::Operator => samples::operators(sides, keys),
                NameKind::Kernel => samples::kernels(sides, keys),
                NameKind::Module => samples::modules(sides, keys),
            };
            by_name(&changes)
        }))
    }

    fn steps(&self) -> Result<PairValues, &'static str> {
        let is_empty = |side: &DiffSide<'_>| side.selection.linked.trace.events.is_empty();
        if self.sides.iter().any(is_empty) {
            return Err("a trace has no events");
        }
        Ok(self.sides.each_ref().map(DiffSide::all_window_lengths))
    }

    fn device(&self) -> Result<PairValues, &'static str> {
        if !self.sides[0].compared.device {
            return Err(NO_DEVICE);
        }
        Ok(self.sides.each_ref().map(|side| {
            let mut sums = vec![0; side.num_samples()];
            side.device_work().for_each(|(at, row)| add_ns(&mut sums[at], side.work_ns(row)));
            sums
        }))
    }

    fn part(&mut self, part: &str) -> Result<PairValues, &'static str> {
        if !self.sides[0].compared.device {
            return Err(NO_DEVICE);
        }
        let sides = self.sides;
        let parts = self.parts.get_or_insert_with(|| {
            let named = device_parts(sides).named.into_iter();
            named.map(|(name, times)| (name, [dense(&times[0]), dense(&times[1])])).collect()
        });
        parts.get(part).cloned().ok_or(NO_DEVICE)
    }
}

/// Why the peak of memory is unknown.
pub(in crate::analyze::diff) const CUT: &str = "the file ends early: the peak may be missing";
/// The iterations that are left are no sample of all if more than one in so many lost work.
const FEW_LEFT_OUT: usize = 10;
const MANY_LOST: &str = "more than one iteration in ten lost device work";
const NO_OWN_OF_OPERATOR: &str = "it has no time of its own: name the operators inside it";
const NO_OWN_OF_MODULE: &str = "it has no time of its own: name the modules inside it";
const NO_OWNER: &str = "no device work belongs to any: the file has no launches";

impl DiffSide<'_> {
    fn num_all(&self) -> usize {
        self.all_iterations.len()
    }

    /// Whether device work belongs to names of a kind. Without launches, none does.
    fn has_owner(&self, kind: NameKind) -> bool {
        let linked = self.selection.linked;
        let owner = |row: usize| match kind {
            NameKind::Module => linked.frames().module.get(row),
            _ => linked.links.operator.get(row),
        };
        let mut work = self.device_work().map(|(_, row)| row).peekable();
        work.peek().is_none() || work.any(|row| owner(row).is_some())
    }
}

fn unnamed(values: PairValues) -> BTreeMap<String, PairValues> {
    BTreeMap::from([(String::new(), values)])
}

/// Names of several classes count together.
fn by_name(changes: &[NameChange]) -> BTreeMap<String, PairValues> {
    let mut named: BTreeMap<String, PairValues> = BTreeMap::new();
    for change in changes {
        let values = change.sides.each_ref().map(|sample| dense(&sample.ns));
        match named.get_mut(&change.name) {
            Some(sums) => {
                for (sum, ns) in sums.iter_mut().flatten().zip(values.into_iter().flatten()) {
                    add_ns(sum, ns);
                }
            }
            None => drop(named.insert(change.name.clone(), values)),
        }
    }
    named
}

/// With the steps that have no time.
fn dense(times: &StepTimes) -> Vec<i64> {
    let mut all = vec![0; times.num_steps()];
    times.parts().for_each(|(step, ns)| add_ns(&mut all[step], ns));
    all
}

/// The most that one device held in each iteration; `None` if no allocation was recorded.
fn memory_peaks(side: &DiffSide<'_>) -> Option<Vec<i64>> {
    let all = changes(&Selection::all(side.selection.linked));
    let windows = side.all_windows();
    let mut devices: Vec<_> = all.iter().map(|change| change.device).collect();
    devices.dedup();
    devices = crate::sort::distinct(devices);
    let mut peaks: Vec<Option<i64>> = vec![None; windows.len()];
    for device in devices {
        let own: Vec<_> = all.iter().filter(|change| change.device == device).collect();
        for (peak, window) in peaks.iter_mut().zip(&windows) {
            let first = own.partition_point(|change| change.time < window.start);
            let end = own.partition_point(|change| change.time < window.end);
            let held = match first.checked_sub(1) {
                Some(last) => own[last].allocated_bytes,
                None => own[0].allocated_bytes.saturating_sub(own[0].bytes),
            };
            let most = own[first..end.max(first)].iter().map(|change| change.allocated_bytes).max();
            *peak = (*peak).max(Some(held.max(most.unwrap_or(held))));
        }
    }
    peaks.into_iter().collect()
}
