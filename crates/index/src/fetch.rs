//! The artifacts of a run in an object store: which of them packages need, and how they come here whole.
//!
//! [`Selection`] says which archives packages need, before one byte of them moves; a [`RemoteArchive`] is one that
//! can be unpacked while it comes ([`plan::catalog::Directory::unpack`]), and [`download`] puts them into a
//! directory. Nothing of an archive is used before all of it was what its checksum says. Connections that
//! break are the business of [`crate::store`].

mod download;
mod fetch_plan;
mod remote;
mod selection;

pub use download::{Fetched, check_room, download};
pub use fetch_plan::{FETCH_PLAN_FORMAT, FetchPlan, NeededArchive};
pub use remote::RemoteArchive;
pub use selection::{Selected, Selection, Unneeded, Why};
