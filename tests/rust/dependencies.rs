//! Tests data dependencies between nodes.

use kinetoscope::LinkedTrace;

use crate::files;

/// A node: its id, its parent, its schema, and its inputs and outputs as `[tensor, storage, offset,
/// elements]`.
type Call<'a> = (u64, u64, &'a str, &'a [[i64; 4]], &'a [[i64; 4]]);

/// An Execution Trace of such nodes.
fn linked(calls: &[Call<'_>]) -> LinkedTrace {
    let tensors = |tensors: &[[i64; 4]]| {
        let values =
            tensors.iter().map(|[id, storage, offset, elems]| format!(r#"[{id},{storage},{offset},{elems},4,"cpu"]"#));
        let types = tensors.iter().map(|_| r#""Tensor(float)""#.to_owned());
        let join = |items: Vec<String>| items.join(",");
        format!(r#"{{"values":[{}],"shapes":[],"types":[{}]}}"#, join(values.collect()), join(types.collect()))
    };
    let node = |(id, parent, schema, inputs, outputs): &Call<'_>| {
        format!(
            r#"{{"id":{id},"name":"{}","ctrl_deps":{parent},"inputs":{},"outputs":{},"attrs":[
                {{"name":"op_schema","type":"string","value":"{schema}"}}]}}"#,
            schema.split('(').next().unwrap_or_default(),
            tensors(inputs),
            tensors(outputs)
        )
    };
    let nodes = calls.iter().map(node).collect::<Vec<_>>().join(",");
    LinkedTrace::new(files::trace(&format!(r#"{{"schema":"1.1.1-chakra.0.0.4","nodes":[{nodes}]}}"#)))
}

/// Pairs of producer and consumer.
fn dependencies(calls: &[Call<'_>]) -> Vec<(u64, u64)> {
    let linked = linked(calls);
    let found = linked.data_dependencies();
    assert_eq!(found.num_cut, 0);
    let id = |row: u32| linked.trace.nodes[row as usize].id;
    let mut pairs: Vec<_> = found.edges.iter().map(|edge| (id(edge.producer), id(edge.consumer))).collect();
    pairs.dedup();
    pairs
}

const NEW: &str = "f(Tensor self) -> Tensor";
const IN_PLACE: &str = "f_(Tensor(a!) self) -> ()";
const VIEW: &str = "view(Tensor(a) self) -> Tensor(a)";

#[test]
fn a_read_depends_on_the_last_write() {
    let chain: [Call<'_>; 4] = [
        (2, 1, NEW, &[[10, 20, 0, 4]], &[[11, 21, 0, 4]]),
        (3, 1, IN_PLACE, &[[11, 21, 0, 4]], &[]),
        (4, 1, NEW, &[[11, 21, 0, 4]], &[[12, 22, 0, 4]]),
        (5, 1, NEW, &[[10, 20, 0, 4]], &[]),
    ];
    assert_eq!(dependencies(&chain), [(2, 3), (3, 4)]);
    // The file has nodes in the order in which they ended; calls are in the order of their ids.
    let [a, b, c, d] = chain;
    let mut shuffled = dependencies(&[d, c, b, a]);
    shuffled.sort_unstable();
    assert_eq!(shuffled, [(2, 3), (3, 4)]);
}

#[test]
fn parts_of_a_storage_have_their_own_writers() {
    let pieces: [Call<'_>; 4] = [
        (2, 1, NEW, &[[9, 19, 0, 1]], &[[10, 20, 0, 8]]),
        (3, 1, IN_PLACE, &[[11, 20, 4, 4]], &[]),
        (4, 1, NEW, &[[12, 20, 0, 4]], &[]),
        (5, 1, NEW, &[[10, 20, 0, 8]], &[]),
    ];
    assert_eq!(dependencies(&pieces), [(2, 3), (2, 4), (2, 5), (3, 5)]);
}

#[test]
fn a_view_writes_nothing_but_makes_a_tensor() {
    let views: [Call<'_>; 5] = [
        (2, 1, NEW, &[[9, 19, 0, 1]], &[[10, 20, 0, 8]]),
        (3, 1, VIEW, &[[10, 20, 0, 8]], &[[11, 20, 0, 8]]),
        (4, 1, NEW, &[[10, 20, 0, 8]], &[]),
        (5, 1, NEW, &[[11, 20, 0, 8]], &[]),
        (6, 1, VIEW, &[[10, 20, 0, 8]], &[[12, 30, 0, 8]]),
    ];
    assert_eq!(dependencies(&views), [(2, 3), (2, 4), (2, 5), (2, 6), (3, 5)]);
}

#[test]
fn the_innermost_call_wrote_it_unless_it_only_allocated() {
    let nested: [Call<'_>; 5] = [
        (2, 1, NEW, &[[9, 19, 0, 1]], &[[10, 20, 0, 4]]),
        (3, 2, "aten::empty_like(Tensor self) -> Tensor", &[[9, 19, 0, 1]], &[[10, 20, 0, 4]]),
        (4, 1, NEW, &[[10, 20, 0, 4]], &[[11, 21, 0, 4]]),
        (5, 4, NEW, &[[10, 20, 0, 4]], &[[11, 21, 0, 4]]),
        (6, 1, NEW, &[[11, 21, 0, 4]], &[]),
    ];
    assert_eq!(dependencies(&nested), [(2, 4), (2, 5), (5, 6)]);
}

#[test]
fn a_call_never_depends_on_one_that_it_is_inside_of() {
    let inside: [Call<'_>; 3] = [
        (2, 1, NEW, &[[9, 19, 0, 1]], &[[10, 20, 0, 4]]),
        (3, 1, IN_PLACE, &[[10, 20, 0, 4]], &[]),
        (4, 3, NEW, &[[10, 20, 0, 4]], &[]),
    ];
    assert_eq!(dependencies(&inside), [(2, 3), (2, 4)]);
}

#[test]
fn what_is_empty_or_out_of_range_depends_on_nothing() {
    let odd: [Call<'_>; 3] = [
        (2, 1, NEW, &[], &[[10, 20, 0, 0]]),
        (3, 1, NEW, &[[10, 20, 0, 0]], &[[10, 20, i64::MAX, 4]]),
        (4, 4, NEW, &[[10, 20, i64::MIN, -4]], &[[11, 0, -5, i64::MAX]]),
    ];
    assert_eq!(dependencies(&odd), []);
}

#[test]
fn a_storage_in_many_pieces_takes_no_time_without_bounds() {
    let pieces: Vec<_> = (0..4_000).map(|at| [[at + 100, 7, at, 1]]).collect();
    let whole = [[1, 7, 0, 4_000]];
    let writes = pieces.iter().enumerate().map(|(at, piece)| (at as u64 + 2, 1, NEW, &[][..], &piece[..]));
    let reads = (0..4_000).map(|at| (at + 10_000, 1, NEW, &whole[..], &[][..]));
    let linked = linked(&writes.chain(reads).collect::<Vec<Call<'_>>>());
    let found = linked.data_dependencies();
    assert!(found.num_cut > 3_000, "{}", found.num_cut);
    assert!(found.edges.len() > 4_000 && found.edges.len() < 1_000_000, "{}", found.edges.len());
}
