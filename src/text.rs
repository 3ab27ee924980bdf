//! Numbers, sizes, causes and names in the sentences that people read.

mod causes;
mod count;
pub mod markdown;
mod size;

pub use causes::with_causes;
pub use count::{counted, plural};
pub use size::{human_size, thousands};
