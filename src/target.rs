//! What packages are made for: the mode, the system, and how distributions are split by ISA and family.

mod condition;
mod per;
mod variant;

pub use condition::{Condition, Target};
pub use per::Per;
pub use variant::Variant;
