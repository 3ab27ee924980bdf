//! Reading archives of others: one rule for names, kinds and links of members, and one reader of tar archives.
//!
//! ```text
//! tar ─TarStream─► headers that all readers take alike ─TarReader─► TarMember ─Tree─► MemberFault
//! zip ─Directory─► names and kinds ─────────────────────────────► name_fault, Refusal
//! ```
//!
//! Readers in other languages differ in the names that they take and in the links that they follow. The rule
//! refuses all that one of them would put outside of the archive's directory or read otherwise than another.

mod fault;
mod follow;
mod member;
mod pax;
mod sparse;
mod tar_reader;
mod tar_stream;
mod tree;

pub use fault::{MemberFault, Refusal, name_fault};
pub use follow::{Lost, follow};
pub use member::{MemberKind, TarMember};
pub use tar_reader::{Rest, TarReader};
pub use tree::Tree;

/// Differences between the tar archives that are read.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The number of members that none exceeds.
    most_members: usize,
    /// Links stay in the directory at the top, and not in the archive alone: some installers leave it out.
    in_top: bool,
    /// Names may begin with `./`, and the archive's root may be a member.
    from_dot: bool,
    /// Sparse files are read as GNU tar reads them; installers differ in what they make of them.
    sparse: bool,
}

impl Rules {
    /// Those of an artifact.
    pub const ARTIFACT: Self =
        Self { most_members: 1 << 22, in_top: false, from_dot: true, sparse: true };
    /// Those of an sdist (PEP 721).
    pub const SDIST: Self =
        Self { most_members: 1 << 17, in_top: true, from_dot: false, sparse: false };
    /// Those of the archive in a devel wheel, whose root is site-packages.
    pub const DEVEL: Self =
        Self { most_members: 1 << 19, in_top: false, from_dot: false, sparse: false };
}
