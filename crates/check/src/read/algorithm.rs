use sha2::digest::DynDigest;

/// Permitted hash algorithm, by its name in Python's `hashlib`; SHA-256 is the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Algorithm {
    #[default]
    Sha256,
    Sha384,
    Sha512,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    Blake2b,
    Blake2s,
}

impl Algorithm {
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "sha256" => Some(Self::Sha256),
            "sha384" => Some(Self::Sha384),
            "sha512" => Some(Self::Sha512),
            "sha3_256" => Some(Self::Sha3_256),
            "sha3_384" => Some(Self::Sha3_384),
            "sha3_512" => Some(Self::Sha3_512),
            "blake2b" => Some(Self::Blake2b),
            "blake2s" => Some(Self::Blake2s),
            _ => None,
        }
    }

    pub fn hasher(self) -> Box<dyn DynDigest> {
        match self {
            Self::Sha256 => Box::new(sha2::Sha256::default()),
            Self::Sha384 => Box::new(sha2::Sha384::default()),
            Self::Sha512 => Box::new(sha2::Sha512::default()),
            Self::Sha3_256 => Box::new(sha3::Sha3_256::default()),
            Self::Sha3_384 => Box::new(sha3::Sha3_384::default()),
            Self::Sha3_512 => Box::new(sha3::Sha3_512::default()),
            Self::Blake2b => Box::new(blake2::Blake2b512::default()),
            Self::Blake2s => Box::new(blake2::Blake2s256::default()),
        }
    }
}
