//! Text for messages: counts, sizes, causes, tables; and base64.

mod base64;
mod bytes;
mod causes;
mod count;
mod cut;
pub mod markdown;
mod signs;
mod size;
mod table;

pub use base64::{base64, base64_decoded, base64_url};
pub use bytes::bytes;
pub use causes::with_causes;
pub use count::{counted, plural};
pub use cut::cut_middle;
pub use signs::ascii_signs;
pub use size::{human_size, thousands};
pub use table::{Column, Table};
