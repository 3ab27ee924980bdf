//! Format of a software bill of materials of a wheel: `CycloneDX` 1.6 JSON (PEP 770).

mod document;

pub use document::{
    Component, ComponentType, Dependency, Document, ExternalReference, Metadata, PATH_CHARACTERS,
    PURL_VERSION_CHARACTERS, Property, URI_CHARACTERS, percent_encode, property,
};

/// Path of the document below a wheel's metadata directory (PEP 770).
pub const SBOM_PATH: &str = "sboms/rockpack.cdx.json";
