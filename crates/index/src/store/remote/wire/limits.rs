//! Limits of answers.

/// 400,000 objects of stores with 1,000 in each page, in 200 MB of memory.
pub(super) const MOST_PAGES: usize = 400;

/// Lowest rate, in bytes each second.
pub(super) const LEAST: u64 = 1024;

/// A page of a listing has at most 1,000 keys of 1,024 bytes (5,000 in Azure), most of them short.
pub(super) const MOST_OF_SMALL: u64 = 8 << 20;

/// Number of redirects that are followed, as in browsers and pip.
pub(super) const MOST_REDIRECTS: usize = 10;
