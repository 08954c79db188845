//! Times of each name in each iteration of both traces.

use rustc_hash::FxHashMap;

use super::change::Change;
use super::key::Keys;
use super::side::Side;
use crate::id::TemplateId;
use crate::link::MODULE_PREFIX;
use crate::sort;
use crate::time::add_ns;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// One name in one trace.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    /// In all iterations.
    pub(super) count: u64,
    /// By iteration; its length is that of all samples of the trace.
    pub(super) ns: Vec<i64>,
    /// Host time, where that is not what `ns` is.
    pub(super) host_ns: Option<Vec<i64>>,
    /// Id of the longest.
    pub(super) longest_id: Option<i64>,
    longest_ns: i64,
}

/// What one event adds.
#[derive(Debug, Clone, Copy)]
struct Amount {
    ns: i64,
    host_ns: Option<i64>,
}

/// Names, each perhaps with shapes, in both traces.
type Groups = FxHashMap<(u32, Option<u32>), [Sample; 2]>;

/// Collects samples of both traces; `measure` says what an event adds to which name, if anything.
struct Collected {
    groups: Groups,
    num_samples: [usize; 2],
}

impl Collected {
    fn new(sides: &[Side<'_>; 2]) -> Self {
        Self { groups: Groups::default(), num_samples: sides.each_ref().map(Side::num_samples) }
    }

    fn add(&mut self, (side, of): (usize, &Side<'_>), row: usize, key: (u32, Option<u32>), amount: Amount) {
        let Some(at) = of.sample(row) else { return };
        let new = |num: usize| Sample { ns: vec![0; num], ..Sample::default() };
        let num_samples = self.num_samples;
        let samples = self.groups.entry(key).or_insert_with(|| num_samples.map(new));
        let sample = &mut samples[side];
        sample.count += 1;
        add_ns(&mut sample.ns[at], amount.ns);
        if let Some(host_ns) = amount.host_ns {
            add_ns(&mut sample.host_ns.get_or_insert_with(|| vec![0; num_samples[side]])[at], host_ns);
        }
        if sample.longest_id.is_none() || amount.ns > sample.longest_ns {
            sample.longest_ns = amount.ns;
            sample.longest_id = Some(i64::from(of.selection.linked.trace.events.position[row]));
        }
    }

    /// The largest change first.
    fn changes(self, keys: &Keys, shapes: &Keys) -> Vec<Change> {
        let change = |((name, shape), sides): ((u32, Option<u32>), [Sample; 2])| Change {
            name: keys.text(name).to_owned(),
            shapes: shape.map(|shape| shapes.text(shape).to_owned()).unwrap_or_default(),
            sides,
        };
        let mut changes: Vec<_> = self.groups.into_iter().map(change).collect();
        sort::by(&mut changes, |a, b| {
            let size = |change: &Change| change.change_ns().unsigned_abs();
            size(b).cmp(&size(a)).then_with(|| (&a.name, &a.shapes).cmp(&(&b.name, &b.shapes)))
        });
        changes
    }
}

/// Operators by name.
pub(super) fn operators(sides: &[Side<'_>; 2], keys: &Keys) -> Vec<Change> {
    of_operators(sides, |_, _| None).changes(keys, &Keys::default())
}

/// Operators by name and shapes (`Input Dims`); none where no shapes were recorded.
pub(super) fn shapes(sides: &[Side<'_>; 2], keys: &Keys) -> Vec<Change> {
    let mut shapes = Keys::default();
    let mut known: [FxHashMap<TemplateId, u32>; 2] = Default::default();
    let collected = of_operators(sides, |side, row| {
        let trace = &sides[side].selection.linked.trace;
        let number = known[side].entry(trace.events.template[row]).or_insert_with(|| {
            let mut text = String::new();
            trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::InputShapes, &mut text);
            shapes.of(&text)
        });
        Some(*number)
    });
    let mut changes = collected.changes(keys, &shapes);
    changes.retain(|change| !change.shapes.is_empty());
    changes
}

fn of_operators(sides: &[Side<'_>; 2], mut shape: impl FnMut(usize, usize) -> Option<u32>) -> Collected {
    let has_device = sides.iter().any(Side::has_device);
    let mut collected = Collected::new(sides);
    for (side, of) in sides.iter().enumerate() {
        let (linked, self_ns) = (of.selection.linked, of.selection.self_ns());
        for row in of.selection.rows().filter(|row| linked.trace.events.kind[*row] == EventKind::Operator) {
            let amount = if has_device {
                Amount { ns: linked.device_time().self_ns[row], host_ns: Some(self_ns[row]) }
            } else {
                Amount { ns: self_ns[row], host_ns: None }
            };
            collected.add((side, of), row, (of.key[row], shape(side, row)), amount);
        }
    }
    collected
}

/// Kernels, copies and fills by name.
pub(super) fn kernels(sides: &[Side<'_>; 2], keys: &Keys) -> Vec<Change> {
    let mut collected = Collected::new(sides);
    for (side, of) in sides.iter().enumerate() {
        for row in of.selection.device_work() {
            let amount = Amount { ns: of.selection.dur_ns(row), host_ns: None };
            collected.add((side, of), row, (of.key[row], None), amount);
        }
    }
    collected.changes(keys, &Keys::default())
}

/// Modules by name: the device work that is for each, or their calls where there is no device.
pub(super) fn modules(sides: &[Side<'_>; 2], keys: &Keys) -> Vec<Change> {
    let has_device = sides.iter().any(Side::has_device);
    let mut collected = Collected::new(sides);
    for (side, of) in sides.iter().enumerate() {
        let (linked, selection) = (of.selection.linked, of.selection);
        if has_device {
            for row in selection.device_work() {
                let Some(module) = linked.frames().module.get(row) else { continue };
                let amount = Amount { ns: selection.dur_ns(row), host_ns: None };
                collected.add((side, of), row, (of.key[module as usize], None), amount);
            }
        } else {
            for row in selection.rows().filter(|row| linked.trace.event_name(*row).starts_with(MODULE_PREFIX)) {
                let amount = Amount { ns: selection.dur_ns(row), host_ns: None };
                collected.add((side, of), row, (of.key[row], None), amount);
            }
        }
    }
    let mut changes = collected.changes(keys, &Keys::default());
    for change in &mut changes {
        change.name = change.name.strip_prefix(MODULE_PREFIX).unwrap_or(&change.name).to_owned();
    }
    changes
}
