//! Format of a software bill of materials of a wheel: `CycloneDX` 1.6 JSON (PEP 770).

mod document;

pub use document::{
    Component, ComponentType, Dependency, Document, ExternalReference, Metadata, OF_ADDRESS,
    OF_PATH, OF_PURL, Property, encoded, property,
};

/// Path of the document below a wheel's metadata directory (PEP 770).
pub const SBOM_PATH: &str = "sboms/rockpack.cdx.json";
