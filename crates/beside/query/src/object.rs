//! Reads objects on S3, through the client of polars.

use std::ops::Range;

use bytes::Bytes;
use polars::io::cloud::concurrency_config::{ConcurrencyStrategy, FetchConfig};
use polars::io::cloud::{PolarsObjectStore, build_object_store, object_path_from_str};
use polars::prelude::{PlRefPath, PolarsResult};

use crate::damage::{Damage, wrong};

/// An object and its length.
pub(crate) struct Object {
    store: PolarsObjectStore,
    key: String,
    pub(crate) length: u64,
}

impl Object {
    /// Asks the store for the object. Credentials and the endpoint come from the same variables of the
    /// environment that Amazon's own programs read.
    pub(crate) fn find(address: &str) -> Result<Self, Damage> {
        let address = PlRefPath::new(address);
        let object = polars_async::ASYNC.block_in_place_on(async {
            let (place, store) = build_object_store(address, None, false).await?;
            let path = object_path_from_str(&place.prefix)?;
            let head = store.head(&path, ConcurrencyStrategy::Unbounded).await?;
            PolarsResult::Ok(Self {
                store,
                key: place.prefix,
                length: head.size,
            })
        });
        Ok(object?)
    }

    /// Returns the bytes of a range.
    pub(crate) fn range(&self, range: Range<u64>, size: usize) -> Result<Bytes, Damage> {
        let outside = || wrong("it is too large");
        let start = usize::try_from(range.start).map_err(|_| outside())?;
        let bytes = polars_async::ASYNC.block_in_place_on(async {
            let path = object_path_from_str(&self.key)?;
            let config = FetchConfig::random_access();
            self.store
                .get_range(&path, start..start + size, config)
                .await
        })?;
        if bytes.len() != size {
            return Err(wrong("the store sent another number of bytes"));
        }
        Ok(Bytes::copy_from_slice(&bytes))
    }
}
