//! Finds the same collective in the other traces of a screen.

use serde_json::{Value, json};

use super::reference::reference;
use super::screen::Screen;
use super::session_trace::TraceView;
use crate::link::Collective;

/// Links from an event of a communication to that of each other trace that has a part in it.
pub(super) fn siblings(screen: &Screen<'_>, part: TraceView<'_>, row: usize) -> Vec<Value> {
    if screen.parts.len() < 2 {
        return Vec::new();
    }
    let all = part.linked.collectives();
    let own = all.rows.iter().position(|collective| side(collective, row as u32).is_some());
    let ranks = screen.session.ranks();
    let Some((own, (_, shared))) = own.and_then(|own| Some((own, ranks.shared_of(part.at, own)?))) else {
        return Vec::new();
    };
    let is_device = side(&all.rows[own], row as u32) == Some(SiblingSide::Device);
    let others = shared.rows.iter().filter(|(member, _)| *member as usize != part.at);
    let link = |(member, other): &(u32, u32)| {
        let collective = ranks.members[*member as usize].collective(*other as usize);
        let event =
            if is_device { collective.device_events.first().copied() } else { collective.event.or(collective.run) };
        let target = reference(screen.parts[*member as usize], event? as usize);
        let source = reference(part, row);
        Some(
            json!({"kind": "collective", "how": shared.how.name(), "confidence": 1.0, "source": source, "target": target}),
        )
    };
    others.filter_map(link).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SiblingSide {
    Host,
    Device,
}

/// The role of an event in a collective.
fn side(collective: &Collective, row: u32) -> Option<SiblingSide> {
    if collective.device_events.contains(&row) {
        return Some(SiblingSide::Device);
    }
    (collective.event == Some(row) || collective.runs().any(|run| run == row)).then_some(SiblingSide::Host)
}
