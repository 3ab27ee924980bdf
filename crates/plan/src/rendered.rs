use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

/// Text in pieces, which the packages of a plan share.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "String")]
pub struct Rendered(Vec<Arc<str>>);

impl Rendered {
    /// Joins pieces.
    pub fn new(pieces: impl IntoIterator<Item = Arc<str>>) -> Self {
        Self(pieces.into_iter().collect())
    }

    /// Pieces in order.
    pub fn pieces(&self) -> &[Arc<str>] {
        &self.0
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    /// Returns true for an empty text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole text.
    pub fn text(&self) -> Cow<'_, str> {
        match self.0.as_slice() {
            [one] => Cow::Borrowed(one),
            many => Cow::Owned(many.concat()),
        }
    }
}

impl From<String> for Rendered {
    fn from(text: String) -> Self {
        Self(vec![text.into()])
    }
}

impl PartialEq for Rendered {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.len() == other.len() && self.text() == other.text()
    }
}

impl Eq for Rendered {}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| f.write_str(piece))
    }
}

impl Serialize for Rendered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => serializer.serialize_str(one),
            _ => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_pieces_is_written_and_compared_as_one() {
        let whole = Rendered::from("one \"two\"\nthree".to_owned());
        let pieces = Rendered::new(["one \"t", "", "wo\"\nthree"].map(Arc::from));
        assert_eq!(pieces, whole);
        assert_ne!(pieces, Rendered::from("one \"two\"\nthreE".to_owned()));
        assert_eq!((pieces.text(), pieces.len()), (whole.text(), whole.len()));
        let json = serde_json::to_string(&pieces).unwrap();
        assert_eq!(json, serde_json::to_string(&whole).unwrap());
        assert_eq!(serde_json::from_str::<Rendered>(&json).unwrap(), pieces);
    }
}
