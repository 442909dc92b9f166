mod arbitrary;
mod durable;
mod public;
