//! Connections, from the first to the last.

use std::future::Future;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::config::seconds;
use crate::patience::Patient;
use crate::routes::router;
use crate::state::Gateway;

/// Serves connections until `shutdown`. Then no more are taken, and answers on their way are finished, as long as the
/// limits allow.
pub async fn serve(listener: TcpListener, gateway: Arc<Gateway>, shutdown: impl Future<Output = ()>) {
    let limits = gateway.config.limits.clone();
    let service = TowerToHyperService::new(router(gateway));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(seconds(limits.head_seconds));
    let connections = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let patience = seconds(limits.write_seconds);
    let graceful = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accept = async {
            let permit = connections.clone().acquire_owned().await;
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
            accepted = accept => accepted,
            () = &mut shutdown => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Such as too many open files: it passes when connections end.
                tracing::warn!(%error, "no connection");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            }
        };
        // Tokens are small, and each is to go out at once.
        let _ = stream.set_nodelay(true);
        let connection = graceful
            .watch(http.serve_connection(TokioIo::new(Patient::new(stream, patience)), service.clone()));
        tokio::spawn(async move {
            let _permit = permit;
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection");
            }
        });
    }
    drop(listener);
    tracing::info!(connections = graceful.count(), "shutting down");
    if timeout(seconds(limits.shutdown_seconds), graceful.shutdown()).await.is_err() {
        tracing::warn!("answers were cut off by the end of the server");
    }
}
