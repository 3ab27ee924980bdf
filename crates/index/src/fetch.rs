//! Archives of a run, and packages of an index: selection and verified transfer.
//!
//! A [`RemoteArchive`] can be unpacked during the transfer ([`catalog::Directory::unpack`]).

mod download;
mod fetch_plan;
mod outline;
mod pinned;
mod remote;
mod selection;
mod versions;

pub use download::{Fetched, check_room, download};
pub use fetch_plan::{FETCH_PLAN_FORMAT, FetchPlan, NeededArchive};
pub use outline::{Outline, OutlineError, outline};
pub use pinned::{Arrival, Opener, Pin, PinnedFile, Way, fetch_pinned, pin, pins, select};
pub use remote::RemoteArchive;
pub use selection::{Selected, Selection, Unneeded, UnneededReason};
pub use versions::{VersionFile, Versions, VersionsError};
