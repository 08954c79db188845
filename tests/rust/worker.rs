//! Tests that jobs held by workers give the same results as local ones.

use std::sync::Arc;

use kinetoscope::analyze::{ANALYSES, Analysis, AnalysisResult, RankedTrace, analysis};
use kinetoscope::edit::communications;
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::write::snapshot::write_snapshot;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, read};
use serde_json::{Value, json};

use crate::{files, shared, stragglers};

fn tables(answer: &AnalysisResult) -> Vec<(&'static str, Vec<Value>)> {
    answer.tables.iter().map(|table| (table.name(), files::rows(&**table))).collect()
}

fn of_one(analysis: &Analysis, traces: &[RankedTrace], request: &str) -> AnalysisResult {
    let answers: Vec<_> =
        traces.iter().map(|(rank, linked)| (*rank, analysis.packed_answer(linked, request).unwrap())).collect();
    analysis.answer_of_packed(&answers, request).unwrap()
}

/// The bytes of a trace that travel to the coordinator, read again.
fn travelled((rank, linked): &RankedTrace) -> RankedTrace {
    let bytes = write_snapshot(&communications(linked)).unwrap();
    (*rank, Arc::new(LinkedTrace::new(read_snapshot(&bytes, Limits::default()).unwrap())))
}

pub(crate) fn compared(analysis: &Analysis, traces: &[RankedTrace], request: &str) -> AnalysisResult {
    let arrived: Vec<_> = traces.iter().map(travelled).collect();
    let mut told = vec![Vec::new(); traces.len()];
    loop {
        let questions = analysis.plan(&arrived, &told, request).unwrap();
        if questions.iter().all(Vec::is_empty) {
            break;
        }
        for (at, asked) in questions.iter().enumerate().filter(|(_, asked)| !asked.is_empty()) {
            told[at].push(analysis.respond(&traces[at].1, asked, request).unwrap());
        }
    }
    analysis.answer_of_replies(&arrived, &told, request).unwrap()
}

pub(crate) fn assert_alike(traces: &[RankedTrace], request: &Value) {
    let request = request.to_string();
    for analysis in ANALYSES {
        let Ok(near) = analysis.answer_of_job(traces, &request, 2) else { continue };
        let far = if analysis.kind() == "one" {
            of_one(analysis, traces, &request)
        } else {
            compared(analysis, traces, &request)
        };
        assert_eq!(tables(&far), tables(&near), "{}", analysis.name);
        assert_eq!((far.reason, far.plot, far.drawn), (near.reason, near.plot, near.drawn), "{}", analysis.name);
    }
}

#[test]
fn two_ranks_on_gloo() {
    let rank = |rank: i64| {
        let [kineto, execution] =
            ["kineto_trace", "torch_et"].map(|name| files::bytes(&format!("mlp_gloo/{name}_{rank}.json.gz")));
        let read = read([Input::new(&kineto), Input::new(&execution)], Limits::default()).unwrap();
        (Some(rank), Arc::new(LinkedTrace::new(read)))
    };
    let traces = [rank(0), rank(1)];
    assert_alike(&traces, &json!({}));
    assert_alike(&traces, &json!({"iteration": 3}));
}

#[test]
fn whoever_is_late_is_blamed_by_name() {
    let launch = ("cuda_runtime", "launch", 1, 111, 1, 7);
    let load = |dur| ("user_annotation", "load", 1, 112, dur, 0);
    let gemm = |dur| ("kernel", "gemm", 7, 115, dur, 7);
    for (usual, other) in [(gemm(30), gemm(70)), (load(10), load(70))] {
        let traces = stragglers::job(40, &[launch, usual], &[launch, other]);
        assert_alike(&traces, &json!({}));
        assert_alike(&traces, &json!({"longest": 0}));
        let names = tables(&compared(analysis("stragglers").unwrap(), &traces, "{}"));
        assert_eq!(names[1].1[0]["name"], json!(usual.1));
    }
}

#[test]
fn eight_ranks_of_dlrm() {
    let found = shared::archived("facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz");
    let Some(found) = found else { return };
    let ranked = |trace: Trace| (trace.rank(), Arc::new(LinkedTrace::new(trace)));
    let mut traces: Vec<RankedTrace> = found.into_iter().map(ranked).collect();
    traces.sort_by_key(|(rank, _)| *rank);
    assert_eq!(traces.len(), 8);
    assert_alike(&traces, &json!({}));
}

#[test]
fn what_was_not_packed_here_is_refused() {
    let analysis = analysis("kernels").unwrap();
    let whole = analysis.packed_answer(&Arc::new(files::pair("synthetic_cuda")), "{}").unwrap();
    assert!(analysis.answer_of_packed(&[(None, whole.clone())], "{}").is_ok());
    for end in 0..whole.len() {
        let _ = analysis.answer_of_packed(&[(None, whole[..end].to_vec())], "{}");
    }
    for at in 0..whole.len() {
        let mut other = whole.clone();
        other[at] = other[at].wrapping_add(1);
        if let Ok(answer) = analysis.answer_of_packed(&[(Some(0), other)], "{}") {
            let _ = tables(&answer);
        }
    }
}
