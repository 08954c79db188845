//! Normalizes names of collectives, and derives their communication pattern.

use crate::operator_name::base_name;

/// The pattern of data between ranks, which determines sizes, bandwidths and matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the words of MPI and NCCL")]
pub enum CollectivePattern {
    AllReduce,
    AllGather,
    AllToAll,
    ReduceScatter,
    Reduce,
    Scatter,
    Gather,
    Broadcast,
    Send,
    Recv,
    Barrier,
    /// Several communications that were started as one.
    Coalesced,
    /// No communication: the host waits for one.
    Wait,
    /// No communication: a process group is made.
    Init,
}

/// Letters of a spelling, the name, and the pattern. The names are those that PARAM replays.
const NAMES: [(&str, &str, CollectivePattern); 32] = [
    ("allreduce", "all_reduce", CollectivePattern::AllReduce),
    ("allreducecoalesced", "allreduce_coalesced", CollectivePattern::AllReduce),
    ("allreducesparse", "allreduce_sparse", CollectivePattern::AllReduce),
    ("sparseallreduce", "allreduce_sparse", CollectivePattern::AllReduce),
    ("allgather", "all_gather", CollectivePattern::AllGather),
    ("allgathercoalesced", "all_gather_coalesced", CollectivePattern::AllGather),
    ("allgatherv", "all_gather_v", CollectivePattern::AllGather),
    ("allgatherbase", "all_gather_base", CollectivePattern::AllGather),
    ("allgatherintotensor", "all_gather_base", CollectivePattern::AllGather),
    ("allgatherintotensorcoalesced", "allgather_into_tensor_coalesced", CollectivePattern::AllGather),
    ("alltoall", "all_to_all", CollectivePattern::AllToAll),
    ("alltoallsingle", "all_to_all", CollectivePattern::AllToAll),
    ("alltoallv", "all_to_allv", CollectivePattern::AllToAll),
    ("alltoallbase", "all_to_allv", CollectivePattern::AllToAll),
    ("reducescatter", "reduce_scatter", CollectivePattern::ReduceScatter),
    ("reducescatterv", "reduce_scatter_v", CollectivePattern::ReduceScatter),
    ("reducescatterbase", "reduce_scatter_base", CollectivePattern::ReduceScatter),
    ("reducescattertensor", "reduce_scatter_base", CollectivePattern::ReduceScatter),
    ("reducescattertensorcoalesced", "reduce_scatter_tensor_coalesced", CollectivePattern::ReduceScatter),
    ("reduce", "reduce", CollectivePattern::Reduce),
    ("scatter", "scatter", CollectivePattern::Scatter),
    ("gather", "gather", CollectivePattern::Gather),
    ("broadcast", "broadcast", CollectivePattern::Broadcast),
    ("send", "send", CollectivePattern::Send),
    ("recv", "recv", CollectivePattern::Recv),
    ("recvanysource", "recv", CollectivePattern::Recv),
    ("barrier", "barrier", CollectivePattern::Barrier),
    ("allreducebarrier", "barrier", CollectivePattern::Barrier),
    ("monitoredbarrier", "barrier", CollectivePattern::Barrier),
    ("coalesced", "coalesced", CollectivePattern::Coalesced),
    ("wait", "wait", CollectivePattern::Wait),
    ("init", "init", CollectivePattern::Init),
];

/// The name and the pattern of a collective by a spelling of a record (`allreduce`), an operator
/// (`c10d::allreduce_`) or an annotation (`nccl:send 0->1`). `None` for unknown ones.
///
/// ```
/// use kinetoscope::trace::collective::{CollectivePattern, known};
/// assert_eq!(known("_allgather_base"), Some(("all_gather_base", CollectivePattern::AllGather)));
/// assert_eq!(known("nccl:send 0->1"), Some(("send", CollectivePattern::Send)));
/// assert_eq!(known("aten::add"), None);
/// ```
pub fn known(spelling: &str) -> Option<(&'static str, CollectivePattern)> {
    let name = base_name(spelling).rsplit(':').next()?.split(' ').next()?;
    let letters: String = name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    let letters = letters.strip_suffix("tensor").filter(|rest| *rest == "wait").unwrap_or(&letters);
    NAMES.iter().find(|(other, ..)| *other == letters).map(|(_, name, pattern)| (*name, *pattern))
}

/// The name that a record's spelling stands for: a known one's, or its own in lower case.
pub fn name(spelling: &str) -> String {
    known(spelling).map_or_else(|| spelling.to_lowercase(), |(name, _)| name.to_owned())
}

impl CollectivePattern {
    /// Bytes per link for each byte of the message over `num_ranks`, so that bandwidths of
    /// different collectives compare (as in NCCL's tests). `None` without a message.
    pub fn bus_factor(self, num_ranks: i64) -> Option<f64> {
        let num_ranks = if num_ranks > 0 { num_ranks as f64 } else { return None };
        let others = (num_ranks - 1.0) / num_ranks;
        match self {
            Self::AllReduce => Some(2.0 * others),
            Self::AllGather | Self::AllToAll | Self::ReduceScatter | Self::Scatter | Self::Gather => Some(others),
            Self::Reduce | Self::Broadcast | Self::Send | Self::Recv => Some(1.0),
            Self::Barrier | Self::Coalesced | Self::Wait | Self::Init => None,
        }
    }

    /// Whether elements move from rank to rank.
    pub fn has_message(self) -> bool {
        !matches!(self, Self::Barrier | Self::Coalesced | Self::Wait | Self::Init)
    }

    /// Whether as many elements come out of it as go into it, on every rank.
    pub fn keeps_size(self) -> bool {
        matches!(self, Self::AllReduce | Self::Broadcast)
    }

    /// Whether all ranks do the same: none is its root, and it is not between two.
    pub fn is_alike(self) -> bool {
        !self.is_p2p() && !matches!(self, Self::Reduce | Self::Scatter | Self::Gather | Self::Broadcast)
    }

    /// Whether no rank is done with it before the last has come.
    pub fn is_together(self) -> bool {
        matches!(self, Self::AllReduce | Self::AllGather | Self::AllToAll | Self::ReduceScatter | Self::Barrier)
    }

    /// Whether it is between two ranks alone.
    pub fn is_p2p(self) -> bool {
        matches!(self, Self::Send | Self::Recv)
    }
}

/// Spellings of a type of elements in lower case, the first its name; and the size of an element in
/// bytes.
const DTYPES: [(&[&str], i64); 20] = [
    (&["byte", "unsigned char", "uint8"], 1),
    (&["char", "signed char", "int8"], 1),
    (&["short", "short int", "int16"], 2),
    (&["int", "int32"], 4),
    (&["long", "long int", "long long", "int64"], 8),
    (&["uint16", "unsigned short", "short unsigned int"], 2),
    (&["uint32", "unsigned int"], 4),
    (&["uint64", "unsigned long", "long unsigned int"], 8),
    (&["half", "float16"], 2),
    (&["bfloat16"], 2),
    (&["float", "float32"], 4),
    (&["double", "float64"], 8),
    (&["bool"], 1),
    (&["complexhalf", "complex<half>"], 4),
    (&["complexfloat", "complex<float>"], 8),
    (&["complexdouble", "complex<double>"], 16),
    (&["float8_e5m2"], 1),
    (&["float8_e4m3fn"], 1),
    (&["float8_e5m2fnuz"], 1),
    (&["float8_e4m3fnuz"], 1),
];

/// The name of a type of elements in lower case, however it is spelled, and the bytes of an element
/// where it is known.
///
/// ```
/// use kinetoscope::trace::collective::dtype;
/// assert_eq!(dtype("c10::BFloat16"), (String::from("bfloat16"), Some(2)));
/// assert_eq!(dtype("long int"), dtype("Long"));
/// ```
pub fn dtype(spelling: &str) -> (String, Option<i64>) {
    let lower = spelling.to_lowercase().replace("c10::", "");
    match DTYPES.iter().find(|(spellings, _)| spellings.contains(&lower.as_str())) {
        Some((spellings, bytes)) => (spellings[0].to_owned(), Some(*bytes)),
        None => (lower, None),
    }
}

/// The name of a type of elements as `PyTorch` writes it for communications: `BFloat16`.
pub(crate) fn scalar_type(name: &str) -> &str {
    const NAMES: [(&str, &str); 15] = [
        ("byte", "Byte"),
        ("char", "Char"),
        ("short", "Short"),
        ("int", "Int"),
        ("long", "Long"),
        ("uint16", "UInt16"),
        ("uint32", "UInt32"),
        ("uint64", "UInt64"),
        ("half", "Half"),
        ("bfloat16", "BFloat16"),
        ("float", "Float"),
        ("double", "Double"),
        ("bool", "Bool"),
        ("complexfloat", "ComplexFloat"),
        ("complexdouble", "ComplexDouble"),
    ];
    let lower = dtype(name).0;
    NAMES.iter().find(|(other, _)| *other == lower).map_or(name, |(_, written)| written)
}
