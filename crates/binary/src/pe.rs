//! Reads PE files: programs and DLLs of Windows (Microsoft, "PE Format").
//!
//! Only headers, the names of imported DLLs, and the file's own name and version are read, by position and each
//! after a check that the file has it, so that a file that lies takes neither memory nor time.

mod error;
mod facts;
mod image;
mod import_library;
pub(super) mod stub;
mod version;

pub use error::PeError;
pub use facts::{PeFacts, PeKind, facts};
pub use import_library::{ImportLibrary, import_library, import_stub};
pub use stub::{Stub, stub};
pub use version::PeVersion;
