//! Debian's packages, where this is Debian and we are root.

use std::process::Command;

use anyhow::{Result, bail};

use crate::process;

/// Installs packages; the lists are fetched once, before the first.
#[derive(Default)]
pub(super) struct Apt {
    updated: bool,
}

impl Apt {
    /// Installs packages; the error says what a person would type.
    pub(super) fn install(&mut self, packages: &[&str]) -> Result<()> {
        let by_hand = format!("apt-get install --no-install-recommends {}", packages.join(" "));
        let Some(apt) = process::find("APT_GET", &["apt-get"]) else {
            bail!("not a Debian; there it would be: {by_hand}");
        };
        if process::output(Command::new("id").arg("-u"))?.trim() != "0" {
            bail!("not root; as root: {by_hand}");
        }
        if !self.updated {
            println!("      apt-get update");
            process::output(Command::new(&apt).args(["-q", "update"]))?;
            self.updated = true;
        }
        println!("      {by_hand}");
        let mut command = Command::new(&apt);
        command
            .args(["-q", "-y", "install", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive");
        process::output(&mut command).map(drop)
    }
}
