//! Where things are: every path is below the workspace's root, and none is in the code.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The workspace that the command was started in.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the workspace through the variable that cargo sets for what it runs.
    pub(crate) fn find() -> Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .context("xtask runs through cargo: `cargo xtask …`")?;
        let root = Path::new(&manifest).parent().context("xtask has no workspace around it")?;
        Ok(Self { root: root.to_owned() })
    }

    /// The workspace's root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the root.
    pub(crate) fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.join(below)
    }

    /// A program that `npm ci` in `tests/` brings.
    pub(crate) fn npm_program(&self, name: &str) -> Result<PathBuf> {
        let path = self.path("tests/node_modules/.bin").join(name);
        anyhow::ensure!(path.exists(), "{name} is not there: run `cargo xtask setup`");
        Ok(path)
    }

    /// The version in the workspace's manifest.
    pub(crate) fn version(&self) -> String {
        // Every member inherits the workspace's version, so xtask's own is the one.
        env!("CARGO_PKG_VERSION").to_owned()
    }

    /// The version of a package that the lockfile names.
    pub(crate) fn locked_version(&self, package: &str) -> Result<String> {
        let lock = read(&self.path("Cargo.lock"))?;
        let name = format!("name = \"{package}\"");
        lock.lines()
            .skip_while(|line| *line != name)
            .find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
            .map(str::to_owned)
            .with_context(|| format!("Cargo.lock has no {package}"))
    }
}

/// Reads a text file; the error says which.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes a file and the folders above it; the error says which.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
