//! What rules see in one trace: found where it is, told where its job is.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::found::Found;
use super::scene::Scene;
use super::{Find, Finding, RULES, Rule, finding, is_told};
use crate::analyze::afar::Told;
use crate::analyze::job::Job;
use crate::analyze::selection::Selection;

/// What was found in a trace, or in the part of it that is looked at.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::analyze) struct Seen {
    /// How long that part is.
    pub(super) span_ns: i64,
    /// Each with the place of its rule, and ids of events as its evidence.
    found: Vec<(u8, Found)>,
}

impl Seen {
    /// Without what costs too little of the span, if it is no pattern of the program.
    pub(in crate::analyze) fn of(selection: &Selection<'_>, min_share: f64) -> Self {
        let (scene, span_ns) = (Scene::new(selection), selection.span().dur().0);
        let ids = &scene.trace.events.position;
        let of_rule = |(at, rule): (usize, &&'static Rule)| {
            let found = if let Find::Trace(find) = rule.find { find(&scene) } else { Vec::new() };
            // Device work runs on several streams at once, and what is taken as a whole may lie outside.
            let found = found.into_iter().map(|found| found.at_most(span_ns).with_ids(ids));
            let told = found.filter(|found| is_told(rule, found, span_ns, min_share));
            told.map(|found| (at as u8, found)).collect::<Vec<_>>()
        };
        Self { span_ns, found: RULES.iter().enumerate().flat_map(of_rule).collect() }
    }

    /// As findings about a trace of this rank.
    pub(super) fn findings(&self, rank: Option<i64>, window: i64) -> impl Iterator<Item = Finding> {
        let of = move |(at, found): &(u8, Found)| {
            let rule = RULES.get(usize::from(*at))?;
            Some(Finding { rank, window, ..finding(rule, found.clone(), self.span_ns) })
        };
        self.found.iter().filter_map(of)
    }
}

/// What was seen in each trace of a job.
pub(super) fn of_job<'a>(job: &'a Job<'_>, min_share: f64) -> Vec<Cow<'a, Seen>> {
    job.said(|told| if let Told::Seen(seen) = told { Some(seen) } else { None }, |part| Seen::of(part, min_share))
}
