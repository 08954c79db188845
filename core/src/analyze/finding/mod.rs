//! Findings: what slows a run down, where, how much it costs, and what helps.

mod allocation;
mod communication;
mod compile;
mod conv_bias;
mod copy;
mod devices;
mod found;
mod indexing;
mod launch_bound;
mod loader;
mod long_idle;
mod matmul;
mod optimizer;
mod out_of_memory;
mod rank;
mod scene;
mod seen;
mod sibling;
mod start_up;
mod sync;

use std::borrow::Cow;

use serde::Serialize;

use super::afar::Question;
use super::analysis::{Analysis, Answer, Plot, Run};
use super::job::Job;
use super::options::{OptionDoc, OptionKind, Options};
use super::selection::Selection;
use super::straggler::ways;
use crate::sort;
use crate::table::{Column, Table, boolean, float, int, json, put, put_name, text};
use found::Found;
pub(super) use rank::Computing;
use scene::Scene;
pub(super) use seen::Seen;

/// What slows a run down.
pub(super) static FINDINGS: Analysis = Analysis {
    name: "findings",
    doc: "what slows the run down: evidence, cost, advice",
    options: &[OptionDoc {
        name: "min_share",
        doc: "what costs less of the time looked at is left out, but for patterns of the program itself",
        kind: OptionKind::Number(MIN_SHARE),
    }],
    run: Run::Ranks(answer, Some(questions)),
};

fn answer(job: &Job<'_>, options: &Options) -> Answer {
    let findings = findings_of_job(job, min_share(options));
    let checks = checks(&findings);
    Answer::of(&TABLE, findings, "nothing was found of what is looked for (see `finding_rules`)")
        .and(&RULES_TABLE, checks)
        .drawn(Plot::Bars { label: "finding", parts: &["cost_ns"] })
}

fn min_share(options: &Options) -> f64 {
    options.number("min_share")
}

/// What costs less of the span than this is left out when nobody says.
pub const MIN_SHARE: f64 = 0.005;

/// How many events a finding names.
const MAX_EVIDENCE: usize = 20;

/// Something to look for.
struct Rule {
    /// Its name.
    name: &'static str,
    /// What is wrong when it is found.
    doc: &'static str,
    /// What its cost is.
    cost: &'static str,
    /// What helps.
    advice: &'static str,
    /// Whether it is a pattern of the program, which is found whatever it costs in this run.
    is_pattern: bool,
    find: Find,
}

/// Where to look for it.
enum Find {
    /// In one trace.
    Trace(fn(&Scene<'_>) -> Vec<Found>),
    /// In several ranks compared; each found belongs to the member of that number.
    Ranks(fn(&Job<'_>) -> Vec<(usize, Found)>),
}

/// All that is looked for.
const RULES: &[&Rule] = &[
    &sync::SYNC,
    &sync::ITEM,
    &copy::PAGEABLE,
    &copy::EXPOSED,
    &copy::CREATED_ON_HOST,
    &loader::NO_WORKERS,
    &loader::STALL,
    &launch_bound::LAUNCH_BOUND,
    &long_idle::LONG_IDLE,
    &start_up::START_UP,
    &optimizer::UNFUSED,
    &optimizer::ZEROED,
    &matmul::FP32,
    &matmul::UNALIGNED,
    &conv_bias::CONV_BIAS,
    &allocation::ALLOCATION,
    &out_of_memory::OUT_OF_MEMORY,
    &compile::RECOMPILATION,
    &communication::EXPOSED,
    &indexing::INDEXING,
    &rank::STRAGGLER,
    &rank::IMBALANCE,
];

/// Something that slows the run down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rank of its trace, where that is known.
    pub rank: Option<i64>,
    /// Which of that rank's traces it is, from 0.
    pub window: i64,
    /// What it is: the name of a rule.
    pub name: &'static str,
    /// Whom it concerns: an operator, a call, a direction of copies, an optimizer.
    pub subject: String,
    /// The time that it costs at most, as its rule counts it.
    pub cost_ns: i64,
    /// `cost_ns` over the time looked at.
    pub share: f64,
    /// How often.
    pub count: u64,
    /// How sure it is that this is the case, from 0 to 1.
    pub confidence: f64,
    /// What was seen, in words.
    pub detail: String,
    /// What helps.
    pub advice: Cow<'static, str>,
    /// Ids of events that show it, the costliest first, at most 20.
    pub evidence: Vec<u32>,
}

/// A rule, and what came of it.
struct Check {
    rule: &'static Rule,
    num_found: i64,
}

static TABLE: Table<Vec<Finding>> = Table {
    name: "findings",
    doc: "what slows the run down, the costliest first",
    num_rows: Vec::len,
    columns: COLUMNS,
};

/// The same without rank and window.
pub(super) static OF_TRACE: Table<Vec<Finding>> = Table {
    name: "findings",
    doc: "what slows the run down, the costliest first",
    num_rows: Vec::len,
    columns: COLUMNS.split_at(2).1,
};

const COLUMNS: &[Column<Vec<Finding>>] = &[
    int("rank", |rows, at| rows[at].rank),
    int("window", |rows, at| Some(rows[at].window)),
    text("finding", |rows, at, out| put_name(out, rows[at].name)),
    text("subject", |rows, at, out| put_name(out, &rows[at].subject)),
    int("cost_ns", |rows, at| Some(rows[at].cost_ns)),
    float("share", |rows, at| Some(rows[at].share)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    float("confidence", |rows, at| Some(rows[at].confidence)),
    text("detail", |rows, at, out| put(out, &rows[at].detail)),
    text("advice", |rows, at, out| put(out, &rows[at].advice)),
    json("evidence", |rows, at, out| {
        let ids: Vec<_> = rows[at].evidence.iter().map(u32::to_string).collect();
        put(out, &format!("[{}]", ids.join(", ")))
    }),
];

static RULES_TABLE: Table<Vec<Check>> = Table {
    name: "finding_rules",
    doc: "what is looked for",
    num_rows: Vec::len,
    columns: &[
        text("finding", |rows, at, out| put_name(out, rows[at].rule.name)),
        int("num_found", |rows, at| Some(rows[at].num_found)),
        text("what", |rows, at, out| put(out, rows[at].rule.doc)),
        text("cost", |rows, at, out| put(out, rows[at].rule.cost)),
        text("advice", |rows, at, out| put(out, rows[at].rule.advice)),
        boolean("is_pattern", |rows, at| Some(rows[at].rule.is_pattern)),
    ],
};

/// What slows the run down, the costliest first.
///
/// Each rule says what its cost is; costs of several findings may be the same time. Left out is what costs less than
/// `min_share` of the time looked at, unless it is a pattern of the program, which may cost more in another run.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{MIN_SHARE, Selection, findings};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 2, "ts": 0, "dur": 90,
///                  "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"},
///                 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 90, "dur": 10}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let findings = findings(&Selection::all(&linked), MIN_SHARE);
/// assert_eq!((findings[0].name, findings[0].cost_ns), ("data_loading_without_workers", 90_000));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn findings(selection: &Selection<'_>, min_share: f64) -> Vec<Finding> {
    sorted(Seen::of(selection, min_share).findings(selection.linked.trace.rank(), 0).collect())
}

/// Those of all traces of a job, and what shows only where ranks are compared.
pub fn findings_of_job(job: &Job<'_>, min_share: f64) -> Vec<Finding> {
    let seen = seen::of_job(job, min_share);
    let members = &job.ranks.members;
    let of_traces = seen.iter().zip(members).flat_map(|(seen, member)| seen.findings(member.rank, member.window));
    let mut all: Vec<_> = of_traces.collect();
    for rule in RULES.iter().filter(|_| members.len() > 1) {
        let found = if let Find::Ranks(find) = rule.find { find(job) } else { Vec::new() };
        let found = found.into_iter().map(|(at, found)| (at, found.at_most(seen[at].span_ns)));
        let told = found.filter(|(at, found)| is_told(rule, found, seen[*at].span_ns, min_share));
        all.extend(told.map(|(at, found)| {
            let member = &members[at];
            Finding { rank: member.rank, window: member.window, ..finding(rule, found, seen[at].span_ns) }
        }));
    }
    sorted(all)
}

/// What each rank is asked: what shows in its trace, and what ranks are compared by.
fn questions(job: &Job<'_>, _: &Options) -> Vec<Vec<Question>> {
    if job.is_told() {
        return Vec::new();
    }
    let ways = ways(job, 0).into_iter();
    ways.map(|ways| vec![Question::Seen, Question::Computing, Question::Ways(ways)]).collect()
}

fn is_told(rule: &Rule, found: &Found, span_ns: i64, min_share: f64) -> bool {
    found.count > 0 && (rule.is_pattern || (found.cost_ns > 0 && found.share(span_ns) >= min_share))
}

fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    sort::by(&mut findings, |a, b| {
        let place = |finding: &Finding| (finding.name, finding.rank, finding.window);
        b.cost_ns.cmp(&a.cost_ns).then_with(|| place(a).cmp(&place(b))).then_with(|| a.subject.cmp(&b.subject))
    });
    findings
}

/// What a rule found, with ids of events as evidence, in a span of that length.
fn finding(rule: &Rule, found: Found, span_ns: i64) -> Finding {
    Finding {
        rank: None,
        window: 0,
        name: rule.name,
        share: found.share(span_ns),
        evidence: found.evidence,
        subject: found.subject,
        cost_ns: found.cost_ns,
        count: found.count,
        confidence: found.confidence,
        detail: found.detail,
        advice: found.advice.map_or(Cow::Borrowed(rule.advice), Cow::Owned),
    }
}

fn checks(findings: &[Finding]) -> Vec<Check> {
    let num_found = |rule: &Rule| findings.iter().filter(|finding| finding.name == rule.name).count() as i64;
    RULES.iter().map(|rule| Check { rule, num_found: num_found(rule) }).collect()
}
