//! What packages are made for: the mode, the system, and how distributions are split by ISA, family or an axis.

mod condition;
mod per;
mod variant;

pub use condition::{Condition, Target};
pub use per::{Per, Values};
pub use variant::Variant;
