//! Runs what the fuzz targets do with a file, which is compiled nowhere else but for fuzzing.

#[path = "../../core/fuzz/src/lib.rs"]
#[expect(dead_code, unreachable_pub, reason = "a library of its own")]
mod exercise;

use crate::files;

#[test]
fn fixtures_pass_every_check_of_the_fuzz_targets() {
    for name in
        ["minimal_cpu/kineto_trace_0.json.gz", "minimal_cpu/torch_et_0.json.gz", "hostile/kineto_trace_0.json.gz"]
    {
        let mut text = files::text(name);
        // The sum of the bytes tells which of four parts is done; a tab adds 9.
        for _ in 0..4 {
            exercise::exercise_file(&text);
            text.push(b'\t');
        }
    }
    for name in ["synthetic_memory/memory_snapshot.pickle", "synthetic_chakra/rank.0.et"] {
        exercise::exercise_file(&files::bytes(name));
    }
}
