pub(super) mod arbitrary;
mod durable;
mod exits;
mod public;
