//! Reads the timing keys of nodes that are already linked (ET+).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::strings::Strings;
use crate::time::{Dur, Ts, ns_from_micros};
use crate::trace::kind::{EventKind, category_kind};
use crate::trace::node::Node;

/// Keys that a linker adds to a node.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EtPlusKeys<'a> {
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    inclusive_dur: Option<&'a RawValue>,
    #[serde(borrow)]
    cat: Option<Cow<'a, str>>,
    /// The stream of a device event.
    pub(super) stream: Option<i64>,
    /// Id of a node of another thread that it waits for.
    pub(super) inter_thread_dep: Option<u64>,
    /// Ids of device events that it waits for.
    pub(super) sync_dep: Vec<u64>,
}

impl<'a> EtPlusKeys<'a> {
    /// Keys added to a node; most nodes have none.
    pub(super) fn of(node: &Node, strings: &'a Strings) -> Self {
        let rest = strings.text(node.rest);
        // Most nodes have attributes and none of these.
        if rest.contains("\"ts\"") { serde_json::from_str(rest).unwrap_or_default() } else { Self::default() }
    }

    /// When it started, and for how long it ran.
    pub(super) fn time(&self) -> Option<(Ts, Dur)> {
        let ns = |value: &RawValue| ns_from_micros(value.get().trim_matches('"').as_bytes());
        let start = ns(self.ts?)?;
        let dur = self.inclusive_dur.and_then(ns).unwrap_or(0).max(0);
        Some((Ts(start), Dur(dur)))
    }

    /// Its category, for device events.
    pub(super) fn device_kind(&self) -> Option<EventKind> {
        let (kind, is_on_device) = category_kind(self.cat.as_deref()?);
        is_on_device.then_some(kind)
    }
}
