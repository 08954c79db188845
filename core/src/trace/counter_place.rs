//! Finds the device that a counter measures, and the title of the counter.

use super::Trace;
use crate::id::{StrId, TrackId};

/// The place that a counter measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterPlace {
    /// A device by its number.
    Device(i64),
    /// A device whose number the file does not state.
    SomeDevice,
    /// The host, or a program.
    Host,
}

impl Trace {
    /// The place of a counter: the device of its track, or of a name that begins with `GPU` and a
    /// number. `PyTorch` names processes so (`GPU 0 Counters`), `ks.profile` its sensors (`GPU 0`).
    pub(crate) fn counter_place(&self, track: TrackId, name: StrId) -> CounterPlace {
        let track = self.track(track);
        if let Some(device) = track.stream.and_then(|stream| stream.device) {
            return CounterPlace::Device(device);
        }
        let names = [track.process, name];
        names.into_iter().find_map(|name| named_place(self.strings.text(name))).unwrap_or(CounterPlace::Host)
    }

    /// The title of a counter's series: its name, and the series unless that is empty or the same.
    pub(crate) fn counter_title(&self, name: StrId, series: StrId) -> String {
        let [name, series] = [name, series].map(|id| self.strings.text(id));
        if series.is_empty() || series == name { name.to_owned() } else { format!("{name} · {series}") }
    }
}

fn named_place(name: &str) -> Option<CounterPlace> {
    let rest = name.get(..3).filter(|start| start.eq_ignore_ascii_case("gpu")).map(|_| &name[3..])?;
    if rest.starts_with(|letter: char| letter.is_alphanumeric()) {
        return None;
    }
    let rest = rest.trim_start_matches([' ', '[']);
    let digits = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
    Some(digits.parse().map_or(CounterPlace::SomeDevice, CounterPlace::Device))
}

#[cfg(test)]
mod tests {
    use super::{CounterPlace, named_place};

    #[test]
    fn a_name_tells_the_device() {
        let device = |number| Some(CounterPlace::Device(number));
        let cases = [
            ("GPU 0 Counters", device(0)),
            ("GPU 12", device(12)),
            ("gpu 2 sclk", device(2)),
            ("GPU [3] Power", device(3)),
            ("GPU", Some(CounterPlace::SomeDevice)),
            ("GPU Power", Some(CounterPlace::SomeDevice)),
            ("GPU 99999999999999999999", Some(CounterPlace::SomeDevice)),
            ("GPUs", None),
            ("host", None),
            ("metrics", None),
            ("", None),
            ("GÜ 1", None),
        ];
        for (name, place) in cases {
            assert_eq!(named_place(name), place, "{name}");
        }
    }
}
