//! Services and their control planes over HTTP on the loopback interface.
//!
//! Faults happen on the socket: a lost answer is a connection that ends without a byte, a truncated
//! one announces its full length and ends halfway. Each connection carries one request, because
//! browsers silently send a request again when a connection that they reuse ends without an answer.
mod body;
mod control;
mod dispatch;
mod files;
mod shared;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::{AnyService, Service};
use shared::Shared;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port; 0, the default, for any that is free.
    pub port: u16,
    /// Folders of static files; none by default. The longest fitting path wins.
    pub mounts: Vec<Mount>,
    /// The request headers that other origins may send.
    pub allow_headers: Vec<String>,
    /// The response headers that other origins may read.
    pub expose_headers: Vec<String>,
}

/// A folder of static files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The path that it is served at, such as `/` or `/pkg`.
    pub at: String,
    /// The folder.
    pub folder: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            port: 0,
            mounts: Vec::new(),
            allow_headers: owned(&["authorization", "content-type", "idempotency-key"]),
            expose_headers: owned(&[
                "Retry-After",
                "Idempotency-Replayed",
                "Date",
                "ETag",
                "Content-Range",
            ]),
        }
    }
}

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Its origin, such as `http://127.0.0.1:8080`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends it, with all connections; returns when it has ended.
    pub fn stop(self) {
        drop(self);
    }

    /// Waits for it to end, which it does only when its thread dies.
    pub fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            // It has nothing to report: a panic has been written out by then.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves a model at the root, on a thread of its own.
///
/// # Errors
/// Fails where the port cannot be had or a mounted folder does not exist.
pub fn serve<S>(service: S, options: Options) -> io::Result<Server>
where
    S: Service + Send + 'static,
{
    serve_all(vec![(String::new(), Box::new(service))], options)
}

/// Serves models, each under the path that comes with it, on one thread.
///
/// The control plane of each is under that path too. Files are served beside the one at the root.
///
/// # Errors
/// Fails where the port cannot be had or a mounted folder does not exist.
pub fn serve_all(services: Vec<(String, AnyService)>, options: Options) -> io::Result<Server> {
    let port = options.port;
    let shared = Arc::new(Shared::new(services, options)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port)))?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel();
    let thread = std::thread::Builder::new().name("loopback".to_owned()).spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                () = accept(&listener, &shared) => {}
                _ = stopped => {}
            }
        });
    })?;
    Ok(Server { address, stop: Some(stop), thread: Some(thread) })
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The process may be out of sockets for a moment.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let answer = service_fn(|request| dispatch::answer(&shared, request));
            let mut http = http1::Builder::new();
            let connection = http
                .keep_alive(false)
                .auto_date_header(false)
                .serve_connection(TokioIo::new(stream), answer);
            // Its errors are the faults that were asked for, and callers that died.
            let _ = connection.await;
        });
    }
}
