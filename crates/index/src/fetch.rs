//! Archives of a run in an object store: selection and verified transfer.
//!
//! [`Selection`] determines the needed archives first. A [`RemoteArchive`] can be unpacked during
//! the transfer ([`plan::catalog::Directory::unpack`]); [`download`] saves archives to a directory.
//! Content is used only after the whole archive matches its checksum. So are packages of an index
//! ([`fetch_pinned`]).

mod download;
mod fetch_plan;
mod pinned;
mod remote;
mod selection;

pub use download::{Fetched, check_room, download};
pub use fetch_plan::{FETCH_PLAN_FORMAT, FetchPlan, NeededArchive};
pub use pinned::{Opener, Pin, PinnedFile, fetch_pinned, pin, pins, select};
pub use remote::RemoteArchive;
pub use selection::{Selected, Selection, Unneeded, Why};
