//! PE reader for Windows programs and DLLs (Microsoft, "PE Format").
//!
//! Reads only headers, imports, exports, name and version, for [`crate::fat`] also base relocations.
//! Positions are checked first, so that forged ones cost neither memory nor time.

mod error;
mod facts;
pub(crate) mod fat;
mod image;
mod import_library;
pub(super) mod stub;
mod symbols;
mod version;

pub use error::PeError;
pub use facts::{PeFacts, PeKind, facts};
pub use import_library::{ImportLibrary, import_library, import_stub};
pub use stub::{Stub, stub};
pub use symbols::{Exports, Forwarder, PeImport, PeSymbol, PeSymbols, symbols};
pub use version::PeVersion;
