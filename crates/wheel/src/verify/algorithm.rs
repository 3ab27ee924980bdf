use sha2::digest::DynDigest;

/// Permitted hash algorithm; SHA-256 is the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Algorithm {
    #[default]
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "sha256" => Some(Self::Sha256),
            "sha384" => Some(Self::Sha384),
            "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    pub fn hasher(self) -> Box<dyn DynDigest> {
        match self {
            Self::Sha256 => Box::new(sha2::Sha256::default()),
            Self::Sha384 => Box::new(sha2::Sha384::default()),
            Self::Sha512 => Box::new(sha2::Sha512::default()),
        }
    }
}
