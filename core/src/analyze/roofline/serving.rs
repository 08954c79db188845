//! Costs of operators of serving engines: vLLM, `SGLang`, aiter and `FlashInfer`.
//!
//! They write results into arguments, so that each tensor moves once where it is read or written,
//! and twice where it is both. The same names have the same arguments in all namespaces.

use super::call::{OperatorCall, TensorArgument};
use super::cost::{OperatorCost, entry};
use crate::trace::step_name::{RequestGroup, StepFacts};

/// Namespaces of operators.
const NAMESPACES: [&str; 9] =
    ["_C", "_C_cache_ops", "_rocm_C", "vllm", "sgl_kernel", "sglang", "aiter", "flashinfer", "_vllm_fa3_C"];

/// Computation of an operator, with the places of its arguments.
#[derive(Debug, Clone, Copy)]
enum ServingKind {
    /// A product of rows with a matrix of (columns, summed).
    Linear { left: usize, right: usize },
    /// A product with a matrix of (summed, columns), into the first argument if it is not on the
    /// left.
    Product { left: usize, right: usize },
    /// A product of elements of 4 bits, two in a byte, with a matrix of (columns, summed).
    PackedLinear { left: usize, right: usize },
    /// Root mean square of rows, times a weight: result, input, weight.
    Norm,
    /// The same of the sum of input and residual, both written.
    AddNormInPlace,
    /// The same: result, input, residual, sum, weight.
    AddNorm,
    /// An activation of one half of each row, times the other: result, input.
    Gate,
    /// Turns pairs of query and key by their position: positions, query, key, size of a head, table
    /// of angles.
    Rotation,
    /// Writes keys and values into a cache: keys, values, both caches, places.
    Store,
}

use ServingKind::{AddNorm, AddNormInPlace, Gate, Linear, Norm, PackedLinear, Product, Rotation, Store};

static MATMULS: &[(&str, ServingKind)] = &[
    ("rocm_unquantized_gemm", Linear { left: 0, right: 1 }),
    ("rocm_unquantized_gemm_impl", Linear { left: 0, right: 1 }),
    ("gemm_a16w16", Linear { left: 0, right: 1 }),
    ("gemm_a8w8", Linear { left: 0, right: 1 }),
    ("gemm_a8w8_CK", Linear { left: 0, right: 1 }),
    ("gemm_a8w8_bpreshuffle", Linear { left: 0, right: 1 }),
    ("gemm_a8w8_blockscale", Linear { left: 0, right: 1 }),
    ("gemm_a4w4", PackedLinear { left: 0, right: 1 }),
    ("fp8_scaled_mm", Product { left: 0, right: 1 }),
    ("int8_scaled_mm", Product { left: 0, right: 1 }),
    ("fp8_blockwise_scaled_mm", Product { left: 0, right: 1 }),
    ("cutlass_scaled_mm", Product { left: 1, right: 2 }),
    ("cutlass_scaled_mm_azp", Product { left: 1, right: 2 }),
    ("cutlass_scaled_fp4_mm", PackedLinear { left: 1, right: 2 }),
];

static NORMALISATIONS: &[(&str, ServingKind)] = &[
    ("rms_norm", Norm),
    ("rmsnorm", Norm),
    ("fused_add_rms_norm", AddNormInPlace),
    ("fused_add_rmsnorm", AddNormInPlace),
    ("add_rmsnorm", AddNorm),
];

static ELEMENTWISE: &[(&str, ServingKind)] = &[
    ("silu_and_mul", Gate),
    ("gelu_and_mul", Gate),
    ("gelu_tanh_and_mul", Gate),
    ("mul_and_silu", Gate),
    ("fatrelu_and_mul", Gate),
    ("rotary_embedding", Rotation),
];

static STORES: &[(&str, ServingKind)] =
    &[("reshape_and_cache", Store), ("reshape_and_cache_flash", Store), ("store_cache", Store)];

/// Operations per element of a norm: square, sum, scale by the root, and by the weight.
const NORM_FLOPS: i64 = 5;

pub(super) fn is_matmul(name: &str) -> bool {
    kind(MATMULS, name).is_some()
}

pub(super) fn is_normalisation(name: &str) -> bool {
    kind(NORMALISATIONS, name).is_some()
}

pub(super) fn is_elementwise(name: &str) -> bool {
    kind(ELEMENTWISE, name).is_some()
}

pub(super) fn is_store(name: &str) -> bool {
    kind(STORES, name).is_some()
}

/// The kind of an operator in a table, in any of the namespaces.
fn kind(table: &[(&str, ServingKind)], name: &str) -> Option<ServingKind> {
    let (namespace, name) = name.split_once("::")?;
    NAMESPACES.contains(&namespace).then(|| entry(table, name))?
}

pub(super) fn cost(name: &str, call: &OperatorCall) -> Option<OperatorCost> {
    let tables = [MATMULS, NORMALISATIONS, ELEMENTWISE, STORES];
    match tables.into_iter().find_map(|table| kind(table, name))? {
        Linear { left, right } => matmul(call, left, right, Layout { is_transposed: true, packed: 1 }),
        Product { left, right } => matmul(call, left, right, Layout { is_transposed: false, packed: 1 }),
        PackedLinear { left, right } => matmul(call, left, right, Layout { is_transposed: true, packed: 2 }),
        Norm => Some(moved_once(call, call.tensor(1)?, NORM_FLOPS)),
        AddNorm => Some(moved_once(call, call.tensor(1)?, NORM_FLOPS + 1)),
        AddNormInPlace => {
            let (input, residual) = (call.tensor(0)?, call.tensor(1)?);
            let written = input.rewritten_bytes().saturating_add(residual.rewritten_bytes());
            let cost = moved_once(call, input, NORM_FLOPS + 1);
            Some(OperatorCost { bytes: cost.bytes.saturating_add(written), ..cost })
        }
        Gate => Some(moved_once(call, call.tensor(0)?, 2)),
        Rotation => rotation(call),
        Store => {
            let (keys, values) = (call.tensor(0)?, call.tensor(1)?);
            let cached = call.tensor(2)?.dtype.bytes;
            let num_elems = keys.num_elems().saturating_add(values.num_elems());
            let read = keys.bytes().saturating_add(values.bytes()).saturating_add(bytes_of(call, 4));
            Some(OperatorCost {
                flops: 0,
                bytes: read.saturating_add(num_elems.saturating_mul(cached)),
                dtype: keys.dtype,
            })
        }
    }
}

/// Where query and key are; the value follows. The key is that of the new tokens or the cache: both
/// have heads and channels last.
#[derive(Debug, Clone, Copy)]
struct PagedOperands {
    query: usize,
    key: usize,
}

/// Beginnings of names: `SGLang` ends them with a number.
const PAGED_ATTENTION: [(&str, PagedOperands); 2] = [
    ("vllm::unified_attention", PagedOperands { query: 0, key: 1 }),
    ("sglang_profiler::attention_paged_attention_ragged", PagedOperands { query: 2, key: 3 }),
];

fn paged_operands(name: &str) -> Option<PagedOperands> {
    PAGED_ATTENTION.iter().find(|(start, _)| name.starts_with(start)).map(|(_, operands)| *operands)
}

pub(super) fn is_paged_attention(name: &str) -> bool {
    paged_operands(name).is_some()
}

/// Scores and result of each pair of a query and a key: `2 · (channels of the key + of the value)`
/// operations for each head. Query, result and the cached keys and values move once.
pub(super) fn paged_attention_cost(name: &str, call: &OperatorCall, facts: &StepFacts) -> Option<OperatorCost> {
    let at = paged_operands(name)?;
    let (query, key, value) = (call.tensor(at.query)?, call.tensor(at.key)?, call.tensor(at.key + 1)?);
    let [num_tokens, heads, channels] = query.shape[..] else { return None };
    let [.., key_heads, key_channels] = key.shape[..] else { return None };
    let value_channels = *value.shape.last()?;
    let of = |group: &RequestGroup| -> Option<(u64, u64)> {
        if group.num_requests == Some(0) {
            return Some((0, 0));
        }
        let kv_tokens = group.num_kv_tokens?;
        // A request that gets one token has one query.
        let is_single = group.num_tokens.is_some() && group.num_tokens == group.num_requests;
        Some((group.num_token_pairs.or_else(|| is_single.then_some(kv_tokens))?, kv_tokens))
    };
    let (context, generation) = (of(&facts.context)?, of(&facts.generation)?);
    let sum = |a: u64, b: u64| i64::try_from(a.saturating_add(b)).ok();
    let (pairs, kv_tokens) = (sum(context.0, generation.0)?, sum(context.1, generation.1)?);
    let cached = kv_tokens.saturating_mul(key_heads).saturating_mul(key_channels.saturating_add(value_channels));
    let result = num_tokens.saturating_mul(heads).saturating_mul(value_channels);
    Some(OperatorCost {
        flops: pairs.saturating_mul(heads).saturating_mul(2).saturating_mul(channels.saturating_add(value_channels)),
        bytes: query
            .bytes()
            .saturating_add(cached.saturating_mul(key.dtype.bytes))
            .saturating_add(result.saturating_mul(query.dtype.bytes)),
        dtype: query.dtype,
    })
}

/// All tensors once, and operations for each element of one of them.
fn moved_once(call: &OperatorCall, of: &TensorArgument, flops: i64) -> OperatorCost {
    OperatorCost { flops: of.num_elems().saturating_mul(flops), bytes: call.read_bytes(), dtype: of.dtype }
}

/// How a matrix lies, and how many elements are in each of its bytes.
#[derive(Debug, Clone, Copy)]
struct Layout {
    is_transposed: bool,
    packed: i64,
}

/// Arguments among which a result may be.
const MAX_PLACES: usize = 8;

/// `2·M·N·K` operations. A result that is an argument moves with the others.
fn matmul(call: &OperatorCall, left: usize, right: usize, layout: Layout) -> Option<OperatorCost> {
    let (rows, matrix) = (call.tensor(left)?, call.tensor(right)?);
    let (summed, outer) = rows.shape.split_last()?;
    let [a, b] = matrix.shape[..] else { return None };
    let (columns, depth) = if layout.is_transposed { (a, b) } else { (b, a) };
    if *summed != depth {
        return None;
    }
    let num_elems = super::call::product(outer).saturating_mul(columns);
    let flops = num_elems.saturating_mul(*summed).saturating_mul(2).saturating_mul(layout.packed);
    // Results of quantized products are of 16 bits.
    let result = num_elems.saturating_mul(if rows.dtype.bytes == 1 { 2 } else { rows.dtype.bytes });
    let shape: Vec<i64> = outer.iter().copied().chain([columns]).collect();
    let is_argument = (0..MAX_PLACES)
        .filter(|place| *place != left && *place != right)
        .any(|place| call.tensor(place).is_some_and(|tensor| tensor.shape == shape));
    let bytes = call.read_bytes().saturating_add(if is_argument { 0 } else { result });
    Some(OperatorCost { flops, bytes, dtype: rows.dtype })
}

/// Each pair of elements takes four products and two sums. Query and key are read and written, and
/// of the table as many rows as there are positions.
fn rotation(call: &OperatorCall) -> Option<OperatorCost> {
    let (positions, query) = (call.tensor(0)?, call.tensor(1)?);
    let table = call.tensor(4)?;
    let turned = table.shape.get(1).copied()?;
    let head = call.integers(3)?.first().copied().filter(|head| *head > 0)?;
    let key = call.tensor(2);
    let num_elems = query.num_elems().saturating_add(key.map_or(0, TensorArgument::num_elems));
    let moved = query.bytes().saturating_add(key.map_or(0, TensorArgument::bytes)).saturating_mul(2);
    let angles = positions.num_elems().saturating_mul(turned).saturating_mul(table.dtype.bytes);
    Some(OperatorCost {
        flops: num_elems.saturating_mul(turned.min(head)) / head * 3,
        bytes: moved.saturating_add(angles).saturating_add(positions.bytes()),
        dtype: query.dtype,
    })
}

/// Bytes of a tensor; none where there is no tensor.
fn bytes_of(call: &OperatorCall, at: usize) -> i64 {
    call.tensor(at).map_or(0, TensorArgument::bytes)
}
