//! Pairs Execution Traces with Kineto traces by name, head and rank.

mod copies;
mod file_pair;
mod name;
mod natural;
mod rule;

use crate::sort;
use copies::copies;
pub use file_pair::{FileHint, FileOrigin, FilePair, Pairing, PairingMethod};
pub use name::{execution_beside, is_archive_name, is_execution, is_report, is_trace, rank_of};
pub use natural::natural;
use rule::PairingRules;

/// The recordings among these files.
///
/// ```
/// use kinetoscope::read::{FileHead, PairingMethod, FileOrigin, FilePair, FileHint, pair_up};
/// let told = |name, rank| FileHint { name, head: FileHead { rank, ..FileHead::default() } };
/// let files = [told("worker1.123.pt.trace.json", Some(1)), told("worker0.124.pt.trace.json", Some(0)),
///     told("dlrm_eg_0.json", None), told("dlrm_eg_1.json", None)];
/// let pair = |kineto, execution| FilePair { kineto: Some(kineto), execution: Some(execution), how: PairingMethod::Number };
/// assert_eq!(pair_up(&files, FileOrigin::Place).pairs, [pair(1, 2), pair(0, 3)]);
/// ```
pub fn pair_up(files: &[FileHint<'_>], origin: FileOrigin) -> Pairing {
    let mut order: Vec<_> = files.iter().map(|file| natural(file.name)).zip(0..).collect();
    sort::ascending(&mut order);
    let place = |at: usize| order[at].1;
    let files: Vec<FileHint<'_>> = order.iter().map(|(_, at): &(_, usize)| files[*at]).collect();
    let copies = copies(&files);
    let is_execution = |at: &usize| files[*at].head.is_execution.unwrap_or_else(|| is_execution(files[*at].name));
    let originals = (0..files.len()).filter(|at| copies[*at].is_none());
    let (executions, kinetos) = originals.partition(is_execution);
    let mut rules = PairingRules::new(&files, kinetos, executions);
    rules.by_name();
    rules.by_rank();
    rules.by_number();
    if origin == FileOrigin::Choice {
        rules.by_choice();
    }
    let placed =
        |pair: FilePair| FilePair { kineto: pair.kineto.map(place), execution: pair.execution.map(place), ..pair };
    Pairing {
        pairs: rules.finish().into_iter().map(placed).collect(),
        copies: copies.iter().enumerate().filter_map(|(at, why)| Some((place(at), (*why)?))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::head::FileHead;

    type Seen<'a> = (Option<&'a str>, Option<&'a str>, &'static str);

    /// The pairs among files of which the heads tell something, or nothing.
    fn seen<'a>(files: &[(&'a str, Option<bool>, Option<i64>)], origin: FileOrigin) -> Vec<Seen<'a>> {
        let told = |(name, is_execution, rank): &(&'a str, _, _)| FileHint {
            name,
            head: FileHead { is_execution: *is_execution, rank: *rank },
        };
        let files: Vec<_> = files.iter().map(told).collect();
        let name = |at: Option<usize>| at.map(|at| files[at].name);
        let found = pair_up(&files, origin).pairs;
        found.iter().map(|pair| (name(pair.kineto), name(pair.execution), pair.how.word())).collect()
    }

    fn of_names<'a>(names: &[&'a str]) -> Vec<Seen<'a>> {
        seen(&names.iter().map(|name| (*name, None, None)).collect::<Vec<_>>(), FileOrigin::Place)
    }

    #[test]
    fn in_a_folder_the_first_that_are_named_alike() {
        let names = ["b/torch_et_0.json", "b/kineto_trace_0.json", "./a/kineto_trace_0.json", "a//torch_et_0.json"];
        assert_eq!(
            of_names(&names),
            [(Some(names[2]), Some(names[3]), "name"), (Some(names[1]), Some(names[0]), "name")]
        );
        assert_eq!(
            of_names(&["et/x_et.json", "kineto/x_kineto.json"]),
            [(Some("kineto/x_kineto.json"), Some("et/x_et.json"), "name")]
        );
        let twice = ["x_et.json", "x_eg.json", "x.json", "x_kineto.json", "x.pt.json"];
        assert_eq!(
            of_names(&twice),
            [
                (Some("x.json"), Some("x_eg.json"), "name"),
                (Some("x_kineto.json"), Some("x_et.json"), "name"),
                (Some("x.pt.json"), None, "alone"),
            ]
        );
    }

    #[test]
    fn what_is_left_of_a_rank_is_joined() {
        let names =
            ["rank-34.Jul_15.1074.json", "rank-34.et.json", "rank-35.a.json", "rank-35.b.json", "rank-35.et.json"];
        assert_eq!(
            of_names(&names),
            [
                (Some(names[0]), Some(names[1]), "rank"),
                (Some(names[2]), None, "alone"),
                (Some(names[3]), None, "alone"),
                (None, Some(names[4]), "alone"),
            ]
        );
    }

    #[test]
    fn heads_say_more_than_names() {
        let files = [
            ("a.json", Some(false), Some(1)),
            ("b.json", Some(true), Some(1)),
            ("kineto_trace_5.json", Some(true), None),
        ];
        assert_eq!(
            seen(&files, FileOrigin::Place),
            [(Some("a.json"), Some("b.json"), "rank"), (None, Some("kineto_trace_5.json"), "alone"),]
        );
    }

    #[test]
    fn a_series_is_joined_with_the_ranks_it_counts() {
        let kinetos = [("worker_10.json", None, Some(0)), ("worker_11.json", None, Some(1))];
        let hows = |series: &[&'static str]| -> Vec<_> {
            let series = series.iter().map(|name| (*name, Some(true), None));
            let files: Vec<_> = kinetos.into_iter().chain(series).collect();
            seen(&files, FileOrigin::Place).into_iter().map(|(_, _, how)| how).collect()
        };
        assert_eq!(hows(&["dlrm_eg_0.json", "dlrm_eg_1.json"]), ["number"; 2]);
        assert_eq!(hows(&["dlrm_eg_1.json"]), ["alone"; 3], "of a series of one nobody knows what counts");
        assert_eq!(hows(&["dlrm_eg_0.json", "dlrm_eg_7.json"]), ["alone"; 4]);
        assert_eq!(hows(&["x_eg_0.json", "dlrm_eg_0.json", "dlrm_eg_1.json"]), ["alone"; 5]);
        assert_eq!(hows(&["a_eg_0.json", "b_eg_1.json"]), ["alone"; 4]);
    }

    #[test]
    fn the_last_two_of_those_that_a_person_chose_belong_together() {
        let chosen = [("a.json", None, None), ("x_et.json", None, Some(1))];
        assert_eq!(seen(&chosen, FileOrigin::Choice), [(Some("a.json"), Some("x_et.json"), "given")]);
        assert_eq!(seen(&chosen, FileOrigin::Place).len(), 2);
        let of_others = [("a.json", None, Some(0)), ("x_et.json", None, Some(1))];
        assert_eq!(seen(&of_others, FileOrigin::Choice).len(), 2);
        let three = [("a.json", None, None), ("b.json", None, None), ("x_et.json", None, None)];
        assert_eq!(seen(&three, FileOrigin::Choice).len(), 3);
        assert_eq!(seen(&[], FileOrigin::Choice), []);
    }

    #[cfg(all(feature = "msprof", feature = "xspace"))]
    #[test]
    fn traces_beside_databases_and_profiles_are_passed_over() {
        let names = ["a/vm.trace.json.gz", "a/vm.xplane.pb", "b/vm.trace.json", "c/msprof_1.db", "c/trace_view.json"];
        let files: Vec<_> = names.into_iter().map(|name| FileHint { name, head: FileHead::default() }).collect();
        let found = pair_up(&files, FileOrigin::Place);
        let copies: Vec<_> = found.copies.iter().map(|(at, _)| names[*at]).collect();
        assert_eq!(copies, ["a/vm.trace.json.gz", "c/trace_view.json"]);
        assert_eq!(found.pairs.len(), 3);
    }

    #[test]
    fn copies_are_passed_over() {
        let names = ["k_0.json", "k_0.json.gz", "et_0.json.gz", "k_0.kscope", "b.kscope", "n.nsys-rep", "n.sqlite"];
        let files: Vec<_> = names.into_iter().map(|name| FileHint { name, head: FileHead::default() }).collect();
        let found = pair_up(&files, FileOrigin::Place);
        assert_eq!(
            found.copies.iter().map(|(at, _)| names[*at]).collect::<Vec<_>>(),
            ["k_0.json", "k_0.kscope", "n.nsys-rep"]
        );
        assert_eq!(found.pairs.len(), 4);
    }
}
