//! Tells the findings: meaning, cost, cause, evidence and fix.

use super::completeness::{ids_of, ids_value};
use super::digest_block::DigestBlock;
use super::digest_contents::DigestContents;
use super::digest_item::{DigestItem, ItemWeights};
use super::digest_value::DigestValue;
use crate::analyze::known_analysis;
use crate::analyze::tables::{FINDING_RULES, FINDING_TOTALS, FINDINGS};
use crate::table::TableColumn;
use crate::view::report::findings::grouped;
use crate::view::report::report_frame::ReportFrame;
use crate::view::report::requests::OPTIONS;
use crate::view::report::source::{ReportResult, frame};

const MAX_FINDINGS: usize = 16;
/// Rows to read: in a job with many ranks, most findings repeat on other ranks.
const MAX_ROWS: usize = 100_000;
const MAX_RULES: usize = 100;
const WEIGHTS: ItemWeights = ItemWeights { first: 3, step: 5 };
/// Weight of the costs together.
const TOTAL: u32 = 12;

const FINDING: TableColumn = FINDINGS.column("finding");
const SUBJECT: TableColumn = FINDINGS.column("subject");
const COST: TableColumn = FINDINGS.column("cost_ns");
const SHARE: TableColumn = FINDINGS.column("share");
const OVERLAP: TableColumn = FINDINGS.column("overlap_ns");
const COUNT: TableColumn = FINDINGS.column("count");
const CONFIDENCE: TableColumn = FINDINGS.column("confidence");
const DETAIL: TableColumn = FINDINGS.column("detail");
const ADVICE: TableColumn = FINDINGS.column("advice");
const EVIDENCE: TableColumn = FINDINGS.column("evidence");
const RULE: TableColumn = FINDING_RULES.column("finding");
const RULE_DOC: TableColumn = FINDING_RULES.column("description");
const RULE_ADVICE: TableColumn = FINDING_RULES.column("advice");
const UNION: TableColumn = FINDING_TOTALS.column("union_ns");

/// The findings of a digest, with the rules that they come from.
pub(super) struct DigestFindings {
    found: ReportFrame,
    rules: ReportFrame,
    totals: ReportFrame,
    /// Rows of one finding and one subject, from one rank or several, sorted by cost.
    groups: Vec<Vec<usize>>,
}

/// Events that prove a finding.
pub(super) struct FindingEvidence {
    pub(super) rank: Option<i64>,
    pub(super) ids: Vec<i64>,
}

impl DigestFindings {
    pub(super) fn of(contents: &DigestContents<'_>) -> ReportResult<Self> {
        let answer = contents.source.ask(known_analysis("findings").name, OPTIONS)?;
        let found = frame(&answer, FINDINGS.name, MAX_ROWS)?;
        let groups = grouped(0..found.num_rows, |row| {
            [FINDING, SUBJECT].map(|column| found.text(column, *row).map(str::to_owned))
        });
        let (rules, totals) =
            (frame(&answer, FINDING_RULES.name, MAX_RULES)?, frame(&answer, FINDING_TOTALS.name, MAX_ROWS)?);
        Ok(Self { found, rules, totals, groups })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The costliest findings, and the time that all cost together.
    pub(super) fn blocks(&self, contents: &DigestContents<'_>) -> Vec<DigestBlock> {
        let command = contents.commands.analysis(known_analysis("findings").name, "");
        let told = self.groups.iter().take(MAX_FINDINGS).enumerate();
        let mut items: Vec<_> = told.map(|(at, rows)| self.item(contents, rows, WEIGHTS.at(at))).collect();
        items.extend(self.total());
        let block = DigestBlock::list("Findings, the costliest first", command, items);
        vec![DigestBlock { num_all: self.groups.len(), is_measured: true, ..block }]
    }

    /// Events of the costliest finding that has any.
    pub(super) fn evidence(&self) -> Option<FindingEvidence> {
        let ids = |row: usize| ids_of(self.found.text(EVIDENCE, row).unwrap_or_default());
        let evidence = |rows: &Vec<usize>| FindingEvidence { rank: self.found.rank(rows[0]), ids: ids(rows[0]) };
        self.groups.iter().map(evidence).find(|evidence| !evidence.ids.is_empty())
    }

    fn item(&self, contents: &DigestContents<'_>, rows: &[usize], weight: u32) -> DigestItem {
        let found = &self.found;
        let row = rows[0];
        let text = |column| found.text(column, row).map(str::to_owned);
        let time = |column| found.int(column, row).map(DigestValue::Time);
        let rule = (0..self.rules.num_rows).find(|rule| self.rules.text(RULE, *rule) == found.text(FINDING, row));
        let of_rule = |column| rule.and_then(|rule| self.rules.text(column, rule));
        let doc = of_rule(RULE_DOC).map(|doc| DigestValue::Words(doc.to_owned()));
        let advice = found.text(ADVICE, row).map(|advice| {
            // Rules may name what they found in the fix.
            let is_own = of_rule(RULE_ADVICE) == Some(advice);
            if is_own { DigestValue::Words(advice.to_owned()) } else { DigestValue::Quoted(advice.to_owned()) }
        });
        let has_cost = found.int(COST, row).is_some_and(|ns| ns > 0);
        let rank = found.rank(row).filter(|_| contents.source.is_job());
        let others: Vec<_> = rows[1..].iter().filter_map(|row| found.rank(*row)).collect();
        DigestItem::new(weight)
            .maybe("finding", "", text(FINDING).map(DigestValue::Words))
            .maybe("subject", "", text(SUBJECT).map(DigestValue::Name))
            .maybe("rank", "rank", rank.map(DigestValue::Id))
            .maybe("cost_ns", "costs at most", time(COST).filter(|_| has_cost))
            .maybe("share", "share", found.number(SHARE, row).filter(|_| has_cost).map(DigestValue::Share))
            .maybe(
                "overlap_ns",
                "of which others count too",
                time(OVERLAP).filter(|overlap| *overlap != DigestValue::Time(0)),
            )
            .maybe("count", "count", found.int(COUNT, row).map(DigestValue::Count))
            .maybe("confidence", "confidence", found.number(CONFIDENCE, row).map(DigestValue::Share))
            .maybe("evidence", "events", text(EVIDENCE).and_then(|ids| ids_value(&ids)))
            .maybe("other_ranks", "also on ranks", (!others.is_empty()).then_some(DigestValue::Ids(others)))
            .line("cause", "Cause:", doc)
            .line("detail", "Seen:", text(DETAIL).map(DigestValue::Quoted))
            .line("advice", "Fix:", advice)
    }

    /// The time in which any finding costs, on the rank with the most.
    fn total(&self) -> Option<DigestItem> {
        let most = (0..self.totals.num_rows).filter_map(|row| self.totals.int(UNION, row)).max();
        let most = most.filter(|ns| *ns > 0)?;
        Some(DigestItem::new(TOTAL).with(
            "union_ns",
            "costs overlap; all findings of a trace together cost at most",
            DigestValue::Time(most),
        ))
    }
}
