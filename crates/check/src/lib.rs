//! Judgement of finished packages of any maker: faults of one package, faults of a set, and the platform tags that
//! are true of a wheel.
//!
//! Takes packages that the crate `wheel` reads; returns findings. Knows neither manifests nor plans.

pub mod audit;
mod dlls;
mod finding;
mod stable_abi;
mod stack;
pub mod verify;
