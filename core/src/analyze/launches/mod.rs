//! Analyzes launches: duration of the call, and delay of the device work.

mod by_call;
mod by_operator;
mod row;

use std::sync::Arc;

use super::analysis::{Analysis, Run};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use row::{DeviceClock, LaunchRows, TABLE};
pub use row::{LaunchRow, launches};

/// Launches and their device work.
pub(super) static LAUNCHES: Analysis = Analysis {
    name: "launches",
    doc: "launches with their device work: duration of the host call, duration of the work, and the delay between them",
    options: &[
        OptionDoc {
            name: "prefix",
            doc: "prefix of operator names, for the table launches_by_operator",
            kind: OptionKind::Text,
        },
        OptionDoc {
            name: "clock_offset_ns",
            doc: "ns to add to device times for delays, where the clocks of host and device differ (see `problems`)",
            kind: OptionKind::Count(0),
        },
        OptionDoc {
            name: "clock_device",
            doc: "the only device whose times clock_offset_ns moves; default: all",
            kind: OptionKind::Id,
        },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let rows = launches(selection);
        let reason = rows.is_empty().then_some("no kernel, copy or fill has its launch in the trace");
        let prefix = options.text("prefix").unwrap_or("").to_owned();
        let clock = DeviceClock { offset_ns: options.count("clock_offset_ns"), device: options.id("clock_device") };
        let launches = Arc::new(LaunchRows { linked: Arc::clone(selection.linked), rows, clock });
        let (calls, operators) = (Arc::clone(&launches), Arc::clone(&launches));
        AnalysisResult::with(TABLE.of(&launches), reason)
            .and_later(&by_call::TABLE, move || by_call::by_call(&calls))
            .and_later(&by_operator::TABLE, move || by_operator::by_operator(&operators, &prefix))
            .drawn(Plot::points("device_dur_ns", "delay_ns", "device_event_name"))
    }),
};
