//! Tests of the core on whole traces.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::disallowed_macros, reason = "insta looks at its environment")]

mod afar;
mod analyses;
mod annotations;
mod blocking;
mod collective_ends;
mod collective_skew;
mod collectives;
mod containers;
mod critical_path;
mod dependencies;
mod device;
mod diff;
mod execution;
mod files;
mod finding_idle;
mod finding_rules;
mod findings;
mod frames;
mod hostile;
mod iterations;
mod job;
mod job_critical_path;
mod kernels;
mod label;
mod laws;
mod likeness;
mod linked;
mod links;
mod marks;
mod metrics;
mod nodes;
mod nsight;
mod nsight_hostile;
mod ranks;
mod redact;
mod replay;
mod report;
mod roofline;
mod scale;
mod scene;
mod screen;
mod seam;
mod search;
mod shared;
mod snapshot_hostile;
mod stacks;
mod stragglers;
mod stream_wait;
mod summary;
mod sync;
mod thin;
mod trim;
mod zoom;
