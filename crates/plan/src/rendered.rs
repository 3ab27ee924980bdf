use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};

/// Text in pieces, which the packages of a plan share.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "TextDocument")]
pub struct Rendered(Vec<Piece>);

#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) text: Arc<str>,
    /// Number in the texts of the plan, if it has the text for several packages.
    pub(crate) number: Option<usize>,
}

/// Text in the JSON of a plan.
#[derive(Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum TextDocument {
    /// Whole text.
    Text(String),
    /// Pieces in order.
    Pieces(Vec<PieceDocument>),
}

/// Piece of a text in the JSON of a plan.
#[derive(Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum PieceDocument {
    /// Text of this file alone.
    Text(String),
    /// Number of a text of the plan.
    Number(usize),
}

impl Rendered {
    /// Joins pieces.
    pub fn new(pieces: impl IntoIterator<Item = Arc<str>>) -> Self {
        Self(pieces.into_iter().map(Piece::from).collect())
    }

    /// Pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.iter().map(|piece| &piece.text)
    }

    pub(crate) fn pieces_mut(&mut self) -> &mut [Piece] {
        &mut self.0
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.pieces().map(|piece| piece.len()).sum()
    }

    /// Returns true for an empty text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole text.
    pub fn text(&self) -> Cow<'_, str> {
        match self.0.as_slice() {
            [one] => Cow::Borrowed(&one.text),
            _ => Cow::Owned(self.to_string()),
        }
    }
}

impl From<Arc<str>> for Piece {
    fn from(text: Arc<str>) -> Self {
        Self { text, number: None }
    }
}

impl From<String> for Rendered {
    fn from(text: String) -> Self {
        Self::new([text.into()])
    }
}

impl From<TextDocument> for Rendered {
    /// Numbered texts are empty until the plan is read.
    fn from(document: TextDocument) -> Self {
        let piece = |piece| match piece {
            PieceDocument::Text(text) => Piece::from(Arc::<str>::from(text)),
            PieceDocument::Number(number) => Piece { text: Arc::default(), number: Some(number) },
        };
        match document {
            TextDocument::Text(text) => text.into(),
            TextDocument::Pieces(pieces) => Self(pieces.into_iter().map(piece).collect()),
        }
    }
}

impl PartialEq for Rendered {
    fn eq(&self, other: &Self) -> bool {
        let are_same = self.0.len() == other.0.len() && self.pieces().eq(other.pieces());
        are_same || self.len() == other.len() && self.text() == other.text()
    }
}

impl Eq for Rendered {}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

impl Serialize for Rendered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.iter().all(|piece| piece.number.is_none()) {
            return match self.0.as_slice() {
                [one] => serializer.serialize_str(&one.text),
                _ => serializer.collect_str(self),
            };
        }
        let mut pieces = serializer.serialize_seq(Some(self.0.len()))?;
        for piece in &self.0 {
            match piece.number {
                Some(number) => pieces.serialize_element(&number)?,
                None => pieces.serialize_element(&*piece.text)?,
            }
        }
        pieces.end()
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
