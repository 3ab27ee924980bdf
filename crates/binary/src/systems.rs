//! Systems on which binaries run, as data with its sources.

pub mod python;
pub mod runtime;
pub mod stable_abi;
mod system;
pub mod windows;

pub use python::PythonTags;
pub use system::{System, SystemError};
