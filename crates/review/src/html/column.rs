use serde::ser::{Serialize, SerializeMap, Serializer};

/// One number per row: `[5,5,5,7]`, or values and run lengths (`{"runs":[5,3,7,1]}`) if shorter.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Column(Vec<u64>);

impl Column {
    pub(super) fn push(&mut self, value: u64) {
        self.0.push(value);
    }

    fn runs(&self) -> Vec<u64> {
        self.0.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len() as u64]).collect()
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs = self.runs();
        if runs.len() >= self.0.len() {
            return self.0.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("runs", &runs)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json_of(values: &[u64]) -> String {
        serde_json::to_string(&Column(values.to_vec())).unwrap()
    }

    #[test]
    fn runs_are_written_where_they_are_shorter() {
        assert_eq!(json_of(&[]), "[]");
        assert_eq!(json_of(&[1, 2, 3]), "[1,2,3]");
        assert_eq!(json_of(&[1, 1, 2, 2]), "[1,1,2,2]");
        assert_eq!(json_of(&[1, 1, 1, 2]), "[1,1,1,2]");
        assert_eq!(json_of(&[0; 1000]), r#"{"runs":[0,1000]}"#);
    }
}
