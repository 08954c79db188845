//! Pairing rules: each takes the files that the earlier rules left.

use super::file_pair::{FileHint, FilePair, PairingMethod};
use super::name::{bare, folder, last, number, rank_of};
use super::natural::parts;
use crate::sort;

/// Files in natural order, with decisions so far.
pub(super) struct PairingRules<'a> {
    files: &'a [FileHint<'a>],
    /// Those that no rule has taken yet.
    kinetos: Vec<usize>,
    executions: Vec<usize>,
    /// By the place of its first file.
    pairs: Vec<Option<FilePair>>,
}

/// The key that a rule compares.
type PairingKey = Option<Vec<u8>>;

/// The places of a Kineto trace and of an Execution Trace.
type FileMatch = (usize, usize);

impl<'a> PairingRules<'a> {
    pub(super) fn new(files: &'a [FileHint<'a>], kinetos: Vec<usize>, executions: Vec<usize>) -> Self {
        Self { files, kinetos, executions, pairs: vec![None; files.len()] }
    }

    /// In the same folder the first of those that are named alike; in different ones, as in an
    /// archive with one for each kind, the only ones.
    pub(super) fn by_name(&mut self) {
        let bares: Vec<_> = self.files.iter().map(|file| bare(file.name)).collect();
        let beside = |at: usize| Some([folder(self.files[at].name), bares[at].clone()].join(&0));
        self.take(PairingMethod::Name, self.matches(false, &beside));
        self.take(PairingMethod::Name, self.matches(true, &|at| Some(bares[at].clone())));
    }

    pub(super) fn by_rank(&mut self) {
        self.take(PairingMethod::Rank, self.matches(true, &|at| key(self.rank(at))));
    }

    /// A series of names in which one number varies, over just the ranks of the others.
    pub(super) fn by_number(&mut self) {
        let names: Vec<_> = self.executions.iter().map(|at| last(self.files[*at].name.as_bytes())).collect();
        let Some(varying) = varying(&names) else { return };
        let mut numbers = vec![None; self.files.len()];
        self.kinetos.iter().for_each(|at| numbers[*at] = self.rank(*at));
        self.executions.iter().zip(varying).for_each(|(at, number)| numbers[*at] = number);
        let found = self.matches(true, &|at| key(numbers[at]));
        if found.len() == self.kinetos.len() && found.len() == self.executions.len() {
            self.take(PairingMethod::Number, found);
        }
    }

    /// The only two that are left, unless they say that they are of different ranks.
    pub(super) fn by_choice(&mut self) {
        let ([kineto], [execution]) = (self.kinetos.as_slice(), self.executions.as_slice()) else { return };
        let ranks = [*kineto, *execution].map(|at| self.rank(at));
        if ranks.contains(&None) || ranks[0] == ranks[1] {
            self.take(PairingMethod::Given, vec![(*kineto, *execution)]);
        }
    }

    /// All pairs and single files, in natural order.
    pub(super) fn finish(mut self) -> Vec<FilePair> {
        let how = PairingMethod::Alone;
        self.kinetos.iter().for_each(|at| self.pairs[*at] = Some(FilePair { kineto: Some(*at), execution: None, how }));
        self.executions
            .iter()
            .for_each(|at| self.pairs[*at] = Some(FilePair { kineto: None, execution: Some(*at), how }));
        self.pairs.into_iter().flatten().collect()
    }

    /// The content's fact, else the name's.
    fn rank(&self, at: usize) -> Option<i64> {
        self.files[at].head.rank.or_else(|| rank_of(self.files[at].name))
    }

    /// Those that have the same key; with `are_only`, those that are the only ones of their kind
    /// with it.
    fn matches(&self, are_only: bool, key: &dyn Fn(usize) -> PairingKey) -> Vec<FileMatch> {
        let keyed = |of_kind: &[usize]| {
            let mut keyed: Vec<_> = of_kind.iter().filter_map(|at| Some((key(*at)?, *at))).collect();
            sort::ascending(&mut keyed);
            keyed
        };
        let (kinetos, executions) = (keyed(&self.kinetos), keyed(&self.executions));
        let mut found = Vec::new();
        for alike in kinetos.chunk_by(|a, b| a.0 == b.0) {
            let from = executions.partition_point(|(key, _)| *key < alike[0].0);
            let others = executions[from..].iter().take_while(|(key, _)| *key == alike[0].0);
            let are_matched = !are_only || (alike.len(), others.clone().count()) == (1, 1);
            let matched = alike.iter().zip(others).filter(|_| are_matched);
            found.extend(matched.map(|((_, kineto), (_, execution))| (*kineto, *execution)));
        }
        found
    }

    fn take(&mut self, how: PairingMethod, found: Vec<FileMatch>) {
        let mut is_taken = vec![false; self.files.len()];
        for (kineto, execution) in found {
            (is_taken[kineto], is_taken[execution]) = (true, true);
            self.pairs[kineto] = Some(FilePair { kineto: Some(kineto), execution: Some(execution), how });
        }
        self.kinetos.retain(|at| !is_taken[*at]);
        self.executions.retain(|at| !is_taken[*at]);
    }
}

fn key(number: Option<i64>) -> PairingKey {
    number.map(|number| number.to_be_bytes().to_vec())
}

/// The one part in which the names differ, of each; `None` when they differ in none or in several.
fn varying(names: &[&[u8]]) -> Option<Vec<Option<i64>>> {
    let split: Vec<Vec<&[u8]>> = names.iter().map(|name| parts(name).collect()).collect();
    let (first, others) = split.split_first()?;
    if others.iter().any(|other| other.len() != first.len()) {
        return None;
    }
    let mut columns = (0..first.len()).filter(|at| others.iter().any(|other| other[*at] != first[*at]));
    let (column, None) = (columns.next()?, columns.next()) else { return None };
    Some(split.iter().map(|parts| number(parts[column])).collect())
}
