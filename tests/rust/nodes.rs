//! Which node each host event is, found in each of the ways.

use kinetoscope::analyze::coverage;
use kinetoscope::link::How;
use kinetoscope::{Input, Limits, LinkedTrace, read};

use crate::files;

/// A fixture's two texts, each with some text replaced by another.
fn changed(folder: &str, kineto: &[(&str, &str)], execution: &[(&str, &str)]) -> LinkedTrace {
    let replace = |name: &str, changes: &[(&str, &str)]| {
        let text = String::from_utf8(files::text(&format!("{folder}/{name}_0.json.gz"))).unwrap();
        changes.iter().fold(text, |text, (from, to)| text.replace(from, to))
    };
    let texts = [replace("kineto_trace", kineto), replace("torch_et", execution)];
    let inputs = texts.iter().map(|text| Input::new(text.as_bytes()));
    LinkedTrace::new(read(inputs, Limits::default()).unwrap())
}

const NO_RECORD_IDS: (&str, &str) = ("\"Record function id\"", "\"Recorded\"");

#[test]
fn external_ids_link_where_they_are_the_record_ids() {
    for folder in ["transformer_cpu", "minimal_cpu", "synthetic_cuda"] {
        let by_record = files::pair(folder);
        let by_external = changed(folder, &[NO_RECORD_IDS], &[]);
        let share = coverage(&by_external).nodes;
        assert_eq!(share.linked.get(&How::ExternalId), Some(&share.count), "{folder}: {share:?}");
        assert_eq!(by_external.links.nodes.node_of_event, by_record.links.nodes.node_of_event, "{folder}");
    }
}

#[test]
fn external_ids_that_are_no_record_ids_link_nothing() {
    // There each file counts on its own.
    assert_ne!(changed("mlp_gloo", &[NO_RECORD_IDS], &[]).links.nodes.how, Some(How::ExternalId));
}

#[test]
fn what_is_linked_nowhere_says_why() {
    let kineto = files::trace(r#"[{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1}]"#);
    let coverage = coverage(&LinkedTrace::new(kineto));
    let text = serde_json::to_string(&coverage).unwrap();
    assert!(
        text.contains(r#""operators":{"count":1,"num_linked":0,"linked":{},"unlinked":{"no_partner":1}}"#),
        "{text}"
    );
    assert!(text.contains(r#""reasons":{"no_partner":"there is no second file"#), "{text}");
}
