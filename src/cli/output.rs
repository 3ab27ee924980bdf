//! Paths that commands write.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use index::store;

/// Parses a path and refuses an address of a store, for which a directory `s3:` would be made.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_str() {
        Some(text) if store::is_url(text) => Err("this command writes only to local paths; \
             `rockpack index publish` uploads packages"),
        _ => Ok(path),
    })
}
