//! Mode, system and split of packages.

mod condition;
mod per;
mod variant;

pub use condition::{Condition, Target};
pub use per::{Per, Values};
pub use variant::Variant;
