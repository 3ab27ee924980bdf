//! What index servers show of a package beside its description.

/// `url`, `classifier` and `keyword` lines: of all packages, or of one.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Labels and addresses, `Project-URL` in the metadata.
    pub urls: Vec<(String, String)>,
    /// Trove classifiers.
    pub classifiers: Vec<String>,
    /// Words that people search for.
    pub keywords: Vec<String>,
}

impl Listing {
    /// What is said of all packages, and then what is said of one.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            urls: both(&self.urls, &other.urls),
            classifiers: both(&self.classifiers, &other.classifiers),
            keywords: both(&self.keywords, &other.keywords),
        }
    }
}

fn both<T: Clone + PartialEq>(first: &[T], then: &[T]) -> Vec<T> {
    let new = then.iter().filter(|item| !first.contains(item));
    first.iter().chain(new).cloned().collect()
}
