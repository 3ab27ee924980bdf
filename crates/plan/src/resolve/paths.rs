//! Maps by path, of which a catalog has millions.

use std::collections::HashMap;

/// Hashes by a fast function with a random seed: the standard one takes a tenth of planning.
pub(super) type PathMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
