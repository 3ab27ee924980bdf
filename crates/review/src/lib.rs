//! Texts, pages and differences of plans. Pure functions.

pub mod contract;
pub mod diff;
mod html;
pub mod ledger;
mod markdown;
mod planned;
mod shards;
mod text;

pub use html::html_page;
pub use markdown::{MARKDOWN_LIMIT, markdown_text};
pub use planned::planned;
pub use shards::{SHARDS_FORMAT, Shards, artifacts, effort, shards};
pub use text::{files_text, summary_text};
