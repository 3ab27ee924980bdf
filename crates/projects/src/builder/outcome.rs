use std::io;
use std::path::Path;
use std::sync::PoisonError;

use fs_err as fs;

use super::super::item::Item;
use super::super::{End, MadeWheel, MissingReason, NotMade, Outcome, Tried};
use super::{Builder, Failure, Product, log_of, path};
use base::names::PackageName;

impl Builder<'_> {
    /// Outcome of the build, from the ends of all items in their order.
    pub fn outcome(&self, ends: Vec<End<Product, Failure>>) -> io::Result<Outcome> {
        let sources = self.keeper.sources().clone();
        let inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut outcome = Outcome { inputs, sources, ..Outcome::default() };
        for (item, end) in self.items.iter().zip(ends) {
            let Ok(name) = item.name().parse::<PackageName>() else { continue };
            match end {
                End::Done(product) => {
                    if let (Some(ran), Item::Trial(_, kind, _)) = (product.ran.clone(), *item) {
                        outcome.tried.push(Tried { name, kind, ran, took: product.took });
                        continue;
                    }
                    if product.wheels.is_empty() {
                        outcome.installed.push((name.clone(), product.took, product.is_reused));
                    }
                    for wheel in &product.wheels {
                        outcome.made.push(made_wheel(&name, wheel, &product)?);
                    }
                }
                End::Failed(Failure { reason, tail }) => {
                    outcome.not_made.push(NotMade {
                        why: MissingReason::Failed {
                            reason,
                            log: path(&log_of(&item.label())).ok(),
                            tail,
                        },
                        trial: item.trial(),
                        name,
                    });
                }
                // Trials wait only for the wheel of their project, whose failure is reported.
                End::Waited(_) if item.trial().is_some() => {}
                End::Waited(before) => {
                    let before = self.items[before].name().to_owned();
                    outcome.not_made.push(NotMade {
                        name,
                        trial: None,
                        why: MissingReason::Waited { before },
                    });
                }
            }
        }
        Ok(outcome)
    }
}

fn made_wheel(name: &PackageName, wheel: &Path, product: &Product) -> io::Result<MadeWheel> {
    let path = path(&format!("dist/{}", wheel.file_name().unwrap_or_default().to_string_lossy()))?;
    let size = fs::metadata(wheel)?.len();
    Ok(MadeWheel {
        name: name.clone(),
        path,
        size,
        took: product.took,
        is_reused: product.is_reused,
    })
}
