//! Measures each part of reading: on the largest fixture, and on a large trace where available.

#![expect(clippy::expect_used, reason = "a benchmark that cannot go on panics")]

use std::hint::black_box;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BatchSize, Criterion, SamplingMode, Throughput};
use flate2::read::MultiGzDecoder;
use kinetoscope::json::{ScanFault, Scanner};
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, read, write_snapshot};

const FIXTURE: &str = "../tests/data/transformer_cpu/kineto_trace_0.json.gz";
const LARGE: &str = "data/AMD-AGI__TraceLens/tests/traces/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz";

fn main() {
    let mut criterion = Criterion::default()
        .without_plots()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    measure(&mut criterion, "transformer_cpu", Path::new(FIXTURE));
    let large = shared().join(LARGE);
    if large.exists() {
        measure(&mut criterion, "owlv2", &large);
    }
    criterion.final_summary();
}

/// The folder of other people's traces.
fn shared() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "where the traces are is for the person who measures to say")]
    std::env::var_os("KINETOSCOPE_SHARED").map_or_else(|| PathBuf::from("../../shared"), PathBuf::from)
}

fn measure(criterion: &mut Criterion, name: &str, path: &Path) {
    let packed = std::fs::read(path).expect("a trace");
    let text = inflate_all(&packed);
    let trace = read_trace(&text);
    let snapshot = write_snapshot(&trace).expect("a snapshot");

    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("inflate", |bencher| bencher.iter(|| inflate(&packed)));
    group.bench_function("touch", |bencher| bencher.iter(|| memchr::memchr_iter(b'\n', &text).count()));
    group.bench_function("scan", |bencher| bencher.iter(|| scan(&text).expect("JSON")));
    group.bench_function("read_plain", |bencher| bencher.iter_with_large_drop(|| read_trace(&text)));
    group.bench_function("read_gzip", |bencher| bencher.iter_with_large_drop(|| read_trace(&packed)));
    group.bench_function("link", |bencher| {
        bencher.iter_batched(|| trace.clone(), LinkedTrace::new, BatchSize::PerIteration);
    });
    group.bench_function("snapshot_write", |bencher| bencher.iter_with_large_drop(|| write_snapshot(&trace)));
    group.bench_function("snapshot_load", |bencher| {
        bencher.iter_with_large_drop(|| read_snapshot(&snapshot, Limits::default()));
    });
    group.finish();
}

fn read_trace(bytes: &[u8]) -> Trace {
    read([Input::new(bytes)], Limits::default()).expect("a trace")
}

fn inflate_all(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    MultiGzDecoder::new(packed).read_to_end(&mut text).expect("a gzip stream");
    text
}

/// Inflates piece by piece, as reading does, and keeps nothing.
fn inflate(packed: &[u8]) -> usize {
    let mut stream = MultiGzDecoder::new(packed);
    let mut piece = vec![0; 1 << 20];
    let mut total = 0;
    loop {
        let count = stream.read(&mut piece).expect("a gzip stream");
        if count == 0 {
            return total;
        }
        total += black_box(&piece[..count]).len();
    }
}

/// Passes over a document key by key, as reading does, and keeps nothing.
fn scan(text: &[u8]) -> Result<(), ScanFault> {
    let mut scanner = Scanner::new(text);
    scanner.enter_object()?;
    while let Some(key) = scanner.next_key()? {
        if key.raw != b"traceEvents" {
            black_box(scanner.skip_value()?);
            continue;
        }
        scanner.enter_array()?;
        while scanner.next_element()? {
            scan_object(&mut scanner, 1)?;
        }
    }
    Ok(())
}

/// An event, and its arguments.
fn scan_object(scanner: &mut Scanner<'_>, levels: u32) -> Result<(), ScanFault> {
    scanner.enter_object()?;
    while let Some(key) = scanner.next_key()? {
        if levels > 0 && key.raw == b"args" {
            scan_object(scanner, levels - 1)?;
        } else {
            black_box(scanner.skip_value()?);
        }
    }
    Ok(())
}
