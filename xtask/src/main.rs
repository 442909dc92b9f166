//! Every project command, in Rust.
fn main() {}
