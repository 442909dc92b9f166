//! Compiling for WebAssembly, with whichever toolchain can.
//!
//! The smallest module comes from a standard library that is built from source, for size, and whose
//! panics abort at once: that is the way where the sources are there. A toolchain that only has the
//! compiled standard library is the second choice.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{process, workspace::Workspace};

/// The target's name.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// A pair of cargo and rustc that can compile for WebAssembly.
#[derive(Clone, Debug)]
pub(crate) struct Toolchain {
    cargo: PathBuf,
    rustc: PathBuf,
    sysroot: PathBuf,
    /// The standard library is compiled with the crate, from source.
    builds_std: bool,
}

impl Toolchain {
    /// Takes the first toolchain that PATH (or `RUSTC` and `CARGO` together) offers for
    /// WebAssembly; one with the compiled standard library before one that has only its sources.
    pub(crate) fn find() -> Result<Self> {
        let candidates: Vec<Self> = process::all_on_path("rustc")
            .into_iter()
            .filter_map(|rustc| Self::inspect(rustc.with_file_name("cargo"), rustc))
            .collect();
        let stable = candidates.iter().find(|toolchain| toolchain.has_compiled_std());
        let from_source = candidates.iter().find(|toolchain| toolchain.builds_std);
        stable
            .or(from_source)
            .cloned()
            .context("no toolchain here compiles for WebAssembly: run `cargo xtask setup`")
    }

    fn inspect(cargo: PathBuf, rustc: PathBuf) -> Option<Self> {
        let mut command = Command::new(&rustc);
        // cargo's own library path would give one toolchain another's libraries.
        command.args(["--print", "sysroot"]).env_remove("LD_LIBRARY_PATH");
        let sysroot = PathBuf::from(process::output(&mut command).ok()?.trim());
        let sources = sysroot.join("lib/rustlib/src/rust/library/std/Cargo.toml");
        (cargo.is_file()).then(|| Self { cargo, rustc, builds_std: sources.is_file(), sysroot })
    }

    fn has_compiled_std(&self) -> bool {
        self.sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir()
    }

    /// Whether the standard library is compiled with the crate, for size.
    pub(crate) fn builds_std(&self) -> bool {
        self.builds_std
    }

    /// What it is, for people.
    pub(crate) fn describe(&self) -> String {
        let std = if self.builds_std { "std from source" } else { "compiled std" };
        format!("{} ({std})", self.rustc.display())
    }

    /// A cargo command for WebAssembly, its output in a folder apart from the host's.
    pub(crate) fn cargo(&self, workspace: &Workspace, subcommand: &str) -> Command {
        let mut command = Command::new(&self.cargo);
        command
            .current_dir(workspace.root())
            .arg(subcommand)
            .args(["--target", TARGET])
            .env("RUSTC", &self.rustc)
            .env("CARGO_TARGET_DIR", target_folder(workspace))
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("RUSTFLAGS");
        if let Some(path) = self.path() {
            command.env("PATH", path);
        }
        if !self.has_compiled_std() {
            self.build_std(&mut command);
        }
        command
    }

    /// PATH with its own folder first: cargo takes the first `cargo-clippy` that PATH has, and one
    /// of another toolchain cannot read what this one compiled.
    fn path(&self) -> Option<OsString> {
        let own = self.cargo.parent()?.to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path))).ok()
    }

    /// Whether it has a clippy of its own, or rustup's stand-in for one.
    pub(crate) fn has_clippy(&self) -> bool {
        self.cargo.with_file_name("cargo-clippy").is_file()
    }

    /// The cargo command that compiles the module which is published.
    pub(crate) fn release(&self, workspace: &Workspace) -> Result<Command> {
        let mut command = self.cargo(workspace, "build");
        command.args(["--release", "--lib", "--package", "holdfast"]);
        let mut flags = vec![
            // SHA-256 of a few kilobytes a submission needs no unrolled rounds.
            OsString::from("--cfg=sha2_backend=\"soft\""),
            OsString::from("--cfg=sha2_backend_soft=\"compact\""),
            // Loops whose addresses are reckoned ahead are quicker, and longer.
            OsString::from("-Cllvm-args=-disable-lsr"),
        ];
        for (folder, name) in self.private_folders(workspace)? {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(&folder);
            flag.push("=");
            flag.push(name);
            flags.push(flag);
        }
        if self.builds_std {
            if self.has_compiled_std() {
                self.build_std(&mut command);
            }
            // A panic that aborts at once has no use for the place it happened at.
            flags.extend(
                ["-Zunstable-options", "-Cpanic=immediate-abort", "-Zlocation-detail=none"]
                    .map(OsString::from),
            );
        }
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join(&OsString::from("\u{1f}")));
        Ok(command)
    }

    fn build_std(&self, command: &mut Command) {
        command
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"]);
    }

    /// The folders whose names say something about this machine, and what the module says instead.
    pub(crate) fn private_folders(
        &self,
        workspace: &Workspace,
    ) -> Result<Vec<(PathBuf, &'static str)>> {
        let cargo_home = match std::env::var_os("CARGO_HOME") {
            Some(home) => PathBuf::from(home),
            None => std::env::home_dir().context("there is no home folder")?.join(".cargo"),
        };
        let mut folders = vec![
            (self.sysroot.join("lib/rustlib/src/rust"), "/rust"),
            (cargo_home.clone(), "/cargo"),
            (workspace.root().to_owned(), "/holdfast"),
        ];
        // The last match counts. These are named after the registry that was used.
        for entry in std::fs::read_dir(cargo_home.join("registry/src")).into_iter().flatten() {
            folders.push((entry?.path(), "/crates"));
        }
        Ok(folders)
    }
}

/// Where everything for WebAssembly is compiled.
pub(crate) fn target_folder(workspace: &Workspace) -> PathBuf {
    workspace.path("target-web")
}

/// The module that cargo leaves.
pub(crate) fn module(workspace: &Workspace) -> PathBuf {
    target_folder(workspace).join(Path::new(TARGET)).join("release/holdfast.wasm")
}
