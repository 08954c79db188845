//! Defines queries that an analysis across ranks sends to workers, and their replies.
//!
//! The coordinator moves queries and replies as bytes. Only the analysis that plans a query knows
//! its content.

use std::any::Any;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::options::{Options, unexpected};
use super::selection::Selection;
use crate::error::Error;

/// A query about the trace of one rank.
pub(super) trait RankQuery: Serialize + DeserializeOwned {
    /// Name on the wire; unique among the queries of an analysis.
    const NAME: &'static str;

    /// The content of a reply. No two queries of an analysis share a type.
    type Reply: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Answers the query from the selected part of a trace.
    fn respond(self, selection: &Selection<'_>, options: &Options) -> Self::Reply;
}

/// A query as it travels to a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Query {
    name: String,
    body: Vec<u8>,
}

/// A reply as it travels back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PackedReply {
    name: String,
    body: Vec<u8>,
}

/// A reply as its analysis reads it.
#[derive(Debug)]
pub(super) struct Reply(Box<dyn Any + Send + Sync>);

/// A kind of query, with its types erased.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryKind {
    name: &'static str,
    respond: RespondInBytes,
    read: fn(&[u8]) -> Result<Reply, Error>,
}

/// Decodes a query, answers it, and encodes the reply.
type RespondInBytes = fn(&[u8], &Selection<'_>, &Options) -> Result<Vec<u8>, Error>;

impl Query {
    /// Encodes a query.
    pub(super) fn of<Q: RankQuery>(query: &Q) -> Result<Self, Error> {
        Ok(Self { name: Q::NAME.to_owned(), body: encode(query)? })
    }

    /// Answers the query with the kind of its name.
    pub(super) fn respond(
        &self,
        kinds: &[QueryKind],
        selection: &Selection<'_>,
        options: &Options,
    ) -> Result<PackedReply, Error> {
        let body = (QueryKind::named(kinds, &self.name)?.respond)(&self.body, selection, options)?;
        Ok(PackedReply { name: self.name.clone(), body })
    }
}

impl PackedReply {
    /// Decodes the reply with the kind of its name.
    pub(super) fn read(&self, kinds: &[QueryKind]) -> Result<Reply, Error> {
        (QueryKind::named(kinds, &self.name)?.read)(&self.body)
    }
}

impl Reply {
    /// The content, if this is a reply to such a query.
    pub(super) fn to<Q: RankQuery>(&self) -> Option<&Q::Reply> {
        self.0.downcast_ref()
    }
}

impl QueryKind {
    /// The kind of a query type.
    pub(super) const fn of<Q: RankQuery>() -> Self {
        Self {
            name: Q::NAME,
            respond: |body, selection, options| encode(&decode::<Q>(body)?.respond(selection, options)),
            read: |body| Ok(Reply(Box::new(decode::<Q::Reply>(body)?))),
        }
    }

    fn named<'a>(kinds: &'a [Self], name: &str) -> Result<&'a Self, Error> {
        let names = || kinds.iter().map(|kind| kind.name).collect::<Vec<_>>();
        kinds
            .iter()
            .find(|kind| kind.name == name)
            .ok_or_else(|| unexpected(&format!("one of the queries {:?}", names()), name))
    }
}

/// Encodes a value for [`decode`].
pub(super) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    postcard::to_allocvec(value).map_err(|error| unexpected("a value that can be serialized", &error.to_string()))
}

/// Decodes a value. Bytes of another version are an error.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    postcard::from_bytes(bytes).map_err(|error| {
        unexpected(
            "data from the same kinetoscope version (use one version \
         for coordinator and workers)",
            &error.to_string(),
        )
    })
}
