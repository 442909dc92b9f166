//! Models of the services that Holdfast talks to.
