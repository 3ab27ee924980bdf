//! Archives of a run in an object store: selection and verified transfer.
//!
//! [`Selection`] determines the needed archives first. A [`RemoteArchive`] can be unpacked during
//! the transfer ([`plan::catalog::Directory::unpack`]); [`download`] saves archives to a directory.
//! Content is used only after the whole archive matches its checksum.

mod download;
mod fetch_plan;
mod remote;
mod selection;

pub use download::{Fetched, check_room, download};
pub use fetch_plan::{FETCH_PLAN_FORMAT, FetchPlan, NeededArchive};
pub use remote::RemoteArchive;
pub use selection::{Selected, Selection, Unneeded, Why};
