//! Finds events of categories that no vendor and no tool is known for.

use rustc_hash::FxHashSet;

use super::Trace;
use super::arg_key::ArgKey;
use super::kind::EventKind;
use super::track::Stream;
use crate::id::StrId;
use crate::strings::TextCache;
use crate::vendor;

/// The category of Kineto's own spans, which last and are no work.
const SPANS: &str = "Trace";

impl Trace {
    /// Rows of events of no known kind that last, in file order.
    pub(crate) fn of_unknown_kind(&self) -> impl Iterator<Item = usize> + '_ {
        let events = &self.events;
        let is_new = |category: &str| category != SPANS && vendor::category(&category.to_ascii_lowercase()).is_none();
        let mut is_new = TextCache::new(&self.strings, is_new);
        let is_unknown = move |row: &usize| events.dur.at(*row).0 > 0 && is_new.of(events.category.at(*row));
        events.rows_of(|kind| kind == EventKind::Other).filter(is_unknown)
    }

    /// Those that say which stream of which device they ran on, each with that stream: work of an
    /// accelerator. Events among the calls of a host are none, whatever they say.
    pub(crate) fn unknown_work(&self) -> Vec<(u32, Stream)> {
        let with_place = |row: usize| Some((row as u32, self.told_stream(row)?));
        let mut found: Vec<_> = self.of_unknown_kind().filter_map(with_place).collect();
        if !found.is_empty() {
            let hosts = self.hosts();
            found.retain(|(row, _)| !hosts.contains(&self.process_of(*row as usize)));
        }
        found
    }

    /// Processes with calls of a host.
    fn hosts(&self) -> FxHashSet<StrId> {
        let is_call = |kind| matches!(kind, EventKind::Operator | EventKind::Launch | EventKind::Python);
        self.events.rows_of(is_call).map(|row| self.process_of(row)).collect()
    }

    /// The stream that the arguments of an event name, if they name its device, too.
    fn told_stream(&self, row: usize) -> Option<Stream> {
        let number = |key| self.args.integer(&self.strings, self.events.args(row), key).filter(|number| *number >= 0);
        let (device, stream) = (number(ArgKey::Device)?, number(ArgKey::Stream)?);
        Some(Stream { device: Some(device), stream: Some(stream) })
    }
}
